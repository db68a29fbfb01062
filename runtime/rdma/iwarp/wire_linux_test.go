package iwarp_test

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// weather is what befalls the packets on a wire, as tc-netem(8) has it, but where every kernel has it and with the
// test looking on. Chances are of 1.
type weather struct {
	loss, duplicate, corrupt, reorder float64
	swap                              float64       // two 16-bit words of a payload change places: TCP's sum stays right
	delay, jitter                     time.Duration // of each packet, plus and minus
}

// wire is two TUN devices and who carries packets from one to the other.
type wire struct {
	ends [2]*os.File
	wg   sync.WaitGroup

	mu      sync.Mutex
	weather weather
	down    [2]bool  // what comes from an end is lost
	seen    [2]sight // from each end
	late    [2]delayed
	bells   [2]chan struct{}
	rng     *rand.Rand
	stop    chan struct{}
}

// sight is what was seen on a wire in one direction. Packets of TCP only count.
type sight struct {
	packets, lost, doubled, spoilt, swapped, late int
	longest                                       int            // bytes of a payload
	classes                                       map[uint8]int  // packets by DSCP
	startups                                      map[string]int // "Req" and "Rep" of MPA, with the octet of flags
}

func newWire(t testing.TB, hosts [2]*namespace) *wire {
	t.Helper()
	w := &wire{rng: rand.New(rand.NewPCG(4, 4)), stop: make(chan struct{})}
	for i, h := range hosts {
		w.bells[i] = make(chan struct{}, 1)
		w.seen[i] = sight{classes: map[uint8]int{}, startups: map[string]int{}}
		err := h.do(func() (err error) { w.ends[i], err = openTUN(); return err })
		switch {
		case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV): // nothing that can be installed changes that
			t.Skipf("this kernel has no TUN devices, which a wire needs: %v", err)
		case errors.Is(err, unix.EPERM):
			cannot(t, "a wire needs TUN devices (/dev/net/tun): %v", err)
		}
		ok(t, err)
	}
	for i := range 2 {
		w.wg.Go(func() { w.carry(i) })
		w.wg.Go(func() { w.deliver(i) })
	}
	t.Cleanup(func() {
		close(w.stop)
		_, _ = w.ends[0].Close(), w.ends[1].Close()
		w.wg.Wait()
	})
	return w
}

// openTUN makes a device in the network of the calling thread. Source: Documentation/networking/tuntap.rst of Linux.
func openTUN() (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	req, err := unix.NewIfreq(device)
	if err == nil {
		req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "tun"), nil
}

// set changes the weather.
func (w *wire) set(to weather) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.weather = to
}

// cut has the wire lose everything that some ends send from now on, without telling; with none it is whole again.
func (w *wire) cut(ends ...int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = [2]bool{slices.Contains(ends, 0), slices.Contains(ends, 1)}
}

// look is what was seen so far from an end.
func (w *wire) look(end int) sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[end]
}

// carry takes what one end sends.
func (w *wire) carry(from int) {
	buf := make([]byte, 1<<16)
	for {
		n, err := w.ends[from].Read(buf)
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond) // the device is down for the moment
			continue
		}
		w.mu.Lock()
		if payload, isTCP := w.inspect(from, buf[:n]); !w.down[from] {
			w.befall(from, buf[:n], payload, isTCP)
		}
		w.mu.Unlock()
	}
}

// inspect counts a packet. It returns the payload of one of TCP. mu is held.
func (w *wire) inspect(from int, p []byte) (payload []byte, isTCP bool) {
	s := &w.seen[from]
	var class uint8
	var rest []byte
	switch {
	case len(p) >= 20 && p[0]>>4 == 4 && p[9] == unix.IPPROTO_TCP:
		class, rest = p[1], p[int(p[0]&15)*4:]
	case len(p) >= 40 && p[0]>>4 == 6 && p[6] == unix.IPPROTO_TCP:
		class, rest = p[0]<<4|p[1]>>4, p[40:]
	default:
		return nil, false
	}
	payload = rest[int(rest[12]>>4)*4:]
	s.packets++
	s.classes[class>>2]++
	s.longest = max(s.longest, len(payload))
	if len(payload) >= 20 && bytes.HasPrefix(payload, []byte("MPA ID Re")) {
		s.startups[string(payload[7:10])] = int(payload[16])
	}
	return payload, true
}

// befall does to a packet what the weather says. mu is held.
func (w *wire) befall(from int, p, payload []byte, isTCP bool) {
	s, now := &w.seen[from], w.weather
	if !isTCP {
		now = weather{}
	}
	hits := func(chance float64) bool { return chance > 0 && w.rng.Float64() < chance }
	if hits(now.loss) {
		s.lost++
		return
	}
	if hits(now.swap) && swapWords(w.rng, payload) {
		s.swapped++
	}
	copies := 1
	if hits(now.duplicate) {
		s.doubled++
		copies = 2
	}
	for range copies {
		out := bytes.Clone(p)
		if hits(now.corrupt) {
			s.spoilt++
			out[w.rng.IntN(len(out))] ^= 1 << w.rng.IntN(8)
		}
		after := now.delay
		if now.jitter > 0 {
			after += time.Duration(w.rng.Int64N(2*int64(now.jitter))) - now.jitter
		}
		if hits(now.reorder) {
			s.late++
			after += 2*time.Millisecond + now.delay
		}
		if after <= 0 {
			_, _ = w.ends[1-from].Write(out)
			continue
		}
		heap.Push(&w.late[from], late{out, time.Now().Add(after)})
		select {
		case w.bells[from] <- struct{}{}:
		default:
		}
	}
}

// swapWords makes an error that TCP's sum, in which order does not count, lets through.
func swapWords(rng *rand.Rand, payload []byte) bool {
	if len(payload) < 100 {
		return false
	}
	for range 20 {
		i, j := 2*rng.IntN(len(payload)/2), 2*rng.IntN(len(payload)/2)
		a, b := binary.NativeEndian.Uint16(payload[i:]), binary.NativeEndian.Uint16(payload[j:])
		if a != b {
			binary.NativeEndian.PutUint16(payload[i:], b)
			binary.NativeEndian.PutUint16(payload[j:], a)
			return true
		}
	}
	return false
}

// deliver hands over what was delayed, when its time has come.
func (w *wire) deliver(from int) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		w.mu.Lock()
		q := &w.late[from]
		for len(*q) > 0 && !time.Now().Before((*q)[0].when) {
			p := heap.Pop(q).(late).packet
			if !w.down[from] {
				_, _ = w.ends[1-from].Write(p)
			}
		}
		next := time.Hour
		if len(*q) > 0 {
			next = time.Until((*q)[0].when)
		}
		w.mu.Unlock()
		timer.Reset(next)
		select {
		case <-timer.C:
		case <-w.bells[from]:
		case <-w.stop:
			return
		}
	}
}

// late is a packet that is on its way, and delayed those that are.
type late struct {
	packet []byte
	when   time.Time
}

type delayed []late

func (d delayed) Len() int           { return len(d) }
func (d delayed) Less(i, j int) bool { return d[i].when.Before(d[j].when) }
func (d delayed) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *delayed) Push(x any)        { *d = append(*d, x.(late)) }
func (d *delayed) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}

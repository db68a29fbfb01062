package iwarp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// damage is what happens to a connection when so many bytes have passed in one direction.
type damage struct {
	kind    string // "cut", "half-close", "stall", "corrupt", "drip"
	forward bool   // from the side that dialled
	after   int
}

// relay is a connection that comes to harm: two TCP connections, and what passes between them.
type relay struct {
	harm   damage
	passed [2]int // bytes, of each direction: the first is forward
	conns  [2]*net.TCPConn
	stop   chan struct{}
	wg     sync.WaitGroup
}

// between puts a relay between the ends of a shape.
func (r *relay) between(t testing.TB) func(a, b net.Conn) (net.Conn, net.Conn) {
	return func(a, b net.Conn) (net.Conn, net.Conn) {
		c, d := tcpPair(t)
		r.stop = make(chan struct{})
		r.conns = [2]*net.TCPConn{b.(*net.TCPConn), c.(*net.TCPConn)}
		for i := range 2 {
			r.wg.Add(1)
			go r.pass(i, r.conns[i], r.conns[1-i])
		}
		return a, d
	}
}

// pass forwards one direction.
func (r *relay) pass(way int, from, to *net.TCPConn) {
	defer r.wg.Done()
	buf := make([]byte, 64<<10)
	for {
		mine := r.harm.forward == (way == 0) && r.harm.kind != ""
		most := len(buf)
		if mine && r.harm.kind == "drip" {
			most = 100
			time.Sleep(20 * time.Microsecond)
		} else if left := r.harm.after - r.passed[way]; mine && left > 0 {
			most = min(most, left)
		}
		n, err := from.Read(buf[:most])
		if mine && n > 0 && r.passed[way] == r.harm.after && !r.strike(buf[:n], from, to) {
			return
		}
		r.passed[way] += n
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			_ = to.CloseWrite()
			_, _ = io.Copy(io.Discard, from)
			return
		}
	}
}

// strike does the damage. It reports whether the direction goes on.
func (r *relay) strike(b []byte, from, to *net.TCPConn) bool {
	switch r.harm.kind {
	case "cut":
		_ = from.SetLinger(0)
		_ = to.SetLinger(0)
		_ = from.Close()
		_ = to.Close()
		return false
	case "half-close":
		_ = to.CloseWrite()
		_, _ = io.Copy(io.Discard, from)
		return false
	case "stall":
		<-r.stop
		return false
	case "corrupt":
		b[0] ^= 0x10
	}
	return true
}

func (r *relay) end() {
	close(r.stop)
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.wg.Wait()
}

// The places of a side's memory in a work: what it sends from, reads to, is written to, and receives to.
const (
	placeFrom    = 0
	placeRead    = 16 << 10
	placeWritten = 32 << 10
	placeWord    = 48 << 10
	placeReceive = 64 << 10
	placeEnd     = 80 << 10
)

// work posts one of each verb on one side, and waits for all that comes of it. It returns an error where something ended
// well and is not as it should be; failed says that something ended with an error.
func work(a, b *end, patience time.Duration) (failed bool, err error) {
	wrs := []rdma.WorkRequest{
		a.request(rdma.VerbWrite, 0, placeFrom, 3000, b, placeWritten),
		a.request(rdma.VerbWriteNotify, 1, placeFrom+3000, 200, b, placeWritten+3000),
		a.request(rdma.VerbRead, 2, placeRead, 2500, b, placeFrom),
		a.request(rdma.VerbFetchAdd, 3, 0, 0, b, placeWord),
		a.request(rdma.VerbSend, 4, placeFrom, 700, b, 0),
		flushOf(5),
	}
	wrs[3].Segs, wrs[3].Operand, wrs[1].Imm, wrs[4].Imm = 0, 5, 77, 78
	if n, err := a.q.Post(wrs); n != len(wrs) {
		return false, fmt.Errorf("posted %d: %w", n, err)
	}
	stop := time.AfterFunc(patience, func() { a.q.Abort(errors.New("out of patience")) })
	defer stop.Stop()
	next, received := uint64(0), uint64(100)
	for next < uint64(len(wrs)) || received < 102 {
		c, err := await(a.q)
		if err != nil {
			return failed, fmt.Errorf("%d requests and %d receives ended, then: %w", next, received-100, err)
		}
		if c.Verb == rdma.VerbReceive || c.Verb == rdma.VerbNotify {
			if c.ID != received {
				return failed, fmt.Errorf("received %+v, want ID %d", c, received)
			}
			received++
			failed = failed || c.Err != nil
			if err := checkReceived(a, b, &c); err != nil {
				return failed, err
			}
			continue
		}
		if c.ID != next || failed && c.Err == nil && received == 100 {
			return failed, fmt.Errorf("completed %+v, want ID %d", c, next)
		}
		next++
		failed = failed || c.Err != nil
		if c.ID == 2 && c.Err == nil && !bytes.Equal(a.mem[placeRead:placeRead+2500], b.mem[placeFrom:placeFrom+2500]) {
			return failed, errors.New("a read ended well, and brought something else")
		}
		if c.ID == 3 && c.Err == nil && c.Result != 37 {
			return failed, fmt.Errorf("an addition to 37 found %d", c.Result)
		}
		if c.ID == 5 && c.Err == nil && !failed && !bytes.Equal(b.mem[placeWritten:placeWritten+3200], a.mem[placeFrom:placeFrom+3200]) {
			return failed, errors.New("a flush ended well, and the writes before it are not in place")
		}
	}
	return failed, nil
}

// checkReceived looks at what a side received from its peer.
func checkReceived(a, b *end, c *rdma.Completion) error {
	switch {
	case c.Err != nil:
	case c.Verb == rdma.VerbNotify && (c.Imm != 77 || c.Bytes != 200):
		return fmt.Errorf("notified of %+v", *c)
	case c.Verb == rdma.VerbReceive && (c.Imm != 78 || c.Bytes != 700 || !bytes.Equal(a.mem[placeReceive+1024:placeReceive+1724], b.mem[placeFrom:placeFrom+700])):
		return fmt.Errorf("received %+v, or what was received is something else", *c)
	}
	return nil
}

// suffer runs work on both sides at once over a connection that comes to harm.
func suffer(t *testing.T, s shape, harm damage) (r *relay, failed bool) {
	t.Helper()
	r = &relay{harm: harm}
	s.conns = r.between(t)
	a, b := connectEnds(t, s)
	patience := 10 * time.Second
	if harm.kind == "stall" || harm.kind == "corrupt" {
		patience = 20 * time.Millisecond // nothing else ends what nobody hears of
	}
	for _, e := range []*end{a, b} {
		randomize(e.mem[:placeWritten], uint64(e.name[0]))
		binary.LittleEndian.PutUint64(e.mem[placeWord:], 37)
		e.receive(100, placeReceive, 1024)
		e.receive(101, placeReceive+1024, 1024)
	}
	fails := make(chan bool, 2)
	for _, d := range []struct{ from, to *end }{{a, b}, {b, a}} {
		go func() {
			failed, err := work(d.from, d.to, patience)
			if err != nil {
				t.Errorf("%+v: %s: %v", harm, d.from.name, err)
			}
			fails <- failed
		}()
	}
	failed = <-fails
	failed = <-fails || failed
	for _, e := range []*end{a, b} {
		if err := e.q.Close(); err != nil {
			t.Error(err)
		}
		for _, gap := range [][2]int{{placeWritten + 3200, placeWord}, {placeWord + 8, placeReceive}, {placeReceive + 1724, placeEnd}} {
			if !bytes.Equal(e.mem[gap[0]:gap[1]], make([]byte, gap[1]-gap[0])) {
				t.Errorf("%+v: %s: something was written where nothing belongs", harm, e.name)
			}
		}
	}
	r.end()
	return r, failed
}

// TestHarm cuts, closes, stalls and corrupts a connection after any number of bytes. All that was posted must end, what
// ends well must be right, and nothing may be left behind.
func TestHarm(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, name := range []string{"tcp, tiny, sums", "tcp, sums", "tcp, tiny", "tcp, polled, sums"} {
		t.Run(name, func(t *testing.T) {
			s := shapes[name]
			whole, failed := suffer(t, s, damage{})
			if failed {
				t.Fatal("it failed without any harm")
			}
			step := 127
			if testing.Short() {
				step = 401
			}
			for _, kind := range []string{"cut", "half-close", "stall", "corrupt", "drip"} {
				if kind == "corrupt" && !s.crc {
					continue
				}
				for way := range 2 {
					for after := 1; after < whole.passed[way]; after += step {
						_, failed := suffer(t, s, damage{kind: kind, forward: way == 0, after: after})
						if kind == "drip" {
							if failed {
								t.Error("it failed because it was slow")
							}
							break
						}
						if kind == "corrupt" && !failed {
							t.Errorf("%d bytes of %d, %v: what was corrupted did not fail", after, whole.passed[way], way == 0)
						}
					}
				}
			}
		})
	}
	leftover(t, before)
}

// leftover wants the goroutines of queues gone.
func leftover(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
		if time.Now().After(end) {
			stacks := make([]byte, 64<<10)
			stacks = stacks[:runtime.Stack(stacks, true)]
			if strings.Contains(string(stacks), "iwarp.(*queue)") {
				t.Errorf("left behind:\n%s", stacks)
			}
			return
		}
	}
}

package iwarp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

// counting is the provider, in whose domains addresses of this host count as sources.
type counting struct{ rdma.Provider }

type countingAdapter struct{ rdma.Adapter }

func (p counting) Open(ctx context.Context, name string, cfg *rdma.Config) (rdma.Adapter, error) {
	a, err := p.Provider.Open(ctx, name, cfg)
	return countingAdapter{a}, err
}

func (a countingAdapter) NewDomain() (rdma.ProtectionDomain, error) {
	pd, err := a.Adapter.NewDomain()
	if err == nil {
		iwarp.CountLoopback(pd)
	}
	return pd, err
}

// Sizes of the crowd.
const (
	honestPeers = 10
	honestWords = 512     // each honest peer's own part of the target's region
	baitWords   = 1 << 17 // 1 MiB that anybody may read
	sources     = 20      // addresses that hostile peers come from
	wave        = 100     // hostile peers at a time: two descriptors each
	held        = time.Second
)

// tally is how many peers of a kind got in, and how many did not, because their source had to wait.
type tally struct{ in, late atomic.Int64 }

// crowd is a target that many come to.
type crowd struct {
	t      *testing.T
	addr   string
	bait   barewire.Ref
	words  *barewire.Region[sample.Word, barewire.CPU, barewire.RemoteReadWriteAtomic]
	over   chan struct{} // closed when the hostile ones have all been
	rounds atomic.Int64
}

// TestHostileCrowd has 1,000 hostile peers (100 with -short), in waves, and 10 honest ones, who come before them, stay, and do
// all that they came for.
func TestHostileCrowd(t *testing.T) {
	hostile := 1000
	if testing.Short() {
		hostile = wave
	}
	before := runtime.NumGoroutine()
	t.Run("run", func(t *testing.T) {
		c := newCrowd(t)
		var most atomic.Uint64
		stop := watchMemory(&most)
		start := inUse()
		errs := make(chan error, honestPeers)
		for i := range honestPeers {
			go func() { errs <- c.honest(i) }()
		}
		kinds := make([]tally, len(villains))
		for n := range hostile / wave {
			var g sync.WaitGroup
			for i := range wave {
				// The first of each kind come from addresses of their own, and have time: nothing keeps them out.
				from, stay := net.IPv4(127, 0, 0, byte(2+i%sources)), held
				if n == 0 && i < len(villains) {
					from, stay = net.IPv4(127, 0, 1, byte(2+i)), patience
				}
				g.Go(func() { c.hostile(from, stay, &villains[i%len(villains)], &kinds[i%len(villains)]) })
			}
			g.Wait()
		}
		close(c.over)
		for range honestPeers {
			if err := <-errs; err != nil {
				t.Errorf("an honest peer: %v", err)
			}
		}
		stop()
		c.intact()
		late := int64(0)
		for i := range kinds {
			k := &kinds[i]
			t.Logf("%s: %d were let in, %d waited for as long as they stayed", villains[i].name, k.in.Load(), k.late.Load())
			if k.in.Load() == 0 && manySources {
				t.Errorf("nobody was let in of those with %s", villains[i].name)
			}
			late += k.late.Load()
		}
		if late == 0 && manySources && !testing.Short() {
			t.Error("no source had to wait, whatever it did")
		}
		t.Logf("%d rounds of the honest ones; memory from %d MiB to %d MiB", c.rounds.Load(), start>>20, most.Load()>>20)
		if grown := int64(most.Load()) - int64(start); grown > 256<<20 {
			t.Errorf("the memory in use grew by %d MiB", grown>>20)
		}
	})
	noLeak(t, before)
}

// newCrowd makes the target.
func newCrowd(t *testing.T) *crowd {
	ctx := soon(t)
	dev := must(rdma.Open(ctx, rdma.Config{Provider: counting{iwarp.New(iwarp.Options{})}, Logger: quiet, HandshakeTimeout: 5 * time.Second}))(t)
	t.Cleanup(func() { ok(t, dev.Close()) })
	dom := must(dev.Domain())(t)
	c := &crowd{t: t, over: make(chan struct{})}
	c.words = must(rdma.Register(dom, must(barewire.New(sample.WordInCPU(), honestPeers*honestWords))(t), sample.WordRemoteReadWriteAtomic()))(t)
	bait := must(rdma.Register(dom, must(barewire.New(sample.WordInCPU(), baitWords))(t), sample.WordRemoteRead()))(t)
	t.Cleanup(func() { _, _ = c.words.Close(), bait.Close() })
	ok(t, c.bait.Decode(must(barewire.AppendRemote(nil, must(rdma.RemoteOf(bait))(t)))(t)))
	ln := must(dom.Listen(ctx, ""))(t)
	c.addr = ln.Addr()
	var serving sync.WaitGroup
	accepting, end := context.WithCancel(context.Background())
	serving.Go(func() {
		for {
			conn, err := ln.Accept(accepting)
			if accepting.Err() != nil {
				return
			}
			if err == nil {
				serving.Go(func() { c.host(accepting, conn) })
			}
		}
	})
	t.Cleanup(func() { end(); serving.Wait(); _ = ln.Close() })
	return c
}

// host serves one connection until it ends: it offers the words to those who can ask, and closes.
func (c *crowd) host(ctx context.Context, conn *rdma.Conn) {
	defer conn.Close()
	if !conn.Plain() {
		_ = rdma.Offer(ctx, conn, "words", c.words)
	}
	buf := make([]byte, 4096)
	for {
		if _, err := conn.Receive(ctx, buf); err != nil {
			return
		}
	}
}

// honest writes to its own part of the words, reads it back and counts, for as long as there are hostile peers.
func (c *crowd) honest(i int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	dev, err := rdma.Open(ctx, rdma.Config{Provider: iwarp.New(iwarp.Options{}), Logger: quiet})
	if err != nil {
		return err
	}
	defer dev.Close()
	dom, err := dev.Domain()
	if err != nil {
		return err
	}
	r, err := barewire.New(sample.WordInCPU(), 2*honestWords)
	if err != nil {
		return err
	}
	local, err := rdma.Register(dom, r, sample.WordLocal())
	if err != nil {
		return errors.Join(err, r.Close())
	}
	defer local.Close()
	conn, err := dom.Dial(ctx, c.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	all, err := rdma.Import(ctx, conn, "words", sample.WordRemoteReadWriteAtomic())
	if err != nil {
		return err
	}
	rem := all.Slice(i*honestWords, honestWords)
	for round := uint64(1); ; round++ {
		if err := c.round(ctx, conn, local, rem, round); err != nil {
			return fmt.Errorf("peer %d, round %d: %w", i, round, err)
		}
		c.rounds.Add(1)
		select {
		case <-c.over:
			if round >= 10 {
				return nil
			}
		case <-time.After(time.Millisecond):
		}
	}
}

func (c *crowd) round(ctx context.Context, conn *rdma.Conn, local *barewire.Region[sample.Word, barewire.CPU, barewire.Local],
	rem barewire.Remote[sample.Word, barewire.RemoteReadWriteAtomic], round uint64) error {
	fill := func(w sample.WordWindow[barewire.Local]) error {
		for i := range honestWords {
			sample.WordAt(w, i).SetValue(round<<32 | uint64(i))
			sample.WordAt(w, honestWords+i).SetValue(0)
		}
		return nil
	}
	check := func(w sample.WordWindow[barewire.Local]) error {
		for i := range honestWords {
			want := round<<32 | uint64(i)
			if i == 0 {
				want++ // it was counted
			}
			if got := sample.WordAt(w, honestWords+i).Value(); got != want {
				return fmt.Errorf("word %d is %#x, want %#x", i, got, want)
			}
		}
		return nil
	}
	if err := barewire.With(local, fill); err != nil {
		return err
	}
	if _, err := rdma.Write(conn, rem, local.Span(0, honestWords)); err != nil {
		return err
	}
	add, err := rdma.FetchAdd(conn, sample.WordValueOf(rem, 0), 1)
	if err != nil {
		return err
	}
	if old, err := add.Wait(ctx); err != nil || old != round<<32 {
		return fmt.Errorf("counted %#x: %w", old, err)
	}
	read, err := rdma.Read(conn, local.Span(honestWords, honestWords), rem)
	if err != nil {
		return err
	}
	if err := read.Wait(ctx); err != nil {
		return err
	}
	return barewire.With(local, check)
}

// intact wants the words to be what the honest peers wrote last.
func (c *crowd) intact() {
	ok(c.t, barewire.With(c.words, func(w sample.WordWindow[barewire.RemoteReadWriteAtomic]) error {
		for i := range honestPeers * honestWords {
			v := sample.WordAt(w, i).Value()
			if n := uint64(i % honestWords); v>>32 == 0 || n > 0 && v&(1<<32-1) != n {
				return fmt.Errorf("word %d is %#x", i, v)
			}
		}
		return nil
	}))
}

// villain is a kind of hostile peer: what it does on a connection, until it has done it, or for as long as it is let.
// It reports whether it could before it left.
type villain struct {
	name string
	do   func(c *crowd, f *foreign, stay time.Duration) bool
}

var villains = []villain{
	{"garbage to begin with", start(func(c *crowd, f *foreign) {
		b := make([]byte, 4096)
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		_, _ = f.conn.Write(b)
		f.linger()
	})},
	{"silence", start(func(c *crowd, f *foreign) { f.linger() })},
	{"a drip", start(func(c *crowd, f *foreign) {
		for _, b := range []byte("MPA ID Req Frame") {
			if _, err := f.conn.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(held / 16)
		}
	})},
	{"a request for markers", start(func(c *crowd, f *foreign) {
		f.greet("Req", startup{flags: mpaMarkers | mpaCRC | mpaEnhanced, revision: 2, private: depths})
		f.linger()
	})},
	{"a key that was guessed", goodStart(func(c *crowd, f *foreign) {
		f.put(tagged(ddpLast, opWrite, rand.Uint32(), rand.Uint64(), make([]byte, 64)))
		f.linger()
	})},
	{"a good key, out of bounds", goodStart(func(c *crowd, f *foreign) {
		f.put(f.message(opReadRequest, 0, 1, readRequest(1, 0, baitWords*8, c.bait.Key, c.bait.Addr+8)))
		f.linger()
	})},
	{"a good key, without the right", goodStart(func(c *crowd, f *foreign) {
		f.put(tagged(ddpLast, opWrite, c.bait.Key, c.bait.Addr, make([]byte, 64)))
		f.linger()
	})},
	{"half a frame", goodStart(func(c *crowd, f *foreign) {
		_, _ = f.conn.Write(f.frame(tagged(ddpLast, opWrite, c.bait.Key, c.bait.Addr, make([]byte, 1000)))[:500])
		time.Sleep(held)
	})},
	{"reads whose answers it does not read", goodStart(func(c *crowd, f *foreign) {
		for range 16 {
			f.put(f.message(opReadRequest, 0, 1, readRequest(1, 0, baitWords*8, c.bait.Key, c.bait.Addr)))
		}
		time.Sleep(held)
	})},
	{"a flood of reads", goodStart(func(c *crowd, f *foreign) {
		_ = f.conn.SetWriteDeadline(time.Now().Add(held))
		for range 10000 {
			b := f.frame(f.message(opReadRequest, 0, 1, readRequest(1, 0, baitWords*8, c.bait.Key, c.bait.Addr)))
			if _, err := f.conn.Write(b); err != nil {
				return
			}
		}
	})},
	{"a flood of messages", goodStart(func(c *crowd, f *foreign) {
		_ = f.conn.SetWriteDeadline(time.Now().Add(held))
		for range 10000 {
			if _, err := f.conn.Write(f.frame(f.message(opSend, 0, 0, make([]byte, 1400)))); err != nil {
				return
			}
		}
	})},
	{"a message without an end", goodStart(func(c *crowd, f *foreign) {
		_ = f.conn.SetWriteDeadline(time.Now().Add(held))
		for mo := uint32(0); mo < 64<<20; mo += 1400 {
			if _, err := f.conn.Write(f.frame(untagged(0, opSend, [4]uint32{0, 0, 1, mo}, make([]byte, 1400)))); err != nil {
				return
			}
		}
	})},
	{"a reset", goodStart(func(c *crowd, f *foreign) {
		_ = f.conn.(*net.TCPConn).SetLinger(0)
	})},
}

// start is a peer that does not wait to be let in.
func start(then func(*crowd, *foreign)) func(*crowd, *foreign, time.Duration) bool {
	return func(c *crowd, f *foreign, _ time.Duration) bool { then(c, f); return true }
}

// goodStart is a handshake as it should be, and then what follows, unless its source has to wait for longer than it
// stays.
func goodStart(then func(*crowd, *foreign)) func(*crowd, *foreign, time.Duration) bool {
	return func(c *crowd, f *foreign, stay time.Duration) bool {
		f.crc = true
		f.greet("Req", startup{flags: mpaCRC | mpaEnhanced, revision: 2, private: depths})
		_ = f.conn.SetReadDeadline(time.Now().Add(stay))
		if _, err := io.ReadFull(f.conn, make([]byte, 24)); err != nil {
			return false
		}
		f.put(tagged(ddpLast, opWrite, 0, 0, nil))
		then(c, f)
		return true
	}
}

// linger reads what comes until the target ends the connection, or it is time to go.
func (f *foreign) linger() {
	_ = f.conn.SetReadDeadline(time.Now().Add(held))
	b := make([]byte, 4096)
	for {
		if _, err := f.conn.Read(b); err != nil {
			return
		}
	}
}

// hostile is one of them, from an address.
func (c *crowd) hostile(from net.IP, stay time.Duration, v *villain, k *tally) {
	d := net.Dialer{Timeout: 5 * time.Second}
	if manySources {
		d.LocalAddr = &net.TCPAddr{IP: from}
	}
	conn, err := d.Dial("tcp", c.addr)
	if err != nil {
		return
	}
	defer conn.Close()
	if v.do(c, &foreign{conn: conn}, stay) {
		k.in.Add(1)
	} else {
		k.late.Add(1)
	}
}

// watchMemory notes the most memory that is in use, until stop is called.
func watchMemory(most *atomic.Uint64) (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			if v := inUse(); v > most.Load() {
				most.Store(v)
			}
			select {
			case <-end:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() { close(end); <-done }
}

// inUse is the memory of the program.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

package rdma_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// version is a tick all of whose fields say which it is.
func version(v uint64) (x sample.Tick) {
	x.Price, x.Qty, x.Time = float64(v), float64(v), int64(v)
	x.Hits, x.Venue, x.Flags = uint32(v), uint32(v), uint32(v)
	for i := range x.Rest {
		x.Rest[i] = byte(v)
	}
	return x
}

// torn reports whether a tick is of no one version.
func torn(x *sample.Tick) bool {
	want := version(uint64(x.Time))
	want.Seq = x.Seq
	return !x.Equal(&want)
}

// wholes are two sides: a has the ticks, b reaches them.
type wholes struct {
	*pair
	target *barewire.Region[sample.Tick, barewire.CPU, barewire.RemoteReadWrite]
	local  *barewire.Region[sample.Tick, barewire.CPU, barewire.Local]
	rem    barewire.Remote[sample.Tick, barewire.RemoteReadWrite]
}

func newWholes(w *world, cfg rdma.Config) *wholes {
	w.Helper()
	s := &wholes{pair: meet(w.T, w.config(cfg), w.address())}
	s.fabric = w.fabric
	s.target = ticks(w.T, s.a.dom, 16, sample.TickRemoteReadWrite())
	s.local = ticks(w.T, s.b.dom, 16, sample.TickLocal())
	s.rem = share(w.T, &s.a, &s.b, "ticks", s.target, sample.TickRemoteReadWrite())
	return s
}

// load is a local element.
func (s *wholes) load(t testing.TB, i int) (x sample.Tick) {
	t.Helper()
	ok(t, barewire.With(s.local, func(w sample.TickWindow[barewire.Local]) error {
		sample.TickAt(w, i).Load(&x)
		return nil
	}))
	return x
}

// moves are how the stress moves elements between the sides.
type moves struct {
	read, write func(ctx context.Context, s *wholes, at int) error
	tears       bool // it is wrong, and counted and no error
}

var (
	whole = moves{
		read: func(ctx context.Context, s *wholes, at int) error {
			return rdma.ReadWhole(ctx, s.b.conn, s.local.Span(at, 8), s.rem.Slice(at, 8))
		},
		write: func(ctx context.Context, s *wholes, at int) error {
			return rdma.WriteWhole(ctx, s.b.conn, s.rem.Slice(at, 8), s.local.Span(at, 8))
		},
	}
	plain = moves{
		read: func(ctx context.Context, s *wholes, at int) error {
			op, err := rdma.Read(s.b.conn, s.local.Span(at, 8), s.rem.Slice(at, 8))
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		},
		write: func(ctx context.Context, s *wholes, at int) error {
			op, err := rdma.Write(s.b.conn, s.rem.Slice(at, 8), s.local.Span(at, 8))
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		},
		tears: true,
	}
)

// TestPlainTears: the stress finds what it is for, where operations do not heed the sequence.
func TestPlainTears(t *testing.T) {
	if raceEnabled || runtime.GOMAXPROCS(0) == 1 {
		t.Skip("it is wrong on purpose, which the race detector says itself; and needs two processors")
	}
	for range 20 {
		if stressWholes(t, newWholes(softWorld(t, soft.Config{Seed: 1}), rdma.Config{}), plain) > 0 {
			return
		}
	}
	t.Error("no element was torn, with operations that look at no sequence")
}

// TestWholeStress has elements written all the while, by their owner and from afar, and read by
// the other side. None may be torn.
func TestWholeStress(t *testing.T) {
	worlds := map[string]func(t *testing.T) *world{
		"soft": func(t *testing.T) *world { return softWorld(t, soft.Config{Seed: 1}) },
		"soft, reordered": func(t *testing.T) *world {
			return softWorld(t, soft.Config{Seed: uint64(time.Now().UnixNano()), Reorder: true})
		},
	}
	for name, open := range otherWorlds {
		worlds[name] = open
	}
	for name, open := range worlds {
		t.Run(name, func(t *testing.T) {
			for _, depth := range []int{0, 1, 5} {
				stressWholes(t, newWholes(open(t), rdma.Config{Depth: depth}), whole)
			}
		})
	}
}

// stressWholes: of the 16 elements the owner writes the first eight, and its peer the last. It counts what is torn.
func stressWholes(t *testing.T, s *wholes, by moves) (wrong int64) {
	ctx, cancel := context.WithTimeout(limit(t), 300*time.Millisecond)
	defer cancel()
	owner := must(barewire.Open(s.target))(t)
	mine := must(barewire.Open(s.local))(t)
	defer owner.Close()
	defer mine.Close()
	var workers sync.WaitGroup
	var count [4]int
	var tears atomic.Int64
	check := func(x *sample.Tick) {
		if !torn(x) {
			return
		}
		if tears.Add(1); !by.tears {
			t.Errorf("an element is torn: %+v", *x)
		}
	}
	loop := func(n *int, f func(v uint64) error) {
		workers.Go(func() {
			for v := uint64(1); v == 1 || ctx.Err() == nil; v++ { // once on any machine
				if err := f(v); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
					return
				}
				*n++
				runtime.Gosched()
			}
		})
	}
	loop(&count[0], func(v uint64) error {
		x := version(v)
		return sample.TickPublish(owner, int(v%8), &x)
	})
	loop(&count[1], func(uint64) error {
		if err := by.read(ctx, s, 0); err != nil {
			return err
		}
		for i := range 8 {
			var x sample.Tick
			sample.TickAt(mine, i).Load(&x)
			check(&x)
		}
		return nil
	})
	loop(&count[2], func(v uint64) error {
		for i := range 8 {
			x := version(v + uint64(i))
			sample.TickAt(mine, 8+i).Store(&x)
		}
		return by.write(ctx, s, 8)
	})
	loop(&count[3], func(v uint64) error {
		var x sample.Tick
		_, err := sample.TickSnapshot(owner, 8+int(v%8), &x)
		if err == nil {
			check(&x)
		}
		return err
	})
	workers.Wait()
	t.Logf("%d published, %d times eight read, %d times eight written, %d snapshots", count[0], count[1], count[2], count[3])
	for i, n := range count {
		if n == 0 {
			t.Errorf("worker %d did nothing", i)
		}
	}
	return tears.Load()
}

// unstable has f wait for an element that does not become whole, the longer the slower the machine is: until it has looked.
func unstable(t testing.TB, f func(ctx context.Context) error) error {
	t.Helper()
	for wait := 20 * time.Millisecond; ; wait *= 2 {
		ctx, cancel := context.WithTimeout(limit(t), wait)
		err := f(ctx)
		cancel()
		if errors.Is(err, barewire.ErrUnstable) || wait > 5*time.Second {
			return err
		}
	}
}

// TestPlainReadTears: what ReadWhole is for. The owner is in the midst of an element.
func TestPlainReadTears(t *testing.T) {
	s := newWholes(softWorld(t, soft.Config{Seed: 1}), rdma.Config{})
	w := must(barewire.Open(s.target))(t)
	defer w.Close()
	x := version(1)
	ok(t, sample.TickPublish(w, 3, &x))
	sample.TickSeqAtomic(w, 3).Add(1)
	sample.TickHitsAtomic(w, 3).Store(2)

	ok(t, must(rdma.Read(s.b.conn, s.local.Span(0, 1), s.rem.Slice(3, 1)))(t).Wait(limit(t)))
	if x := s.load(t, 0); !torn(&x) {
		t.Fatalf("a plain read is whole: %+v", x)
	}

	err := unstable(t, func(ctx context.Context) error {
		return rdma.ReadWhole(ctx, s.b.conn, s.local.Span(0, 8), s.rem.Slice(0, 8))
	})
	refused(t, err, barewire.ErrUnstable, "read of whole elements of 64 bytes", `element 3 of "ticks" (sample.Tick, remote_read|remote_write)`,
		"region of sample.Tick made at rdma/", "posted at rdma/whole_test.go:", "its sequence was 3 at last", "its writer")
	is(t, err, context.DeadlineExceeded)

	done := make(chan error)
	go func() { done <- rdma.ReadWhole(limit(t), s.b.conn, s.local.Span(0, 8), s.rem.Slice(0, 8)) }()
	select {
	case err := <-done:
		t.Fatalf("it read an element that is being written: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	sample.TickHitsAtomic(w, 3).Store(1)
	sample.TickSeqAtomic(w, 3).Add(1)
	ok(t, <-done)
	if x := s.load(t, 3); torn(&x) || x.Seq != 4 {
		t.Errorf("got %+v", x)
	}
}

// TestWriteWholeWaits for an element that another writes, and leaves it alone when ctx ends first.
func TestWriteWholeWaits(t *testing.T) {
	s := newWholes(softWorld(t, soft.Config{Seed: 1}), rdma.Config{})
	w := must(barewire.Open(s.target))(t)
	defer w.Close()
	sample.TickSeqAtomic(w, 2).Add(1)
	err := unstable(t, func(ctx context.Context) error {
		return rdma.WriteWhole(ctx, s.b.conn, s.rem.Slice(0, 3), s.local.Span(0, 3))
	})
	refused(t, err, barewire.ErrUnstable, "write of whole elements", `element 2 of "ticks"`, "posted at rdma/whole_test.go:")
	for i, want := range []uint64{0, 0, 1} {
		if got := sample.TickSeqLoad(w, i); got != want {
			t.Errorf("element %d has sequence %d, want %d", i, got, want)
		}
	}
	ended, end := context.WithCancel(limit(t))
	end()
	is(t, rdma.WriteWhole(ended, s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)), context.Canceled)
	if got := sample.TickSeqLoad(w, 0); got != 0 {
		t.Errorf("the sequence is %d", got)
	}
}

// TestWriteWholeIsEnded, once it was begun, though ctx is over.
func TestWriteWholeIsEnded(t *testing.T) {
	s := newWholes(softWorld(t, soft.Config{Seed: 1}), rdma.Config{})
	rule := s.fabric.Inject(soft.Fault{When: soft.When{At: soft.AtRequest, Verb: rdma.VerbWrite}, Do: soft.Stall()})
	ctx, cancel := context.WithCancel(limit(t))
	done := make(chan error)
	go func() { done <- rdma.WriteWhole(ctx, s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)) }()
	soon(t, func() bool { return rule.Hits() > 0 })
	cancel()
	time.Sleep(5 * time.Millisecond)
	rule.Remove()
	ok(t, <-done)
	w := must(barewire.Open(s.target))(t)
	defer w.Close()
	if got := sample.TickSeqLoad(w, 0); got != 2 {
		t.Errorf("the sequence is %d", got)
	}
}

// TestWholeFails names the operation that failed, and what it may have left.
func TestWholeFails(t *testing.T) {
	for nth, odd := range []bool{false, true, true} {
		s := newWholes(softWorld(t, soft.Config{Seed: 1}), rdma.Config{})
		verb := rdma.VerbRead
		if nth > 0 {
			verb = rdma.VerbWrite
		}
		s.fabric.Inject(soft.Fault{When: soft.When{At: soft.AtRequest, Verb: verb, Nth: max(nth, 1)}, Do: soft.Fail(rdma.StatusRemoteRight)})
		err := rdma.WriteWhole(limit(t), s.b.conn, s.rem.Slice(5, 1), s.local.Span(0, 1))
		refused(t, err, rdma.ErrRights, `of element 5 of "ticks"`, "posted at rdma/whole_test.go:")
		if got := strings.Contains(err.Error(), "odd sequence"); got != odd {
			t.Errorf("after %d: %v", nth, err)
		}
	}
}

// TestWholeLines: calls that ended before their operations keep their words until these end.
func TestWholeLines(t *testing.T) {
	s := newWholes(softWorld(t, soft.Config{Seed: 1}), rdma.Config{})
	rule := s.fabric.Inject(soft.Fault{When: soft.When{At: soft.AtRequest, Verb: rdma.VerbRead}, Do: soft.Stall()})
	for i := range 20 {
		ctx, cancel := context.WithTimeout(limit(t), time.Millisecond)
		err := rdma.ReadWhole(ctx, s.b.conn, s.local.Span(0, 1), s.rem.Slice(0, 1))
		is(t, err, context.DeadlineExceeded)
		if full := strings.Contains(err.Error(), "as many as can at once"); full != (i >= 16) {
			t.Errorf("call %d: %v", i, err)
		}
		if errors.Is(err, barewire.ErrUnstable) {
			t.Errorf("nothing was read: %v", err)
		}
		cancel()
	}
	is(t, s.local.Close(), barewire.ErrInFlight)
	rule.Remove()
	for range 20 {
		ok(t, rdma.ReadWhole(limit(t), s.b.conn, s.local.Span(0, 1), s.rem.Slice(0, 1)))
	}
	ok(t, s.local.Close())
}

// TestWholeRefused: what is refused is refused before anything is posted.
func TestWholeRefused(t *testing.T) {
	s := newWholes(softWorld(t, soft.Config{Seed: 1}), rdma.Config{})
	ctx := limit(t)
	other := ticks(t, s.a.dom, 4, sample.TickLocal())
	for _, c := range []struct {
		err  error
		want error
	}{
		{rdma.ReadWhole(ctx, nil, s.local.Span(0, 1), s.rem.Slice(0, 1)), rdma.ErrClosed},
		{rdma.ReadWhole(ctx, new(rdma.Conn), s.local.Span(0, 1), s.rem.Slice(0, 1)), rdma.ErrClosed},
		{rdma.ReadWhole(ctx, s.b.conn, s.local.Span(0, 2), s.rem.Slice(0, 1)), rdma.ErrLength},
		{rdma.ReadWhole(ctx, s.b.conn, s.local.Span(0, 0), s.rem.Slice(0, 0)), rdma.ErrEmpty},
		{rdma.WriteWhole(ctx, s.b.conn, s.rem.Slice(15, 2), s.local.Span(0, 2)), barewire.ErrRange},
		{rdma.WriteWhole(ctx, s.b.conn, s.rem.Slice(0, 1), other.Span(0, 1)), rdma.ErrDomain},
		{rdma.WriteWhole(ctx, s.b.conn, barewire.Remote[sample.Tick, barewire.RemoteReadWrite]{}, other.Span(0, 1)), barewire.ErrNoRemote},
	} {
		refused(t, c.err, c.want, "of whole elements", "posted at rdma/whole_test.go:")
	}
	if got := s.b.conn.Stats().Posted[rdma.VerbRead]; got != 0 {
		t.Errorf("%d reads were posted", got)
	}
	ok(t, s.b.conn.Close())
	refused(t, rdma.ReadWhole(ctx, s.b.conn, s.local.Span(0, 1), s.rem.Slice(0, 1)), rdma.ErrClosed, "of whole elements")
}

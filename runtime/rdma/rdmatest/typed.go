package rdmatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// The checks of this file use the provider as programs do, through package rdma.
var typedChecks = []check{
	{"typed-verbs", checkTypedVerbs},
	{"typed-messages", checkTypedMessages},
	{"typed-mistakes", checkTypedMistakes},
	{"typed-forged", checkTypedForged},
	{"typed-revoked", checkTypedRevoked},
	{"typed-granted-again", checkTypedGrantedAgain},
	{"typed-ends", checkTypedEnds},
	{"typed-close-in-traffic", checkTypedCloseInTraffic},
	{"typed-several-goroutines", checkTypedSeveral},
}

// The type of the elements that tests use, and its regions.
type (
	tick            = sample.Tick
	localTicks      = barewire.Region[tick, barewire.CPU, barewire.Local]
	everyTicks      = barewire.Region[tick, barewire.CPU, barewire.RemoteReadWriteAtomic]
	everyTickRemote = barewire.Remote[tick, barewire.RemoteReadWriteAtomic]
)

// typed is a program's view of a connection: a dials b, which has a region that a imports.
type typed struct {
	t      *testing.T
	a, b   typedSide
	local  *localTicks // of a
	target *everyTicks // of b
	rem    everyTickRemote

	noAtomics bool
}

type typedSide struct {
	dev  *rdma.Device
	dom  *rdma.Domain
	conn *rdma.Conn
}

const typedCount = 64

func openTyped(t *testing.T, f *Factory, cfg rdma.Config) *typed {
	t.Helper()
	p := &typed{t: t, noAtomics: f.NoAtomics != ""}
	cfg.Provider, cfg.Device, cfg.Logger = f.Provider, f.Device, slog.New(slog.DiscardHandler)
	if f.NoAtomics != "" {
		cfg.Provider = WithoutAtomics(f.Provider)
	}
	for _, s := range []*typedSide{&p.a, &p.b} {
		var err error
		s.dev, err = rdma.Open(ctx(t), cfg)
		must(t, err)
		t.Cleanup(func() { must(t, s.dev.Close()) })
		s.dom, err = s.dev.Domain()
		must(t, err)
	}
	p.join(f)
	p.local = register(t, p.a.dom, sample.TickLocal())
	p.target = register(t, p.b.dom, sample.TickRemoteReadWriteAtomic())
	must(t, rdma.Offer(ctx(t), p.b.conn, "ticks", p.target))
	var err error
	p.rem, err = rdma.Import(ctx(t), p.a.conn, "ticks", sample.TickRemoteReadWriteAtomic())
	must(t, err)
	return p
}

// join connects the two sides.
func (p *typed) join(f *Factory) {
	p.t.Helper()
	ln, err := p.b.dom.Listen(ctx(p.t), f.address(p.t))
	must(p.t, err)
	accepted := make(chan error, 1)
	go func() {
		var err error
		p.b.conn, err = ln.Accept(ctx(p.t))
		accepted <- err
	}()
	p.a.conn, err = p.a.dom.Dial(ctx(p.t), ln.Addr())
	must(p.t, err)
	must(p.t, <-accepted)
	must(p.t, ln.Close())
}

// register makes a region. It is closed with the test, if it was not before.
func register[A barewire.Registered](t testing.TB, dom *rdma.Domain, g barewire.Grant[tick, A]) *barewire.Region[tick, barewire.CPU, A] {
	t.Helper()
	r, err := barewire.New(sample.TickInCPU(), typedCount)
	must(t, err)
	mr, err := rdma.Register(dom, r, g)
	must(t, err)
	t.Cleanup(func() {
		if err := mr.Close(); err != nil && !errors.Is(err, barewire.ErrReleased) && !errors.Is(err, barewire.ErrMoved) {
			t.Errorf("close a region: %v", err)
		}
	})
	return mr
}

func setPrice[A barewire.Access](t testing.TB, r *barewire.Region[tick, barewire.CPU, A], i int, v float64) {
	t.Helper()
	must(t, barewire.With(r, func(w barewire.Window[tick, A]) error {
		sample.TickAt(w, i).SetPrice(v)
		return nil
	}))
}

func price[A barewire.Access](t testing.TB, r *barewire.Region[tick, barewire.CPU, A], i int) (v float64) {
	t.Helper()
	must(t, barewire.With(r, func(w barewire.Window[tick, A]) error {
		v = sample.TickAt(w, i).Price()
		return nil
	}))
	return v
}

// wait waits for an operation that was posted without an error.
func wait(t testing.TB, op rdma.Op, err error) {
	t.Helper()
	must(t, err)
	must(t, op.Wait(ctx(t)))
}

func checkTypedVerbs(t *testing.T, f *Factory) {
	p := openTyped(t, f, rdma.Config{})
	c := p.a.conn
	for i := range typedCount {
		setPrice(t, p.local, i, float64(i)+0.5)
	}
	op, err := rdma.Write(c, p.rem.Slice(10, 20), p.local.Span(30, 20))
	wait(t, op, err)
	must(t, c.Flush(ctx(t)))
	for i, want := range map[int]float64{9: 0, 10: 30.5, 29: 49.5, 30: 0} {
		if got := price(t, p.target, i); got != want {
			t.Errorf("the element %d at the peer has the price %v, want %v", i, got, want)
		}
	}
	op, err = rdma.Read(c, p.local.Span(0, 2), p.rem.Slice(28, 2))
	wait(t, op, err)
	if got := price(t, p.local, 1); got != 49.5 {
		t.Errorf("read the price %v, want 49.5", got)
	}
	p.checkAtomics()
	b := c.Batch()
	var ops []rdma.Op
	for i := range 8 {
		op, err := rdma.Write(b, p.rem.Slice(40+i, 1), p.local.Span(50+i, 1))
		must(t, err)
		ops = append(ops, op)
	}
	must(t, b.Post())
	for _, op := range ops {
		must(t, op.Wait(ctx(t)))
	}
	must(t, c.Flush(ctx(t)))
	if got := price(t, p.target, 47); got != 57.5 {
		t.Errorf("the last of a batch is %v, want 57.5", got)
	}
	if s := c.Stats(); s.Violations != 0 || s.InFlight != 0 || s.Failed != 0 {
		t.Errorf("the witness saw %+v", s)
	}
}

// checkAtomics adds and swaps. Where there are no atomics they are refused, and the connection goes on.
func (p *typed) checkAtomics() {
	t, c := p.t, p.a.conn
	t.Helper()
	seq := sample.TickSeqOf(p.rem, 3)
	added, err := rdma.FetchAdd(c, seq, 5)
	if p.noAtomics {
		_, swap := rdma.CompareAndSwap(c, seq, 5, 9)
		if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(swap, errors.ErrUnsupported) || c.Err() != nil {
			t.Errorf("atomics where there are none: %v and %v, want errors.ErrUnsupported; the connection: %v", err, swap, c.Err())
		}
		return
	}
	must(t, err)
	swapped, err := rdma.CompareAndSwap(c, seq, 5, 9)
	must(t, err)
	was, err := added.Wait(ctx(t))
	must(t, err)
	then, err := swapped.Wait(ctx(t))
	must(t, err)
	if was != 0 || then != 5 {
		t.Errorf("atomics found %d and %d, want 0 and 5", was, then)
	}
}

func checkTypedMessages(t *testing.T, f *Factory) {
	p := openTyped(t, f, rdma.Config{})
	const n = 300 // more than there are credits
	sent := make(chan error, 1)
	go func() {
		for i := range n {
			if err := p.a.conn.SendBytes(ctx(t), fmt.Appendf(nil, "message %d", i)); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	buf := make([]byte, 100)
	for i := range n {
		m, err := p.b.conn.Receive(ctx(t), buf)
		must(t, err)
		if want := fmt.Sprintf("message %d", i); string(buf[:m]) != want {
			t.Fatalf("received %q, want %q", buf[:m], want)
		}
	}
	must(t, <-sent)
	setPrice(t, p.local, 0, 7)
	must(t, p.a.conn.WaitCredit(ctx(t))) // the peer has taken all, and perhaps not said so yet
	op, err := rdma.WriteNotify(p.a.conn, p.rem.Slice(5, 1), p.local.Span(0, 1), 4711)
	must(t, err)
	note, err := p.b.conn.NextNotification(ctx(t))
	must(t, err)
	if note.Imm != 4711 || price(t, p.target, 5) != 7 {
		t.Errorf("notified of %+v; the element is %v", note, price(t, p.target, 5))
	}
	must(t, op.Wait(ctx(t)))
}

// checkTypedMistakes has what is refused before it is posted: with the reason, the place and the
// region, and no harm to the connection.
func checkTypedMistakes(t *testing.T, f *Factory) {
	p := openTyped(t, f, rdma.Config{})
	c := p.a.conn
	closed := register(t, p.a.dom, sample.TickLocal())
	span := closed.Span(0, 1)
	must(t, closed.Close())
	var zero everyTickRemote
	for name, m := range map[string]struct {
		post func() (rdma.Op, error)
		want error
		says string
	}{
		"lengths differ": {func() (rdma.Op, error) { return rdma.Write(c, p.rem.Slice(0, 3), p.local.Span(0, 2)) }, rdma.ErrLength, "128 bytes"},
		"nothing":        {func() (rdma.Op, error) { return rdma.Write(c, p.rem.Slice(0, 0), p.local.Span(0, 0)) }, rdma.ErrEmpty, "sample.Tick"},
		"local range":    {func() (rdma.Op, error) { return rdma.Read(c, p.local.Span(60, 5), p.rem.Slice(0, 5)) }, barewire.ErrRange, "5 elements from 60 on"},
		"remote range":   {func() (rdma.Op, error) { return rdma.Read(c, p.local.Span(0, 5), p.rem.Slice(60, 5)) }, barewire.ErrRange, "5 elements from 60 on"},
		"no reference":   {func() (rdma.Op, error) { return rdma.Read(c, p.local.Span(0, 1), zero) }, barewire.ErrNoRemote, "refers to nothing"},
		"closed region":  {func() (rdma.Op, error) { return rdma.Write(c, p.rem.Slice(0, 1), span) }, barewire.ErrReleased, "it was released at"},
		"other's region": {func() (rdma.Op, error) { return rdma.Write(c, p.rem.Slice(0, 1), p.target.Span(0, 1)) }, rdma.ErrDomain, "sample.Tick"},
		"no connection":  {func() (rdma.Op, error) { return rdma.Read((*rdma.Conn)(nil), p.local.Span(0, 1), p.rem.Slice(0, 1)) }, rdma.ErrClosed, ""},
	} {
		_, err := m.post()
		if oe := (*rdma.OpError)(nil); !errors.Is(err, m.want) || !errors.As(err, &oe) || !strings.Contains(err.Error(), m.says) {
			t.Errorf("%s: got %v, want %v, saying %q", name, err, m.want, m.says)
		}
	}
	if _, err := rdma.Import(ctx(t), c, "ticks", sample.SensorRemoteRead()); !errors.Is(err, rdma.ErrSchema) {
		t.Errorf("an import as another type: got %v, want %v", err, rdma.ErrSchema)
	}
	must(t, c.Flush(ctx(t)))
	op, err := rdma.Write(c, p.rem.Slice(0, 1), p.local.Span(0, 1))
	wait(t, op, err)
}

// checkTypedForged uses references that claim more than was granted, or a place that is not
// the region's: the target must refuse them.
func checkTypedForged(t *testing.T, f *Factory) {
	for name, forge := range map[string]struct {
		change func(ref *barewire.Ref)
		want   error
	}{
		"rights":   {func(*barewire.Ref) {}, rdma.ErrRights},
		"range":    {func(ref *barewire.Ref) { ref.Addr += 1 << 40 }, barewire.ErrRange},
		"key":      {func(ref *barewire.Ref) { ref.Key ^= 0x5a5a5a5a }, rdma.ErrRevoked},
		"epoch":    {func(ref *barewire.Ref) { ref.Epoch++ }, rdma.ErrRevoked},
		"wrapping": {func(ref *barewire.Ref) { ref.Addr = -ref.Addr }, barewire.ErrRange},
	} {
		t.Run(name, func(t *testing.T) {
			p := openTyped(t, f, rdma.Config{})
			raw, err := barewire.AppendRemote(nil, p.rem)
			if name == "rights" {
				raw, err = p.readOnly()
			}
			must(t, err)
			var ref barewire.Ref
			must(t, ref.Decode(raw))
			ref.Rights |= write
			forge.change(&ref)
			forged, err := barewire.RemoteFrom(ref.Append(nil), sample.TickRemoteWrite())
			must(t, err)
			op, err := rdma.Write(p.a.conn, forged.Slice(0, 1), p.local.Span(0, 1))
			if err == nil {
				err = errors.Join(op.Wait(ctx(t)), p.a.conn.Flush(ctx(t)))
			}
			if !errors.Is(err, forge.want) {
				t.Errorf("a write by a forged reference ended with %v, want %v", err, forge.want)
			}
		})
	}
}

// readOnly is a reference to another region of b, which may only be read.
func (p *typed) readOnly() ([]byte, error) {
	source := register(p.t, p.b.dom, sample.TickRemoteRead())
	if err := rdma.Offer(ctx(p.t), p.b.conn, "source", source); err != nil {
		return nil, err
	}
	rem, err := rdma.Import(ctx(p.t), p.a.conn, "source", sample.TickRemoteRead())
	if err != nil {
		return nil, err
	}
	return barewire.AppendRemote(nil, rem)
}

// checkTypedRevoked takes a right back, and another by deregistering.
func checkTypedRevoked(t *testing.T, f *Factory) {
	for name, take := range map[string]func(p *typed) error{
		"revoke": func(p *typed) error { return rdma.Revoke(ctx(p.t), p.target) },
		"deregister": func(p *typed) error {
			plain, err := rdma.Deregister(ctx(p.t), p.target)
			if err != nil {
				return err
			}
			return plain.Close()
		},
		"close": func(p *typed) error { return p.target.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			p := openTyped(t, f, rdma.Config{})
			op, err := rdma.Write(p.a.conn, p.rem.Slice(0, 1), p.local.Span(0, 1))
			wait(t, op, err)
			must(t, p.a.conn.Flush(ctx(t)))
			must(t, take(p))
			op, err = rdma.Write(p.a.conn, p.rem.Slice(0, 1), p.local.Span(0, 1))
			if err == nil {
				err = errors.Join(op.Wait(ctx(t)), p.a.conn.Flush(ctx(t)))
			}
			if !errors.Is(err, rdma.ErrRevoked) {
				t.Errorf("a write after %s ended with %v, want %v", name, err, rdma.ErrRevoked)
			}
			// Another connection of the same domains is as good as new.
			p.join(f)
			again := register(t, p.b.dom, sample.TickRemoteRead())
			must(t, rdma.Offer(ctx(t), p.b.conn, "again", again))
			rem, err := rdma.Import(ctx(t), p.a.conn, "again", sample.TickRemoteRead())
			must(t, err)
			op, err = rdma.Read(p.a.conn, p.local.Span(0, 1), rem.Slice(0, 1))
			wait(t, op, err)
		})
	}
}

// checkTypedEnds ends a connection in traffic, in each way. All operations must end with a reason, and the
// regions must be free then.
func checkTypedEnds(t *testing.T, f *Factory) {
	cause := errors.New("enough of this")
	for name, end := range map[string]func(p *typed) error{
		"abort":       func(p *typed) error { p.a.conn.Abort(cause); return nil },
		"close":       func(p *typed) error { return p.a.conn.Close() },
		"peer-abort":  func(p *typed) error { p.b.conn.Abort(cause); return nil },
		"peer-close":  func(p *typed) error { return p.b.conn.Close() },
		"peer-device": func(p *typed) error { return p.b.dev.Close() },
		"own-device":  func(p *typed) error { return p.a.dev.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			p := openTyped(t, f, rdma.Config{Depth: 16})
			result := make(chan error, 1)
			go func() { result <- p.trafficUntilFailure(ctx(t)) }()
			time.Sleep(2 * time.Millisecond)
			must(t, end(p))
			err := <-result
			if err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("traffic ended with %v", err)
			}
			if name == "abort" && !errors.Is(err, cause) {
				t.Errorf("traffic ended with %v, want the cause of the abort", err)
			}
			must(t, p.local.Close())
			setPrice(t, p.target, typedCount-1, 1) // it is there still; what was handed over may arrive still, elsewhere
			must(t, p.target.Close())
		})
	}
}

// trafficUntilFailure is traffic until something fails. Afterwards nothing is outstanding.
func (p *typed) trafficUntilFailure(ctx context.Context) error {
	err := p.traffic(ctx, 0, 0)
	return errors.Join(err, p.a.conn.Drain(ctx))
}

// traffic writes, reads and adds, on elements of its own, until something fails or, if n is not zero,
// n rounds were done.
func (p *typed) traffic(ctx context.Context, lane, n int) error {
	at := lane * 8
	counted := uint64(0)
	for i := 0; n == 0 || i < n; i++ {
		if err := p.a.conn.WaitRoom(ctx); err != nil {
			return err
		}
		w, err := retry(ctx, p.a.conn, func() (rdma.Op, error) {
			return rdma.Write(p.a.conn, p.rem.Slice(at, 3), p.local.Span(at, 3))
		})
		if err != nil {
			return err
		}
		r, err := retry(ctx, p.a.conn, func() (rdma.Op, error) {
			return rdma.Read(p.a.conn, p.local.Span(at+4, 3), p.rem.Slice(at, 3))
		})
		if err != nil {
			return err
		}
		var add rdma.AtomicOp[uint64]
		if !p.noAtomics {
			if add, err = retry(ctx, p.a.conn, func() (rdma.AtomicOp[uint64], error) {
				return rdma.FetchAdd(p.a.conn, sample.TickSeqOf(p.rem, at+3), 1)
			}); err != nil {
				return err
			}
		}
		if err := errors.Join(w.Wait(ctx), r.Wait(ctx)); err != nil {
			return err
		}
		if p.noAtomics {
			continue
		}
		was, err := add.Wait(ctx)
		if err != nil {
			return err
		}
		if was != counted {
			return fmt.Errorf("lane %d: the counter was %d, want %d", lane, was, counted)
		}
		counted++
	}
	return nil
}

// retry posts again while the queue is full.
func retry[O any](ctx context.Context, c *rdma.Conn, post func() (O, error)) (O, error) {
	for {
		o, err := post()
		if !errors.Is(err, rdma.ErrQueueFull) {
			return o, err
		}
		if err := c.WaitRoom(ctx); err != nil {
			return o, err
		}
	}
}

// checkTypedCloseInTraffic closes the region that a peer is using. What Close gives back must be quiet.
func checkTypedCloseInTraffic(t *testing.T, f *Factory) {
	for round := range 5 {
		p := openTyped(t, f, rdma.Config{Depth: 16})
		for i := range typedCount {
			setPrice(t, p.local, i, 5)
		}
		result := make(chan error, 1)
		go func() { result <- p.trafficUntilFailure(ctx(t)) }()
		time.Sleep(time.Duration(round) * time.Millisecond)
		plain, err := rdma.Deregister(ctx(t), p.target)
		must(t, err)
		w, err := barewire.Open(plain)
		must(t, err)
		for _, v := range sample.TickAll(w) {
			clear(v.Bytes())
		}
		if err := <-result; !errors.Is(err, rdma.ErrRevoked) {
			t.Errorf("traffic ended with %v, want %v", err, rdma.ErrRevoked)
		}
		for i, v := range sample.TickAll(w) {
			if !bytes.Equal(v.Bytes(), make([]byte, len(v.Bytes()))) {
				t.Fatalf("the element %d changed after the region was deregistered", i)
			}
		}
		must(t, w.Close())
		must(t, plain.Close())
	}
}

// checkTypedSeveral uses one connection from several goroutines.
func checkTypedSeveral(t *testing.T, f *Factory) {
	p := openTyped(t, f, rdma.Config{Depth: 8})
	var wg sync.WaitGroup
	for lane := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := p.traffic(ctx(t), lane, 200); err != nil {
				t.Errorf("lane %d: %v", lane, err)
			}
		}()
	}
	wg.Wait()
	if s := p.a.conn.Stats(); s.Violations != 0 || s.InFlight != 0 {
		t.Errorf("the witness saw %+v", s)
	}
}

package judge

import (
	"context"
	"errors"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// What a program's signatures name is here under the same names.
type (
	Access          = barewire.Access
	Registered      = barewire.Registered
	Unregistered    = barewire.Unregistered
	Local           = barewire.Local
	RemoteReadWrite = barewire.RemoteReadWrite

	Domain                              struct{ real *rdma.Domain }
	Conn                                struct{ real *rdma.Conn }
	TickRemote[A barewire.RemoteAccess] = sample.TickRemote[A]
)

func TickInCPU() barewire.Place[sample.Tick, barewire.CPU] { return sample.TickInCPU() }
func TickLocal() barewire.Grant[sample.Tick, Local]        { return sample.TickLocal() }
func TickRemoteReadWrite() barewire.Grant[sample.Tick, RemoteReadWrite] {
	return sample.TickRemoteReadWrite()
}

// TickCPU is a region, and where it was made.
type TickCPU[A Access] struct {
	real *barewire.Region[sample.Tick, barewire.CPU, A]
	mem  *memory
	made *made
}

// memory is what a region is, whatever it is registered as. It names it, and has a field so that each has its own address.
type memory struct{ _ byte }

func region[A Access](mem *memory, real *barewire.Region[sample.Tick, barewire.CPU, A], err error) (*TickCPU[A], error) {
	if err := now.note(err); err != nil {
		if !now.in.Mend {
			return nil, err
		}
		real, mem = another[A](), new(memory)
	}
	now.made = append(now.made, &made{kind: "leak", lines: lines(), close: real.Close})
	return &TickCPU[A]{real, mem, now.made[len(now.made)-1]}, nil
}

// memoryOf is a region's memory, of nil too.
func memoryOf[A Access](r *TickCPU[A]) *memory {
	if r == nil {
		return nil
	}
	return r.mem
}

// in is the region itself, of nil too.
func (r *TickCPU[A]) in() *barewire.Region[sample.Tick, barewire.CPU, A] {
	if r == nil {
		return nil
	}
	return r.real
}

func New(p barewire.Place[sample.Tick, barewire.CPU], n int) (*TickCPU[Unregistered], error) {
	if now.refuses() {
		return nil, errInjected
	}
	r, err := barewire.New(p, n)
	return region(new(memory), r, err)
}

func Register[A Registered](dom *Domain, r *TickCPU[Unregistered], g barewire.Grant[sample.Tick, A]) (*TickCPU[A], error) {
	if now.refuses() {
		return nil, errInjected
	}
	m, err := rdma.Register(dom.real, r.in(), g)
	return region(memoryOf(r), m, err)
}

func Also[A, B Registered](dom *Domain, m *TickCPU[A], g barewire.Grant[sample.Tick, B]) (*TickCPU[B], error) {
	if now.refuses() {
		return nil, errInjected
	}
	s, err := rdma.Also(dom.real, m.in(), g)
	return region(memoryOf(m), s, err)
}

func Deregister[A Registered](ctx context.Context, m *TickCPU[A]) (*TickCPU[Unregistered], error) {
	if now.refuses() {
		return nil, errInjected
	}
	r, err := rdma.Deregister(ctx, m.in())
	return region(memoryOf(m), r, err)
}

func RemoteOf[A barewire.RemoteAccess](m *TickCPU[A]) (TickRemote[A], error) {
	if now.refuses() {
		return TickRemote[A]{}, errInjected
	}
	rem, err := rdma.RemoteOf(m.in())
	if err = now.note(err); err != nil && now.in.Mend {
		return TickRemote[A]{}, nil
	}
	return rem, err
}

// Close is the region's. Where it is to fail the region stays, and that is not the program's fault.
func (r *TickCPU[A]) Close() error {
	if r != nil && now.keeps() {
		r.made.excused = true
		return errInjected
	}
	err := now.note(r.in().Close())
	if err != nil && now.in.Mend {
		r.end()
		return nil
	}
	return err
}

// end closes a region that is in use nevertheless. What used it is still the program's to close, and to wait for.
func (r *TickCPU[A]) end() {
	for _, w := range now.windows {
		if r != nil && w.mem == r.mem && w.open {
			w.open, w.mended = false, true
			_ = w.close()
			if w.made != nil {
				w.made.close = func() error { return nil }
			}
		}
	}
	if now.note(r.in().Close()) != nil { // there may be operations besides
		now.mend()
		_ = r.in().Close()
	}
}

func (r *TickCPU[A]) Len() int { return r.in().Len() }

// Span is a part of the region; of one that is no more it is of no use.
func (r *TickCPU[A]) Span(i, n int) Span[A] {
	r.alive()
	return Span[A]{r.in().Span(i, n), r, i, n}
}

// alive asks the runtime whether the region is good.
func (r *TickCPU[A]) alive() {
	_, err := barewire.Backing(r.in())
	_ = now.note(err)
}

// Span is a span, which is good as long as its region.
type Span[A Access] struct {
	real barewire.Span[sample.Tick, A]
	of   *TickCPU[A]
	i, n int
}

func (s Span[A]) Len() int {
	if s.of != nil {
		if _, err := barewire.Backing(s.of.in()); err != nil {
			now.fail("view", "a span's region is no more: "+err.Error())
		}
	}
	return s.real.Len()
}

// TickWindow is a window.
type TickWindow[A Access] struct {
	real barewire.Window[sample.Tick, A]
	*opened
}

// opened is what copies of a window share.
type opened struct {
	mem    *memory
	open   bool
	mended bool // its region was closed nevertheless, and so it was
	close  func() error
	made   *made // nil of one that was lent
}

func window[A Access](r *TickCPU[A], real barewire.Window[sample.Tick, A], m *made) TickWindow[A] {
	now.windows = append(now.windows, &opened{mem: memoryOf(r), open: true, close: real.Close, made: m})
	return TickWindow[A]{real, now.windows[len(now.windows)-1]}
}

// another is a region that nobody has to close, in the place of one that is no more.
func another[A Access]() *barewire.Region[sample.Tick, barewire.CPU, A] {
	u, err := barewire.New(sample.TickInCPU(), 8)
	var r any = u
	switch any((*A)(nil)).(type) {
	case *Local:
		r, err = rdma.Register(now.dom, u, sample.TickLocal())
	case *RemoteReadWrite:
		r, err = rdma.Register(now.dom, u, sample.TickRemoteReadWrite())
	}
	if err != nil {
		panic(err)
	}
	real := r.(*barewire.Region[sample.Tick, barewire.CPU, A])
	now.made = append(now.made, &made{close: real.Close, excused: true})
	return real
}

func Open[A Access](r *TickCPU[A]) (TickWindow[A], error) {
	if now.refuses() {
		return TickWindow[A]{}, errInjected
	}
	real, err := barewire.Open(r.in())
	if err := now.note(err); err != nil {
		if !now.in.Mend {
			return TickWindow[A]{}, err
		}
		real, _ = barewire.Open(another[A]())
	}
	m := &made{kind: "window leak", lines: lines(), close: real.Close}
	now.made = append(now.made, m)
	return window(r, real, m), nil
}

func With[A Access](r *TickCPU[A], use func(TickWindow[A]) error) error {
	if now.refuses() {
		return errInjected
	}
	var own error
	in := r.in()
	if now.in.Mend {
		if _, err := barewire.Backing(in); err != nil {
			_ = now.note(err)
			in = another[A]()
		}
	}
	err := barewire.With(in, func(real barewire.Window[sample.Tick, A]) error {
		w := window(r, real, nil)
		own = use(w)
		w.open = false
		return own
	})
	if own != nil && errors.Is(err, own) {
		return err
	}
	return now.note(err)
}

// Close is the window's.
func (w TickWindow[A]) Close() error {
	if w.opened != nil && w.mended {
		if w.made != nil {
			w.made.excused = true
		}
		return nil
	}
	err := now.note(w.real.Close())
	switch {
	case err == nil:
		w.open = false
	case now.in.Mend:
		return nil
	}
	return err
}

func (w TickWindow[A]) Len() int { return w.real.Len() }

// usable asks the runtime, which checks each access where the judge is built, whether the window is open.
func (w TickWindow[A]) usable(kind string) (ok bool) {
	if w.opened != nil && w.mended {
		return false
	}
	defer func() {
		if p := recover(); p != nil {
			now.fail(kind, "an access panics")
			ok = false
		}
	}()
	sample.TickAt(w.real, 0).Price()
	return true
}

// TickView is an element. The runtime sees an access to the memory only, and not to a view: whether the window is open is asked
// for it.
type TickView struct {
	real sample.TickView
	open func() bool
	mem  *memory
	i    int
}

func TickAt[A Access](w TickWindow[A], i int) TickView {
	if !w.usable("window") {
		return TickView{}
	}
	return TickView{sample.TickAt(w.real, i), func() bool { return w.open }, w.mem, i}
}

func (v TickView) good(writes bool) bool {
	if v.open == nil { // it was none, and that was said, or mended
		return false
	}
	if !v.open() {
		now.fail("view", "a view is used, and its window is closed")
		return false
	}
	for _, p := range now.posts {
		if !p.waited && p.mem == v.mem && p.from <= v.i && v.i < p.to && (writes || p.writes) {
			now.fail("touched", "an operation has the element")
		}
	}
	return true
}

func (v TickView) Price() float64 {
	if !v.good(false) {
		return 0
	}
	return v.real.Price()
}

func (v TickView) SetPrice(x float64) {
	if v.good(true) {
		v.real.SetPrice(x)
	}
}

package good

import (
	"errors"
	"slices"
	"sync"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/later"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// These do what their directives say, or what cannot be told from it.

// GoodSaysOnOK leaves it to the caller where it fails.
//
//barewire:effect releases=m on ok
func GoodSaysOnOK(m *M, n int) error {
	if n == 0 {
		return errors.New("nothing to do")
	}
	return m.Close()
}

// GoodSaysOnOKElsewhere gives it to somebody who may end it.
//
//barewire:effect releases=m on ok
func GoodSaysOnOKElsewhere(m *M, end func(*M)) error {
	if m.Len() == 0 {
		return errors.New("empty")
	}
	end(m)
	return nil
}

// GoodSaysNil has nothing to end.
//
//barewire:effect releases=m
func GoodSaysNil(m *M) {
	if m == nil {
		return
	}
	m.Close()
}

// GoodSaysAsked was told that it is no more.
//
//barewire:effect releases=r
func GoodSaysAsked(r *U) error {
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	return errors.Join(w.Close(), r.Close())
}

// once ends what it is given, if nobody did.
type once struct{ done bool }

// GoodSaysOnce is called twice.
//
//barewire:effect releases=m
func (o *once) GoodSaysOnce(m *M) {
	if o.done {
		return
	}
	o.done = true
	m.Close()
}

// shelf keeps regions.
type shelf struct {
	mu   sync.Mutex
	list []*M
	by   map[string]*M
	top  *M
	win  UW
	last func() error
}

//barewire:effect keeps=m
func (s *shelf) GoodSaysPut(m *M) { s.list = append(s.list, m) }

//barewire:effect keeps=m
func (s *shelf) GoodSaysPutSome(m *M) {
	if s.top == nil {
		s.top = m
		return
	}
	m.Close()
}

//barewire:effect keeps=m
func (s *shelf) GoodSaysLater(m *M) { s.last = m.Close }

//barewire:effect keeps=m
func (s *shelf) GoodSaysGo(m *M) { go func() { m.Close() }() }

//barewire:effect keeps=r
func (s *shelf) GoodSaysKeepsWindow(r *U) (err error) {
	s.win, err = barewire.Open(r)
	return err
}

// GoodSaysCopied puts it where others find it.
//
//barewire:effect keeps=m
func GoodSaysCopied(m *M, list []*M) { copy(list, []*M{m}) }

// GoodSaysListed only remembers it: it stays the caller's.
//
//barewire:effect uses=m
func (s *shelf) GoodSaysListed(name string, m *M) { s.by[name] = m }

// GoodSaysCleanup ends it with the test.
//
//barewire:effect keeps=m
func GoodSaysCleanup(t *testing.T, m *M) { t.Cleanup(func() { m.Close() }) }

// GoodSaysTaken takes it off.
//
//barewire:effect fresh=0
func (s *shelf) GoodSaysTaken() *M {
	m := s.top
	s.top = nil
	return m
}

// GoodSaysBuilt is a builder's: it is asked once.
//
//barewire:effect fresh=0 on ok
func (s *shelf) GoodSaysBuilt() (*M, error) {
	if s.top == nil {
		return nil, errors.New("nothing was built")
	}
	return s.top, nil
}

// GoodSaysPassedOn gives back what it was given to keep.
//
//barewire:effect moves=m, fresh=0
//barewire:trust the caller's m is used no more
func GoodSaysPassedOn(m *M) *M { return m }

// GoodSaysBooked is ended by the test, and nobody's to release.
//
//barewire:effect within=0 of dom
func GoodSaysBooked(t *testing.T, dom *rdma.Domain) *M {
	m, err := help.Open(dom)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

//barewire:effect fresh=0 on ok
func GoodSaysFresh(dom *rdma.Domain) (*M, error) { return help.Open(dom) }

//barewire:effect borrows=0 of r on ok, fresh=0 on ok
func GoodSaysWindow(r *U) (UW, error) { return barewire.Open(r) }

//barewire:effect views=0 of w
func GoodSaysView(w UW) sample.TickView { return sample.TickAt(w, 0) }

// GoodSaysViewOf has one that is the same, for all its caller knows.
//
//barewire:effect views=0 of r
func (s *shelf) GoodSaysViewOf(r *U) sample.TickView { return sample.TickAt(s.win, 0) }

// GoodSaysMaybeView is a view on one way.
//
//barewire:effect views=0 of u at all
func GoodSaysMaybeView(u *later.Unified, copied bool) []float32 {
	if copied {
		return slices.Clone(u.Elements())
	}
	return u.Elements()
}

// GoodSaysLends calls it.
//
//barewire:effect lends=use of r
func GoodSaysLends(r *U, use func(UW) error) error {
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	return errors.Join(use(w), w.Close())
}

// GoodSaysToken has what stands for it: that is good as long as it is.
//
//barewire:effect views=0 of m
func GoodSaysToken(m *M) []byte {
	b := make([]byte, 8)
	b[0] = byte(m.Len())
	return b
}

// GoodSaysListedNew gives one that is the shelf's to release.
//
//barewire:effect within=0 of dom
func (s *shelf) GoodSaysListedNew(dom *rdma.Domain) (*M, error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	copy(s.list, []*M{m})
	return m, nil
}

// GoodSaysCloser gives the function that releases it, too.
//
//barewire:effect within=0 of dom, ends=1 of 0
func GoodSaysCloser(dom *rdma.Domain) (*M, func() error, error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, nil, err
	}
	return m, func() error { return m.Close() }, nil
}

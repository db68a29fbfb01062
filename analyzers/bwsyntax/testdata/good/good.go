// Package good has nothing to be found: each function is a pattern that looks like a mistake.
package good

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

// Aliases, pointers and collections of pointers are what a user has.
type (
	region  = quote.QuoteCPU[barewire.Local]
	regions []*region
	server  struct {
		mr      *region
		byName  map[string]*region
		window  quote.QuoteWindow[barewire.Local]
		place   barewire.Place[quote.Quote, barewire.CPU]
		ops     []rdma.Op
		current rdma.Op
	}
	embedder struct{ *region }
	getter   interface{ Get() *region }
	callback func(region *region) error
)

// A variable gets its value later, on one path or another.
func later(cond bool) error {
	var r *quote.QuoteCPU[barewire.Unregistered]
	var err error
	if cond {
		r, err = barewire.New(quote.QuoteInCPU(), 1)
	}
	if err != nil {
		return err
	}
	return r.Close()
}

func throughPointer(fill func(*rdma.Op) error) error {
	var op rdma.Op
	if err := fill(&op); err != nil {
		return err
	}
	return op.Wait(context.Background())
}

func inClosure(run func(func())) error {
	var r *region
	run(func() { r = get() })
	return r.Close()
}

func ranged(all []rdma.Op) error {
	var op rdma.Op
	for _, op = range all {
	}
	return op.Wait(context.Background())
}

// Zero values beside errors.
func fail() (quote.QuoteRemote[barewire.RemoteRead], rdma.Op, error) {
	return quote.QuoteRemote[barewire.RemoteRead]{}, rdma.Op{}, errors.New("no")
}

// Cleared fields, and buffers of operations.
func (s *server) clear() {
	s.mr, s.current, s.window = nil, rdma.Op{}, quote.QuoteWindow[barewire.Local]{}
	s.place = barewire.Place[quote.Quote, barewire.CPU]{}
	s.ops = append(make([]rdma.Op, 0, 8), rdma.Op{})
}

// What is harmless with a zero value is no mistake.
func harmless() string {
	var r *region
	var op rdma.Op
	return fmt.Sprint(r.Len(), r.String(), op, rdma.Op{})
}

// A sentinel of the user's own functions is theirs.
func sentinel() error { return send(nil, rdma.Op{}) }

func send(r *region, op rdma.Op) error { return nil }

func nilCompared(r *region) bool { return r == nil || r == (*region)(nil) }

// Assertions that hold, or may.
func same(r *region) (*region, bool) {
	s, ok := any(r).(*region)
	return s, ok
}

func closer(r *region) error { return any(r).(interface{ Close() error }).Close() }

func fromAny(x any) *region {
	switch x := x.(type) {
	case *region:
		return x
	case *quote.QuoteGPU[barewire.Local]:
		return nil
	}
	return nil
}

func narrow[R barewire.Residency](r *barewire.Region[quote.Quote, R, barewire.Local]) string {
	switch any(r).(type) {
	case *region:
		return "cpu"
	case *quote.QuoteGPU[barewire.Local]:
		return "gpu"
	}
	return ""
}

// unsafe and reflect for other things.
func others(p *uint64, s []quote.Quote) (unsafe.Pointer, string, uintptr) {
	_ = reflect.ValueOf(s).Index(0).Field(0)
	_ = reflect.New(reflect.TypeFor[quote.Quote]())
	_ = (*quote.Quote)(unsafe.Pointer(&s[0]))
	return unsafe.Pointer(p), reflect.TypeFor[region]().String(), unsafe.Sizeof((*region)(nil))
}

// A struct that comes back as what it was, or the beginning of one; and what of it may be seen.
type node struct {
	next unsafe.Pointer
	mr   *region
}

func roundTrip(n *node) (*node, *struct{ next unsafe.Pointer }) {
	p := unsafe.Pointer(n)
	return (*node)(p), (*struct{ next unsafe.Pointer })(p)
}

func alike(n *node) *struct {
	left unsafe.Pointer
	mr   *region
} {
	return (*struct {
		left unsafe.Pointer
		mr   *region
	})(unsafe.Pointer(n))
}

type generic[T any] struct {
	value T
	mr    *region
}

func ofUnknownSize[T any](g *generic[T]) *generic[uint64] {
	return (*generic[uint64])(unsafe.Pointer(g))
}

func printed(r *region) string {
	return reflect.TypeOf(r).String() + reflect.ValueOf(r).Kind().String()
}

// Conversions to what it is, or to an interface.
func converted(r *region) (any, fmt.Stringer, *region) { return any(r), fmt.Stringer(r), (*region)(r) }

func get() *region { return nil }

func expected() error {
	_, err := barewire.New(barewire.Place[quote.Quote, barewire.CPU]{}, 1) //barewire:ignore BW5002 the error is what is wanted
	//barewire:ignore BW5002 so it is here, above the line
	_, err2 := barewire.New(barewire.Place[quote.Quote, barewire.CPU]{}, 1)
	return errors.Join(err, err2)
}

// What only asks for a size makes nothing.
const size = unsafe.Sizeof(region{})

var _ [size]byte

// Two ignores above one line, which has both findings.
func stacked() error {
	// The error is what is wanted.
	//barewire:ignore BW5001 a region of nothing has a name, too
	//barewire:ignore BW5002 and a place of nothing is refused
	_, err := barewire.New(barewire.Place[quote.Quote, barewire.CPU]{}, len(new(region).String()))
	return err
}

// A variable that gets another value may hold anything.
func reboxed(r *region, other any) bool {
	var x any = r
	if r.Len() == 0 {
		x = other
	}
	_, gpu := x.(*quote.QuoteGPU[barewire.Local])
	var y any = r
	_, same := y.(*region)
	var z fmt.Stringer = r
	_, closer := z.(interface{ Close() error })
	var e error
	_, wrapped := e.(interface{ Unwrap() error })
	for _, v := range []any{r, other} {
		_, gpu = v.(*quote.QuoteGPU[barewire.Local])
	}
	return gpu && same && closer && wrapped
}

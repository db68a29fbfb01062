package barewire

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// Window is access to a region's elements in place. While it is open the region
// can be neither closed nor registered ([ErrBorrowed]); who opened it closes it, once. It may be
// copied and used by several goroutines, until it is closed: generated code has
// a function that gives the element i (SampleAt), and more. The zero value has no elements.
//
// Using a window that was closed is a mistake that is not always noticed: under the
// race detector and with -tags barewiredebug each access checks, and panics.
//
//barewire:type window
type Window[T Fixed[T], A Access] struct {
	_ [0]func(T, A)
	// all begins where the first element does, and is as long as there are elements.
	// Its bytes are never read: it is a string for the check of an index, which is
	// the cheapest that Go has, and panics as a slice does.
	all  string
	loan loan
}

// loan is what a window took out of a handle.
type loan struct {
	slot  *region.Borrow
	state uint64
}

// Open opens a window on the elements of a region. The error is a [*RegionError]:
// [ErrMoved], [ErrReleased], or [ErrNoRegion].
//
//barewire:effect borrows=0 of r on ok, fresh=0 on ok
func Open[T Fixed[T], R HostAddressable, A Access](r *Region[T, R, A]) (Window[T, A], error) {
	return open(r)
}

// open does what Open does.
func open[T Fixed[T], R Residency, A Access](r *Region[T, R, A]) (Window[T, A], error) {
	if r == nil || r.h == nil {
		return Window[T, A]{}, ErrNoRegion
	}
	slot, state, err := r.h.Borrow(r.gen)
	if err != nil {
		return Window[T, A]{}, region.Doing("open", err)
	}
	return Window[T, A]{all: unsafe.String((*byte)(r.h.Base()), r.h.Count()), loan: loan{slot, state}}, nil
}

// With opens a window for as long as use runs, and closes it after, also when use panics.
//
//barewire:effect lends=use of r
func With[T Fixed[T], R HostAddressable, A Access](r *Region[T, R, A], use func(Window[T, A]) error) (err error) {
	if use == nil {
		return errNoUse
	}
	w, err := Open(r)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := w.Close(); err == nil {
			err = cerr
		}
	}()
	return use(w)
}

// errNoUse is what With gives where there is nothing to call.
var errNoUse = errors.New("barewire: with: the function that is to use the window is nil")

// Close ends the window. What it gave (views, slices, atomics) must not be used any
// more. A second Close is [ErrWindowClosed].
//
//barewire:effect releases=w
func (w Window[T, A]) Close() error {
	if w.loan.slot == nil {
		return ErrNoWindow
	}
	return region.Doing("close window", w.loan.slot.Return(w.loan.state))
}

// Len is the number of elements.
//
//barewire:effect looks=w, counts=0 of w
func (w Window[T, A]) Len() int { return len(w.all) }

// Format writes how many elements there are, for any verb: the elements themselves
// are not the fmt package's to read, least of all when the window is closed.
//
//barewire:effect looks=w
func (w Window[T, A]) Format(f fmt.State, _ rune) {
	if f != nil {
		fmt.Fprintf(f, "window on %s", region.Elements(len(w.all)))
	}
}

// Element is where the element i begins, which is so many bytes behind the first: the
// caller multiplies, on the line of its call. The compiler marks where inlined code came
// from by an instruction of that line, and adds one that does nothing where the line has
// none. An index out of range panics as a slice's does. It is for generated code.
//
//barewire:generated
//barewire:effect views=0 of w at i
func Element[T Fixed[T], A Access](w Window[T, A], i int, at uintptr) unsafe.Pointer {
	if region.Checked {
		w.loan.check(i, len(w.all))
	} else {
		_ = w.all[i]
	}
	return unsafe.Add(unsafe.Pointer(unsafe.StringData(w.all)), at)
}

// Elements is where the first element begins, and how many there are: for loops,
// with [Step]. It is for generated code.
//
//barewire:generated
//barewire:effect views=0 of w
func Elements[T Fixed[T], A Access](w Window[T, A]) (first unsafe.Pointer, n int) {
	if region.Checked {
		w.loan.check(0, 1)
	}
	return unsafe.Pointer(unsafe.StringData(w.all)), len(w.all)
}

// Step is the place at bytes behind the first element, unchecked. A loop adds the size
// of an element up, which costs less than multiplying. It is for generated code.
//
//barewire:generated
func Step(first unsafe.Pointer, at uintptr) unsafe.Pointer {
	return unsafe.Add(first, at)
}

// Slice is the elements as a slice over the region's memory: no copy. It must not
// be used after the window is closed. The error is [ErrWindowClosed], or
// [wire.ErrBigEndian] on machines that store the high byte first.
//
//barewire:effect views=0 of w at all on ok
func Slice[T Castable[T], A CanExclusive](w Window[T, A]) ([]T, error) {
	if err := w.loan.open("slice"); err != nil {
		return nil, err
	}
	if !wire.LittleEndian {
		return nil, wire.ErrBigEndian
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.StringData(w.all))), len(w.all)), nil
}

// OpenFor is for the runtime's device packages: a window on memory of any residency, which they know that the
// processor may touch now.
func OpenFor[T Fixed[T], R Residency, A Access](f seal.Friend, r *Region[T, R, A]) (Window[T, A], error) {
	if r == nil || r.h == nil || !f.OK() || r.h.Opaque() {
		return Window[T, A]{}, ErrNoRegion
	}
	return open(r)
}

// Opened is for the runtime's device packages: the region that a window is open on. What they
// were asked to do with a window is an error where it is none, or was closed.
func Opened[T Fixed[T], A Access](f seal.Friend, w Window[T, A], op string) (*region.Handle, error) {
	if !f.OK() {
		return nil, ErrNoWindow
	}
	if err := w.loan.open(op); err != nil {
		return nil, err
	}
	return w.loan.slot.Handle(), nil
}

// open reports why the window is not open.
func (l loan) open(op string) error {
	if l.slot == nil {
		return ErrNoWindow
	}
	if !l.slot.Open(l.state) {
		return region.Doing(op, l.slot.Fault(l.state))
	}
	return nil
}

// check panics if the window is closed, or as a slice of n elements does for its element i. It is
// not inlined, and reads no byte of all: the race detector would see a reader.
func (l loan) check(i, n int) {
	if l.slot != nil && !l.slot.Open(l.state) {
		panic(region.Doing("access", l.slot.Fault(l.state)))
	}
	_ = make([]struct{}, n)[i]
}

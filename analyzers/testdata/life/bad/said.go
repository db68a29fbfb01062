package bad

import (
	"bytes"
	"errors"
	"slices"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/later"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// These say one thing in a directive and do another.

// BadSaysAlways ends it where there is something to do only.
//
//barewire:effect releases=m
func BadSaysAlways(m *M, n int) error { // want "BW5113 .m. is left as it is on a way on which the directive of BadSaysAlways says that it is ended"
	if n == 0 {
		return errors.New("nothing to do")
	}
	return m.Close()
}

// BadSaysAlwaysNoError forgets it where it refuses.
//
//barewire:effect releases=m
func BadSaysAlwaysNoError(m *M, n int) bool { // want "BW5113 .m. is left as it is on a way"
	if n == 0 {
		return false
	}
	m.Close()
	return true
}

// BadSaysOnTrue has it the other way around.
//
//barewire:effect releases=m on true
func BadSaysOnTrue(m *M, n int) bool { // want "BW5113 .m. is left as it is on a way"
	if n == 0 {
		return true
	}
	m.Close()
	return false
}

// BadSaysKeeps only looks.
//
//barewire:effect keeps=m
func BadSaysKeeps(m *M) int { // want "BW5113 .m. is not kept, and the directive of BadSaysKeeps says so"
	return m.Len()
}

// BadSaysBorrows ends what it is lent.
//
//barewire:effect looks=m
func BadSaysBorrows(m *M, n int) error { // want "BW5113 .m. is ended, and the directive of BadSaysBorrows does not say so"
	if n > 0 {
		return m.Close()
	}
	return nil
}

// BadSaysLends calls nothing.
//
//barewire:effect lends=f of m
func BadSaysLends(m *M, f func(w int)) int { // want "BW5113 .f. is not called, and the directive of BadSaysLends says so"
	return m.Len()
}

// BadSaysNoWindow gives a window.
//
//barewire:effect uses=r, fresh=0 on ok
func BadSaysNoWindow(r *U) (UW, error) { // want "BW5113 result 0 is a window on .r., and the directive of BadSaysNoWindow does not say so"
	return barewire.Open(r)
}

// BadSaysNoView gives a view.
//
//barewire:effect uses=w
func BadSaysNoView(w UW) sample.TickView { // want "BW5113 result 0 is a view of .w., and the directive of BadSaysNoView does not say so"
	return sample.TickAt(w, 0)
}

// BadSaysOtherView gives a view of the other.
//
//barewire:effect views=0 of b
func BadSaysOtherView(a, b UW) sample.TickView { // want "BW5113 result 0 is a view of .a., and the directive of BadSaysOtherView does not say so"
	return sample.TickAt(a, b.Len()-1)
}

// BadSaysView gives a copy.
//
//barewire:effect views=0 of m at all
func BadSaysView(m *later.Unified) []float32 { // want "BW5113 result 0 is a copy, and the directive of BadSaysView says that it is good as long as .m. is"
	return slices.Clone(m.Elements())
}

// BadSaysViewOfBytes does the same in two ways.
//
//barewire:effect views=0 of b
func BadSaysViewOfBytes(b []byte, n int) []byte { // want "BW5113 result 0 is a copy"
	switch n {
	case 0:
		return nil
	case 1:
		return append([]byte(nil), b...)
	}
	return bytes.Clone(b)
}

// BadSaysNothingFresh gives a new one.
//
//barewire:effect within=0 of dom
func BadSaysNothingFresh(dom *rdma.Domain) (*M, error) { // want "BW5113 result 0 is new and the caller's to release, and the directive of BadSaysNothingFresh does not say so"
	return help.Open(dom)
}

// BadSaysViewsFresh says that it is somebody else's.
//
//barewire:effect borrows=0 of u
func BadSaysViewsFresh(u *later.Unified, n int) (*later.Buffer, error) { // want "BW5113 result 0 is new and the caller's to release"
	return later.NewBuffer(n + len(u.Elements()))
}

// BadSaysFresh gives what it was given.
//
//barewire:effect fresh=0
func BadSaysFresh(m *M) *M { // want "BW5113 result 0 is .m., which the caller has already, and the directive of BadSaysFresh says that it is new"
	return m
}

// BadSaysFreshOnOK does the same.
//
//barewire:effect looks=m, fresh=0 on ok
func BadSaysFreshOnOK(m *M, n int) (*M, error) { // want "BW5113 result 0 is .m., which the caller has already"
	if n < 0 {
		return nil, errors.New("below 0")
	}
	return m, nil
}

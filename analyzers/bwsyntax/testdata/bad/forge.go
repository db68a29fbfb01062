// Package bad has one mistake in each function.
package bad

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

type region = barewire.Region[quote.Quote, barewire.CPU, barewire.RemoteRead]

var global region // want BW5001 "`global` is a "

type holder struct {
	name string
	mr   region // want BW5001 "the field holds a "
}

type embedder struct {
	quote.QuoteCPU[barewire.Local] // want BW5001 "the field holds a "
}

func local() *region {
	var r region // want BW5001 "`r` is a "
	return &r
}

func several() {
	var a, b [4]quote.QuoteCPU[barewire.Local] // want BW5001 "`a` is a" BW5001 "`b` is a"
	_, _ = &a, &b
}

func pointed() *region {
	return &region{} // want BW5001 "the literal is a region"
}

func allocated() *region {
	return new(region) // want BW5001 "new makes a "
}

func elements() {
	_ = make([]region, 3)                                // want BW5001 "each element is a region"
	_ = map[string]*region{"a": {}}                      // want BW5001 "the literal is"
	_ = []*quote.QuoteCPU[barewire.Local]{nil, {}, {}}   // want BW5001 "the literal is" BW5001 "the literal is"
	_ = make(map[int]quote.QuoteCPU[barewire.Local], 10) // want BW5001 "each element is"
}

func generic[T barewire.Fixed[T]]() *barewire.Region[T, barewire.CPU, barewire.Local] {
	return &barewire.Region[T, barewire.CPU, barewire.Local]{} // want BW5001 "Region[T, barewire.CPU, barewire.Local] that no allocator made"
}

func use(h holder, e embedder) (*region, string) { return &h.mr, h.name + e.String() }

// Package indirect has regions without importing the runtime.
package indirect

import (
	"unsafe"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/helper"
)

func forged() *helper.Region {
	return &helper.Region{} // want BW5001 "the literal is a helper.Region"
}

func laundered() unsafe.Pointer {
	r := helper.Get()
	return unsafe.Pointer(r) // want BW5003 "helper.Region"
}

func closed() error {
	var r *helper.Region
	return r.Close() // want BW5002 "`r` is the zero"
}

var _ = []any{forged, laundered, closed}

// Package trusted tests what zero values do, and so makes them. What takes types off is found here, too.
//
//barewire:trust it stands for tests of the runtime, and for what belongs to it
package trusted

import (
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

type region = quote.QuoteCPU[barewire.Local]

var zero = &region{}

func Zero() error {
	_, err := barewire.New(barewire.Place[quote.Quote, barewire.CPU]{}, 1)
	return err
}

func Mint(info *barewire.TypeInfo) barewire.Grant[quote.Quote, barewire.Local] {
	return barewire.MintGrant[quote.Quote, barewire.Local](info)
}

func Launder() unsafe.Pointer {
	return unsafe.Pointer(zero) // want BW5003 "takes off"
}

package bad

import (
	"context"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	_ "unsafe" // for go:linkname

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

var info barewire.TypeInfo

func place() barewire.Place[quote.Quote, barewire.GPU] {
	return barewire.MintPlace[quote.Quote, barewire.GPU](&info, barewire.InGPU, -1, false) // want BW5005 "MintPlace is for generated code only"
}

func grant() barewire.Grant[quote.Quote, barewire.RemoteReadWriteAtomic] {
	return barewire.MintGrant[quote.Quote, barewire.RemoteReadWriteAtomic](&info) // want BW5005 "MintGrant"
}

func value() any {
	mint := barewire.MintGrant[quote.Quote, barewire.Local] // want BW5005 "MintGrant"
	return mint
}

func at(w quote.QuoteWindow[barewire.Local]) *uint64 {
	return (*uint64)(barewire.Element(w, 0, 0)) // want BW5005 "Element is for generated code only"
}

func field(rem quote.QuoteRemote[barewire.RemoteRead]) barewire.Field[uint64, barewire.RemoteRead] {
	return barewire.FieldOf[uint64](rem, 0, 12, 8) // want BW5005 "FieldOf"
}

func torn(w quote.QuoteWindow[barewire.Local]) error {
	return barewire.Publish(w, 0, make([]byte, 16)) // want BW5005 "Publish"
}

//go:linkname errRange github.com/fidelityframework/barewire-gen/runtime.ErrRange
var errRange error // want-above BW5003 "reaches behind"

var _ = context.Background

// Package helper hands regions on, so that who uses it need not import the runtime.
package helper

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

type Region = quote.QuoteCPU[barewire.Local]

func Get() *Region { return nil }

// Package misuse has what must not compile. Behind each line is the word of ours
// that the compiler's message must have: a constraint that reads as advice, or what was misused.
package misuse

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/scratch/sample"
)

// Markers cannot be forged: not by embedding one, nor with its memory or its name.

type embedded struct{ barewire.CPU }

type CPU struct{ _ [1]byte }

type renamed barewire.CPU

type allRights struct{ barewire.RemoteReadWriteAtomic }

var (
	_ *barewire.Region[sample.Tick, embedded, barewire.Local]           // want "Residency"
	_ *barewire.Region[sample.Tick, CPU, barewire.Local]                // want "Residency"
	_ *barewire.Region[sample.Tick, renamed, barewire.Local]            // want "Residency"
	_ *barewire.Region[sample.Tick, barewire.CPU, allRights]            // want "Access"
	_ *barewire.Region[sample.Tick, barewire.Local, barewire.CPU]       // want "Residency"
	_ barewire.Remote[sample.Tick, allRights]                           // want "RemoteAccess"
	_ barewire.Remote[sample.Tick, barewire.Local]                      // want "RemoteAccess"
	_ barewire.Remote[sample.Tick, barewire.Unregistered]               // want "RemoteAccess"
	_ barewire.Grant[sample.Tick, barewire.Unregistered]                // want "Registered"
	_ barewire.Place[sample.Tick, interface{ barewire.CPU | CPU }]      // want "interface"
	_ *barewire.Region[sample.Tick, barewire.Residency, barewire.Local] // want "Residency"
)

// Elements are generated types only: nothing that embeds one, or has its methods.

type mine struct{ sample.Tick }

type lookalike struct{}

func (lookalike) BareLayout() barewire.LayoutOf[sample.Tick] {
	return barewire.LayoutOf[sample.Tick]{}
}

var (
	_ *barewire.Region[mine, barewire.CPU, barewire.Local]      // want "Fixed"
	_ *barewire.Region[lookalike, barewire.CPU, barewire.Local] // want "Fixed"
	_ *barewire.Region[uint64, barewire.CPU, barewire.Local]    // want "Fixed"
	_ *barewire.Region[[]byte, barewire.CPU, barewire.Local]    // want "Fixed"
	_ *barewire.Region[string, barewire.CPU, barewire.Local]    // want "Fixed"
)

package misuse

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/scratch/sample"
)

// Handles cannot be converted, compared, or made.

func convert(r *sample.TickCPU[barewire.Local], w sample.TickWindow[barewire.RemoteWrite], rem sample.TickRemote[barewire.RemoteRead]) {
	_ = (*sample.TickCPU[barewire.RemoteReadWrite])(r)                        // want "RemoteReadWrite"
	_ = (*barewire.Region[sample.Tick, barewire.CXL, barewire.Local])(r)      // want "CXL"
	_ = (*barewire.Region[sample.Sensor, barewire.CPU, barewire.Local])(r)    // want "Sensor"
	_ = sample.TickWindow[barewire.Local](w)                                  // want "Window"
	_ = sample.TickRemote[barewire.RemoteReadWrite](rem)                      // want "Remote"
	_ = barewire.Remote[sample.Word, barewire.RemoteRead](rem)                // want "Word"
	_ = barewire.Place[sample.Tick, barewire.CXL](sample.TickInCPU())         // want "CXL"
	_ = barewire.Grant[sample.Tick, barewire.RemoteWrite](sample.TickLocal()) // want "RemoteWrite"
	var _ *sample.TickCPU[barewire.Unregistered] = r                          // want "Unregistered"
}

func compare(r, s *sample.TickCPU[barewire.Local], w sample.TickWindow[barewire.Local]) {
	_ = *r == *s                                       // want "cannot be compared"
	_ = w == w                                         // want "cannot be compared"
	_ = map[sample.TickWindow[barewire.Local]]string{} // want "Window"
}

func make(r *sample.TickCPU[barewire.Local]) {
	_ = sample.TickCPU[barewire.Local]{nil, 1}                                // want "unexported field"
	_ = barewire.Mint[sample.Tick, barewire.CPU, barewire.Local]              // fine: there is no key to call it with
	_, _, _ = barewire.Core(struct{}{}, r)                                    // want "seal.Friend"
	_ = barewire.GlobalAtomics{domain: 1}                                     // want "domain"
	_ = barewire.RightsOf[barewire.RemoteRead](nil)                           // want "seal.Friend"
	_ = r.h                                                                   // want "unexported field"
	_ = barewire.MintPlace[sample.Tick, barewire.GPU](nil, 0, 0, false).other // want "other"
}

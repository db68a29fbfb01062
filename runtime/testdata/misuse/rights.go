package misuse

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/scratch/sample"
)

// What a region's place and rights do not allow.

func residency(
	gpu *barewire.Region[sample.Tick, barewire.GPU, barewire.Local],
	managed *barewire.Region[sample.Tick, barewire.Managed, barewire.Local],
	shared *barewire.Region[sample.Tick, barewire.CXLShared, barewire.Unregistered],
) {
	_, _ = barewire.Open(gpu)                                              // want "HostAddressable"
	_, _ = barewire.Open(managed)                                          // want "HostAddressable"
	_, _ = barewire.Open(shared)                                           // want "HostAddressable"
	_, _ = barewire.New(barewire.Place[sample.Tick, barewire.GPU]{}, 1)    // want "hostMemory"
	_, _ = barewire.New(sample.TickInCXL(), 1)                             // want "hostMemory"
	_ = sample.SensorInCXL()                                               // want "SensorInCXL"
	_ = barewire.With(gpu, func(sample.TickWindow[barewire.Local]) error { // want "HostAddressable"
		return nil
	})
}

func rights(
	r *sample.TickCPU[barewire.Unregistered],
	rw sample.TickWindow[barewire.RemoteReadWrite],
	at sample.TickWindow[barewire.RemoteAtomic],
	rd sample.TickWindow[barewire.RemoteRead],
	se sample.SensorWindow[barewire.Local],
	g barewire.GlobalAtomics,
) {
	_, _ = barewire.Slice(rw)                                                            // want "CanExclusive"
	_, _ = barewire.Slice(at)                                                            // want "CanExclusive"
	_, _ = barewire.Slice(se)                                                            // want "Castable"
	_ = sample.TickHitsAtomic(at, 0)                                                     // want "CanLocalAtomic"
	_, _ = sample.TickHitsGlobal(rd, 0, g)                                               // want "CanRemoteAtomic"
	_ = sample.TickPriceIn(r.Span(0, 1), 0)                                              // want "Registered"
	_ = sample.SensorRemoteAtomic()                                                      // want "SensorRemoteAtomic"
	_ = sample.TickAt(se, 0)                                                             // want "Sensor"
	_, _ = barewire.Narrow(sample.TickRemote[barewire.RemoteRead]{}, sample.TickLocal()) // want "RemoteAccess"
}

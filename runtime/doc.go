// Package barewire has typed handles for memory that devices and other
// machines reach: where it lives and who may reach it are part of its type.
//
// A [Region] is memory for elements of one type that barewire-gen generated.
// Its type says its residency ([CPU], [NUMA], [CXL], …) and the access that its
// registration grants ([Unregistered], [Local], [RemoteRead], …). Operations
// are functions whose constraints say what they need, so a region that lives or
// is registered otherwise does not compile.
//
// Regions are made by allocators from a [Place], and registered with a
// [Grant]. Generated code has one function for each place and grant that the
// schema allows; nothing else makes them.
//
//	r, err := barewire.New(SampleInCPU(), 1024)   // *Region[Sample, CPU, Unregistered]
//	mr, err := rdma.Register(dom, r, SampleRemoteRead())
//	w, err := barewire.Open(mr)                   // Window[Sample, RemoteRead]
//	defer w.Close()
//	SampleAt(w, 7).SetCelsius(21.5)
//
// What types cannot see in Go, lifetimes, is checked when the program runs:
// each handle has a generation, and the errors ([ErrMoved], [ErrReleased],
// [ErrBorrowed], [ErrInFlight]) name the region, its type, where it was made,
// and where what is in the way happened.
//
//barewire:trust what a call does to a handle is in its generation, which its type does not show
package barewire

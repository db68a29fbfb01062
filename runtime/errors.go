package barewire

import (
	"errors"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// The reasons that a [RegionError] wraps, for errors.Is.
var (
	ErrMoved        = region.ErrMoved    // the region became another by Register or Deregister
	ErrReleased     = region.ErrReleased // the region was closed
	ErrBorrowed     = region.ErrBorrowed // windows on the region are open
	ErrInFlight     = region.ErrInFlight // operations on the region have not ended
	ErrRange        = region.ErrRange    // elements that are not there
	ErrNoMemory     = region.ErrNoMemory // the system has no such memory
	ErrSiblings     = region.ErrShared   // the memory is registered more than once
	ErrWindowClosed = region.ErrClosed   // the window was closed

	ErrMemory = region.ErrMemory // the memory failed under an access: see CopyOut
	ErrPlace  = region.ErrPlace  // the memory cannot be had where it was wanted; the error says why

	// ErrRegistered is what closing a region gives whose device did not say in time that it, or a peer,
	// is done with the memory. The region is as it was: close it again.
	ErrRegistered = region.ErrRegistered
)

// What zero values give, and others that no region is part of.
var (
	ErrNoPlace  = errors.New("barewire: the zero Place is no place; generated code has functions for places, as in barewire.New(SampleInCPU(), n)")
	ErrNoGrant  = errors.New("barewire: the zero Grant grants nothing; generated code has functions for grants, as in rdma.Register(dom, r, SampleRemoteRead())")
	ErrNoRegion = errors.New("barewire: no region: a nil pointer or a zero value; regions come from allocators, as in barewire.New(SampleInCPU(), n)")
	ErrNoWindow = errors.New("barewire: no window: a zero value; windows come from barewire.Open")
	ErrNoValue  = errors.New("barewire: no value: a nil pointer for what an element is copied to or from")
	ErrNoRemote = errors.New("barewire: a zero Remote refers to nothing; rdma.Import gives them")

	// ErrBadRef is what decoding a reference gives that is malformed, of another
	// type, or grants less than was asked for.
	ErrBadRef = errors.New("barewire: bad reference")
	// ErrPlacementLost is what registering memory gives that the kernel has moved to another node for it. It has been
	// moved back, and is not registered.
	ErrPlacementLost = errors.New("barewire: the memory does not stay where it was placed")
	// ErrUnstable is what reading an element gives that was being written all the while.
	ErrUnstable = errors.New("barewire: the element was being written each time it was read")
	// ErrNotGlobal is what atomic access gives where this processor's atomics and
	// those of peers are not atomic together.
	ErrNotGlobal = errors.New("barewire: atomics of this processor and of peers are not atomic together here; change the word by operations of its domain, and only load it locally")
)

// RegionError says why something could not be done with a region: which one,
// where it was made, and where what is in the way happened.
type RegionError = region.Error

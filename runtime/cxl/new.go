package cxl

import (
	"errors"
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// cxlMemory is what New gives.
type cxlMemory interface {
	barewire.CXL | barewire.Unified
}

// New allocates zeroed memory of a pool for n elements, aligned as the schema asks and at least to a cache line. Who called New
// closes the region, or registers it; the pool closes after it.
//
// An exact place gives memory behind CXL or an error: [barewire.ErrPlace] with [ErrNoCXL] for a nil pool, [ErrFull], or
// [ErrElsewhere] where the pool's node is full. A place with a fallback gives the machine's own memory then: [barewire.Backing] says so, and why.
// The options are those of [barewire.New]; huge pages are what the pool has.
//
//barewire:effect fresh=0 on ok, carves=0 of p on ok, optional=p
func New[T barewire.Fixed[T], R cxlMemory](p *Pool, place barewire.Place[T, R], n int, opts ...barewire.Option) (*barewire.Region[T, R, barewire.Unregistered], error) {
	info, kind, _, fallback, err := barewire.PlaceParts(friend, place)
	if err != nil {
		return nil, err
	}
	if kind != barewire.InCXL {
		return nil, fmt.Errorf("barewire: new: package cxl allocates behind CXL, and this place of %s is %s: use its allocator", info.Name, kind)
	}
	spec := barewire.Gather(friend, info, n, opts)
	spec.Home = uint8(barewire.InCXL)
	h, err := p.give(spec)
	if errors.Is(err, barewire.ErrPlace) && fallback {
		var e *barewire.RegionError
		if errors.As(err, &e) && e.Cause != nil {
			spec.Why = e.Cause.Error()
		}
		spec.Home = uint8(barewire.InCPU)
		h, err = region.New(spec)
	}
	if err != nil {
		return nil, err
	}
	return barewire.Mint[T, R, barewire.Unregistered](friend, h, region.FirstGen), nil
}

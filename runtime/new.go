package barewire

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// Option changes how memory is allocated.
type Option func(*region.Spec)

// HugePages asks for huge pages. Where there are none, the region has ordinary
// ones: [Backing] tells.
func HugePages() Option { return func(s *region.Spec) { s.Huge = true } }

// Named gives the region a name, for errors and logs.
func Named(name string) Option { return func(s *region.Spec) { s.Name = name } }

// hostMemory is what New allocates: the other residencies have allocators of their own.
type hostMemory interface{ CPU | Unified }

// New allocates zeroed memory of this machine for n elements. It lies outside the
// Go heap, aligned as the schema asks (at least to a page), with a page
// without access at either end; under the race detector it is on the Go heap. Who called New
// closes the region, or registers it.
//
// The error is [ErrNoPlace], or a [*RegionError] that is [ErrRange] for n below 1 and
// [ErrNoMemory] where the system has no such memory. A place that names a
// residency which this allocator does not serve is an error too.
//
//barewire:effect fresh=0 on ok
func New[T Fixed[T], R hostMemory](p Place[T, R], n int, opts ...Option) (*Region[T, R, Unregistered], error) {
	if p.info == nil {
		return nil, ErrNoPlace
	}
	if p.kind != InCPU {
		return nil, fmt.Errorf("barewire: new: barewire.New allocates in cpu memory, and this place of %s is %s: use its allocator", p.info.Name, p.kind)
	}
	spec := region.Spec{Type: p.info, Count: n}
	for _, o := range opts {
		if o != nil {
			o(&spec)
		}
	}
	h, err := region.New(spec)
	if err != nil {
		return nil, err
	}
	return &Region[T, R, Unregistered]{h: h, gen: region.FirstGen}, nil
}

// Back is what a region's memory is made of.
type Back struct {
	Kind  Kind   // where it is
	Huge  string // "": ordinary pages; "advised": huge where the kernel can; "reserved": huge
	File  bool   // it is a file's memory, so other processes can map it
	Note  string // why it has no file; empty where it has one
	Bytes int    // of its elements
	Align int    // that its start has, in bytes
}

// Backing tells what the memory of a region is made of.
//
//barewire:effect uses=r
func Backing[T Fixed[T], R Residency, A Access](r *Region[T, R, A]) (Back, error) {
	if err := r.hold("backing"); err != nil {
		return Back{}, err
	}
	defer r.h.Drop()
	t := r.h.Type()
	base := uintptr(r.h.Base())
	b := Back{Kind: InCPU, Bytes: r.h.Count() * int(t.Size), Align: int(base & -base), File: r.h.NoFile() == nil}
	if !b.File {
		b.Note = r.h.NoFile().Error()
	}
	switch r.h.Huge() {
	case region.HugeAdvised:
		b.Huge = "advised"
	case region.HugeReserved:
		b.Huge = "reserved"
	}
	return b, nil
}

// Placed is where a region's memory lies now.
type Placed struct {
	Kind Kind
	Node int // of NUMA, that all pages lie at; -1 where they lie at several, none was touched yet, or the system does not tell
}

// Placement asks the system where a region's memory lies now: pages get their
// place when they are first touched, and may be moved later. CPU memory may be anywhere in the machine.
//
//barewire:effect uses=r
func Placement[T Fixed[T], R Residency, A Access](r *Region[T, R, A]) (Placed, error) {
	if err := r.hold("placement"); err != nil {
		return Placed{}, err
	}
	defer r.h.Drop()
	return Placed{Kind: InCPU, Node: r.h.Node()}, nil
}

package barewire

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// Option changes how memory is allocated.
type Option func(*region.Spec)

// HugePages asks for huge pages of 2 MiB. There are those that an administrator has reserved; those that Linux makes of memory files, which regions
// are, if it may (/sys/kernel/mm/transparent_hugepage/shmem_enabled; doctor shows it); and, where it may not, those that it makes of other memory: the region has
// no file then, and is copied to one when it is registered with package shm. Where there are none at all, it has ordinary ones. [Backing] tells.
//
// It is for who asks, and not what large regions have anyway: a page that is touched once takes 2 MiB, and where memory is in pieces the kernel moves it together
// while the program waits for its first touch, which can take longer than ordinary pages do.
func HugePages() Option { return func(s *region.Spec) { s.Huge = true } }

// Named gives the region a name, for errors and logs.
func Named(name string) Option { return func(s *region.Spec) { s.Name = name } }

// Under allocates by a configuration: within its memory limit, which an allocation beyond is [ErrNoMemory] and
// [platform.ErrMemoryLimit] for, with the huge pages that it asks for, and where nodes are chosen at none but its [platform.Resolved.Nodes]. The bytes of the elements count until the memory is given back, with the last
// handle. nil is no configuration.
func Under(r *platform.Resolved) Option {
	return func(s *region.Spec) {
		if r == nil {
			return
		}
		s.Quota, s.MayLie = r, r.MayLie
		s.Huge = s.Huge || r.HugePages != platform.HugeNever
		s.MustHuge = r.HugePages == platform.HugeMust
	}
}

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
	h, err := region.New(Gather(seal.Key(), p.info, n, opts))
	if err != nil {
		return nil, err
	}
	return &Region[T, R, Unregistered]{h: h, gen: region.FirstGen}, nil
}

// Back is what a region's memory is made of.
type Back struct {
	Kind  Kind   // where it was allocated; Placement says where it lies now
	Huge  string // "": ordinary pages; "advised": huge where the kernel can; "reserved": huge
	File  bool   // it is a file's memory, so other processes can map it
	Note  string // why it has no file; empty where it has one
	Why   string // why it is not where it was wanted first; empty where it is, see places with OrUnified
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
	b := Back{Kind: home(r.h), Why: r.h.Why(), Bytes: r.h.Count() * int(t.Size), Align: int(base & -base), File: r.h.NoFile() == nil}
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
	Kind Kind // that it was allocated as: the kernel may have moved it since, as it does when memory goes offline, and Node says so
	Node int  // of NUMA, that all pages lie at; -1 where they lie at several, none was touched yet, or the system does not tell
	// Nodes are those that pages lie at, in ascending order; of large memory 4096 pages are looked at.
	// Memory that the system has no pages of, as device-dax, lies at the node that the device says it belongs to.
	Nodes []int
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
	p := Placed{Kind: home(r.h), Node: -1, Nodes: r.h.Nodes()}
	if len(p.Nodes) == 1 {
		p.Node = p.Nodes[0]
	}
	return p, nil
}

// home is the residency that memory was allocated with.
func home(h *region.Handle) Kind {
	if k := Kind(h.Home()); k != NoKind {
		return k
	}
	return InCPU
}

// Gather is for the runtime's allocators: what options say of memory.
func Gather(f seal.Friend, info *TypeInfo, n int, opts []Option) region.Spec {
	spec := region.Spec{Type: info, Count: n}
	if !f.OK() || len(opts) == 0 {
		return spec
	}
	return optioned(spec, opts)
}

// optioned is apart from Gather so that memory without options costs no allocation for them.
func optioned(spec region.Spec, opts []Option) region.Spec {
	for _, o := range opts {
		if o != nil {
			o(&spec)
		}
	}
	return spec
}

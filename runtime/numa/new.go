package numa

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// nodeMemory is what the allocators of this package give: the other residencies have others.
type nodeMemory interface {
	barewire.NUMA | barewire.Unified
}

// New allocates zeroed memory for n elements, all of it at one node: [Default] is that of the schema's numa(N), which
// any other number overrides. It is touched and looked for. For the rest it is as [barewire.New]. The error is
// [barewire.ErrNoPlace], [barewire.ErrRange], or [barewire.ErrPlace] with one of this package's reasons.
//
//barewire:effect fresh=0 on ok, node=0 of node, node=0 of p
func New[T barewire.Fixed[T], R nodeMemory](node int, p barewire.Place[T, R], n int, opts ...barewire.Option) (*barewire.Region[T, R, barewire.Unregistered], error) {
	return alloc(p, n, opts, func(fixed int) (want, error) {
		if node != Default {
			return want{mode: Strict, nodes: []int{node}}, nil
		}
		if fixed < 0 {
			return want{}, fmt.Errorf("the schema names no node (numa(N)), and none was asked for: %w", ErrNoNode)
		}
		return want{mode: Strict, nodes: []int{fixed}}, nil
	})
}

// Local is [New] at the node of the processor that runs the caller, or, where that has no memory, at the nearest one that has,
// by the firmware's distances. Only pinned goroutines stay there: see [Run].
//
//barewire:effect fresh=0 on ok
func Local[T barewire.Fixed[T], R nodeMemory](p barewire.Place[T, R], n int, opts ...barewire.Option) (*barewire.Region[T, R, barewire.Unregistered], error) {
	return alloc(p, n, opts, func(int) (want, error) {
		node, err := localNode()
		return want{mode: Strict, nodes: []int{node}}, err
	})
}

// Interleave is [New] over several nodes, a page at each in turn: for what all of the machine reads. Without
// nodes it is over all that this process may have memory at. Pages are at these nodes, or it is an error.
//
//barewire:effect fresh=0 on ok
func Interleave[T barewire.Fixed[T], R nodeMemory](p barewire.Place[T, R], n int, nodes []int, opts ...barewire.Option) (*barewire.Region[T, R, barewire.Unregistered], error) {
	return alloc(p, n, opts, func(int) (want, error) {
		if len(nodes) == 0 {
			all, err := usable()
			return want{Spread, all, true}, err
		}
		return want{mode: Spread, nodes: nodes}, nil
	})
}

// Preferred is [New] at some nodes as far as there is room there, and elsewhere for the rest. [PlacingOf] tells how it came out, and
// whether this kernel takes several nodes (from Linux 5.15 on; before, the first one is what is preferred).
//
//barewire:effect fresh=0 on ok
func Preferred[T barewire.Fixed[T], R nodeMemory](p barewire.Place[T, R], n int, nodes []int, opts ...barewire.Option) (*barewire.Region[T, R, barewire.Unregistered], error) {
	return alloc(p, n, opts, func(int) (want, error) { return want{mode: Prefer, nodes: nodes}, nil })
}

// want is where memory is to be.
type want struct {
	mode  Mode
	nodes []int
	all   bool // nobody named them: those that must not be are left out
}

// allowed leaves out what memory must not be placed at, or refuses it.
func (w *want) allowed(mayLie func(node int) error) error {
	if mayLie == nil {
		return nil
	}
	var nodes []int
	for _, n := range w.nodes {
		err := mayLie(n)
		if err != nil && !w.all {
			return err
		}
		if err == nil {
			nodes = append(nodes, n)
		}
	}
	w.nodes = nodes
	return nil
}

// alloc makes a region where choose says; it is given the node that the schema names, or -1.
func alloc[T barewire.Fixed[T], R nodeMemory](p barewire.Place[T, R], n int, opts []barewire.Option, choose func(fixed int) (want, error)) (*barewire.Region[T, R, barewire.Unregistered], error) {
	info, kind, fixed, fallback, err := barewire.PlaceParts(friend, p)
	if err != nil {
		return nil, err
	}
	if kind != barewire.InNUMA {
		return nil, fmt.Errorf("barewire: new: package numa allocates at nodes, and this place of %s is %s: use its allocator", info.Name, kind)
	}
	spec := barewire.Gather(friend, info, n, opts)
	h, err := at(spec, func() (want, error) { return choose(fixed) })
	if errors.Is(err, barewire.ErrPlace) && fallback {
		spec.Why = cause(err)
		h, err = region.New(spec)
	}
	if err != nil {
		return nil, err
	}
	return barewire.Mint[T, R, barewire.Unregistered](friend, h, region.FirstGen), nil
}

// at makes memory at nodes.
func at(spec region.Spec, choose func() (want, error)) (*region.Handle, error) {
	if _, err := spec.Bytes(); err != nil {
		return nil, err
	}
	w, err := choose()
	if err == nil {
		err = w.allowed(spec.MayLie)
	}
	if err == nil {
		_, err = mempolicy.SetOf(w.nodes...)
	}
	if err == nil {
		_, err = mempolicy.Allowed() // systems without nodes have no mappings to prepare either
	}
	if err != nil {
		return nil, region.Refused(spec, err)
	}
	pl := &placing{want: w}
	spec.Home, spec.Extra, spec.Prepare = uint8(barewire.InNUMA), pl, pl.place
	return region.New(spec)
}

// cause is why memory cannot be where it was wanted.
func cause(err error) string {
	var e *region.Error
	if errors.As(err, &e) && e.Cause != nil {
		return e.Cause.Error()
	}
	return err.Error()
}

// placing is how a region's memory was placed.
type placing struct {
	mu     sync.Mutex
	want   want
	weaker error
}

// place puts a new mapping where it is wanted.
func (p *placing) place(base unsafe.Pointer, size uintptr) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.want.mode {
	case Spread:
		return mempolicy.Spread(base, size, p.want.nodes...)
	case Prefer:
		p.weaker, err = mempolicy.Prefer(base, size, p.want.nodes...)
		return err
	}
	return mempolicy.Strict(base, size, p.want.nodes[0])
}

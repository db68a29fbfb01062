package numa

import (
	"errors"
	"fmt"
	"slices"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// Mode is how strongly nodes were asked for.
type Mode uint8

// The modes.
const (
	Anywhere Mode = iota // nothing was asked for, or it could not be had: the fallback of a place
	Strict               // all at one node
	Spread               // at some nodes, in turn
	Prefer               // at some nodes while there is room
)

// String is the mode in a word.
func (m Mode) String() string {
	names := [...]string{"anywhere", "strict", "spread", "prefer"}
	if int(m) >= len(names) {
		return "an unknown mode"
	}
	return names[m]
}

// Placing is how a region was placed, and where it is.
type Placing struct {
	Mode  Mode
	Nodes []int // that were asked for; of [New] one
	// Weaker says that the kernel was asked for less than was wanted, and why; nil where it was not.
	Weaker error
	// Pages is how many pages are at which node now; at -1 those that are not in memory.
	Pages map[int]int
}

// PlacingOf asks how a region was placed, and looks for each of its pages.
//
//barewire:effect uses=r
func PlacingOf[T barewire.Fixed[T], R nodeMemory, A barewire.Access](r *barewire.Region[T, R, A]) (Placing, error) {
	h, gen, err := barewire.Core(friend, r)
	if err != nil {
		return Placing{}, err
	}
	if err := h.Hold(gen); err != nil {
		return Placing{}, region.Doing("placing", err)
	}
	defer h.Drop()
	var out Placing
	if p, ok := h.Extra().(*placing); ok {
		p.mu.Lock()
		out = Placing{Mode: p.want.mode, Nodes: slices.Clone(p.want.nodes), Weaker: p.weaker}
		p.mu.Unlock()
	}
	base, n, _ := h.Memory()
	if h.Opaque() {
		return out, nil
	}
	out.Pages, err = mempolicy.Pages(base, uintptr(n))
	if err != nil {
		return out, fmt.Errorf("barewire: placing: %s: %w", h.Name(), err)
	}
	return out, nil
}

// Migrate moves a region to another node, and binds it there. Its type and its address stay, and windows may be open. Registered
// memory does not move (devices have its pages): that does not compile, and where the region has a sibling that is registered it is
// [barewire.ErrSiblings]. The error is [barewire.ErrPlace] with a reason; then the memory is where it was, as far as
// the kernel takes it back there.
//
//barewire:effect uses=r, migrates=r
func Migrate[T barewire.Fixed[T]](r *barewire.Region[T, barewire.NUMA, barewire.Unregistered], node int) error {
	h, gen, err := barewire.Core(friend, r)
	if err != nil {
		return err
	}
	if err := h.Hold(gen); err != nil {
		return region.Doing("migrate", err)
	}
	defer h.Drop()
	if !h.Alone() {
		return fmt.Errorf("barewire: migrate: %s: %w: a device may have its pages", h.Name(), barewire.ErrSiblings)
	}
	p, ok := h.Extra().(*placing)
	if !ok {
		return fmt.Errorf("barewire: migrate: %s: %w: it was not placed by this package", h.Name(), barewire.ErrPlace)
	}
	if err := p.move(h, node); err != nil {
		return fmt.Errorf("barewire: migrate: %s to node %d: %w: %w", h.Name(), node, barewire.ErrPlace, err)
	}
	return nil
}

// move binds memory to a node, and back where that fails.
func (p *placing) move(h *region.Handle, node int) error {
	to, err := mempolicy.SetOf(node)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	base, n, _ := h.Memory()
	if err := mempolicy.Move(base, uintptr(n), &to); err != nil {
		return errors.Join(err, p.restore(h))
	}
	p.want, p.weaker = want{mode: Strict, nodes: []int{node}}, nil
	return nil
}

// restore has the policy again that there was before, and the pages where that wants them.
func (p *placing) restore(h *region.Handle) error {
	mode := map[Mode]mempolicy.Mode{Strict: mempolicy.Bind, Spread: mempolicy.Interleave, Prefer: mempolicy.Preferred}[p.want.mode]
	nodes := p.want.nodes
	if p.want.mode == Prefer {
		nodes = nodes[:1]
	}
	s, err := mempolicy.SetOf(nodes...)
	if err != nil {
		return err
	}
	base, n, _ := h.Memory()
	err = mempolicy.Hold(base, uintptr(n), mode, &s)
	if errors.Is(err, mempolicy.ErrElsewhere) && p.want.mode == Prefer {
		return nil
	}
	return err
}

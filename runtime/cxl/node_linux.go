package cxl

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// step is how much of a node's memory is taken and looked for at once, at least: bytes.
const step = 2 << 20

// ofNode is memory of a node: address space, whose pages are made, bound and looked for when they are given out first.
type ofNode struct {
	*mapping
	node int
	made []bool // by step
}

func (n *ofNode) nodes() func() []int { return nil }

func (n *ofNode) noFile() error { return errPartOfPool }

var errPartOfPool = errors.New("it is a part of a pool, which as a file would be all of the pool")

// openNode reserves address space for a node's memory.
func openNode(c *config, node int) (*Pool, error) {
	size := c.size
	if size == 0 {
		size = DefaultSize
	}
	size = (size + step - 1) &^ (step - 1)
	if size == 0 {
		return nil, fmt.Errorf("node %d: %d bytes are more than the address space: %w", node, c.size, ErrPart)
	}
	s, err := mempolicy.SetOf(node)
	if err != nil {
		return nil, err
	}
	m, err := mapShared(-1, 0, size, step, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		return nil, fmt.Errorf("node %d: %w", node, err)
	}
	// That the node can be bound to is known before anybody asks for memory.
	if err := mempolicy.Ask(m.at, m.size, mempolicy.Bind, &s); err != nil {
		return nil, errors.Join(fmt.Errorf("node %d: %w", node, err), m.close())
	}
	_ = unix.Madvise(unsafe.Slice((*byte)(m.at), m.size), unix.MADV_HUGEPAGE)
	from := Origin{Node: node, Size: size, Kind: platform.UnknownMemory.String(), Assumed: true}
	if n, ok := c.machine.NUMA.Node(node); ok {
		k := n.Kind.Or(platform.UnknownMemory)
		from.Kind, from.Assumed = k.String(), !k.IsCXL()
	}
	return newPool(c, from, &ofNode{m, node, make([]bool, size/step)}), nil
}

// ready makes the pages that nobody had yet: at the node, or it is an error and they are given back. Those that somebody had are looked for again: when a
// block of memory goes offline the kernel moves them to other nodes, whatever they are bound to.
func (n *ofNode) ready(off, size uint64) (bool, error) {
	again := false
	for i := off / step; i < (off+size+step-1)/step; i++ {
		if n.made[i] {
			again = true
			continue
		}
		until := i + 1
		for until < (off+size+step-1)/step && !n.made[until] {
			until++
		}
		at, bytes := unsafe.Add(n.at, i*step), uintptr(until-i)*step
		if err := mempolicy.Strict(at, bytes, n.node); err != nil {
			return false, errors.Join(err, unix.Madvise(unsafe.Slice((*byte)(at), bytes), unix.MADV_DONTNEED))
		}
		for ; i < until; i++ {
			n.made[i] = true
		}
	}
	if again {
		return true, n.back(off, size)
	}
	return true, nil
}

// back has pages be at the node that were there.
func (n *ofNode) back(off, size uint64) error {
	page := uint64(os.Getpagesize())
	first := off &^ (page - 1)
	at, bytes := unsafe.Add(n.at, first), uintptr((off+size+page-1)&^(page-1)-first)
	away, err := n.away(at, bytes)
	if err != nil || !away {
		return err
	}
	s, err := mempolicy.SetOf(n.node)
	if err != nil {
		return err
	}
	if err = mempolicy.Move(at, bytes, &s); err != nil {
		if away, aerr := n.away(at, bytes); aerr == nil && !away {
			return nil // pages that broke are nowhere: who touches them is told
		}
	}
	return err
}

// away reports whether there are pages at other nodes.
func (n *ofNode) away(at unsafe.Pointer, bytes uintptr) (bool, error) {
	found, err := mempolicy.Pages(at, bytes)
	for node := range found {
		if node >= 0 && node != n.node {
			return true, err
		}
	}
	return false, err
}

package mempolicy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Strict places a new mapping at one node, and touches all of it. All its pages are there, and those that come back from
// swap will be. The error wraps [ErrNoNode], [ErrForbidden], [ErrNoNUMA], [ErrUntold], or [ErrElsewhere] where the node is full.
//
// Pages are made while the node is preferred only, and bound when they are there: where a node is full, memory that is
// bound to it is made by killing a process.
func Strict(base unsafe.Pointer, size uintptr, node int) error {
	s, err := SetOf(node)
	if err != nil {
		return err
	}
	if err := Ask(base, size, Preferred, &s); err != nil {
		return err
	}
	if err := touch(base, size); err != nil {
		return err
	}
	return Hold(base, size, Bind, &s)
}

// Spread places a new mapping over nodes, a page each in turn, and touches all of it. Errors are those of [Strict].
func Spread(base unsafe.Pointer, size uintptr, nodes ...int) error {
	s, err := SetOf(nodes...)
	if err != nil {
		return err
	}
	if err := Ask(base, size, Interleave, &s); err != nil {
		return err
	}
	if err := touch(base, size); err != nil {
		return err
	}
	return Hold(base, size, Interleave, &s)
}

// Prefer has a new mapping be at nodes as far as there is room, and touches all of it. Weaker says why the kernel was told
// of the first node only: before 5.15 it knows no more. Errors are those of [Strict], but for [ErrElsewhere].
func Prefer(base unsafe.Pointer, size uintptr, nodes ...int) (weaker, err error) {
	s, err := SetOf(nodes...)
	if err != nil {
		return nil, err
	}
	err = Ask(base, size, PreferredMany, &s)
	if errors.Is(err, unix.EINVAL) {
		one, _ := SetOf(nodes[0])
		if err2 := Ask(base, size, Preferred, &one); err2 == nil {
			weaker, err = fmt.Errorf("of nodes %s the kernel was told of %d only: it does not know MPOL_PREFERRED_MANY, which came with 5.15", Text(nodes), nodes[0]), nil
			if len(s.All()) == 1 {
				weaker = nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return weaker, touch(base, size)
}

// Ask sets the policy of pages that are not there yet.
func Ask(base unsafe.Pointer, size uintptr, m Mode, s *Set) error {
	allowed, err := Allowed()
	if err != nil {
		return err
	}
	for _, n := range s.All() {
		if !allowed.Has(n) {
			return fmt.Errorf("node %d: this process may have memory at %s: %w", n, Text(allowed.All()), ErrNoNode)
		}
	}
	err = mbind(base, size, m, s, 0)
	switch {
	case errors.Is(err, unix.EINVAL) && m != PreferredMany: // of a page's range and a set that is large enough
		return fmt.Errorf("node %s has no memory, or is not online: %w: %w", Text(s.All()), err, ErrNoNode)
	case err != nil:
		return err
	}
	// Of several nodes the kernel leaves those out that have no memory, without a word.
	_, got, err := PolicyOf(base)
	if err == nil && got != *s {
		nodes := slices.DeleteFunc(s.All(), got.Has)
		return fmt.Errorf("node %s has no memory, or is not online: %w", Text(nodes), ErrNoNode)
	}
	return err
}

// Hold binds pages that are there to nodes, moves those that are elsewhere, and makes sure. Pages that others have mapped,
// too, or that are pinned, do not move: [ErrElsewhere].
func Hold(base unsafe.Pointer, size uintptr, m Mode, s *Set) error {
	err := mbind(base, size, m, s, strict)
	if errors.Is(err, ErrElsewhere) {
		err = mbind(base, size, m, s, strict|move)
	}
	if err != nil && !errors.Is(err, ErrElsewhere) {
		return err
	}
	at, perr := Pages(base, size)
	if perr != nil {
		return errors.Join(err, perr)
	}
	total, good := 0, 0
	for n, pages := range at {
		total += pages
		if s.Has(n) {
			good += pages
		}
	}
	if good == total {
		return nil
	}
	return fmt.Errorf("of %d pages %d are at %s, the rest at %s: there is no room, or they cannot be moved: %w", total, good, Text(s.All()), others(at, s), ErrElsewhere)
}

// others are the nodes of pages that are not in a set.
func others(at map[int]int, s *Set) string {
	nodes := slices.DeleteFunc(slices.Sorted(maps.Keys(at)), s.Has)
	if len(nodes) > 0 && nodes[0] < 0 {
		if nodes = nodes[1:]; len(nodes) == 0 {
			return "none that is known"
		}
	}
	return Text(nodes)
}

// Move binds pages that are there to other nodes, and takes them there.
func Move(base unsafe.Pointer, size uintptr, s *Set) error {
	if err := Ask(base, size, Bind, s); err != nil {
		return err
	}
	return Hold(base, size, Bind, s)
}

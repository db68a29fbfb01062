package mempolicy

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Set is nodes as the kernel takes them: a bit each, in words of the machine's. It always has room for all nodes that any
// kernel has: sizes that fit a machine exactly are where bugs live, since the kernel takes one bit less than it is told.
type Set [MaxNodes / bits.UintSize]uintptr

// maxNode is what the kernel is told of a Set's size: one bit more than it has. Source: mbind(2) says the number of bits,
// and the kernel's get_nodes takes one off.
const maxNode = MaxNodes + 1

// SetOf is a set of nodes. The error is [ErrNoNode], for numbers that no node has, and for none at all.
func SetOf(nodes ...int) (s Set, err error) {
	if len(nodes) == 0 {
		return s, fmt.Errorf("no node was named: %w", ErrNoNode)
	}
	for _, n := range nodes {
		if n < 0 || n >= MaxNodes {
			return s, fmt.Errorf("node %d: numbers go from 0 to %d: %w", n, MaxNodes-1, ErrNoNode)
		}
		s[n/bits.UintSize] |= 1 << (n % bits.UintSize)
	}
	return s, nil
}

// Has reports whether a node is in it.
func (s *Set) Has(n int) bool {
	return n >= 0 && n < MaxNodes && s[n/bits.UintSize]>>(n%bits.UintSize)&1 == 1
}

// All are the nodes in it, in ascending order.
func (s *Set) All() (nodes []int) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			nodes = append(nodes, i*bits.UintSize+bits.TrailingZeros(uint(w)))
		}
	}
	return nodes
}

// Text lists nodes for an error.
func Text(nodes []int) string {
	if len(nodes) == 0 {
		return "none"
	}
	words := make([]string, len(nodes))
	for i, n := range nodes {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}

package wire

import (
	"bytes"
	"cmp"
	"slices"
)

// The functions below return the keys of a map in the order in which they are
// encoded, in buf's memory as far as it goes: generated code gives a
// buffer of its stack, so that small maps need no allocation.

// SortedKeys is for numbers, enums, strings and data: by value, and bytewise.
func SortedKeys[M ~map[K]V, K cmp.Ordered, V any](buf []K, m M) []K {
	for k := range m {
		buf = append(buf, k)
	}
	slices.Sort(buf)
	return buf
}

// SortedBools is for bool: false, then true.
func SortedBools[M ~map[K]V, K ~bool, V any](buf []K, m M) []K {
	for _, k := range [...]K{false, true} {
		if _, ok := m[k]; ok {
			buf = append(buf, k)
		}
	}
	return buf
}

// SortedArrays is for data[n]: bytewise. Octets gives a key's bytes.
func SortedArrays[M ~map[K]V, K comparable, V any](buf []K, m M, octets func(*K) []byte) []K {
	for k := range m {
		buf = append(buf, k)
	}
	slices.SortFunc(buf, func(x, y K) int { return bytes.Compare(octets(&x), octets(&y)) })
	return buf
}

// Package region is what is under the typed handles of package barewire: the
// memory, who holds it, and what may be done with it when. It knows no Go types
// of elements, only sizes.
package region

import (
	"fmt"
	"strings"
)

// Type is what is known of a region's elements. See barewire.TypeInfo.
type Type struct {
	Name  string   // package.Type, for errors
	Size  uint64   // bytes from one element to the next
	Align uint64   // regions start at a multiple of it: a power of two
	Hash  [32]byte // the schema hash; its first 16 bytes travel
}

// Rights are what a registration grants to peers.
type Rights uint16

// The rights, as they travel in a reference.
const (
	Read Rights = 1 << iota
	Write
	Atomic
)

// String is the rights' names in schemas.
func (r Rights) String() string {
	var s []string
	for i, name := range [...]string{"remote_read", "remote_write", "remote_atomic"} {
		if r>>i&1 != 0 {
			s = append(s, name)
		}
	}
	if r>>3 != 0 {
		s = append(s, "unknown rights")
	}
	if len(s) == 0 {
		return "nothing remote"
	}
	return strings.Join(s, ", ")
}

// Elements is so many of them, for texts.
func Elements[N int | uint64](n N) string {
	if n == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", n)
}

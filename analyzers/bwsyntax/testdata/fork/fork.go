// Package fork is a runtime that nobody knows by name: what its types are stands in directives.
package fork

import "unsafe"

// Memory is memory.
//
//barewire:type handle
type Memory struct{ p *byte }

// Permit lets memory be made.
//
//barewire:type place
type Permit struct{ ok bool }

// Make makes memory.
func Make(p Permit) (*Memory, error) { return &Memory{}, nil }

// Mint makes a permit.
//
//barewire:generated
func Mint() Permit { return Permit{true} }

// Close gives it back.
func (m *Memory) Close() error { return nil }

var own Memory // a package may do with its own types what it likes

func use() (Permit, *Memory) { return Permit{}, &own }

// Where memory is.
type (
	// Host is where the processor reaches it.
	//
	//barewire:residency cpu
	Host struct{ _ [1]byte }
	// Card is where it does not.
	//
	//barewire:residency gpu
	Card struct{ _ [2]byte }
)

// Buffer is memory that lives where W says.
//
//barewire:type handle
type Buffer[W Host | Card] struct {
	_ [0]*W
	p *byte
}

// Pointer is where it begins.
//
//barewire:effect views=0 of b
func (b *Buffer[W]) Pointer() unsafe.Pointer { return unsafe.Pointer(b.p) }

// Address is the number that devices find it by.
//
//barewire:effect address=0 of b
func Address[W Host | Card](b *Buffer[W]) uintptr { return uintptr(unsafe.Pointer(b.p)) }

// Close gives it back.
func (b *Buffer[W]) Close() error { return nil }

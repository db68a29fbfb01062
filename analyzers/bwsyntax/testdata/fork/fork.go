// Package fork is a runtime that nobody knows by name: what its types are stands in directives.
package fork

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

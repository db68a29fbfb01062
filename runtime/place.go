package barewire

import (
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// Place says that regions of T may live where R says. Generated code has a
// function for each place that the schema allows (SampleInCPU); allocators take
// one. The zero value is no place: [ErrNoPlace].
//
//barewire:type place
type Place[T Fixed[T], R Residency] struct {
	_        [0]func(T, R)
	info     *TypeInfo
	kind     Kind // the residency that is wanted
	node     int  // numa(N), else -1
	fallback bool // Unified will do where the wanted one is absent
}

// Grant says that regions of T may be registered with the access A. Generated code
// has a function for each grant that the schema allows (SampleRemoteRead);
// registering takes one. The zero value is no grant: [ErrNoGrant].
//
//barewire:type grant
type Grant[T Fixed[T], A Registered] struct {
	_      [0]func(T, A)
	info   *TypeInfo
	rights Rights
}

// Kind is a residency as a value.
type Kind uint8

// The residencies.
const (
	NoKind Kind = iota
	InCPU
	InNUMA
	InCXL
	InCXLShared
	InGPU
	InManaged
	InUnified
)

// Rights are what a registration lets peers do; none is local access only.
type Rights = region.Rights

// MintPlace is for generated code only. node is the N of numa(N), else -1. With fallback,
// R is Unified and kind what is tried first.
//
//barewire:generated
//barewire:effect node=0 of node
func MintPlace[T Fixed[T], R Residency](info *TypeInfo, kind Kind, node int, fallback bool) Place[T, R] {
	return Place[T, R]{info: info, kind: kind, node: node, fallback: fallback}
}

// MintGrant is for generated code only.
//
//barewire:generated
func MintGrant[T Fixed[T], A Registered](info *TypeInfo) Grant[T, A] {
	return Grant[T, A]{info: info, rights: rightsOf[A]()}
}

// PlaceParts is for the runtime's allocators.
func PlaceParts[T Fixed[T], R Residency](f seal.Friend, p Place[T, R]) (info *TypeInfo, kind Kind, node int, fallback bool, err error) {
	if p.info == nil || !f.OK() {
		return nil, NoKind, -1, false, ErrNoPlace
	}
	return p.info, p.kind, p.node, p.fallback, nil
}

// GrantParts is for the runtime's device packages.
func GrantParts[T Fixed[T], A Registered](f seal.Friend, g Grant[T, A]) (*TypeInfo, Rights, error) {
	if g.info == nil || !f.OK() {
		return nil, 0, ErrNoGrant
	}
	return g.info, g.rights, nil
}

// String is the residency's name in schemas.
func (k Kind) String() string {
	names := [...]string{"nowhere", "cpu", "numa", "cxl", "cxl_shared", "gpu", "managed", "unified"}
	if int(k) >= len(names) {
		return "an unknown residency"
	}
	return names[k]
}

// The rights.
const (
	ReadRight   = region.Read
	WriteRight  = region.Write
	AtomicRight = region.Atomic
)

// rightsOf is what an access marker grants to peers. The markers' sizes tell them apart,
// which is a constant in each instance.
func rightsOf[A Access]() Rights {
	var a A
	switch unsafe.Sizeof(a) {
	case unsafe.Sizeof(RemoteRead{}):
		return region.Read
	case unsafe.Sizeof(RemoteWrite{}):
		return region.Write
	case unsafe.Sizeof(RemoteReadWrite{}):
		return region.Read | region.Write
	case unsafe.Sizeof(RemoteAtomic{}):
		return region.Atomic
	case unsafe.Sizeof(RemoteReadAtomic{}):
		return region.Read | region.Atomic
	case unsafe.Sizeof(RemoteWriteAtomic{}):
		return region.Write | region.Atomic
	case unsafe.Sizeof(RemoteReadWriteAtomic{}):
		return region.Read | region.Write | region.Atomic
	}
	return 0
}

// RightsOf is what an access marker grants to peers, for the runtime's device packages.
func RightsOf[A Access](seal.Friend) Rights { return rightsOf[A]() }

package barewire

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// Field is one field of one element in the memory of a peer. Generated code has a
// function for each field (SampleCelsiusOf). It is a value, as [Remote] is.
//
//barewire:type remote
type Field[F any, A RemoteAccess] struct {
	_   [0]*F
	_   [0]*A
	ref Ref // Count is 1, Size the field's, Hash zero
	err error
}

// LocalField is one field of one element in a registered region of this process. It is good
// as long as the region is.
//
//barewire:type view
type LocalField[F any] struct {
	_         [0]*F
	h         *region.Handle
	gen       uint32
	off, size int // bytes
	i         int // the element
	bad       bool
}

// FieldOf is the field of size bytes that lies off bytes into the element i. It is
// for generated code. An index out of range is refused by the operation.
//
//barewire:generated
func FieldOf[F any, T Fixed[T], A RemoteAccess](rem Remote[T, A], i int, off, size uintptr) Field[F, A] {
	rem = rem.Slice(i, 1)
	if err := rem.r.check(); err != nil {
		return Field[F, A]{err: err}
	}
	r := rem.r
	return Field[F, A]{ref: Ref{
		Addr: r.addr + uint64(off), Count: 1, Size: uint32(size), Key: uint32(r.key),
		Epoch: uint32(r.key >> 32), Rights: rightsOf[A](), Version: RefVersion,
	}}
}

// FieldParts is for the runtime's device packages.
func FieldParts[F any, A RemoteAccess](key seal.Friend, f Field[F, A]) (Ref, error) {
	if f.err != nil {
		return Ref{}, f.err
	}
	if f.ref.Version == 0 || !key.OK() {
		return Ref{}, ErrNoRemote
	}
	return f.ref, nil
}

// FieldIn is the field of size bytes that lies off bytes into the element i
// of a span. It is for generated code. An index out of range is refused by the operation.
//
//barewire:generated
//barewire:effect views=0 of s
func FieldIn[F any, T Fixed[T], A Access](s Span[T, A], i int, off, size uintptr) LocalField[F] {
	h, r := s.h, s.r
	if h == nil {
		return LocalField[F]{}
	}
	bad := r.bad || uint(i) >= uint(s.n)
	if !bad {
		off += uintptr(s.at+i) * uintptr(h.Type().Size)
	}
	return LocalField[F]{h: h, gen: r.gen, off: int(off), size: int(size), i: i, bad: bad}
}

// LocalFieldParts is for the runtime's device packages; see [SpanParts].
func LocalFieldParts[F any](key seal.Friend, f LocalField[F]) (h *region.Handle, gen uint32, off, bytes int, err error) {
	if f.h == nil || !key.OK() {
		return nil, 0, 0, 0, ErrNoRegion
	}
	if f.bad {
		return nil, 0, 0, 0, fmt.Errorf("field of an element: %w", f.h.Range(f.i, 1))
	}
	return f.h, f.gen, f.off, f.size, nil
}

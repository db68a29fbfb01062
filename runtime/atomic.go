package barewire

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// Atomic64 is a u64 in a region, for access that is atomic on this machine. It is good as
// long as the window that it came from is open. The word is little-endian in
// memory, and the methods take and give numbers, on every machine. The zero value is a nil
// pointer, and panics as one.
//
//barewire:type view
type Atomic64 struct{ p *uint64 }

// Load reads the word.
func (a Atomic64) Load() uint64 { return le64(atomic.LoadUint64(a.p)) }

// Store writes the word.
func (a Atomic64) Store(x uint64) { atomic.StoreUint64(a.p, le64(x)) }

// Swap writes the word and gives what it was.
func (a Atomic64) Swap(x uint64) uint64 { return le64(atomic.SwapUint64(a.p, le64(x))) }

// CompareAndSwap writes the word if it is old, and reports whether it was.
func (a Atomic64) CompareAndSwap(old, x uint64) bool {
	return atomic.CompareAndSwapUint64(a.p, le64(old), le64(x))
}

// Add adds to the word, modulo 2^64, and gives what it is then.
func (a Atomic64) Add(x uint64) uint64 {
	if wire.LittleEndian {
		return atomic.AddUint64(a.p, x)
	}
	for {
		old := a.Load()
		if a.CompareAndSwap(old, old+x) {
			return old + x
		}
	}
}

// And clears the bits that x has not, and gives what the word was.
func (a Atomic64) And(x uint64) uint64 { return le64(atomic.AndUint64(a.p, le64(x))) }

// Or sets the bits that x has, and gives what the word was.
func (a Atomic64) Or(x uint64) uint64 { return le64(atomic.OrUint64(a.p, le64(x))) }

// Atomic32 is as [Atomic64], for a u32.
//
//barewire:type view
type Atomic32 struct{ p *uint32 }

// Load reads the word.
func (a Atomic32) Load() uint32 { return le32(atomic.LoadUint32(a.p)) }

// Store writes the word.
func (a Atomic32) Store(x uint32) { atomic.StoreUint32(a.p, le32(x)) }

// Swap writes the word and gives what it was.
func (a Atomic32) Swap(x uint32) uint32 { return le32(atomic.SwapUint32(a.p, le32(x))) }

// CompareAndSwap writes the word if it is old, and reports whether it was.
func (a Atomic32) CompareAndSwap(old, x uint32) bool {
	return atomic.CompareAndSwapUint32(a.p, le32(old), le32(x))
}

// Add adds to the word, modulo 2^32, and gives what it is then.
func (a Atomic32) Add(x uint32) uint32 {
	if wire.LittleEndian {
		return atomic.AddUint32(a.p, x)
	}
	for {
		old := a.Load()
		if a.CompareAndSwap(old, old+x) {
			return old + x
		}
	}
}

// And clears the bits that x has not, and gives what the word was.
func (a Atomic32) And(x uint32) uint32 { return le32(atomic.AndUint32(a.p, le32(x))) }

// Or sets the bits that x has, and gives what the word was.
func (a Atomic32) Or(x uint32) uint32 { return le32(atomic.OrUint32(a.p, le32(x))) }

// Word64 is the u64 off bytes into the element i. It is for generated code, which
// proves that it is aligned.
//
//barewire:generated
//barewire:effect views=0 of w
func Word64[T Fixed[T], A CanLocalAtomic](w Window[T, A], i int, size, off uintptr) Atomic64 {
	return Atomic64{(*uint64)(unsafe.Add(Element(w, i, uintptr(i)*size), off))}
}

// Word32 is as [Word64], for a u32.
//
//barewire:generated
//barewire:effect views=0 of w
func Word32[T Fixed[T], A CanLocalAtomic](w Window[T, A], i int, size, off uintptr) Atomic32 {
	return Atomic32{(*uint32)(unsafe.Add(Element(w, i, uintptr(i)*size), off))}
}

// Load64 reads the u64 off bytes into the element i atomically, whoever changes it. It
// is for generated code.
//
//barewire:generated
//barewire:effect uses=w
func Load64[T Fixed[T], A Access](w Window[T, A], i int, size, off uintptr) uint64 {
	return Atomic64{(*uint64)(unsafe.Add(Element(w, i, uintptr(i)*size), off))}.Load()
}

// Load32 is as [Load64], for a u32.
//
//barewire:generated
//barewire:effect uses=w
func Load32[T Fixed[T], A Access](w Window[T, A], i int, size, off uintptr) uint32 {
	return Atomic32{(*uint32)(unsafe.Add(Element(w, i, uintptr(i)*size), off))}.Load()
}

// GlobalAtomics is the witness that in one domain this processor's atomics and those of
// peers are atomic together; a domain of rdma gives it where its device says so.
// The zero value is no witness: [ErrNotGlobal].
type GlobalAtomics struct{ domain any }

// MintGlobalAtomics is for the runtime's device packages. What registers memory in
// the domain has it as Domain: region.Handle.Reg has a method Domain() any.
func MintGlobalAtomics(f seal.Friend, domain any) GlobalAtomics {
	if !f.OK() {
		return GlobalAtomics{}
	}
	return GlobalAtomics{domain}
}

// Global64 is the u64 off bytes into the element i, which peers change atomically too.
// The error is [ErrNotGlobal] where g is of another domain than the region. It is for generated code.
//
//barewire:generated
//barewire:effect views=0 of w on ok
func Global64[T Fixed[T], A CanRemoteAtomic](w Window[T, A], i int, size, off uintptr, g GlobalAtomics) (Atomic64, error) {
	if err := w.loan.global(g); err != nil {
		return Atomic64{}, err
	}
	return Atomic64{(*uint64)(unsafe.Add(Element(w, i, uintptr(i)*size), off))}, nil
}

// Global32 is as [Global64], for a u32.
//
//barewire:generated
//barewire:effect views=0 of w on ok
func Global32[T Fixed[T], A CanRemoteAtomic](w Window[T, A], i int, size, off uintptr, g GlobalAtomics) (Atomic32, error) {
	if err := w.loan.global(g); err != nil {
		return Atomic32{}, err
	}
	return Atomic32{(*uint32)(unsafe.Add(Element(w, i, uintptr(i)*size), off))}, nil
}

// global checks that g is of the domain in which the region is registered.
func (l loan) global(g GlobalAtomics) error {
	if l.slot == nil {
		return ErrNoWindow
	}
	// An open window keeps the registration as it is.
	if !l.slot.Open(l.state) {
		return region.Doing("atomic access", l.slot.Fault(l.state))
	}
	d, ok := l.slot.Handle().Reg.(interface{ Domain() any })
	if !ok || g.domain == nil || d.Domain() != g.domain {
		return ErrNotGlobal
	}
	return nil
}

func le64(x uint64) uint64 {
	if wire.LittleEndian {
		return x
	}
	return bits.ReverseBytes64(x)
}

func le32(x uint32) uint32 {
	if wire.LittleEndian {
		return x
	}
	return bits.ReverseBytes32(x)
}

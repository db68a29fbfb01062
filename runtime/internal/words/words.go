// Package words copies to and from memory that others look at meanwhile, and changes words in it, so that a word of
// eight bytes that is aligned on both sides is never seen in parts.
package words

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// ByWords says that memory that others look at is accessed by atomic words: where the race detector must tell
// these accesses from plain ones, and where a plain copy would tear a word of
// eight bytes. Elsewhere a word that is aligned on both sides is copied whole:
// the runtime's memmove promises that for pointers, which the garbage collector relies on.
const ByWords = underRace || unsafe.Sizeof(uintptr(0)) < 8

// Place copies n bytes of own memory into memory that others look at. What comes from there need not be aligned
// for a single word to be stored whole.
func Place(dst, src unsafe.Pointer, n int) {
	if ByWords || n == 8 { // what else there is to tell would not be inlined
		placeWhole(dst, src, n)
		return
	}
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

// Fetch copies n bytes of memory that others change into own memory, which need not be aligned for a single word
// to be loaded whole.
func Fetch(dst, src unsafe.Pointer, n int) {
	if ByWords || n == 8 {
		fetchWhole(dst, src, n)
		return
	}
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

func placeWhole(dst, src unsafe.Pointer, n int) {
	switch {
	case ByWords:
		placeWords(dst, src, n)
	case uintptr(dst)&7 == 0:
		*(*uint64)(dst) = binary.NativeEndian.Uint64(unsafe.Slice((*byte)(src), 8))
	default:
		copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
	}
}

func fetchWhole(dst, src unsafe.Pointer, n int) {
	switch {
	case ByWords:
		fetchWords(dst, src, n)
	case uintptr(src)&7 == 0:
		binary.NativeEndian.PutUint64(unsafe.Slice((*byte)(dst), 8), *(*uint64)(src))
	default:
		copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
	}
}

func placeWords(dst, src unsafe.Pointer, n int) {
	var word [8]byte
	for i := 0; i < n; {
		d, s := unsafe.Add(dst, i), unsafe.Add(src, i)
		size := wordAt(uintptr(d), n-i)
		copy(word[:size], unsafe.Slice((*byte)(s), size))
		switch size {
		case 8:
			atomic.StoreUint64((*uint64)(d), binary.NativeEndian.Uint64(word[:]))
		case 4:
			atomic.StoreUint32((*uint32)(d), binary.NativeEndian.Uint32(word[:]))
		default:
			*(*byte)(d) = word[0]
		}
		i += size
	}
}

func fetchWords(dst, src unsafe.Pointer, n int) {
	var word [8]byte
	for i := 0; i < n; {
		d, s := unsafe.Add(dst, i), unsafe.Add(src, i)
		size := wordAt(uintptr(s), n-i)
		switch size {
		case 8:
			binary.NativeEndian.PutUint64(word[:], atomic.LoadUint64((*uint64)(s)))
		case 4:
			binary.NativeEndian.PutUint32(word[:], atomic.LoadUint32((*uint32)(s)))
		default:
			word[0] = *(*byte)(s)
		}
		copy(unsafe.Slice((*byte)(d), size), word[:size])
		i += size
	}
}

// wordAt is the size of the largest aligned word at p that n bytes have room for: 8, 4 or 1.
func wordAt(p uintptr, n int) int {
	switch {
	case p&7 == 0 && n >= 8:
		return 8
	case p&3 == 0 && n >= 4:
		return 4
	}
	return 1
}

// littleEndian says whether a word of a message is a word of this machine.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// native turns a word of a message, which is little-endian, into one of this
// machine, and back.
func native(v uint64) uint64 {
	if littleEndian {
		return v
	}
	return bits.ReverseBytes64(v)
}

// Swap stores with where the word at p is want. It returns the word before.
func Swap(p *uint64, want, with uint64) uint64 {
	for {
		if atomic.CompareAndSwapUint64(p, native(want), native(with)) {
			return want
		}
		if old := native(atomic.LoadUint64(p)); old != want {
			return old
		}
	}
}

// Add adds to the word at p. It returns the word before.
func Add(p *uint64, by uint64) uint64 {
	if littleEndian {
		return atomic.AddUint64(p, by) - by
	}
	for {
		raw := atomic.LoadUint64(p)
		old := native(raw)
		if atomic.CompareAndSwapUint64(p, raw, native(old+by)) {
			return old
		}
	}
}

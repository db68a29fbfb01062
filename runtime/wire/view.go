package wire

import (
	"cmp"
	"encoding/binary"
	"math"
)

// View is one value inside an indexed message: where its bytes are and where
// its slots are. The views of generated code are made of it; its methods are
// for generated code and check only what Go checks.
type View struct {
	ix    *Index
	off   uint32 // of the value's first byte
	frame uint32 // of the value's first slot
}

// Root returns the view of the whole message.
func (x *Index) Root() View { return View{x, 0, 1} }

// In moves to a part that lies off bytes further, with its slots frame slots further.
func (v View) In(off, frame uint32) View { return View{v.ix, v.off + off, v.frame + frame} }

// After moves to a part that lies off bytes behind where the slot says that
// the parts before it end.
func (v View) After(slot, off, frame uint32) View {
	return View{v.ix, v.ix.slots[v.frame+slot] + off, v.frame + frame}
}

// Far moves to the value behind off bytes of an optional or a union, whose
// slots are where the first slot says.
func (v View) Far(off uint32) View { return View{v.ix, v.off + off, v.ix.slots[v.frame]} }

// Offset returns where in the message the value begins.
func (v View) Offset() int { return int(v.off) }

// U8 reads a u8; it serves bool, the tag of an optional, and one-byte enums and tags too.
func (v View) U8() uint8 { return v.ix.buf[v.off] }

// U16 reads a u16.
func (v View) U16() uint16 { return binary.LittleEndian.Uint16(v.ix.buf[v.off:]) }

// U32 reads a u32.
func (v View) U32() uint32 { return binary.LittleEndian.Uint32(v.ix.buf[v.off:]) }

// U64 reads a u64.
func (v View) U64() uint64 { return binary.LittleEndian.Uint64(v.ix.buf[v.off:]) }

// I8 reads an i8.
func (v View) I8() int8 { return int8(v.ix.buf[v.off]) }

// I16 reads an i16.
func (v View) I16() int16 { return int16(binary.LittleEndian.Uint16(v.ix.buf[v.off:])) }

// I32 reads an i32.
func (v View) I32() int32 { return int32(binary.LittleEndian.Uint32(v.ix.buf[v.off:])) }

// I64 reads an i64.
func (v View) I64() int64 { return int64(binary.LittleEndian.Uint64(v.ix.buf[v.off:])) }

// F32 reads an f32.
func (v View) F32() float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(v.ix.buf[v.off:]))
}

// F64 reads an f64.
func (v View) F64() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(v.ix.buf[v.off:]))
}

// Bool reads a bool.
func (v View) Bool() bool { return v.ix.buf[v.off] != 0 }

// Uint reads a uint, or an enum or a tag that takes more than a byte: 0 if what
// the pass saw there has changed.
//
//go:noinline
func (v View) Uint() uint64 {
	b := v.ix.buf[v.off:]
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0])
	}
	u, _ := binary.Uvarint(b)
	return u
}

// Int reads an int.
//
//go:noinline
func (v View) Int() int64 {
	return UnZigZag(v.Uint())
}

// Data returns the bytes of a data without a copy: they are the message's own.
//
//go:noinline
func (v View) Data() []byte { return prefixed(v.ix.buf[v.off:]) }

// Str returns a string without a copy: it is the message's own memory, changes
// with it and keeps it from being collected.
//
//go:noinline
func (v View) Str() string {
	return bytesString(prefixed(v.ix.buf[v.off:]))
}

// prefixed returns what stands behind the length at the beginning of b:
// nothing if the length has changed since the pass and does not fit.
func prefixed(b []byte) []byte {
	if len(b) > 0 {
		if n := int(b[0]); n < 0x80 && n < len(b) {
			return b[1 : 1+n : 1+n]
		}
	}
	return longPrefixed(b)
}

//go:noinline
func longPrefixed(b []byte) []byte {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil
	}
	return b[k : k+int(n) : k+int(n)]
}

// UintAfter, IntAfter, DataAfter and StrAfter read what lies off bytes behind
// where the slot says. They exist because After and a call together exceed what
// the compiler inlines.
//
//go:noinline
func (v View) UintAfter(slot, off uint32) uint64 { return v.After(slot, off, 0).Uint() }

// IntAfter reads an int, as UintAfter.
//
//go:noinline
func (v View) IntAfter(slot, off uint32) int64 { return v.After(slot, off, 0).Int() }

// DataAfter returns the bytes of a data, as UintAfter.
//
//go:noinline
func (v View) DataAfter(slot, off uint32) []byte {
	return prefixed(v.ix.buf[v.ix.slots[v.frame+slot]+off:])
}

// StrAfter returns a string, as UintAfter.
//
//go:noinline
func (v View) StrAfter(slot, off uint32) string {
	return bytesString(prefixed(v.ix.buf[v.ix.slots[v.frame+slot]+off:]))
}

// Bytes returns the n bytes of a value of fixed size, the message's own.
func (v View) Bytes(n uint32) []byte { return v.ix.buf[v.off : v.off+n : v.off+n] }

// Tail returns the message from the value on, for what takes an array out of it.
func (v View) Tail() []byte { return v.ix.buf[v.off:] }

// FixedStr returns a data[n] as a string without a copy.
func (v View) FixedStr(n uint32) string {
	return bytesString(v.Bytes(n))
}

// Packed returns the elements of a list<T>, each of size bytes.
//
//go:noinline
func (v View) Packed(size int) Packed {
	b := v.ix.buf[v.off:]
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k)/uint64(size) {
		return Packed{}
	}
	end := k + int(n)*size
	return Packed{b[k:end:end]}
}

// PackedAfter is Packed for what lies off bytes behind where the slot says.
//
//go:noinline
func (v View) PackedAfter(slot, off uint32, size int) Packed {
	return v.After(slot, off, 0).Packed(size)
}

// Elems returns the elements of a list or map whose first slot says where they
// are, with frames of stride slots.
func (v View) Elems(stride uint32) Elems {
	first := v.ix.slots[v.frame] &^ unsorted
	return Elems{v.ix, first, v.ix.slots[first-1], stride}
}

// Sorted reports whether the keys of a map ascend.
func (v View) Sorted() bool { return v.ix.slots[v.frame] < unsorted }

// Elems is the elements of a list, or the entries of a map, of variable size.
// Its methods are for generated code. (Four words: with five the compiler would
// keep it in memory instead of registers.)
type Elems struct {
	ix       *Index
	first, n uint32
	stride   uint32
}

// Len returns how many there are.
func (l Elems) Len() int { return int(l.n) }

// At returns the one with index i. It panics as a slice does if there is none.
func (l Elems) At(i int) View {
	if uint(i) >= uint(l.n) {
		panicIndex(i, int(l.n))
	}
	at := l.first + uint32(i)*l.stride
	return View{l.ix, l.ix.slots[at], at + 1}
}

// FindKey returns the entry of a map with a key: by halving if the map's keys
// ascend, else by looking at each. Entries have frames of stride slots; key
// reads an entry's. It is for generated code.
func FindKey[K cmp.Ordered](m View, stride uint32, want K, key func(View) K) (entry View, ok bool) {
	e := m.Elems(stride)
	if !m.Sorted() {
		for i := range e.Len() {
			if u := e.At(i); key(u) == want {
				return u, true
			}
		}
		return View{}, false
	}
	low, high := 0, e.Len()
	for low < high {
		mid := int(uint(low+high) / 2)
		if key(e.At(mid)) < want {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < e.Len() {
		if u := e.At(low); key(u) == want {
			return u, true
		}
	}
	return View{}, false
}

// Packed is elements of a fixed size, one behind the other. Its methods are
// for generated code.
type Packed struct{ b []byte }

// PackedOf returns the elements that b holds.
func PackedOf(b []byte) Packed { return Packed{b[:len(b):len(b)]} }

// Len returns how many elements of size bytes there are.
func (l Packed) Len(size int) int { return len(l.b) / size }

// At returns the bytes of the element with index i. It panics as a slice does
// if there is none.
func (l Packed) At(i, size int) []byte {
	if uint(i) >= uint(len(l.b)/size) {
		panicIndex(i, len(l.b)/size)
	}
	return l.b[i*size : (i+1)*size : (i+1)*size]
}

// Bytes returns all the elements' bytes, the message's own.
func (l Packed) Bytes() []byte { return l.b }

// panicIndex panics with what an index out of range of a slice says.
//
//go:noinline
func panicIndex(i, n int) {
	_ = make([]struct{}, n)[i]
}

// OptAfter reads an optional that lies off bytes behind where the slot says,
// its slots frame slots further; get reads the value that may follow. It is
// for generated code.
//
//go:noinline
func OptAfter[T any](v View, slot, off, frame uint32, get func(View) T) (value T, ok bool) {
	return Opt(v.After(slot, off, frame), get)
}

// Member reads the value of a union's member off bytes behind the union's
// first if its tag is the one asked for. It is for generated code.
//
//go:noinline
func Member[T any](v View, tag uint64, off uint32, get func(View) T) (value T, ok bool) {
	if v.Uint() != tag {
		return value, false
	}
	return get(v.In(off, 0)), true
}

// Opt reads an optional at v. It is for generated code.
//
//go:noinline
func Opt[T any](v View, get func(View) T) (value T, ok bool) {
	if v.U8() == 0 {
		return value, false
	}
	return get(v.In(1, 0)), true
}

// MakeOptional makes one value of what Opt returns. It is for generated code.
func MakeOptional[T any](value T, ok bool) Optional[T] { return Optional[T]{value, ok} }

// BoolByte is a bool's encoding. It is for generated code.
func BoolByte(x bool) byte {
	if x {
		return 1
	}
	return 0
}

// Zero clears bytes and returns them. It is for generated code.
func Zero(b []byte) []byte {
	clear(b)
	return b
}

// PutVarint overwrites b with a uint if its encoding has exactly b's size, and
// leaves it alone otherwise. It is for generated code.
func PutVarint(b []byte, x uint64) {
	if SizeUint(x) == len(b) {
		PutUint(b, 0, x)
	}
}

// FixedVarint reads a uint that fills b: 0 if there is none any more. It is for
// generated code.
//
//go:noinline
func FixedVarint(b []byte) uint64 {
	u, _ := binary.Uvarint(b)
	return u
}

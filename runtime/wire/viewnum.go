package wire

import (
	"encoding/binary"
	"iter"
	"math"
)

// The views of lists of numbers. Each has the same methods: Len; At, which
// panics as a slice does for an index out of range; Set, which writes into the
// message; All; Slice, the numbers as a Go slice over the message's memory, an
// error (ErrAlign, ErrBigEndian) where they cannot be; and Bytes, the numbers'
// own bytes. None of them copies. A list<u8> is a []byte.

// U16List is the view of a list<u16>, of fixed length or not.
type U16List Packed

// Len returns how many numbers there are.
func (l U16List) Len() int { return len(l.b) / 2 }

// At returns the number with index i.
func (l U16List) At(i int) uint16 { return binary.LittleEndian.Uint16(l.b[i*2 : i*2+2]) }

// Set writes the number with index i.
func (l U16List) Set(i int, x uint16) { binary.LittleEndian.PutUint16(l.b[i*2:i*2+2], x) }

// All iterates over the numbers with their indices.
func (l U16List) All() iter.Seq2[int, uint16] {
	return func(yield func(int, uint16) bool) {
		for i, b := 0, l.b; len(b) >= 2; i, b = i+1, b[2:] {
			if !yield(i, binary.LittleEndian.Uint16(b)) {
				return
			}
		}
	}
}

// Slice returns the numbers as a slice over the message's memory.
func (l U16List) Slice() ([]uint16, error) { return SliceOver[uint16](l.b) }

// Bytes returns the numbers' bytes.
func (l U16List) Bytes() []byte { return l.b }

// U32List is the view of a list<u32>, of fixed length or not.
type U32List Packed

// Len returns how many numbers there are.
func (l U32List) Len() int { return len(l.b) / 4 }

// At returns the number with index i.
func (l U32List) At(i int) uint32 { return binary.LittleEndian.Uint32(l.b[i*4 : i*4+4]) }

// Set writes the number with index i.
func (l U32List) Set(i int, x uint32) { binary.LittleEndian.PutUint32(l.b[i*4:i*4+4], x) }

// All iterates over the numbers with their indices.
func (l U32List) All() iter.Seq2[int, uint32] {
	return func(yield func(int, uint32) bool) {
		for i, b := 0, l.b; len(b) >= 4; i, b = i+1, b[4:] {
			if !yield(i, binary.LittleEndian.Uint32(b)) {
				return
			}
		}
	}
}

// Slice returns the numbers as a slice over the message's memory.
func (l U32List) Slice() ([]uint32, error) { return SliceOver[uint32](l.b) }

// Bytes returns the numbers' bytes.
func (l U32List) Bytes() []byte { return l.b }

// U64List is the view of a list<u64>, of fixed length or not.
type U64List Packed

// Len returns how many numbers there are.
func (l U64List) Len() int { return len(l.b) / 8 }

// At returns the number with index i.
func (l U64List) At(i int) uint64 { return binary.LittleEndian.Uint64(l.b[i*8 : i*8+8]) }

// Set writes the number with index i.
func (l U64List) Set(i int, x uint64) { binary.LittleEndian.PutUint64(l.b[i*8:i*8+8], x) }

// All iterates over the numbers with their indices.
func (l U64List) All() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for i, b := 0, l.b; len(b) >= 8; i, b = i+1, b[8:] {
			if !yield(i, binary.LittleEndian.Uint64(b)) {
				return
			}
		}
	}
}

// Slice returns the numbers as a slice over the message's memory.
func (l U64List) Slice() ([]uint64, error) { return SliceOver[uint64](l.b) }

// Bytes returns the numbers' bytes.
func (l U64List) Bytes() []byte { return l.b }

// I8List is the view of a list<i8>, of fixed length or not.
type I8List Packed

// Len returns how many numbers there are.
func (l I8List) Len() int { return len(l.b) / 1 }

// At returns the number with index i.
func (l I8List) At(i int) int8 { return int8(l.b[i*1 : i*1+1][0]) }

// Set writes the number with index i.
func (l I8List) Set(i int, x int8) { l.b[i*1 : i*1+1][0] = byte(x) }

// All iterates over the numbers with their indices.
func (l I8List) All() iter.Seq2[int, int8] {
	return func(yield func(int, int8) bool) {
		for i, b := 0, l.b; len(b) >= 1; i, b = i+1, b[1:] {
			if !yield(i, int8(b[0])) {
				return
			}
		}
	}
}

// Slice returns the numbers as a slice over the message's memory.
func (l I8List) Slice() ([]int8, error) { return SliceOver[int8](l.b) }

// Bytes returns the numbers' bytes.
func (l I8List) Bytes() []byte { return l.b }

// I16List is the view of a list<i16>, of fixed length or not.
type I16List Packed

// Len returns how many numbers there are.
func (l I16List) Len() int { return len(l.b) / 2 }

// At returns the number with index i.
func (l I16List) At(i int) int16 { return int16(binary.LittleEndian.Uint16(l.b[i*2 : i*2+2])) }

// Set writes the number with index i.
func (l I16List) Set(i int, x int16) { binary.LittleEndian.PutUint16(l.b[i*2:i*2+2], uint16(x)) }

// All iterates over the numbers with their indices.
func (l I16List) All() iter.Seq2[int, int16] {
	return func(yield func(int, int16) bool) {
		for i, b := 0, l.b; len(b) >= 2; i, b = i+1, b[2:] {
			if !yield(i, int16(binary.LittleEndian.Uint16(b))) {
				return
			}
		}
	}
}

// Slice returns the numbers as a slice over the message's memory.
func (l I16List) Slice() ([]int16, error) { return SliceOver[int16](l.b) }

// Bytes returns the numbers' bytes.
func (l I16List) Bytes() []byte { return l.b }

// I32List is the view of a list<i32>, of fixed length or not.
type I32List Packed

// Len returns how many numbers there are.
func (l I32List) Len() int { return len(l.b) / 4 }

// At returns the number with index i.
func (l I32List) At(i int) int32 { return int32(binary.LittleEndian.Uint32(l.b[i*4 : i*4+4])) }

// Set writes the number with index i.
func (l I32List) Set(i int, x int32) { binary.LittleEndian.PutUint32(l.b[i*4:i*4+4], uint32(x)) }

// All iterates over the numbers with their indices.
func (l I32List) All() iter.Seq2[int, int32] {
	return func(yield func(int, int32) bool) {
		for i, b := 0, l.b; len(b) >= 4; i, b = i+1, b[4:] {
			if !yield(i, int32(binary.LittleEndian.Uint32(b))) {
				return
			}
		}
	}
}

// Slice returns the numbers as a slice over the message's memory.
func (l I32List) Slice() ([]int32, error) { return SliceOver[int32](l.b) }

// Bytes returns the numbers' bytes.
func (l I32List) Bytes() []byte { return l.b }

// I64List is the view of a list<i64>, of fixed length or not.
type I64List Packed

// Len returns how many numbers there are.
func (l I64List) Len() int { return len(l.b) / 8 }

// At returns the number with index i.
func (l I64List) At(i int) int64 { return int64(binary.LittleEndian.Uint64(l.b[i*8 : i*8+8])) }

// Set writes the number with index i.
func (l I64List) Set(i int, x int64) { binary.LittleEndian.PutUint64(l.b[i*8:i*8+8], uint64(x)) }

// All iterates over the numbers with their indices.
func (l I64List) All() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		for i, b := 0, l.b; len(b) >= 8; i, b = i+1, b[8:] {
			if !yield(i, int64(binary.LittleEndian.Uint64(b))) {
				return
			}
		}
	}
}

// Slice returns the numbers as a slice over the message's memory.
func (l I64List) Slice() ([]int64, error) { return SliceOver[int64](l.b) }

// Bytes returns the numbers' bytes.
func (l I64List) Bytes() []byte { return l.b }

// F32List is the view of a list<f32>, of fixed length or not.
type F32List Packed

// Len returns how many numbers there are.
func (l F32List) Len() int { return len(l.b) / 4 }

// At returns the number with index i.
func (l F32List) At(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(l.b[i*4 : i*4+4]))
}

// Set writes the number with index i.
func (l F32List) Set(i int, x float32) {
	binary.LittleEndian.PutUint32(l.b[i*4:i*4+4], math.Float32bits(x))
}

// All iterates over the numbers with their indices.
func (l F32List) All() iter.Seq2[int, float32] {
	return func(yield func(int, float32) bool) {
		for i, b := 0, l.b; len(b) >= 4; i, b = i+1, b[4:] {
			if !yield(i, math.Float32frombits(binary.LittleEndian.Uint32(b))) {
				return
			}
		}
	}
}

// Slice returns the numbers as a slice over the message's memory.
func (l F32List) Slice() ([]float32, error) { return SliceOver[float32](l.b) }

// Bytes returns the numbers' bytes.
func (l F32List) Bytes() []byte { return l.b }

// F64List is the view of a list<f64>, of fixed length or not.
type F64List Packed

// Len returns how many numbers there are.
func (l F64List) Len() int { return len(l.b) / 8 }

// At returns the number with index i.
func (l F64List) At(i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(l.b[i*8 : i*8+8]))
}

// Set writes the number with index i.
func (l F64List) Set(i int, x float64) {
	binary.LittleEndian.PutUint64(l.b[i*8:i*8+8], math.Float64bits(x))
}

// All iterates over the numbers with their indices.
func (l F64List) All() iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for i, b := 0, l.b; len(b) >= 8; i, b = i+1, b[8:] {
			if !yield(i, math.Float64frombits(binary.LittleEndian.Uint64(b))) {
				return
			}
		}
	}
}

// Slice returns the numbers as a slice over the message's memory.
func (l F64List) Slice() ([]float64, error) { return SliceOver[float64](l.b) }

// Bytes returns the numbers' bytes.
func (l F64List) Bytes() []byte { return l.b }

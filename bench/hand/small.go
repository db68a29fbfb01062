package hand

import (
	"math"
	"slices"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/bench/model"
)

// AppendSmall grows the buffer once and then writes at constant offsets.
func AppendSmall(b []byte, v *model.FixedSmall) []byte {
	n := len(b)
	b = slices.Grow(b, model.FixedSmallSize)[:n+model.FixedSmallSize]
	PutSmall(b[n:], v)
	return b
}

// AppendSmallEach appends field by field, the style most people write.
func AppendSmallEach(b []byte, v *model.FixedSmall) []byte {
	b = le.AppendUint64(b, v.ID)
	b = le.AppendUint64(b, uint64(v.TS))
	b = le.AppendUint64(b, math.Float64bits(v.Price))
	b = le.AppendUint64(b, math.Float64bits(v.Qty))
	b = le.AppendUint32(b, v.Flags)
	b = le.AppendUint16(b, v.Venue)
	b = append(b, v.Side, b2u(v.Live))
	b = append(b, v.Data[:]...)
	b = le.AppendUint32(b, v.Pair[0])
	return le.AppendUint32(b, v.Pair[1])
}

// PutSmall writes to the first 64 bytes of b: one check for all fields.
func PutSmall(b []byte, v *model.FixedSmall) {
	p := (*[model.FixedSmallSize]byte)(b)
	le.PutUint64(p[0:], v.ID)
	le.PutUint64(p[8:], uint64(v.TS))
	le.PutUint64(p[16:], math.Float64bits(v.Price))
	le.PutUint64(p[24:], math.Float64bits(v.Qty))
	le.PutUint32(p[32:], v.Flags)
	le.PutUint16(p[36:], v.Venue)
	p[38] = v.Side
	p[39] = b2u(v.Live)
	*(*[16]byte)(p[40:]) = v.Data
	le.PutUint32(p[56:], v.Pair[0])
	le.PutUint32(p[60:], v.Pair[1])
}

// DecodeSmall is strict: the whole of b is the message.
func DecodeSmall(b []byte, v *model.FixedSmall) error {
	if err := ValidateSmall(b); err != nil {
		return err
	}
	p := (*[model.FixedSmallSize]byte)(b)
	v.ID = le.Uint64(p[0:])
	v.TS = int64(le.Uint64(p[8:]))
	v.Price = math.Float64frombits(le.Uint64(p[16:]))
	v.Qty = math.Float64frombits(le.Uint64(p[24:]))
	v.Flags = le.Uint32(p[32:])
	v.Venue = le.Uint16(p[36:])
	v.Side = p[38]
	v.Live = p[39] != 0
	v.Data = *(*[16]byte)(p[40:])
	v.Pair[0] = le.Uint32(p[56:])
	v.Pair[1] = le.Uint32(p[60:])
	return nil
}

// ValidateSmall checks all that can be wrong: the length and the bool.
func ValidateSmall(b []byte) error {
	if len(b) != model.FixedSmallSize {
		if len(b) < model.FixedSmallSize {
			return ErrShort
		}
		return ErrTrailing
	}
	if b[39] > 1 {
		return ErrBool
	}
	return nil
}

// SmallView reads fields out of the 64 bytes of a message.
type SmallView struct{ p *[model.FixedSmallSize]byte }

// ViewSmall makes a view of the first 64 bytes of b.
func ViewSmall(b []byte) (SmallView, error) {
	if len(b) < model.FixedSmallSize {
		return SmallView{}, ErrShort
	}
	return SmallView{(*[model.FixedSmallSize]byte)(b)}, nil
}

// ID reads the field.
func (s SmallView) ID() uint64 { return le.Uint64(s.p[0:]) }

// Price reads the field.
func (s SmallView) Price() float64 { return math.Float64frombits(le.Uint64(s.p[16:])) }

// Venue reads the field.
func (s SmallView) Venue() uint16 { return le.Uint16(s.p[36:]) }

// CastSmall is the limit: the bytes as a Go struct, right only on a little-endian
// machine and only if the bool's byte is 0 or 1.
func CastSmall(b []byte) *model.FixedSmall {
	_ = b[model.FixedSmallSize-1]
	return (*model.FixedSmall)(unsafe.Pointer(unsafe.SliceData(b)))
}

// StoreSmall is the limit of encoding: one assignment of the whole struct.
func StoreSmall(b []byte, v *model.FixedSmall) { *CastSmall(b) = *v }

// BytesOfSmall returns the struct's memory.
func BytesOfSmall(v *model.FixedSmall) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), model.FixedSmallSize)
}

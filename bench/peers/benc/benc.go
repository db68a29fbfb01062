// Package benc: benc v1.1.8 std calls, in the style bencgen emits for plain data.
package benc

import (
	"github.com/fidelityframework/barewire-gen/bench/model"

	"github.com/deneonet/benc"
	bstd "github.com/deneonet/benc/std"
)

// SizeSmall returns how many bytes MarshalSmall writes.
func SizeSmall(v *model.FixedSmall) (s int) {
	s += bstd.SizeUint64()
	s += bstd.SizeInt64()
	s += bstd.SizeFloat64()
	s += bstd.SizeFloat64()
	s += bstd.SizeUint32()
	s += bstd.SizeUint16()
	s += bstd.SizeByte()
	s += bstd.SizeBool()
	s += 16 * bstd.SizeByte()
	s += 2 * bstd.SizeUint32()
	return
}

// MarshalSmall writes v to b at n and returns the end.
func MarshalSmall(n int, b []byte, v *model.FixedSmall) int {
	n = bstd.MarshalUint64(n, b, v.ID)
	n = bstd.MarshalInt64(n, b, v.TS)
	n = bstd.MarshalFloat64(n, b, v.Price)
	n = bstd.MarshalFloat64(n, b, v.Qty)
	n = bstd.MarshalUint32(n, b, v.Flags)
	n = bstd.MarshalUint16(n, b, v.Venue)
	n = bstd.MarshalByte(n, b, v.Side)
	n = bstd.MarshalBool(n, b, v.Live)
	n += copy(b[n:], v.Data[:])
	for i := range v.Pair {
		n = bstd.MarshalUint32(n, b, v.Pair[i])
	}
	return n
}

// UnmarshalSmall reads v from b at n and returns the end.
func UnmarshalSmall(n int, b []byte, v *model.FixedSmall) (_ int, err error) {
	if n, v.ID, err = bstd.UnmarshalUint64(n, b); err != nil {
		return 0, err
	}
	if n, v.TS, err = bstd.UnmarshalInt64(n, b); err != nil {
		return 0, err
	}
	if n, v.Price, err = bstd.UnmarshalFloat64(n, b); err != nil {
		return 0, err
	}
	if n, v.Qty, err = bstd.UnmarshalFloat64(n, b); err != nil {
		return 0, err
	}
	if n, v.Flags, err = bstd.UnmarshalUint32(n, b); err != nil {
		return 0, err
	}
	if n, v.Venue, err = bstd.UnmarshalUint16(n, b); err != nil {
		return 0, err
	}
	if n, v.Side, err = bstd.UnmarshalByte(n, b); err != nil {
		return 0, err
	}
	if n, v.Live, err = bstd.UnmarshalBool(n, b); err != nil {
		return 0, err
	}
	if len(b)-n < 16 {
		return 0, benc.ErrBufTooSmall
	}
	n += copy(v.Data[:], b[n:])
	for i := range v.Pair {
		if n, v.Pair[i], err = bstd.UnmarshalUint32(n, b); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// SizeTensor returns how many bytes MarshalTensor writes.
func SizeTensor(v *model.Tensor) (s int) {
	s += bstd.SizeUint32()
	s += bstd.SizeUint32()
	s += 8 * bstd.SizeUint64()
	s += bstd.SizeUint64()
	s += bstd.SizeUint64()
	s += 4096 * bstd.SizeFloat32()
	return
}

// MarshalTensor writes v to b at n and returns the end.
func MarshalTensor(n int, b []byte, v *model.Tensor) int {
	n = bstd.MarshalUint32(n, b, v.Dtype)
	n = bstd.MarshalUint32(n, b, v.Rank)
	for i := range v.Dims {
		n = bstd.MarshalUint64(n, b, v.Dims[i])
	}
	n = bstd.MarshalUint64(n, b, v.Offset)
	n = bstd.MarshalUint64(n, b, v.Len)
	for i := range v.Payload {
		n = bstd.MarshalFloat32(n, b, v.Payload[i])
	}
	return n
}

// UnmarshalTensor reads v from b at n and returns the end.
func UnmarshalTensor(n int, b []byte, v *model.Tensor) (_ int, err error) {
	if n, v.Dtype, err = bstd.UnmarshalUint32(n, b); err != nil {
		return 0, err
	}
	if n, v.Rank, err = bstd.UnmarshalUint32(n, b); err != nil {
		return 0, err
	}
	for i := range v.Dims {
		if n, v.Dims[i], err = bstd.UnmarshalUint64(n, b); err != nil {
			return 0, err
		}
	}
	if n, v.Offset, err = bstd.UnmarshalUint64(n, b); err != nil {
		return 0, err
	}
	if n, v.Len, err = bstd.UnmarshalUint64(n, b); err != nil {
		return 0, err
	}
	for i := range v.Payload {
		if n, v.Payload[i], err = bstd.UnmarshalFloat32(n, b); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// SizeA returns how many bytes MarshalA writes.
func SizeA(v *model.A) (s int) {
	s += bstd.SizeString(v.Name)
	s += bstd.SizeInt64()
	s += bstd.SizeString(v.Phone)
	s += bstd.SizeInt(v.Siblings)
	s += bstd.SizeBool()
	s += bstd.SizeFloat64()
	return
}

// MarshalA writes v to b at n and returns the end.
func MarshalA(n int, b []byte, v *model.A) int {
	n = bstd.MarshalString(n, b, v.Name)
	n = bstd.MarshalInt64(n, b, v.BirthDay)
	n = bstd.MarshalString(n, b, v.Phone)
	n = bstd.MarshalInt(n, b, v.Siblings)
	n = bstd.MarshalBool(n, b, v.Spouse)
	n = bstd.MarshalFloat64(n, b, v.Money)
	return n
}

// UnmarshalA reads v from b at n and returns the end.
func UnmarshalA(n int, b []byte, v *model.A) (_ int, err error) {
	if n, v.Name, err = bstd.UnmarshalString(n, b); err != nil {
		return 0, err
	}
	if n, v.BirthDay, err = bstd.UnmarshalInt64(n, b); err != nil {
		return 0, err
	}
	if n, v.Phone, err = bstd.UnmarshalString(n, b); err != nil {
		return 0, err
	}
	if n, v.Siblings, err = bstd.UnmarshalInt(n, b); err != nil {
		return 0, err
	}
	if n, v.Spouse, err = bstd.UnmarshalBool(n, b); err != nil {
		return 0, err
	}
	if n, v.Money, err = bstd.UnmarshalFloat64(n, b); err != nil {
		return 0, err
	}
	return n, nil
}

// SizeAUnsafe returns how many bytes MarshalAUnsafe writes.
func SizeAUnsafe(v *model.A) (s int) {
	s += bstd.SizeString(v.Name)
	s += bstd.SizeInt64()
	s += bstd.SizeString(v.Phone)
	s += bstd.SizeInt(v.Siblings)
	s += bstd.SizeBool()
	s += bstd.SizeFloat64()
	return
}

// MarshalAUnsafe writes v to b at n and returns the end.
func MarshalAUnsafe(n int, b []byte, v *model.A) int {
	n = bstd.MarshalUnsafeString(n, b, v.Name)
	n = bstd.MarshalInt64(n, b, v.BirthDay)
	n = bstd.MarshalUnsafeString(n, b, v.Phone)
	n = bstd.MarshalInt(n, b, v.Siblings)
	n = bstd.MarshalBool(n, b, v.Spouse)
	n = bstd.MarshalFloat64(n, b, v.Money)
	return n
}

// UnmarshalAUnsafe reads v from b at n and returns the end. Strings are b's own memory.
func UnmarshalAUnsafe(n int, b []byte, v *model.A) (_ int, err error) {
	if n, v.Name, err = bstd.UnmarshalUnsafeString(n, b); err != nil {
		return 0, err
	}
	if n, v.BirthDay, err = bstd.UnmarshalInt64(n, b); err != nil {
		return 0, err
	}
	if n, v.Phone, err = bstd.UnmarshalUnsafeString(n, b); err != nil {
		return 0, err
	}
	if n, v.Siblings, err = bstd.UnmarshalInt(n, b); err != nil {
		return 0, err
	}
	if n, v.Spouse, err = bstd.UnmarshalBool(n, b); err != nil {
		return 0, err
	}
	if n, v.Money, err = bstd.UnmarshalFloat64(n, b); err != nil {
		return 0, err
	}
	return n, nil
}

// SkipA checks what stands in b at n and returns the end.
func SkipA(n int, b []byte) (_ int, err error) {
	if n, err = bstd.SkipString(n, b); err != nil {
		return
	}
	if n, err = bstd.SkipInt64(n, b); err != nil {
		return
	}
	if n, err = bstd.SkipString(n, b); err != nil {
		return
	}
	if n, err = bstd.SkipVarint(n, b); err != nil {
		return
	}
	if n, err = bstd.SkipBool(n, b); err != nil {
		return
	}
	return bstd.SkipFloat64(n, b)
}

func sizeA(v model.A) int                     { return SizeA(&v) }
func marshalA(n int, b []byte, v model.A) int { return MarshalA(n, b, &v) }

// SizeLarge returns how many bytes MarshalLarge writes.
func SizeLarge(v *model.Large) (s int) {
	s += bstd.SizeSlice(v.Records, sizeA)
	s += bstd.SizeMap(v.Meta, bstd.SizeString, bstd.SizeString)
	s += 1
	if v.Note != nil {
		s += bstd.SizeString(*v.Note)
	}
	switch c := v.Choice.(type) {
	case model.ChoiceU:
		s += 9
	case model.ChoiceS:
		s += 1 + bstd.SizeString(string(c))
	case model.ChoiceA:
		s += 1 + SizeA((*model.A)(&c))
	}
	return
}

// MarshalLarge writes v to b at n and returns the end.
func MarshalLarge(n int, b []byte, v *model.Large) int {
	n = bstd.MarshalSlice(n, b, v.Records, marshalA)
	n = bstd.MarshalMap(n, b, v.Meta, bstd.MarshalString, bstd.MarshalString)
	n = bstd.MarshalBool(n, b, v.Note != nil)
	if v.Note != nil {
		n = bstd.MarshalString(n, b, *v.Note)
	}
	switch c := v.Choice.(type) {
	case model.ChoiceU:
		n = bstd.MarshalByte(n, b, 0)
		n = bstd.MarshalUint64(n, b, uint64(c))
	case model.ChoiceS:
		n = bstd.MarshalByte(n, b, 1)
		n = bstd.MarshalString(n, b, string(c))
	case model.ChoiceA:
		n = bstd.MarshalByte(n, b, 2)
		n = MarshalA(n, b, (*model.A)(&c))
	}
	return n
}

// UnmarshalLarge reads v from b at n and returns the end.
func UnmarshalLarge(n int, b []byte, v *model.Large, unsafe bool) (_ int, err error) {
	ua, us := UnmarshalA, bstd.UnmarshalString
	if unsafe {
		ua, us = UnmarshalAUnsafe, bstd.UnmarshalUnsafeString
	}
	if n, v.Records, err = bstd.UnmarshalSlice[model.A](n, b, ua); err != nil {
		return
	}
	if n, v.Meta, err = bstd.UnmarshalMap[string, string](n, b, us, us); err != nil {
		return
	}
	var has bool
	if n, has, err = bstd.UnmarshalBool(n, b); err != nil {
		return
	}
	v.Note = nil
	if has {
		var s string
		if n, s, err = us(n, b); err != nil {
			return
		}
		v.Note = &s
	}
	var t byte
	if n, t, err = bstd.UnmarshalByte(n, b); err != nil {
		return
	}
	switch t {
	case 0:
		var u uint64
		n, u, err = bstd.UnmarshalUint64(n, b)
		v.Choice = model.ChoiceU(u)
	case 1:
		var s string
		n, s, err = us(n, b)
		v.Choice = model.ChoiceS(s)
	case 2:
		var a model.A
		n, err = ua(n, b, &a)
		v.Choice = model.ChoiceA(a)
	}
	return n, err
}

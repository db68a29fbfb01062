// Package mus: mus-go v0.7.2 serializers in the style musgen-go emits
// (struct by value, one call per field). The "U" set uses the unsafe package.
package mus

import (
	"github.com/fidelityframework/barewire-gen/bench/model"

	"github.com/mus-format/mus-go/ord"
	"github.com/mus-format/mus-go/raw"
	"github.com/mus-format/mus-go/unsafe"
	"github.com/mus-format/mus-go/varint"
)

var (
	data16 = ord.NewArraySer[[16]byte, byte](raw.Byte)
	pair   = ord.NewArraySer[[2]uint32, uint32](raw.Uint32)
	dims   = ord.NewArraySer[[8]uint64, uint64](raw.Uint64)
	f4096  = ord.NewArraySer[[4096]float32, float32](raw.Float32)
	dimsU  = ord.NewArraySer[[8]uint64, uint64](unsafe.Uint64)
	f4096U = ord.NewArraySer[[4096]float32, float32](unsafe.Float32)
	recs   = ord.NewSliceSer[model.A](AMUS)
	recsU  = ord.NewSliceSer[model.A](AUMUS)
	meta   = ord.NewMapSer[string, string](ord.String, ord.String)
	metaU  = ord.NewMapSer[string, string](unsafe.String, unsafe.String)
	note   = ord.NewPtrSer[string](ord.String)
	noteU  = ord.NewPtrSer[string](unsafe.String)
)

// SmallMUS is the serializer of the shape.
var SmallMUS = smallMUSSer{}

type smallMUSSer struct{}

func (s smallMUSSer) Marshal(v model.FixedSmall, bs []byte) (n int) {
	n = raw.Uint64.Marshal(v.ID, bs)
	n += raw.Int64.Marshal(v.TS, bs[n:])
	n += raw.Float64.Marshal(v.Price, bs[n:])
	n += raw.Float64.Marshal(v.Qty, bs[n:])
	n += raw.Uint32.Marshal(v.Flags, bs[n:])
	n += raw.Uint16.Marshal(v.Venue, bs[n:])
	n += raw.Uint8.Marshal(v.Side, bs[n:])
	n += ord.Bool.Marshal(v.Live, bs[n:])
	n += data16.Marshal(v.Data, bs[n:])
	n += pair.Marshal(v.Pair, bs[n:])
	return
}

func (s smallMUSSer) Unmarshal(bs []byte) (v model.FixedSmall, n int, err error) {
	var n1 int
	v.ID, n1, err = raw.Uint64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.TS, n1, err = raw.Int64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Price, n1, err = raw.Float64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Qty, n1, err = raw.Float64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Flags, n1, err = raw.Uint32.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Venue, n1, err = raw.Uint16.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Side, n1, err = raw.Uint8.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Live, n1, err = ord.Bool.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Data, n1, err = data16.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Pair, n1, err = pair.Unmarshal(bs[n:])
	n += n1
	return
}

func (s smallMUSSer) Size(v model.FixedSmall) (size int) {
	size += raw.Uint64.Size(v.ID)
	size += raw.Int64.Size(v.TS)
	size += raw.Float64.Size(v.Price)
	size += raw.Float64.Size(v.Qty)
	size += raw.Uint32.Size(v.Flags)
	size += raw.Uint16.Size(v.Venue)
	size += raw.Uint8.Size(v.Side)
	size += ord.Bool.Size(v.Live)
	size += data16.Size(v.Data)
	size += pair.Size(v.Pair)
	return
}

func (s smallMUSSer) Skip(bs []byte) (n int, err error) {
	var n1 int
	n1, err = raw.Uint64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Int64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Float64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Float64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Uint32.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Uint16.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Uint8.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = ord.Bool.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = data16.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = pair.Skip(bs[n:])
	n += n1
	return
}

// TensorMUS is the serializer of the shape.
var TensorMUS = tensorMUSSer{}

type tensorMUSSer struct{}

func (s tensorMUSSer) Marshal(v model.Tensor, bs []byte) (n int) {
	n = raw.Uint32.Marshal(v.Dtype, bs)
	n += raw.Uint32.Marshal(v.Rank, bs[n:])
	n += dims.Marshal(v.Dims, bs[n:])
	n += raw.Uint64.Marshal(v.Offset, bs[n:])
	n += raw.Uint64.Marshal(v.Len, bs[n:])
	n += f4096.Marshal(v.Payload, bs[n:])
	return
}

func (s tensorMUSSer) Unmarshal(bs []byte) (v model.Tensor, n int, err error) {
	var n1 int
	v.Dtype, n1, err = raw.Uint32.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Rank, n1, err = raw.Uint32.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Dims, n1, err = dims.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Offset, n1, err = raw.Uint64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Len, n1, err = raw.Uint64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Payload, n1, err = f4096.Unmarshal(bs[n:])
	n += n1
	return
}

func (s tensorMUSSer) Size(v model.Tensor) (size int) {
	size += raw.Uint32.Size(v.Dtype)
	size += raw.Uint32.Size(v.Rank)
	size += dims.Size(v.Dims)
	size += raw.Uint64.Size(v.Offset)
	size += raw.Uint64.Size(v.Len)
	size += f4096.Size(v.Payload)
	return
}

func (s tensorMUSSer) Skip(bs []byte) (n int, err error) {
	var n1 int
	n1, err = raw.Uint32.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Uint32.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = dims.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Uint64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Uint64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = f4096.Skip(bs[n:])
	n += n1
	return
}

// AMUS is the serializer of the shape.
var AMUS = aMUSSer{}

type aMUSSer struct{}

func (s aMUSSer) Marshal(v model.A, bs []byte) (n int) {
	n = ord.String.Marshal(v.Name, bs)
	n += raw.Int64.Marshal(v.BirthDay, bs[n:])
	n += ord.String.Marshal(v.Phone, bs[n:])
	n += varint.Int.Marshal(v.Siblings, bs[n:])
	n += ord.Bool.Marshal(v.Spouse, bs[n:])
	n += raw.Float64.Marshal(v.Money, bs[n:])
	return
}

func (s aMUSSer) Unmarshal(bs []byte) (v model.A, n int, err error) {
	var n1 int
	v.Name, n1, err = ord.String.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.BirthDay, n1, err = raw.Int64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Phone, n1, err = ord.String.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Siblings, n1, err = varint.Int.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Spouse, n1, err = ord.Bool.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Money, n1, err = raw.Float64.Unmarshal(bs[n:])
	n += n1
	return
}

func (s aMUSSer) Size(v model.A) (size int) {
	size += ord.String.Size(v.Name)
	size += raw.Int64.Size(v.BirthDay)
	size += ord.String.Size(v.Phone)
	size += varint.Int.Size(v.Siblings)
	size += ord.Bool.Size(v.Spouse)
	size += raw.Float64.Size(v.Money)
	return
}

func (s aMUSSer) Skip(bs []byte) (n int, err error) {
	var n1 int
	n1, err = ord.String.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Int64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = ord.String.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = varint.Int.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = ord.Bool.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = raw.Float64.Skip(bs[n:])
	n += n1
	return
}

// LargeMUS is the serializer of the shape.
var LargeMUS = largeMUSSer{}

type largeMUSSer struct{}

func (s largeMUSSer) Marshal(v model.Large, bs []byte) (n int) {
	n = recs.Marshal(v.Records, bs)
	n += meta.Marshal(v.Meta, bs[n:])
	n += note.Marshal(v.Note, bs[n:])
	n += ChoiceMUS.Marshal(v.Choice, bs[n:])
	return
}

func (s largeMUSSer) Unmarshal(bs []byte) (v model.Large, n int, err error) {
	var n1 int
	v.Records, n1, err = recs.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Meta, n1, err = meta.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Note, n1, err = note.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Choice, n1, err = ChoiceMUS.Unmarshal(bs[n:])
	n += n1
	return
}

func (s largeMUSSer) Size(v model.Large) (size int) {
	size += recs.Size(v.Records)
	size += meta.Size(v.Meta)
	size += note.Size(v.Note)
	size += ChoiceMUS.Size(v.Choice)
	return
}

func (s largeMUSSer) Skip(bs []byte) (n int, err error) {
	var n1 int
	n1, err = recs.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = meta.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = note.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = ChoiceMUS.Skip(bs[n:])
	n += n1
	return
}

// ChoiceMUS is the serializer of the union.
var ChoiceMUS = choiceSer{}

type choiceSer struct{}

func (s choiceSer) Marshal(v model.Choice, bs []byte) (n int) {
	switch c := v.(type) {
	case model.ChoiceU:
		n = varint.PositiveInt.Marshal(0, bs)
		n += raw.Uint64.Marshal(uint64(c), bs[n:])
	case model.ChoiceS:
		n = varint.PositiveInt.Marshal(1, bs)
		n += ord.String.Marshal(string(c), bs[n:])
	case model.ChoiceA:
		n = varint.PositiveInt.Marshal(2, bs)
		n += AMUS.Marshal(model.A(c), bs[n:])
	}
	return
}

func (s choiceSer) Unmarshal(bs []byte) (v model.Choice, n int, err error) {
	t, n, err := varint.PositiveInt.Unmarshal(bs)
	if err != nil {
		return
	}
	var n1 int
	switch t {
	case 0:
		var u uint64
		u, n1, err = raw.Uint64.Unmarshal(bs[n:])
		v = model.ChoiceU(u)
	case 1:
		var x string
		x, n1, err = ord.String.Unmarshal(bs[n:])
		v = model.ChoiceS(x)
	case 2:
		var a model.A
		a, n1, err = AMUS.Unmarshal(bs[n:])
		v = model.ChoiceA(a)
	}
	n += n1
	return
}

func (s choiceSer) Size(v model.Choice) (n int) {
	switch c := v.(type) {
	case model.ChoiceU:
		n = 1 + raw.Uint64.Size(uint64(c))
	case model.ChoiceS:
		n = 1 + ord.String.Size(string(c))
	case model.ChoiceA:
		n = 1 + AMUS.Size(model.A(c))
	}
	return
}

func (s choiceSer) Skip(bs []byte) (n int, err error) {
	t, n, err := varint.PositiveInt.Unmarshal(bs)
	if err != nil {
		return
	}
	var n1 int
	switch t {
	case 0:
		n1, err = raw.Uint64.Skip(bs[n:])
	case 1:
		n1, err = ord.String.Skip(bs[n:])
	case 2:
		n1, err = AMUS.Skip(bs[n:])
	}
	n += n1
	return
}

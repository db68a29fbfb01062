package mus

import (
	"github.com/mus-format/mus-go/unsafe"
	"github.com/mus-format/mus-go/varint"

	"github.com/fidelityframework/barewire-gen/bench/model"
)

// SmallUMUS is the serializer of the shape, with the library's unsafe package.
var SmallUMUS = smallUMUSSer{}

type smallUMUSSer struct{}

func (s smallUMUSSer) Marshal(v model.FixedSmall, bs []byte) (n int) {
	n = unsafe.Uint64.Marshal(v.ID, bs)
	n += unsafe.Int64.Marshal(v.TS, bs[n:])
	n += unsafe.Float64.Marshal(v.Price, bs[n:])
	n += unsafe.Float64.Marshal(v.Qty, bs[n:])
	n += unsafe.Uint32.Marshal(v.Flags, bs[n:])
	n += unsafe.Uint16.Marshal(v.Venue, bs[n:])
	n += unsafe.Uint8.Marshal(v.Side, bs[n:])
	n += unsafe.Bool.Marshal(v.Live, bs[n:])
	n += data16U.Marshal(v.Data, bs[n:])
	n += pairU.Marshal(v.Pair, bs[n:])
	return
}

func (s smallUMUSSer) Unmarshal(bs []byte) (v model.FixedSmall, n int, err error) {
	var n1 int
	v.ID, n1, err = unsafe.Uint64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.TS, n1, err = unsafe.Int64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Price, n1, err = unsafe.Float64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Qty, n1, err = unsafe.Float64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Flags, n1, err = unsafe.Uint32.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Venue, n1, err = unsafe.Uint16.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Side, n1, err = unsafe.Uint8.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Live, n1, err = unsafe.Bool.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Data, n1, err = data16U.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Pair, n1, err = pairU.Unmarshal(bs[n:])
	n += n1
	return
}

func (s smallUMUSSer) Size(v model.FixedSmall) (size int) {
	size += unsafe.Uint64.Size(v.ID)
	size += unsafe.Int64.Size(v.TS)
	size += unsafe.Float64.Size(v.Price)
	size += unsafe.Float64.Size(v.Qty)
	size += unsafe.Uint32.Size(v.Flags)
	size += unsafe.Uint16.Size(v.Venue)
	size += unsafe.Uint8.Size(v.Side)
	size += unsafe.Bool.Size(v.Live)
	size += data16U.Size(v.Data)
	size += pairU.Size(v.Pair)
	return
}

func (s smallUMUSSer) Skip(bs []byte) (n int, err error) {
	var n1 int
	n1, err = unsafe.Uint64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Int64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Float64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Float64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Uint32.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Uint16.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Uint8.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Bool.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = data16U.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = pairU.Skip(bs[n:])
	n += n1
	return
}

// TensorUMUS is the serializer of the shape, with the library's unsafe package.
var TensorUMUS = tensorUMUSSer{}

type tensorUMUSSer struct{}

func (s tensorUMUSSer) Marshal(v model.Tensor, bs []byte) (n int) {
	n = unsafe.Uint32.Marshal(v.Dtype, bs)
	n += unsafe.Uint32.Marshal(v.Rank, bs[n:])
	n += dimsU.Marshal(v.Dims, bs[n:])
	n += unsafe.Uint64.Marshal(v.Offset, bs[n:])
	n += unsafe.Uint64.Marshal(v.Len, bs[n:])
	n += f4096U.Marshal(v.Payload, bs[n:])
	return
}

func (s tensorUMUSSer) Unmarshal(bs []byte) (v model.Tensor, n int, err error) {
	var n1 int
	v.Dtype, n1, err = unsafe.Uint32.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Rank, n1, err = unsafe.Uint32.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Dims, n1, err = dimsU.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Offset, n1, err = unsafe.Uint64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Len, n1, err = unsafe.Uint64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Payload, n1, err = f4096U.Unmarshal(bs[n:])
	n += n1
	return
}

func (s tensorUMUSSer) Size(v model.Tensor) (size int) {
	size += unsafe.Uint32.Size(v.Dtype)
	size += unsafe.Uint32.Size(v.Rank)
	size += dimsU.Size(v.Dims)
	size += unsafe.Uint64.Size(v.Offset)
	size += unsafe.Uint64.Size(v.Len)
	size += f4096U.Size(v.Payload)
	return
}

func (s tensorUMUSSer) Skip(bs []byte) (n int, err error) {
	var n1 int
	n1, err = unsafe.Uint32.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Uint32.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = dimsU.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Uint64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Uint64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = f4096U.Skip(bs[n:])
	n += n1
	return
}

// AUMUS is the serializer of the shape, with the library's unsafe package.
var AUMUS = aUMUSSer{}

type aUMUSSer struct{}

func (s aUMUSSer) Marshal(v model.A, bs []byte) (n int) {
	n = unsafe.String.Marshal(v.Name, bs)
	n += unsafe.Int64.Marshal(v.BirthDay, bs[n:])
	n += unsafe.String.Marshal(v.Phone, bs[n:])
	n += varint.Int.Marshal(v.Siblings, bs[n:])
	n += unsafe.Bool.Marshal(v.Spouse, bs[n:])
	n += unsafe.Float64.Marshal(v.Money, bs[n:])
	return
}

func (s aUMUSSer) Unmarshal(bs []byte) (v model.A, n int, err error) {
	var n1 int
	v.Name, n1, err = unsafe.String.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.BirthDay, n1, err = unsafe.Int64.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Phone, n1, err = unsafe.String.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Siblings, n1, err = varint.Int.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Spouse, n1, err = unsafe.Bool.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Money, n1, err = unsafe.Float64.Unmarshal(bs[n:])
	n += n1
	return
}

func (s aUMUSSer) Size(v model.A) (size int) {
	size += unsafe.String.Size(v.Name)
	size += unsafe.Int64.Size(v.BirthDay)
	size += unsafe.String.Size(v.Phone)
	size += varint.Int.Size(v.Siblings)
	size += unsafe.Bool.Size(v.Spouse)
	size += unsafe.Float64.Size(v.Money)
	return
}

func (s aUMUSSer) Skip(bs []byte) (n int, err error) {
	var n1 int
	n1, err = unsafe.String.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Int64.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.String.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = varint.Int.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Bool.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = unsafe.Float64.Skip(bs[n:])
	n += n1
	return
}

// LargeUMUS is the serializer of the shape, with the library's unsafe package.
var LargeUMUS = largeUMUSSer{}

type largeUMUSSer struct{}

func (s largeUMUSSer) Marshal(v model.Large, bs []byte) (n int) {
	n = recsU.Marshal(v.Records, bs)
	n += metaU.Marshal(v.Meta, bs[n:])
	n += noteU.Marshal(v.Note, bs[n:])
	n += ChoiceUMUS.Marshal(v.Choice, bs[n:])
	return
}

func (s largeUMUSSer) Unmarshal(bs []byte) (v model.Large, n int, err error) {
	var n1 int
	v.Records, n1, err = recsU.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Meta, n1, err = metaU.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Note, n1, err = noteU.Unmarshal(bs[n:])
	n += n1
	if err != nil {
		return
	}
	v.Choice, n1, err = ChoiceUMUS.Unmarshal(bs[n:])
	n += n1
	return
}

func (s largeUMUSSer) Size(v model.Large) (size int) {
	size += recsU.Size(v.Records)
	size += metaU.Size(v.Meta)
	size += noteU.Size(v.Note)
	size += ChoiceUMUS.Size(v.Choice)
	return
}

func (s largeUMUSSer) Skip(bs []byte) (n int, err error) {
	var n1 int
	n1, err = recsU.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = metaU.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = noteU.Skip(bs[n:])
	n += n1
	if err != nil {
		return
	}
	n1, err = ChoiceUMUS.Skip(bs[n:])
	n += n1
	return
}

// ChoiceUMUS is the serializer of the union.
var ChoiceUMUS = choiceUSer{}

type choiceUSer struct{}

func (s choiceUSer) Marshal(v model.Choice, bs []byte) (n int) {
	switch c := v.(type) {
	case model.ChoiceU:
		n = varint.PositiveInt.Marshal(0, bs)
		n += unsafe.Uint64.Marshal(uint64(c), bs[n:])
	case model.ChoiceS:
		n = varint.PositiveInt.Marshal(1, bs)
		n += unsafe.String.Marshal(string(c), bs[n:])
	case model.ChoiceA:
		n = varint.PositiveInt.Marshal(2, bs)
		n += AUMUS.Marshal(model.A(c), bs[n:])
	}
	return
}

func (s choiceUSer) Unmarshal(bs []byte) (v model.Choice, n int, err error) {
	t, n, err := varint.PositiveInt.Unmarshal(bs)
	if err != nil {
		return
	}
	var n1 int
	switch t {
	case 0:
		var u uint64
		u, n1, err = unsafe.Uint64.Unmarshal(bs[n:])
		v = model.ChoiceU(u)
	case 1:
		var x string
		x, n1, err = unsafe.String.Unmarshal(bs[n:])
		v = model.ChoiceS(x)
	case 2:
		var a model.A
		a, n1, err = AUMUS.Unmarshal(bs[n:])
		v = model.ChoiceA(a)
	}
	n += n1
	return
}

func (s choiceUSer) Size(v model.Choice) (n int) {
	switch c := v.(type) {
	case model.ChoiceU:
		n = 1 + unsafe.Uint64.Size(uint64(c))
	case model.ChoiceS:
		n = 1 + unsafe.String.Size(string(c))
	case model.ChoiceA:
		n = 1 + AUMUS.Size(model.A(c))
	}
	return
}

func (s choiceUSer) Skip(bs []byte) (n int, err error) {
	t, n, err := varint.PositiveInt.Unmarshal(bs)
	if err != nil {
		return
	}
	var n1 int
	switch t {
	case 0:
		n1, err = unsafe.Uint64.Skip(bs[n:])
	case 1:
		n1, err = unsafe.String.Skip(bs[n:])
	case 2:
		n1, err = AUMUS.Skip(bs[n:])
	}
	n += n1
	return
}

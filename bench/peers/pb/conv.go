// Package pb is protobuf v1.36.12 and vtprotobuf v0.6.0. The .pb.go files are what protoc-gen-go and
// protoc-gen-go-vtproto emitted.
package pb

import "github.com/fidelityframework/barewire-gen/bench/model"

// FromSmall returns v as the peer's type.
func FromSmall(v *model.FixedSmall) *Small {
	return &Small{Id: v.ID, Ts: v.TS, Price: v.Price, Qty: v.Qty, Flags: v.Flags, Venue: uint32(v.Venue), Side: uint32(v.Side), Live: v.Live,
		Data: append([]byte(nil), v.Data[:]...), Pair: []uint32{v.Pair[0], v.Pair[1]}}
}

// FromTensor returns v as the peer's type.
func FromTensor(v *model.Tensor) *Tensor {
	return &Tensor{Dtype: v.Dtype, Rank: v.Rank, Dims: append([]uint64(nil), v.Dims[:]...), Offset: v.Offset, Len: v.Len, Payload: append([]float32(nil), v.Payload[:]...)}
}

// FromA returns v as the peer's type.
func FromA(v *model.A) *A {
	return &A{Name: v.Name, BirthDay: v.BirthDay, Phone: v.Phone, Siblings: int64(v.Siblings), Spouse: v.Spouse, Money: v.Money}
}

// FromLarge returns v as the peer's type.
func FromLarge(v *model.Large) *Large {
	l := &Large{Meta: v.Meta, Note: v.Note}
	for i := range v.Records {
		l.Records = append(l.Records, FromA(&v.Records[i]))
	}
	switch c := v.Choice.(type) {
	case model.ChoiceU:
		l.Choice = &Large_U{uint64(c)}
	case model.ChoiceS:
		l.Choice = &Large_S{string(c)}
	case model.ChoiceA:
		l.Choice = &Large_A{FromA((*model.A)(&c))}
	}
	return l
}

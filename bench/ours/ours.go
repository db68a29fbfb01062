// Package ours is what barewire-gen makes of schema/shapes.bare, in
// shapes_bare.go, and conversions from the plain model.
package ours

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/bench/model"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

//go:generate go -C ../.. run ./cmd/barewire-gen generate --out bench/ours bench/schema/shapes.bare

// FromSmall returns v as the generated type.
func FromSmall(v *model.FixedSmall) *FixedSmall {
	return &FixedSmall{ID: v.ID, Ts: v.TS, Price: v.Price, Qty: v.Qty, Flags: v.Flags, Venue: v.Venue,
		Side: v.Side, Live: v.Live, Data: v.Data, Pair: v.Pair}
}

// Model returns x as the plain type.
func (x *FixedSmall) Model() model.FixedSmall {
	return model.FixedSmall{ID: x.ID, TS: x.Ts, Price: x.Price, Qty: x.Qty, Flags: x.Flags, Venue: x.Venue,
		Side: x.Side, Live: x.Live, Data: x.Data, Pair: x.Pair}
}

// FromTensor returns v as the generated type.
func FromTensor(v *model.Tensor) *Tensor {
	return &Tensor{Dtype: v.Dtype, Rank: v.Rank, Dims: v.Dims, Offset: v.Offset, Length: v.Len, Payload: v.Payload}
}

// Model returns x as the plain type.
func (x *Tensor) Model() *model.Tensor {
	return &model.Tensor{Dtype: x.Dtype, Rank: x.Rank, Dims: x.Dims, Offset: x.Offset, Len: x.Length, Payload: x.Payload}
}

// FromA returns v as the generated type.
func FromA(v *model.A) *Record {
	return &Record{Name: v.Name, Birthday: v.BirthDay, Phone: v.Phone, Siblings: int64(v.Siblings),
		Spouse: v.Spouse, Money: v.Money}
}

// Model returns x as the plain type.
func (x *Record) Model() model.A {
	return model.A{Name: x.Name, BirthDay: x.Birthday, Phone: x.Phone, Siblings: int(x.Siblings),
		Spouse: x.Spouse, Money: x.Money}
}

// FromLarge returns v as the generated type.
func FromLarge(v *model.Large) *Large {
	x := &Large{Meta: v.Meta}
	for i := range v.Records {
		x.Records = append(x.Records, *FromA(&v.Records[i]))
	}
	if v.Note != nil {
		x.Note = wire.Optional[string]{Value: *v.Note, Valid: true}
	}
	switch c := v.Choice.(type) {
	case model.ChoiceU:
		x.Choice.Value = &ChoiceU64{Value: uint64(c)}
	case model.ChoiceS:
		x.Choice.Value = &ChoiceStr{Value: string(c)}
	case model.ChoiceA:
		x.Choice.Value = FromA((*model.A)(&c))
	}
	return x
}

// Model returns x as the plain type. It fails if the union holds nothing.
func (x *Large) Model() (*model.Large, error) {
	v := &model.Large{Meta: x.Meta}
	for i := range x.Records {
		v.Records = append(v.Records, x.Records[i].Model())
	}
	if x.Note.Valid {
		v.Note = &x.Note.Value
	}
	switch c := x.Choice.Value.(type) {
	case *ChoiceU64:
		v.Choice = model.ChoiceU(c.Value)
	case *ChoiceStr:
		v.Choice = model.ChoiceS(c.Value)
	case *Record:
		v.Choice = model.ChoiceA(c.Model())
	default:
		return nil, fmt.Errorf("ours: a union holds a %T", c)
	}
	return v, nil
}

// Package fb is FlatBuffers v25.12.19. The other files are what flatc emitted.
package fb

import (
	"encoding/binary"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/bench/model"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Enc reuses what the library lets an encoder reuse.
type Enc struct {
	b    *flatbuffers.Builder
	offs []flatbuffers.UOffsetT
	kvs  []flatbuffers.UOffsetT
}

// NewEnc returns an encoder.
func NewEnc() *Enc { return &Enc{b: flatbuffers.NewBuilder(1 << 18)} }

// Small encodes v; the bytes are valid until the next call.
func (e *Enc) Small(v *model.FixedSmall) []byte {
	b := e.b
	b.Reset()
	SmallStart(b)
	SmallAddS(b, CreateSmallS(b, v.ID, v.TS, v.Price, v.Qty, v.Flags, v.Venue, v.Side, v.Live,
		binary.LittleEndian.Uint64(v.Data[0:]), binary.LittleEndian.Uint64(v.Data[8:]), v.Pair[0], v.Pair[1]))
	b.Finish(SmallEnd(b))
	return b.FinishedBytes()
}

// Tensor encodes v; the bytes are valid until the next call.
func (e *Enc) Tensor(v *model.Tensor) []byte {
	b := e.b
	b.Reset()
	TensorStartPayloadVector(b, 4096)
	for i := 4095; i >= 0; i-- {
		b.PrependFloat32(v.Payload[i])
	}
	p := b.EndVector(4096)
	TensorStartDimsVector(b, 8)
	for i := 7; i >= 0; i-- {
		b.PrependUint64(v.Dims[i])
	}
	d := b.EndVector(8)
	TensorStart(b)
	TensorAddDtype(b, v.Dtype)
	TensorAddRank(b, v.Rank)
	TensorAddOffset(b, v.Offset)
	TensorAddLen(b, v.Len)
	TensorAddDims(b, d)
	TensorAddPayload(b, p)
	b.Finish(TensorEnd(b))
	return b.FinishedBytes()
}

// TensorBlob encodes v; the bytes are valid until the next call.
func (e *Enc) TensorBlob(v *model.Tensor) []byte {
	b := e.b
	b.Reset()
	p := b.CreateByteVector(unsafe.Slice((*byte)(unsafe.Pointer(&v.Payload)), 16384))
	TensorBlobStartDimsVector(b, 8)
	for i := 7; i >= 0; i-- {
		b.PrependUint64(v.Dims[i])
	}
	d := b.EndVector(8)
	TensorBlobStart(b)
	TensorBlobAddDtype(b, v.Dtype)
	TensorBlobAddRank(b, v.Rank)
	TensorBlobAddOffset(b, v.Offset)
	TensorBlobAddLen(b, v.Len)
	TensorBlobAddDims(b, d)
	TensorBlobAddPayload(b, p)
	b.Finish(TensorBlobEnd(b))
	return b.FinishedBytes()
}

func (e *Enc) a(v *model.A) flatbuffers.UOffsetT {
	b := e.b
	n := b.CreateString(v.Name)
	p := b.CreateString(v.Phone)
	AStart(b)
	AAddName(b, n)
	AAddBirthDay(b, v.BirthDay)
	AAddPhone(b, p)
	AAddSiblings(b, int32(v.Siblings))
	AAddSpouse(b, v.Spouse)
	AAddMoney(b, v.Money)
	return AEnd(b)
}

// A encodes v; the bytes are valid until the next call.
func (e *Enc) A(v *model.A) []byte {
	e.b.Reset()
	e.b.Finish(e.a(v))
	return e.b.FinishedBytes()
}

// Large encodes v; the bytes are valid until the next call.
func (e *Enc) Large(v *model.Large) []byte {
	b := e.b
	b.Reset()
	e.offs, e.kvs = e.offs[:0], e.kvs[:0]
	for i := range v.Records {
		e.offs = append(e.offs, e.a(&v.Records[i]))
	}
	for k, s := range v.Meta {
		ko, so := b.CreateString(k), b.CreateString(s)
		KVStart(b)
		KVAddKey(b, ko)
		KVAddVal(b, so)
		e.kvs = append(e.kvs, KVEnd(b))
	}
	ro := b.CreateVectorOfTables(e.offs)
	mo := b.CreateVectorOfTables(e.kvs)
	var no, co flatbuffers.UOffsetT
	if v.Note != nil {
		no = b.CreateString(*v.Note)
	}
	var ct Choice
	switch c := v.Choice.(type) {
	case model.ChoiceU:
		UStart(b)
		UAddV(b, uint64(c))
		co, ct = UEnd(b), ChoiceU
	case model.ChoiceS:
		so := b.CreateString(string(c))
		SStart(b)
		SAddV(b, so)
		co, ct = SEnd(b), ChoiceS
	case model.ChoiceA:
		co, ct = e.a((*model.A)(&c)), ChoiceA
	}
	LargeStart(b)
	LargeAddRecords(b, ro)
	LargeAddMeta(b, mo)
	if v.Note != nil {
		LargeAddNote(b, no)
	}
	LargeAddChoiceType(b, ct)
	LargeAddChoice(b, co)
	b.Finish(LargeEnd(b))
	return b.FinishedBytes()
}

// ---- read

// Dec reuses what the library lets a decoder reuse.
type Dec struct {
	sm Small
	ss SmallS
	t  Tensor
	tb TensorBlob
	a  A
	l  Large
	kv KV
}

// ViewSmall opens a message for reading in place.
func (d *Dec) ViewSmall(b []byte) *SmallS {
	d.sm.Init(b, flatbuffers.GetUOffsetT(b))
	return d.sm.S(&d.ss)
}

// ViewTensor opens a message for reading in place.
func (d *Dec) ViewTensor(b []byte) *Tensor {
	d.t.Init(b, flatbuffers.GetUOffsetT(b))
	return &d.t
}

// ViewTensorBlob opens a message for reading in place.
func (d *Dec) ViewTensorBlob(b []byte) *TensorBlob {
	d.tb.Init(b, flatbuffers.GetUOffsetT(b))
	return &d.tb
}

// ViewA opens a message for reading in place.
func (d *Dec) ViewA(b []byte) *A {
	d.a.Init(b, flatbuffers.GetUOffsetT(b))
	return &d.a
}

// ViewLarge opens a message for reading in place.
func (d *Dec) ViewLarge(b []byte) *Large {
	d.l.Init(b, flatbuffers.GetUOffsetT(b))
	return &d.l
}

// Small copies every field of a message to v.
func (d *Dec) Small(b []byte, v *model.FixedSmall) {
	m := d.ViewSmall(b)
	v.ID = m.Id()
	v.TS = m.Ts()
	v.Price = m.Price()
	v.Qty = m.Qty()
	v.Flags = m.Flags()
	v.Venue = m.Venue()
	v.Side = m.Side()
	v.Live = m.Live()
	binary.LittleEndian.PutUint64(v.Data[0:], m.Data0())
	binary.LittleEndian.PutUint64(v.Data[8:], m.Data1())
	v.Pair[0] = m.Pair0()
	v.Pair[1] = m.Pair1()
}

// Tensor copies every field of a message to v.
func (d *Dec) Tensor(b []byte, v *model.Tensor) {
	m := d.ViewTensor(b)
	v.Dtype, v.Rank, v.Offset, v.Len = m.Dtype(), m.Rank(), m.Offset(), m.Len()
	for i := range v.Dims {
		v.Dims[i] = m.Dims(i)
	}
	for i := range v.Payload {
		v.Payload[i] = m.Payload(i)
	}
}

// TensorBlob copies every field of a message to v.
func (d *Dec) TensorBlob(b []byte, v *model.Tensor) {
	m := d.ViewTensorBlob(b)
	v.Dtype, v.Rank, v.Offset, v.Len = m.Dtype(), m.Rank(), m.Offset(), m.Len()
	for i := range v.Dims {
		v.Dims[i] = m.Dims(i)
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&v.Payload)), 16384), m.PayloadBytes())
}

func us(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func getA(m *A, v *model.A, alias bool) {
	if alias {
		v.Name, v.Phone = us(m.Name()), us(m.Phone())
	} else {
		v.Name, v.Phone = string(m.Name()), string(m.Phone())
	}
	v.BirthDay = m.BirthDay()
	v.Siblings = int(m.Siblings())
	v.Spouse = m.Spouse()
	v.Money = m.Money()
}

// A copies every field of a message to v.
func (d *Dec) A(b []byte, v *model.A, alias bool) { getA(d.ViewA(b), v, alias) }

// Large copies every field of a message to v.
func (d *Dec) Large(b []byte, v *model.Large, alias bool) {
	m := d.ViewLarge(b)
	n := m.RecordsLength()
	if cap(v.Records) >= n {
		v.Records = v.Records[:n]
	} else {
		v.Records = make([]model.A, n)
	}
	for i := range v.Records {
		m.Records(&d.a, i)
		getA(&d.a, &v.Records[i], alias)
	}
	n = m.MetaLength()
	if v.Meta == nil {
		v.Meta = make(map[string]string, n)
	} else {
		clear(v.Meta)
	}
	for i := 0; i < n; i++ {
		m.Meta(&d.kv, i)
		if alias {
			v.Meta[us(d.kv.Key())] = us(d.kv.Val())
		} else {
			v.Meta[string(d.kv.Key())] = string(d.kv.Val())
		}
	}
	if s := m.Note(); s != nil {
		if v.Note == nil {
			v.Note = new(string)
		}
		*v.Note = string(s)
	} else {
		v.Note = nil
	}
	var t flatbuffers.Table
	m.Choice(&t)
	switch m.ChoiceType() {
	case ChoiceU:
		var u U
		u.Init(t.Bytes, t.Pos)
		v.Choice = model.ChoiceU(u.V())
	case ChoiceS:
		var s S
		s.Init(t.Bytes, t.Pos)
		v.Choice = model.ChoiceS(s.V())
	case ChoiceA:
		var a A
		a.Init(t.Bytes, t.Pos)
		var x model.A
		getA(&a, &x, alias)
		v.Choice = model.ChoiceA(x)
	}
}

// Package capn is capnp v3.1.0-alpha.1: its pooled arenas for writing, one read-only segment for
// reading, no stream frame: its best case. schema.capnp.go is what capnpc-go emitted.
package capn

import (
	"encoding/binary"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/bench/model"

	capnp "capnproto.org/go/capnp/v3"
)

// Enc reuses one message and the library's pooled arenas.
type Enc struct{ msg capnp.Message }

func (e *Enc) seg() *capnp.Segment {
	s, err := e.msg.Reset(capnp.SingleSegment(nil))
	if err != nil {
		panic(err)
	}
	return s
}

func (e *Enc) out() []byte { s, _ := e.msg.Segment(0); return s.Data() }

// Small encodes v; the bytes are valid until the next call.
func (e *Enc) Small(v *model.FixedSmall) []byte {
	m, err := NewRootSmall(e.seg())
	if err != nil {
		panic(err)
	}
	m.SetId(v.ID)
	m.SetTs(v.TS)
	m.SetPrice(v.Price)
	m.SetQty(v.Qty)
	m.SetFlags(v.Flags)
	m.SetVenue(v.Venue)
	m.SetSide(v.Side)
	m.SetLive(v.Live)
	m.SetData0(binary.LittleEndian.Uint64(v.Data[0:]))
	m.SetData1(binary.LittleEndian.Uint64(v.Data[8:]))
	m.SetPair0(v.Pair[0])
	m.SetPair1(v.Pair[1])
	return e.out()
}

// Tensor encodes v; the bytes are valid until the next call.
func (e *Enc) Tensor(v *model.Tensor) []byte {
	m, err := NewRootTensor(e.seg())
	if err != nil {
		panic(err)
	}
	m.SetDtype(v.Dtype)
	m.SetRank(v.Rank)
	m.SetOffset(v.Offset)
	m.SetLen(v.Len)
	d, _ := m.NewDims(8)
	for i := range v.Dims {
		d.Set(i, v.Dims[i])
	}
	p, err := m.NewPayload(4096)
	if err != nil {
		panic(err)
	}
	for i := range v.Payload {
		p.Set(i, v.Payload[i])
	}
	return e.out()
}

// TensorBlob encodes v; the bytes are valid until the next call.
func (e *Enc) TensorBlob(v *model.Tensor) []byte {
	m, err := NewRootTensorBlob(e.seg())
	if err != nil {
		panic(err)
	}
	m.SetDtype(v.Dtype)
	m.SetRank(v.Rank)
	m.SetOffset(v.Offset)
	m.SetLen(v.Len)
	d, _ := m.NewDims(8)
	for i := range v.Dims {
		d.Set(i, v.Dims[i])
	}
	if err := m.SetPayload(unsafe.Slice((*byte)(unsafe.Pointer(&v.Payload)), 16384)); err != nil {
		panic(err)
	}
	return e.out()
}

func setA(m A, v *model.A) {
	m.SetName(v.Name)
	m.SetBirthDay(v.BirthDay)
	m.SetPhone(v.Phone)
	m.SetSiblings(int32(v.Siblings))
	m.SetSpouse(v.Spouse)
	m.SetMoney(v.Money)
}

// A encodes v; the bytes are valid until the next call.
func (e *Enc) A(v *model.A) []byte {
	m, err := NewRootA(e.seg())
	if err != nil {
		panic(err)
	}
	setA(m, v)
	return e.out()
}

// Large encodes v; the bytes are valid until the next call.
func (e *Enc) Large(v *model.Large) []byte {
	m, err := NewRootLarge(e.seg())
	if err != nil {
		panic(err)
	}
	rs, err := m.NewRecords(int32(len(v.Records)))
	if err != nil {
		panic(err)
	}
	for i := range v.Records {
		setA(rs.At(i), &v.Records[i])
	}
	ms, _ := m.NewMeta(int32(len(v.Meta)))
	i := 0
	for k, s := range v.Meta {
		kv := ms.At(i)
		kv.SetKey(k)
		kv.SetVal(s)
		i++
	}
	if v.Note != nil {
		m.SetNote(*v.Note)
	}
	switch c := v.Choice.(type) {
	case model.ChoiceU:
		m.Choice().SetU(uint64(c))
	case model.ChoiceS:
		m.Choice().SetS(string(c))
	case model.ChoiceA:
		a, _ := m.Choice().NewA()
		setA(a, (*model.A)(&c))
	}
	return e.out()
}

// Dec reuses one message over a read-only segment.
type Dec struct {
	msg capnp.Message
	ar  *capnp.ReadOnlySingleSegment
}

// NewDec returns a decoder.
func NewDec() *Dec { return &Dec{ar: capnp.NewReadOnlySingleSegment(nil)} }

func (d *Dec) open(b []byte) {
	d.msg.Release()
	d.ar.ReplaceData(b)
	if _, err := d.msg.Reset(d.ar); err != nil {
		panic(err)
	}
}

// ViewSmall opens a message for reading in place.
func (d *Dec) ViewSmall(b []byte) (Small, error) { d.open(b); return ReadRootSmall(&d.msg) }

// ViewTensor opens a message for reading in place.
func (d *Dec) ViewTensor(b []byte) (Tensor, error) { d.open(b); return ReadRootTensor(&d.msg) }

// ViewTensorBlob opens a message for reading in place.
func (d *Dec) ViewTensorBlob(b []byte) (TensorBlob, error) {
	d.open(b)
	return ReadRootTensorBlob(&d.msg)
}

// ViewA opens a message for reading in place.
func (d *Dec) ViewA(b []byte) (A, error) { d.open(b); return ReadRootA(&d.msg) }

// ViewLarge opens a message for reading in place.
func (d *Dec) ViewLarge(b []byte) (Large, error) { d.open(b); return ReadRootLarge(&d.msg) }

// Small copies every field of a message to v.
func (d *Dec) Small(b []byte, v *model.FixedSmall) error {
	m, err := d.ViewSmall(b)
	if err != nil {
		return err
	}
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
	return nil
}

// Tensor copies every field of a message to v.
func (d *Dec) Tensor(b []byte, v *model.Tensor) error {
	m, err := d.ViewTensor(b)
	if err != nil {
		return err
	}
	v.Dtype, v.Rank, v.Offset, v.Len = m.Dtype(), m.Rank(), m.Offset(), m.Len()
	ds, err := m.Dims()
	if err != nil {
		return err
	}
	for i := range v.Dims {
		v.Dims[i] = ds.At(i)
	}
	p, err := m.Payload()
	if err != nil {
		return err
	}
	for i := range v.Payload {
		v.Payload[i] = p.At(i)
	}
	return nil
}

// TensorBlob copies every field of a message to v.
func (d *Dec) TensorBlob(b []byte, v *model.Tensor) error {
	m, err := d.ViewTensorBlob(b)
	if err != nil {
		return err
	}
	v.Dtype, v.Rank, v.Offset, v.Len = m.Dtype(), m.Rank(), m.Offset(), m.Len()
	ds, err := m.Dims()
	if err != nil {
		return err
	}
	for i := range v.Dims {
		v.Dims[i] = ds.At(i)
	}
	p, err := m.Payload()
	if err != nil {
		return err
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&v.Payload)), 16384), p)
	return nil
}

func us(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func getA(m A, v *model.A, alias bool) (err error) {
	if alias {
		var b []byte
		if b, err = m.NameBytes(); err != nil {
			return err
		}
		v.Name = us(b)
		if b, err = m.PhoneBytes(); err != nil {
			return err
		}
		v.Phone = us(b)
	} else {
		if v.Name, err = m.Name(); err != nil {
			return err
		}
		if v.Phone, err = m.Phone(); err != nil {
			return err
		}
	}
	v.BirthDay = m.BirthDay()
	v.Siblings = int(m.Siblings())
	v.Spouse = m.Spouse()
	v.Money = m.Money()
	return nil
}

// A copies every field of a message to v.
func (d *Dec) A(b []byte, v *model.A, alias bool) error {
	m, err := d.ViewA(b)
	if err != nil {
		return err
	}
	return getA(m, v, alias)
}

// Large copies every field of a message to v.
func (d *Dec) Large(b []byte, v *model.Large, alias bool) error {
	m, err := d.ViewLarge(b)
	if err != nil {
		return err
	}
	rs, err := m.Records()
	if err != nil {
		return err
	}
	n := rs.Len()
	if cap(v.Records) >= n {
		v.Records = v.Records[:n]
	} else {
		v.Records = make([]model.A, n)
	}
	for i := range v.Records {
		if err := getA(rs.At(i), &v.Records[i], alias); err != nil {
			return err
		}
	}
	ms, err := m.Meta()
	if err != nil {
		return err
	}
	if v.Meta == nil {
		v.Meta = make(map[string]string, ms.Len())
	} else {
		clear(v.Meta)
	}
	for i := 0; i < ms.Len(); i++ {
		kv := ms.At(i)
		if alias {
			k, _ := kv.KeyBytes()
			s, _ := kv.ValBytes()
			v.Meta[us(k)] = us(s)
		} else {
			k, _ := kv.Key()
			s, _ := kv.Val()
			v.Meta[k] = s
		}
	}
	if m.HasNote() {
		s, _ := m.Note()
		if v.Note == nil {
			v.Note = new(string)
		}
		*v.Note = s
	} else {
		v.Note = nil
	}
	switch m.Choice().Which() {
	case Large_choice_Which_u:
		v.Choice = model.ChoiceU(m.Choice().U())
	case Large_choice_Which_s:
		s, _ := m.Choice().S()
		v.Choice = model.ChoiceS(s)
	case Large_choice_Which_a:
		a, err := m.Choice().A()
		if err != nil {
			return err
		}
		var x model.A
		if err := getA(a, &x, alias); err != nil {
			return err
		}
		v.Choice = model.ChoiceA(x)
	}
	return nil
}

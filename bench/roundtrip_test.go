package bench

import (
	"bytes"
	"reflect"
	"testing"

	bare "git.sr.ht/~sircmpwn/go-bare"
	"google.golang.org/protobuf/proto"

	"github.com/fidelityframework/barewire-gen/bench/hand"
	"github.com/fidelityframework/barewire-gen/bench/model"
	"github.com/fidelityframework/barewire-gen/bench/ours"
	"github.com/fidelityframework/barewire-gen/bench/peers/benc"
	"github.com/fidelityframework/barewire-gen/bench/peers/capn"
	"github.com/fidelityframework/barewire-gen/bench/peers/fb"
	"github.com/fidelityframework/barewire-gen/bench/peers/mp"
	"github.com/fidelityframework/barewire-gen/bench/peers/mpzc"
	"github.com/fidelityframework/barewire-gen/bench/peers/mus"
	"github.com/fidelityframework/barewire-gen/bench/peers/pb"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// decoders of one shape, by the name of the peer.
type decoders[T any] map[string]func(v *T) error

// run decodes with each and compares.
func (ds decoders[T]) run(t *testing.T, want T) {
	t.Helper()
	for name, decode := range ds {
		v := new(T)
		if err := decode(v); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(*v, want) {
			t.Errorf("%s: decodes something else", name)
		}
	}
}

// sameBytes checks that BARE encoders agree.
func sameBytes(t *testing.T, want []byte, got map[string][]byte) {
	t.Helper()
	for name, b := range got {
		if !bytes.Equal(b, want) {
			t.Errorf("%s: writes other bytes than go-bare", name)
		}
	}
}

func TestSmall(t *testing.T) {
	capnDec := capn.NewDec()
	var fbDec fb.Dec
	for i, want := range model.Smalls {
		c := &cSmall
		b := must(bare.Marshal(&want))
		put, cast := make([]byte, 64), make([]byte, 64)
		hand.PutSmall(put, &want)
		hand.StoreSmall(cast, &want)
		sameBytes(t, b, map[string][]byte{
			"hand": c.wire[i], "hand put": put, "cast": cast, "memory": hand.BytesOfSmall(&want),
			"hand each": hand.AppendSmallEach(nil, &want),
			"benc":      c.benc[i], "ours": must(oSmalls[i].AppendBinary(nil)), "ours marshal": must(oSmalls[i].MarshalBinary()),
		})
		decoders[model.FixedSmall]{
			"hand":   func(v *model.FixedSmall) error { return hand.DecodeSmall(b, v) },
			"gobare": func(v *model.FixedSmall) error { return bare.Unmarshal(b, v) },
			"capnp":  func(v *model.FixedSmall) error { return capnDec.Small(c.capn[i], v) },
			"fb":     func(v *model.FixedSmall) error { fbDec.Small(c.fb[i], v); return nil },
			"benc":   func(v *model.FixedSmall) error { _, err := benc.UnmarshalSmall(0, c.benc[i], v); return err },
			"mus":    func(v *model.FixedSmall) (err error) { *v, _, err = mus.SmallMUS.Unmarshal(c.mus[i]); return },
			"mus unsafe": func(v *model.FixedSmall) (err error) {
				*v, _, err = mus.SmallUMUS.Unmarshal(b)
				return
			},
			"msgp":       func(v *model.FixedSmall) error { _, err := (*mp.Small)(v).UnmarshalMsg(c.mp[i]); return err },
			"msgp tuple": func(v *model.FixedSmall) error { _, err := (*mp.SmallT)(v).UnmarshalMsg(c.mpt[i]); return err },
			"ours": func(v *model.FixedSmall) error {
				x := new(ours.FixedSmall)
				err := x.UnmarshalBinary(b)
				*v = x.Model()
				return err
			},
		}.run(t, want)
		m := new(pb.Small)
		if err := m.UnmarshalVT(c.pb[i]); err != nil || !proto.Equal(m, pSmalls[i]) {
			t.Error("vtproto", err)
		}
		p := must(ours.FixedSmallViewOf(b))
		if h := must(hand.ViewSmall(b)); p.ID() != want.ID || p.Price() != want.Price || p.Venue() != want.Venue ||
			h.ID() != want.ID || h.Price() != want.Price || h.Venue() != want.Venue || p.Validate() != nil || hand.ValidateSmall(b) != nil {
			t.Error("view")
		}
	}
}

func TestTensor(t *testing.T) {
	capnDec := capn.NewDec()
	var fbDec fb.Dec
	for i, want := range model.Tensors {
		c := &cT
		b := must(bare.Marshal(want))
		loop := make([]byte, model.TensorSize)
		hand.PutTensorLoop(loop, want)
		sameBytes(t, b, map[string][]byte{
			"hand": c.wire[i], "hand loop": loop, "memory": hand.BytesOfTensor(want), "hand each": hand.AppendTensorEach(nil, want),
			"benc": c.benc[i], "ours": must(oTensors[i].AppendBinary(nil)), "ours marshal": must(oTensors[i].MarshalBinary()),
		})
		decoders[model.Tensor]{
			"hand":       func(v *model.Tensor) error { return hand.DecodeTensor(b, v) },
			"hand loop":  func(v *model.Tensor) error { return hand.DecodeTensorLoop(b, v) },
			"gobare":     func(v *model.Tensor) error { return bare.Unmarshal(b, v) },
			"capnp":      func(v *model.Tensor) error { return capnDec.Tensor(c.capn[i], v) },
			"capnp data": func(v *model.Tensor) error { return capnDec.TensorBlob(c.capnb[i], v) },
			"fb":         func(v *model.Tensor) error { fbDec.Tensor(c.fb[i], v); return nil },
			"fb bytes":   func(v *model.Tensor) error { fbDec.TensorBlob(c.fbb[i], v); return nil },
			"benc":       func(v *model.Tensor) error { _, err := benc.UnmarshalTensor(0, c.benc[i], v); return err },
			"mus":        func(v *model.Tensor) (err error) { *v, _, err = mus.TensorMUS.Unmarshal(c.mus[i]); return },
			"mus unsafe": func(v *model.Tensor) (err error) { *v, _, err = mus.TensorUMUS.Unmarshal(c.mus[i]); return },
			"msgp":       func(v *model.Tensor) error { _, err := (*mp.Tensor)(v).UnmarshalMsg(c.mp[i]); return err },
			"ours": func(v *model.Tensor) error {
				x := new(ours.Tensor)
				err := x.UnmarshalBinary(b)
				*v = *x.Model()
				return err
			},
			"ours over": func(v *model.Tensor) error {
				x, err := ours.TensorOver(b)
				if err == nil {
					*v = *x.Model()
				}
				return err
			},
		}.run(t, *want)
		m := new(pb.Tensor)
		if err := m.UnmarshalVT(c.pb[i]); err != nil || !proto.Equal(m, pTensors[i]) {
			t.Error("vtproto", err)
		}
		p := must(ours.TensorViewOf(b))
		if p.Dims(1) != want.Dims[1] || p.Length() != want.Len || p.Payload(2048) != want.Payload[2048] {
			t.Error("view")
		}
	}
}

func TestRecord(t *testing.T) {
	capnDec := capn.NewDec()
	var fbDec fb.Dec
	for i, want := range model.As {
		c := &cA
		b := must(bare.Marshal(&want))
		put := make([]byte, 64)
		put = put[:hand.PutAPlain(put, &want)]
		sameBytes(t, b, map[string][]byte{
			"hand": c.wire[i], "hand put": put, "hand bound": hand.BoundAPlain(nil, &want), "hand size": hand.SizePutAPlain(nil, &want),
			"ours": must(oRecords[i].AppendBinary(nil)), "ours marshal": must(oRecords[i].MarshalBinary()),
		})
		mode := func(m wire.Mode) func(v *model.A) error {
			return func(v *model.A) error {
				x := new(ours.Record)
				_, err := x.DecodeBinary(b, wire.Options{Mode: m})
				*v = x.Model()
				return err
			}
		}
		decoders[model.A]{
			"hand":           func(v *model.A) error { return hand.DecodeA(b, v) },
			"hand alias":     func(v *model.A) error { return hand.DecodeAAlias(b, v) },
			"hand each":      func(v *model.A) error { return hand.DecodeAAliasEach(b, v) },
			"hand reuse":     func(v *model.A) error { return hand.DecodeAReuse(b, v) },
			"hand one alloc": func(v *model.A) error { return hand.DecodeAOneAlloc(b, v) },
			"gobare":         func(v *model.A) error { return bare.Unmarshal(b, v) },
			"capnp":          func(v *model.A) error { return capnDec.A(c.capn[i], v, false) },
			"capnp alias":    func(v *model.A) error { return capnDec.A(c.capn[i], v, true) },
			"fb":             func(v *model.A) error { fbDec.A(c.fb[i], v, false); return nil },
			"fb alias":       func(v *model.A) error { fbDec.A(c.fb[i], v, true); return nil },
			"benc":           func(v *model.A) error { _, err := benc.UnmarshalA(0, c.benc[i], v); return err },
			"benc unsafe":    func(v *model.A) error { _, err := benc.UnmarshalAUnsafe(0, c.benc[i], v); return err },
			"mus":            func(v *model.A) (err error) { *v, _, err = mus.AMUS.Unmarshal(c.mus[i]); return },
			"mus unsafe":     func(v *model.A) (err error) { *v, _, err = mus.AUMUS.Unmarshal(c.mus[i]); return },
			"msgp":           func(v *model.A) error { _, err := (*mp.A)(v).UnmarshalMsg(c.mp[i]); return err },
			"msgp tuple":     func(v *model.A) error { _, err := (*mp.AT)(v).UnmarshalMsg(c.mpt[i]); return err },
			"msgp zerocopy": func(v *model.A) error {
				z := new(mpzc.AT)
				_, err := z.UnmarshalMsg(c.mpz[i])
				*v = model.A{Name: string(z.Name), BirthDay: z.BirthDay, Phone: string(z.Phone), Siblings: z.Siblings, Spouse: z.Spouse, Money: z.Money}
				return err
			},
			"ours": mode(wire.Fresh), "ours reuse": mode(wire.Reuse), "ours alias": mode(wire.Alias),
			"ours alias reuse": mode(wire.AliasReuse),
		}.run(t, want)
		m := new(pb.A)
		if err := m.UnmarshalVTUnsafe(c.pb[i]); err != nil || !proto.Equal(m, pAs[i]) {
			t.Error("vtproto", err)
		}
		p := oRecordViews[i]
		phone, siblings, money, err := hand.WalkA(b)
		if p.Phone() != want.Phone || int(p.Siblings()) != want.Siblings || p.Money() != want.Money ||
			string(phone) != want.Phone || siblings != want.Siblings || money != want.Money || err != nil || hand.ValidateA(b) != nil {
			t.Error("view")
		}
	}
}

func TestLarge(t *testing.T) {
	capnDec := capn.NewDec()
	var fbDec fb.Dec
	for choice := range 3 {
		want := new(model.Large)
		*want = *model.TheL
		want.Meta = map[string]string{"one": "entry"} // go-bare writes maps in the order of chance
		switch choice {
		case 0:
			want.Choice, want.Note = model.ChoiceU(7), nil
		case 1:
			want.Choice = model.ChoiceS("seven")
		}
		x := ours.FromLarge(want)
		sameBytes(t, must(bare.Marshal(want)), map[string][]byte{
			"hand": must(hand.AppendLarge(nil, want)), "hand plain": hand.AppendLargePlain(nil, want), "hand size": hand.SizePutLargePlain(nil, want),
			"ours": must(x.AppendBinary(nil)), "ours marshal": must(x.MarshalBinary()),
		})
		testLarge(t, must(hand.AppendLarge(nil, want)), want)
	}

	want, c := model.TheL, &cL
	sameBytes(t, c.wire, map[string][]byte{"ours": must(oLarge.AppendBinary(nil))})
	testLarge(t, c.wire, want)
	testLarge(t, must(bare.Marshal(want)), want) // keys in any order
	decoders[model.Large]{
		"capnp":       func(v *model.Large) error { return capnDec.Large(c.capn, v, false) },
		"capnp alias": func(v *model.Large) error { return capnDec.Large(c.capn, v, true) },
		"fb":          func(v *model.Large) error { fbDec.Large(c.fb, v, false); return nil },
		"fb alias":    func(v *model.Large) error { fbDec.Large(c.fb, v, true); return nil },
		"benc":        func(v *model.Large) error { _, err := benc.UnmarshalLarge(0, c.benc, v, false); return err },
		"benc unsafe": func(v *model.Large) error { _, err := benc.UnmarshalLarge(0, c.benc, v, true); return err },
		"mus":         func(v *model.Large) (err error) { *v, _, err = mus.LargeMUS.Unmarshal(c.mus); return },
		"mus unsafe":  func(v *model.Large) (err error) { *v, _, err = mus.LargeUMUS.Unmarshal(c.mus); return },
	}.run(t, *want)
	m := new(pb.Large)
	if err := m.UnmarshalVT(c.pb); err != nil || !proto.Equal(m, pL) {
		t.Error("vtproto", err)
	}
	l := new(mp.Large)
	if _, err := l.UnmarshalMsg(c.mp); err != nil || !reflect.DeepEqual(l, mL) {
		t.Error("msgp", err)
	}
}

// testLarge decodes a BARE message of shape D with all that read BARE.
func testLarge(t *testing.T, b []byte, want *model.Large) {
	t.Helper()
	mode := func(m wire.Mode) func(v *model.Large) error {
		return func(v *model.Large) error {
			x := new(ours.Large)
			if _, err := x.DecodeBinary(b, wire.Options{Mode: m}); err != nil {
				return err
			}
			y, err := x.Model()
			if err == nil {
				*v = *y
			}
			return err
		}
	}
	decoders[model.Large]{
		"hand":             func(v *model.Large) error { return hand.DecodeLarge(b, v) },
		"hand plain":       func(v *model.Large) error { return hand.DecodeLargePlain(b, v) },
		"hand reuse":       func(v *model.Large) error { return hand.DecodeLargeReuse(b, v) },
		"hand alias":       func(v *model.Large) error { return hand.DecodeLargeAlias(b, v) },
		"hand alias reuse": func(v *model.Large) error { return hand.DecodeLargeAliasReuse(b, v) },
		"hand one alloc":   func(v *model.Large) error { return hand.DecodeLargeOneAlloc(b, v) },
		"gobare": func(v *model.Large) error {
			err := bare.Unmarshal(b, v)
			switch c := v.Choice.(type) { // go-bare takes values and gives pointers
			case *model.ChoiceU:
				v.Choice = *c
			case *model.ChoiceS:
				v.Choice = *c
			case *model.ChoiceA:
				v.Choice = *c
			}
			return err
		},
		"ours": mode(wire.Fresh), "ours reuse": mode(wire.Reuse), "ours alias": mode(wire.Alias),
		"ours alias reuse": mode(wire.AliasReuse),
	}.run(t, *want)

	p, err := ours.LargeViewOf(b, new(wire.Index))
	if err != nil {
		t.Fatal(err)
	}
	if rs := p.Records(); rs.At(500).Birthday() != want.Records[500].BirthDay || rs.At(999).Money() != want.Records[999].Money ||
		p.Meta().Len() != len(want.Meta) {
		t.Error("view")
	}
	for k, s := range want.Meta {
		if got, ok := p.Meta().Get(k); !ok || got != s {
			t.Errorf("view: meta[%q] is %q, %v", k, got, ok)
		}
	}
	birthday, money, _, err := hand.WalkLarge(b)
	if err != nil || birthday != want.Records[500].BirthDay || money != want.Records[999].Money ||
		hand.ValidateLarge(b) != nil || hand.ValidateLargePlain(b) != nil {
		t.Error("hand walk", err)
	}
}

// TestHandRefuses shows that hand-written code checks what ours does: otherwise
// comparing them would not be fair.
func TestHandRefuses(t *testing.T) {
	a := model.A{Name: "\xff", Phone: "1"}
	if _, err := hand.AppendA(nil, &a); err != hand.ErrUTF8 {
		t.Error("encodes what is not UTF-8:", err)
	}
	b := hand.AppendAPlain(nil, &a)
	for name, err := range map[string]error{
		"decode": hand.DecodeA(b, new(model.A)), "alias": hand.DecodeAAlias(b, new(model.A)), "validate": hand.ValidateA(b),
		"ours": new(ours.Record).UnmarshalBinary(b),
	} {
		if err == nil {
			t.Errorf("%s: takes what is not UTF-8", name)
		}
	}
	// No records, two entries, no note, the first member.
	l := []byte{0, 2, 1, 'k', 0, 1, 'k', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}
	for name, err := range map[string]error{
		"decode": hand.DecodeLarge(l, new(model.Large)), "validate": hand.ValidateLarge(l), "ours": new(ours.Large).UnmarshalBinary(l),
	} {
		if err == nil {
			t.Errorf("%s: takes a key twice", name)
		}
	}
	l[6] = 'l'
	for name, err := range map[string]error{
		"decode": hand.DecodeLarge(l, new(model.Large)), "validate": hand.ValidateLarge(l), "ours": new(ours.Large).UnmarshalBinary(l),
		"trailing": hand.ValidateLarge(append(l[:len(l):len(l)], 0)),
	} {
		if (err == nil) != (name != "trailing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

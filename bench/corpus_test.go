package bench

import (
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

// The messages that rows decode, in each peer's encoding: wire is BARE; capnb
// and fbb have the tensor's numbers as raw bytes, mpt as a tuple, mpz with bytes
// for strings.
type (
	corpus      struct{ wire, capn, capnb, fb, fbb, pb, mp, mpt, mpz, mus, benc [model.N][]byte }
	largeCorpus struct{ wire, capn, fb, pb, mp, mus, benc []byte }
)

var (
	cSmall, cA, cT corpus
	cL             largeCorpus
	cL2            struct{ wire, capn, fb, pb, mp [2][]byte }
)

// The objects that rows encode, in each peer's types.
var (
	pSmalls  [model.N]*pb.Small
	pAs      [model.N]*pb.A
	pTensors [4]*pb.Tensor
	pL       *pb.Large

	mSmalls  [model.N]mp.Small
	mSmallTs [model.N]mp.SmallT
	mTensors [4]mp.Tensor
	mL       *mp.Large

	oSmalls      [model.N]ours.FixedSmall
	oRecords     [model.N]ours.Record
	oTensors     [4]*ours.Tensor
	oLarge       *ours.Large
	oSmallViews  [model.N]ours.FixedSmallView
	oTensorViews [4]ours.TensorView
	oTensorCasts [4]*ours.Tensor
	oRecordViews [model.N]ours.RecordView
	oLargeView   ours.LargeView
)

// The same memory by pointer casts.
var (
	lSmalls  [model.N]*model.FixedSmall
	lTensors [4]*model.Tensor
)

// What loops store to, so that nothing in them is left out.
var (
	sink        []byte
	u64sink     uint64
	smallSink   *model.FixedSmall
	tensorSink  *model.Tensor
	aSink       *model.A
	largeSink   *model.Large
	oSmallSink  *ours.FixedSmall
	oTensorSink *ours.Tensor
	oRecordSink *ours.Record
	oLargeSink  *ours.Large
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func clone(b []byte) []byte { return append([]byte(nil), b...) }

func init() {
	bare.RegisterUnion((*model.Choice)(nil)).Member(model.ChoiceU(0), 0).Member(model.ChoiceS(""), 1).Member(model.ChoiceA{}, 2)
	e := encoders{fb: fb.NewEnc(), buf: make([]byte, 1<<18)}
	for i := range model.N {
		e.small(i, &model.Smalls[i])
		e.record(i, &model.As[i])
	}
	for i, t := range model.Tensors {
		e.tensor(i, t)
	}
	e.large(model.TheL)
	for i, l := range model.Larges {
		cL2.wire[i] = must(hand.AppendLarge(nil, l))
		cL2.capn[i] = clone(e.capn.Large(l))
		cL2.fb[i] = clone(e.fb.Large(l))
		cL2.pb[i] = must(proto.Marshal(pb.FromLarge(l)))
		cL2.mp[i] = must(mp.FromLarge(l).MarshalMsg(nil))
	}
}

// encoders are the peers' encoders that keep something.
type encoders struct {
	capn capn.Enc
	fb   *fb.Enc
	buf  []byte
}

func (e *encoders) small(i int, v *model.FixedSmall) {
	oSmalls[i] = *ours.FromSmall(v)
	pSmalls[i] = pb.FromSmall(v)
	mSmalls[i], mSmallTs[i] = mp.Small(*v), mp.SmallT(*v)

	c := &cSmall
	c.wire[i] = hand.AppendSmall(nil, v)
	c.capn[i] = clone(e.capn.Small(v))
	c.fb[i] = clone(e.fb.Small(v))
	c.pb[i] = must(proto.Marshal(pSmalls[i]))
	c.mp[i] = must(mSmalls[i].MarshalMsg(nil))
	c.mpt[i] = must(mSmallTs[i].MarshalMsg(nil))
	c.mus[i] = clone(e.buf[:mus.SmallMUS.Marshal(*v, e.buf)])
	c.benc[i] = clone(e.buf[:benc.MarshalSmall(0, e.buf, v)])
	oSmallViews[i] = must(ours.FixedSmallViewOf(c.wire[i]))
	lSmalls[i] = hand.CastSmall(c.wire[i])
}

func (e *encoders) tensor(i int, v *model.Tensor) {
	oTensors[i] = ours.FromTensor(v)
	pTensors[i] = pb.FromTensor(v)
	mTensors[i] = mp.Tensor(*v)

	c := &cT
	c.wire[i] = hand.AppendTensor(nil, v)
	c.capn[i] = clone(e.capn.Tensor(v))
	c.capnb[i] = clone(e.capn.TensorBlob(v))
	c.fb[i] = clone(e.fb.Tensor(v))
	c.fbb[i] = clone(e.fb.TensorBlob(v))
	c.pb[i] = must(proto.Marshal(pTensors[i]))
	c.mp[i] = must(mTensors[i].MarshalMsg(nil))
	c.mus[i] = clone(e.buf[:mus.TensorMUS.Marshal(*v, e.buf)])
	c.benc[i] = clone(e.buf[:benc.MarshalTensor(0, e.buf, v)])
	oTensorViews[i] = must(ours.TensorViewOf(c.wire[i]))
	oTensorCasts[i] = must(ours.TensorOver(c.wire[i]))
	lTensors[i] = hand.CastTensor(c.wire[i])
}

func (e *encoders) record(i int, v *model.A) {
	oRecords[i] = *ours.FromA(v)
	pAs[i] = pb.FromA(v)

	c := &cA
	c.wire[i] = must(hand.AppendA(nil, v))
	c.capn[i] = clone(e.capn.A(v))
	c.fb[i] = clone(e.fb.A(v))
	c.pb[i] = must(proto.Marshal(pAs[i]))
	c.mp[i] = must((*mp.A)(v).MarshalMsg(nil))
	c.mpt[i] = must((*mp.AT)(v).MarshalMsg(nil))
	z := mpzc.AT{Name: []byte(v.Name), BirthDay: v.BirthDay, Phone: []byte(v.Phone), Siblings: v.Siblings, Spouse: v.Spouse, Money: v.Money}
	c.mpz[i] = must(z.MarshalMsg(nil))
	c.mus[i] = clone(e.buf[:mus.AMUS.Marshal(*v, e.buf)])
	c.benc[i] = clone(e.buf[:benc.MarshalA(0, e.buf, v)])
	oRecordViews[i] = must(ours.RecordViewOf(c.wire[i], new(wire.Index)))
}

func (e *encoders) large(v *model.Large) {
	oLarge = ours.FromLarge(v)
	pL = pb.FromLarge(v)
	mL = mp.FromLarge(v)

	c := &cL
	c.wire = must(hand.AppendLarge(nil, v))
	c.capn = clone(e.capn.Large(v))
	c.fb = clone(e.fb.Large(v))
	c.pb = must(proto.Marshal(pL))
	c.mp = must(mL.MarshalMsg(nil))
	c.mus = clone(e.buf[:mus.LargeMUS.Marshal(*v, e.buf)])
	c.benc = clone(e.buf[:benc.MarshalLarge(0, e.buf, v)])
	oLargeView = must(ours.LargeViewOf(c.wire, new(wire.Index)))
}

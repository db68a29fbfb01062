package bench

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/bench/ours"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// TestNoAllocation asserts what holds whatever the machine does: where generated
// code need not allocate it does not.
func TestNoAllocation(t *testing.T) {
	buf := make([]byte, 0, 1<<18)
	var err error
	var small ours.FixedSmall
	var tensor ours.Tensor
	var rec ours.Record
	var large ours.Large
	var ix wire.Index
	alias, reuse := wire.Options{Mode: wire.Alias}, wire.Options{Mode: wire.Reuse}
	for _, x := range []struct {
		name string
		f    func()
	}{
		{"A encode", func() { _, err = oSmalls[0].AppendBinary(buf) }},
		{"A decode", func() { err = small.UnmarshalBinary(cSmall.wire[0]) }},
		{"A store", func() { p, _ := ours.FixedSmallViewOf(buf[:64]); err = p.Store(&oSmalls[0]) }},
		{"A access", func() {
			p, e := ours.FixedSmallViewOf(cSmall.wire[0])
			err, u64sink = e, p.ID()+uint64(p.Venue())
		}},
		{"A validate", func() { p, _ := ours.FixedSmallViewOf(cSmall.wire[0]); err = p.Validate() }},
		{"B encode", func() { _, err = oTensors[0].AppendBinary(buf) }},
		{"B decode", func() { err = tensor.UnmarshalBinary(cT.wire[0]) }},
		{"B access", func() {
			p, e := ours.TensorViewOf(cT.wire[0])
			err, u64sink = e, p.Dims(1)+f32(p.Payload(2048))
		}},
		{"B cast", func() {
			p, e := ours.TensorOver(cT.wire[0])
			if err = e; err == nil {
				u64sink = f32(p.Payload[2048])
			}
		}},
		{"C encode", func() { _, err = oRecords[0].AppendBinary(buf) }},
		{"C decode, alias", func() { _, err = rec.DecodeBinary(cA.wire[0], alias) }},
		{"C decode, reuse", func() { _, err = rec.DecodeBinary(cA.wire[0], reuse) }},
		{"C index", func() {
			p, e := ours.RecordViewOf(cA.wire[0], &ix)
			err, u64sink = e, uint64(len(p.Phone()))+uint64(p.Siblings())+f64(p.Money())
		}},
		{"D encode", func() { _, err = oLarge.AppendBinary(buf) }},
		{"D decode, alias and reuse", func() { _, err = large.DecodeBinary(cL.wire, wire.Options{Mode: wire.AliasReuse}) }},
		{"D index", func() { _, err = ours.LargeViewOf(cL.wire, &ix) }},
		{"D access", func() {
			rs := oLargeView.Records()
			u64sink = uint64(rs.At(500).Birthday()) + uint64(oLargeView.Choice().Kind()) + f64(rs.At(999).Money())
		}},
	} {
		x.f() // what is grown once is grown here
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		if n := testing.AllocsPerRun(100, x.f); n != 0 {
			t.Errorf("%s: %v allocations, wanted none", x.name, n)
		}
	}
}

package rows

// ours returns the rows of generated code. A destination is made before the
// loop, as for the peers.
func ours() []Row {
	var all []Row
	for _, t := range [][]Row{oursSmall(), oursTensor(), oursRecord(), oursLarge()} {
		all = append(all, t...)
	}
	return all
}

func oursSmall() []Row {
	const dst = "v := new(ours.FixedSmall); oSmallSink = v"
	return table("A", []line{
		{Encode, Ours, "ours", buf, `buf, _ = oSmalls[k].AppendBinary(buf[:0])`, `64`, "AppendBinary"},
		{Encode, Variant, "ours-marshal", "", `sink, _ = oSmalls[k].MarshalBinary()`, `64`, "MarshalBinary: new memory for each message"},
		{Encode, Variant, "ours-store", buf, `p, _ := ours.FixedSmallViewOf(buf); p.Store(&oSmalls[k])`, `64`, "the view's Store, over memory that is there"},
		{Decode, Ours, "ours", dst, `v.UnmarshalBinary(cSmall.wire[k])`, `64`, "UnmarshalBinary"},
		{Decode, Variant, "ours-options", dst, `v.DecodeBinary(cSmall.wire[k], wire.Options{})`, `64`, "DecodeBinary"},
		{Access, Ours, "ours-view", acc, `p, err := ours.FixedSmallViewOf(cSmall.wire[k]); if err != nil { b.Error(err); return }; u += p.ID() + uint64(p.Venue()) + f64(p.Price())`, `64`, ""},
		{Read, Ours, "ours-view", acc, `p := oSmallViews[k]; u += p.ID() + uint64(p.Venue()) + f64(p.Price())`, `64`, ""},
		{Validate, Ours, "ours", "", `p, err := ours.FixedSmallViewOf(cSmall.wire[k]); if err != nil || p.Validate() != nil { b.Error(err); return }`, `64`, "the view's Validate"},
	})
}

func oursTensor() []Row {
	const dst, size = "v := new(ours.Tensor); oTensorSink = v", "model.TensorSize"
	return table("B", []line{
		{Encode, Ours, "ours", buf, `buf, _ = oTensors[k&3].AppendBinary(buf[:0])`, size, "AppendBinary"},
		{Encode, Variant, "ours-marshal", "", `sink, _ = oTensors[k&3].MarshalBinary()`, size, "MarshalBinary: new memory for each message"},
		{Decode, Ours, "ours", dst, `v.UnmarshalBinary(cT.wire[k&3])`, size, "UnmarshalBinary"},
		{Access, Ours, "ours-view", acc, `p, err := ours.TensorViewOf(cT.wire[k&3]); if err != nil { b.Error(err); return }; u += p.Dims(1) + p.Length() + f32(p.Payload(2048))`, size, ""},
		{Access, Ours, "ours-over", acc, `p, err := ours.TensorOver(cT.wire[k&3]); if err != nil { b.Error(err); return }; u += p.Dims[1] + p.Length + f32(p.Payload[2048])`, size, "the memory as a Go value; length, alignment and byte order are checked"},
		{Read, Ours, "ours-view", acc, `p := oTensorViews[k&3]; u += p.Dims(1) + p.Length() + f32(p.Payload(2048))`, size, ""},
		{Read, Ours, "ours-over", acc, `p := oTensorCasts[k&3]; u += p.Dims[1] + p.Length + f32(p.Payload[2048])`, size, "the memory as a Go value"},
		{Validate, Ours, "ours", "", `p, err := ours.TensorViewOf(cT.wire[k&3]); if err != nil || p.Validate() != nil { b.Error(err); return }`, size, "the view's Validate"},
	})
}

func oursRecord() []Row {
	const dst, size = "v := new(ours.Record); oRecordSink = v", "len(cA.wire[0])"
	const fields = `u += uint64(len(p.Phone())+int(p.Siblings())) + f64(p.Money())`
	return table("C", []line{
		{Encode, Ours, "ours", buf, `buf, _ = oRecords[k].AppendBinary(buf[:0])`, size, "AppendBinary; checks UTF-8"},
		{Encode, Variant, "ours-marshal", "", `sink, _ = oRecords[k].MarshalBinary()`, size, "MarshalBinary: new memory for each message"},
		{Decode, Ours, "ours", dst, `v.UnmarshalBinary(cA.wire[k])`, size, "UnmarshalBinary; checks UTF-8"},
		{DecodeReuse, Ours, "ours", dst, `v.DecodeBinary(cA.wire[k], wire.Options{Mode: wire.Reuse})`, size, "keeps strings that did not change; here they do"},
		{DecodeReuse, Variant, "ours-same", dst, `v.DecodeBinary(cA.wire[0], wire.Options{Mode: wire.Reuse})`, size, "the same message each time: no string is new"},
		{DecodeAlias, Ours, "ours", dst, `v.DecodeBinary(cA.wire[k], wire.Options{Mode: wire.Alias})`, size, "checks UTF-8"},
		{Access, Ours, "ours-index", acc + "; ix := new(wire.Index)", `p, err := ours.RecordViewOf(cA.wire[k], ix); if err != nil { b.Error(err); return }; ` + fields, size, "validates and indexes, then reads"},
		{Access, Variant, "ours-indexed", acc, `p := oRecordViews[k]; ` + fields, size, "indexed before the loop"},
		{Validate, Ours, "ours-index", "ix := new(wire.Index)", `if _, err := ours.RecordViewOf(cA.wire[k], ix); err != nil { b.Error(err); return }`, size, "validates and indexes in one pass"},
		{Index, Hand, "hand-validate", "", `if hand.ValidateA(cA.wire[k]) != nil { b.Error("refused"); return }`, size, "makes no index"},
		{Index, Ours, "ours", "ix := new(wire.Index)", `if _, err := ours.RecordViewOf(cA.wire[k], ix); err != nil { b.Error(err); return }`, size, "validates and indexes in one pass"},
	})
}

func oursLarge() []Row {
	const dst, size = "v := new(ours.Large); oLargeSink = v", "len(cL.wire)"
	const fields = `rs := p.Records(); u += uint64(rs.At(500).Birthday()) + uint64(p.Choice().Kind()) + f64(rs.At(999).Money())`
	return table("D", []line{
		{Encode, Ours, "ours", buf, `buf, _ = oLarge.AppendBinary(buf[:0])`, size, "AppendBinary; checks UTF-8, sorts the map"},
		{Encode, Variant, "ours-marshal", "", `sink, _ = oLarge.MarshalBinary()`, size, "MarshalBinary: new memory for each message"},
		{Decode, Ours, "ours", dst, `v.UnmarshalBinary(cL.wire)`, size, "UnmarshalBinary; UTF-8, duplicate keys"},
		{DecodeReuse, Ours, "ours", dst, `v.DecodeBinary(cL2.wire[k&1], wire.Options{Mode: wire.Reuse})`, size, "strings are new, since the two messages have none in common"},
		{DecodeReuse, Variant, "ours-same", dst, `v.DecodeBinary(cL.wire, wire.Options{Mode: wire.Reuse})`, size, "the same message each time: no string is new"},
		{DecodeAlias, Ours, "ours", dst, `v.DecodeBinary(cL.wire, wire.Options{Mode: wire.Alias})`, size, "list and map are new"},
		{AliasReuse, Ours, "ours", dst, `v.DecodeBinary(cL2.wire[k&1], wire.Options{Mode: wire.AliasReuse})`, size, "UTF-8, duplicate keys"},
		{Access, Variant, "ours-index", acc + "; ix := new(wire.Index)", `p, err := ours.LargeViewOf(cL.wire, ix); if err != nil { b.Error(err); return }; ` + fields, size, "validates and indexes, then reads"},
		{Access, Ours, "ours-indexed", acc + "; p := oLargeView", fields, size, "indexed before the loop; peers do not validate"},
		{Validate, Ours, "ours-index", "ix := new(wire.Index)", `if _, err := ours.LargeViewOf(cL.wire, ix); err != nil { b.Error(err); return }`, size, "validates and indexes in one pass"},
		{Index, Hand, "hand-validate", "", `if err := hand.ValidateLarge(cL.wire); err != nil { b.Error(err); return }`, size, "makes no index"},
		{Index, Ours, "ours", "ix := new(wire.Index)", `if _, err := ours.LargeViewOf(cL.wire, ix); err != nil { b.Error(err); return }`, size, "validates and indexes in one pass"},
	})
}

// NoAllocation is the rows of ours that should not allocate. (A map's strings are
// new whatever is reused, so D is not among them in decode-reuse.)
var NoAllocation = []struct{ Shape, Op, Name string }{
	{"A", Encode, "ours"}, {"A", Decode, "ours"}, {"A", Access, "ours-view"}, {"A", Validate, "ours"},
	{"B", Encode, "ours"}, {"B", Decode, "ours"}, {"B", Access, "ours-view"}, {"B", Access, "ours-over"}, {"B", Validate, "ours"},
	{"C", Encode, "ours"}, {"C", DecodeReuse, "ours-same"}, {"C", DecodeAlias, "ours"}, {"C", Access, "ours-index"}, {"C", Index, "ours"},
	{"D", Encode, "ours"}, {"D", AliasReuse, "ours"}, {"D", Access, "ours-indexed"}, {"D", Index, "ours"},
}

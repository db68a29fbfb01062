package compat

import "github.com/fidelityframework/barewire-gen/schema/diag"

// Cell is one kind of change to one kind of type, as an example with its verdict. The
// tests hold each to what [Compare] says, to what readers make of messages, and to what becomes
// of the generated Go. docs/compat.md is made of them.
type Cell struct {
	Kind, Change string
	Old, New     string      // what is declared in the two versions: type T and what it needs
	Codes        []diag.Code // what is found, in the order of the places; nothing: nobody is concerned
	Verdict      Verdict
	// Renamed has what is only called otherwise, old name to new one: a name that stays
	// and means something else would be misread, one that goes is not.
	Renamed map[string]string
}

var (
	fine     = Verdict{NewReadsOld: All, OldReadsNew: All}
	source_  = Verdict{Source: true, NewReadsOld: All, OldReadsNew: All}
	wire     = Verdict{NewReadsOld: None, OldReadsNew: None}
	broken   = Verdict{Source: true, NewReadsOld: None, OldReadsNew: None}
	grown    = Verdict{NewReadsOld: All, OldReadsNew: Some}
	shrunk   = Verdict{NewReadsOld: Some, OldReadsNew: All}
	memory   = Verdict{NewReadsOld: All, OldReadsNew: All, Memory: true}
	shared   = Verdict{Source: true, NewReadsOld: All, OldReadsNew: All, Memory: true}
	anything = Verdict{Source: true, NewReadsOld: None, OldReadsNew: None, Memory: true}
)

func codes(list ...diag.Code) []diag.Code { return list }

// Cells is the table of changes.
var Cells = []Cell{
	{"type", "added", "type T u8", "type T u8 type U u8", nil, fine, nil},
	{"type", "removed, and nothing has it", "type T u8 type U u16", "type T u8", codes(diag.TypeRemoved), Verdict{true, None, All, false}, nil},
	{"type", "removed, and others had it", "type U u16 type T struct { a: U }", "type T struct { a: u16 }", codes(diag.TypeRemoved, diag.TypeChanged), source_, nil},
	{"type", "renamed", "type U struct { a: u16 b: str } type T list<U>", "type V struct { a: u16 b: str } type T list<V>", codes(diag.TypeRenamed), source_, nil},
	{"type", "moved to another place in the file", "type U u8 type T list<U>", "type T list<U> type U u8", nil, fine, nil},
	{"type", "named in place of what it names", "type U u32 type T struct { a: u32 b: U }", "type U u32 type T struct { a: U b: U }", codes(diag.TypeChanged), source_, nil},
	{"type", "another package", "#@package(a)\n\ntype T u8", "#@package(b)\n\ntype T u8", codes(diag.PackageChanged), source_, nil},
	{"type", "another name in Go", "#@go(name=A)\ntype T u8", "#@go(name=B)\ntype T u8", codes(diag.GoNameMoved), source_, nil},

	{"struct", "field added at the end", "type T struct { a: u32 }", "type T struct { a: u32 b: u32 }", codes(diag.FieldAdded), wire, nil},
	{"struct", "field added in front", "type T struct { a: u32 }", "type T struct { b: u32 a: u32 }", codes(diag.FieldAdded), wire, nil},
	{"struct", "optional field added", "type T struct { a: str }", "type T struct { a: str b: optional<u8> }", codes(diag.FieldAdded), wire, nil},
	{"struct", "field takes padding", "type T struct {\n a: u32\n #@pad\n p: data[4]\n}", "type T struct {\n a: u32\n b: u16\n #@pad\n p: data[2]\n}", nil, fine, nil},
	{"struct", "field takes all padding", "type T struct {\n a: u32\n #@pad\n p: data[4]\n}", "type T struct {\n a: u32\n b: u32\n}", nil, fine, nil},
	{"struct", "field removed", "type T struct { a: u32 b: u32 c: str }", "type T struct { a: u32 c: str }", codes(diag.FieldRemoved), broken, nil},
	{"struct", "field becomes padding", "type T struct {\n a: u32\n b: u32\n}", "type T struct {\n a: u32\n #@pad\n b: data[4]\n}", codes(diag.FieldRemoved), source_, nil},
	{"struct", "field renamed", "type T struct { a: u32 b: str }", "type T struct { a: u32 c: str }", codes(diag.FieldRenamed), source_, map[string]string{"b": "c"}},
	{"struct", "field renamed, the name in Go kept", "type T struct {\n a: u32\n b: str\n}", "type T struct {\n a: u32\n #@go(name=B)\n c: str\n}", nil, fine, map[string]string{"b": "c"}},
	{"struct", "field spelled otherwise", "type T struct { userId: u32 }", "type T struct { user_id: u32 }", nil, fine, map[string]string{"userId": "user_id"}},
	{"struct", "field removed and another added in its place", "type T struct { a: u32 b: u32 }", "type T struct { a: u32 c: str }", codes(diag.ClassChanged, diag.FieldRemoved, diag.FieldAdded), broken, nil},
	{"struct", "fields of one type change places", "type T struct { a: u32 b: u32 }", "type T struct { b: u32 a: u32 }", codes(diag.FieldMoved), wire, nil},
	{"struct", "fields of other types change places", "type T struct { a: u32 b: str }", "type T struct { b: str a: u32 }", codes(diag.FieldMoved), wire, nil},
	{"struct", "padding added", "type T struct { a: u32 b: u64 }", "type T struct {\n a: u32\n #@pad\n p: data[4]\n b: u64\n}", codes(diag.PaddingChanged), wire, nil},
	{"struct", "padding removed", "type T struct {\n a: u64\n #@pad\n p: data[8]\n}", "type T struct {\n a: u64\n}", codes(diag.PaddingChanged), wire, nil},
	{"struct", "padding renamed", "type T struct {\n a: u32\n #@pad\n p: data[4]\n}", "type T struct {\n a: u32\n #@pad\n q: data[4]\n}", nil, fine, nil},
	{"struct", "padding in two pieces", "type T struct {\n a: u32\n #@pad\n p: data[4]\n}", "type T struct {\n a: u32\n #@pad\n p: data[1]\n #@pad\n q: data[3]\n}", nil, fine, nil},
	{"struct", "fields put into a struct", "type T struct { a: u32 b: u16 c: str }", "type P struct { a: u32 b: u16 } type T struct { p: P c: str }", codes(diag.FieldRemoved, diag.FieldRemoved), source_,
		map[string]string{"a": "p.a", "b": "p.b"}},
	{"struct", "castable no more", "type T struct { a: u8 b: u8 }", "type T struct { a: u8 b: bool }", codes(diag.ClassChanged, diag.TypeChanged), Verdict{true, Some, All, false}, nil},
	{"struct", "fixed no more", "type T struct { a: u8 b: u8 }", "type T struct { a: u8 b: str }", codes(diag.ClassChanged, diag.TypeChanged), broken, nil},

	{"number", "u32 to u64", "type T struct { a: u32 }", "type T struct { a: u64 }", codes(diag.TypeChanged), broken, nil},
	{"number", "u32 to i32", "type T struct { a: u32 }", "type T struct { a: i32 }", codes(diag.TypeChanged), broken, nil},
	{"number", "u32 to f32", "type T struct { a: u32 }", "type T struct { a: f32 }", codes(diag.TypeChanged), broken, nil},
	{"number", "f32 to f64", "type T struct { a: f32 }", "type T struct { a: f64 }", codes(diag.TypeChanged), broken, nil},
	{"number", "u64 to uint", "type T struct { a: u64 b: str }", "type T struct { a: uint b: str }", codes(diag.TypeChanged), wire, nil},
	{"number", "u8 to uint", "type T struct { a: u8 b: str }", "type T struct { a: uint b: str }", codes(diag.TypeChanged), broken, nil},
	{"number", "uint to int", "type T struct { a: uint }", "type T struct { a: int }", codes(diag.TypeChanged), broken, nil},
	{"number", "u8 to i8", "type T struct { a: u8 b: str }", "type T struct { a: i8 b: str }", codes(diag.TypeChanged), broken, nil},
	{"number", "bool to u8", "type T struct { a: bool b: str }", "type T struct { a: u8 b: str }", codes(diag.TypeChanged), Verdict{true, All, Some, false}, nil},
	{"number", "bool to uint", "type T struct { a: bool b: str }", "type T struct { a: uint b: str }", codes(diag.TypeChanged), Verdict{true, All, Some, false}, nil},
	{"number", "bool to enum", "type T struct { a: bool b: str }", "type E enum { NO YES MAYBE } type T struct { a: E b: str }", codes(diag.TypeChanged), Verdict{true, All, Some, false}, nil},
	{"number", "uint to enum", "type T struct { a: uint b: str }", "type E enum { A B } type T struct { a: E b: str }", codes(diag.TypeChanged), Verdict{true, Some, All, false}, nil},
	{"number", "enum to u8", "type E enum { A B = 127 } type T struct { e: E a: E b: str }", "type E enum { A B = 127 } type T struct { e: E a: u8 b: str }", codes(diag.TypeChanged), Verdict{true, All, Some, false}, nil},
	{"number", "enum with a value of two bytes to u8", "type E enum { A B = 128 } type T struct { e: E a: E b: str }", "type E enum { A B = 128 } type T struct { e: E a: u8 b: str }",
		codes(diag.TypeChanged), broken, nil},
	{"number", "enum u16 to u16", "enum E u16 { A B = 300 } type T struct { e: E a: E }", "enum E u16 { A B = 300 } type T struct { e: E a: u16 }", codes(diag.TypeChanged), Verdict{true, All, Some, false}, nil},
	{"number", "enum u16 to enum", "enum T u16 { A B }", "type T enum { A B }", codes(diag.TypeChanged), broken, nil},

	{"enum", "value appended", "type T enum { A B }", "type T enum { A B C }", codes(diag.ValueAdded), grown, nil},
	{"enum", "value put in with a number of its own", "type T enum { A B = 5 }", "type T enum { A X = 3 B = 5 }", codes(diag.ValueAdded), grown, nil},
	{"enum", "value put in before others", "type T enum { A B }", "type T enum { X A B }", codes(diag.ValueAdded, diag.ValueRenumbered, diag.ValueRenumbered), wire, nil},
	{"enum", "value removed", "type T enum { A B C = 7 }", "type T enum { A C = 7 }", codes(diag.ValueRemoved), Verdict{true, Some, All, false}, nil},
	{"enum", "value removed before others", "type T enum { A B C }", "type T enum { A C }", codes(diag.ValueRemoved, diag.ValueRenumbered), broken, nil},
	{"enum", "value renamed", "type T enum { A B }", "type T enum { A C }", codes(diag.ValueRenamed), source_, nil},
	{"enum", "values change names", "type T enum { A B }", "type T enum { B A }", codes(diag.ValueRenumbered, diag.ValueRenumbered), wire, nil},
	{"enum", "number written", "type T enum { A B }", "type T enum { A = 0 B = 1 }", nil, fine, nil},

	{"optional", "made optional", "type T struct { a: u32 }", "type T struct { a: optional<u32> }", codes(diag.ClassChanged, diag.TypeChanged), broken, nil},
	{"optional", "no longer optional", "type T struct { a: optional<str> }", "type T struct { a: str }", codes(diag.TypeChanged), broken, nil},
	{"optional", "to a list", "type T struct { a: optional<str> b: str }", "type T struct { a: list<str> b: str }", codes(diag.TypeChanged), Verdict{true, All, Some, false}, nil},
	{"optional", "to a union with void", "type U union { void | str | u8 } type T struct { a: optional<str> b: U }", "type U union { void | str | u8 } type T struct { a: U b: U }", codes(diag.TypeChanged), Verdict{true, All, Some, false}, nil},
	{"optional", "of something else", "type T struct { a: optional<u8> b: str }", "type T struct { a: optional<u16> b: str }", codes(diag.TypeChanged), broken, nil},

	{"list", "element changed", "type T list<u32>", "type T list<u16>", codes(diag.TypeChanged), broken, nil},
	{"list", "length fixed", "type T struct { a: list<u8> b: str }", "type T struct { a: list<u8>[4] b: str }", codes(diag.TypeChanged), broken, nil},
	{"list", "another fixed length", "type T struct { a: list<u16>[4] }", "type T struct { a: list<u16>[5] }", codes(diag.LengthChanged), broken, nil},
	{"list", "limit given", "type T list<u8>", "#@max(4)\ntype T list<u8>", codes(diag.LimitChanged), shrunk, nil},
	{"list", "limit raised", "#@max(2)\ntype T list<u8>", "#@max(4)\ntype T list<u8>", codes(diag.LimitChanged), grown, nil},
	{"list", "limit lowered", "#@max(4)\ntype T list<u8>", "#@max(2)\ntype T list<u8>", codes(diag.LimitChanged), shrunk, nil},
	{"list", "limit taken away", "#@max(2)\ntype T list<u8>", "type T list<u8>", codes(diag.ClassChanged, diag.LimitChanged), Verdict{true, All, Some, false}, nil},
	{"list", "of bytes to data", "type T struct { a: list<u8> b: str }", "type T struct { a: data b: str }", nil, fine, nil},

	{"map", "key changed", "type T map<str><u8>", "type T map<u16><u8>", codes(diag.TypeChanged), broken, nil},
	{"map", "value changed", "type T map<str><u8>", "type T map<str><u16>", codes(diag.TypeChanged), broken, nil},
	{"map", "to a list of pairs", "type P struct { key: str value: u8 } type T struct { p: P a: map<str><u8> }", "type P struct { key: str value: u8 } type T struct { p: P a: list<P> }", codes(diag.TypeChanged), Verdict{true, All, Some, false}, nil},
	{"map", "limit lowered", "#@max(3)\ntype T map<u8><u8>", "#@max(2)\ntype T map<u8><u8>", codes(diag.LimitChanged), shrunk, nil},

	{"data", "str to data", "type T struct { a: str b: str }", "type T struct { a: data b: str }", codes(diag.TypeChanged), Verdict{true, All, Some, false}, nil},
	{"data", "another length", "type T struct { a: data[4] b: str }", "type T struct { a: data[8] b: str }", codes(diag.LengthChanged), broken, nil},
	{"data", "length fixed", "type T struct { a: data b: str }", "type T struct { a: data[4] b: str }", codes(diag.TypeChanged), broken, nil},
	{"data", "data[n] to list<u8>[n]", "type T struct { a: data[4] }", "type T struct { a: list<u8>[4] }", codes(diag.TypeChanged), source_, nil},
	{"data", "data[n] to a struct of bytes", "type P struct { a: u8 b: u8 } type T struct { p: P q: data[2] }", "type P struct { a: u8 b: u8 } type T struct { p: P q: P }", codes(diag.TypeChanged), source_, nil},
	{"data", "limit raised", "type T struct {\n #@max(2)\n a: data\n}", "type T struct {\n #@max(3)\n a: data\n}", codes(diag.LimitChanged), grown, nil},

	{"union", "member appended", "type A str type B u8 type T union { A }", "type A str type B u8 type T union { A | B }", codes(diag.MemberAdded), grown, nil},
	{"union", "member put in before others", "type A u8 type B str type T union { B }", "type A u8 type B str type T union { A | B }", codes(diag.MemberAdded, diag.MemberRetagged), wire, nil},
	{"union", "member put in before others, tags pinned", "type A u8 type B str type T union { B }", "type A u8 type B str type T union { A = 1 | B = 0 }", codes(diag.MemberAdded), grown, nil},
	{"union", "member removed, tags kept", "type A u8 type B u16 type C str type T union { A | B | C }", "type A u8 type B u16 type C str type T union { A | C = 2 }", codes(diag.MemberRemoved), Verdict{true, Some, All, false}, nil},
	{"union", "member removed", "type A u8 type B u8 type C u8 type T union { A | B | C }", "type A u8 type B u8 type C u8 type T union { A | C }", codes(diag.MemberRemoved, diag.MemberRetagged), broken, nil},
	{"union", "members change places", "type A u8 type B u8 type T union { A | B }", "type A u8 type B u8 type T union { B | A }", codes(diag.MemberRetagged, diag.MemberRetagged), wire, nil},
	{"union", "member replaced", "type A data type B u16 type T union { A | B }", "type A data type B u16 type T union { A | str }", codes(diag.MemberReplaced), broken, nil},
	{"union", "member replaced by one of the same bytes", "type A u8 type B u16 type C u16 type T union { A | B }", "type A u8 type B u16 type C u16 type T union { A | C }", codes(diag.MemberReplaced), source_, nil},
	{"union", "tag written", "type A u8 type T union { A | str }", "type A u8 type T union { A = 0 | str = 1 }", nil, fine, nil},

	{"region", "field added", "#@register(remote_read)\ntype T struct { a: u64 }", "#@register(remote_read)\ntype T struct { a: u64 b: u64 }", codes(diag.LayoutChanged, diag.FieldAdded), Verdict{false, None, None, true}, nil},
	{"region", "field widened", "#@register(remote_read)\ntype T struct { a: u32 b: u32 }", "#@register(remote_read)\ntype T struct { a: u64 b: u32 }", codes(diag.ClassChanged, diag.LayoutChanged, diag.TypeChanged), anything, nil},
	{"region", "number of another kind", "#@residency(cpu)\ntype T struct { a: u32 }", "#@residency(cpu)\ntype T struct { a: f32 }", codes(diag.LayoutChanged, diag.TypeChanged), anything, nil},
	{"region", "fields of a list's elements change places", "type P struct { a: u32 b: u32 } #@residency(cpu)\ntype T struct { p: list<P>[2] }",
		"type P struct { b: u32 a: u32 } #@residency(cpu)\ntype T struct { p: list<P>[2] }", codes(diag.FieldMoved, diag.LayoutChanged), Verdict{false, None, None, true}, nil},
	{"region", "field renamed", "#@register(remote_read)\ntype T struct { a: u64 }", "#@register(remote_read)\ntype T struct { b: u64 }", codes(diag.HashChanged, diag.FieldRenamed), shared, map[string]string{"a": "b"}},
	{"region", "field takes padding", "#@residency(cpu)\ntype T struct {\n a: u32\n #@pad\n p: data[4]\n}", "#@residency(cpu)\ntype T struct {\n a: u32\n b: u32\n}", codes(diag.HashChanged), memory, nil},
	{"region", "limit of a slot raised", "#@residency(cpu)\n#@max(4)\ntype T str", "#@residency(cpu)\n#@max(40)\ntype T str", codes(diag.LimitChanged, diag.LayoutChanged), Verdict{false, All, Some, true}, nil},
	{"region", "value added to an enum in it", "type E enum { A B } #@residency(cpu)\ntype T struct { e: E }", "type E enum { A B C } #@residency(cpu)\ntype T struct { e: E }", codes(diag.ValueAdded, diag.HashChanged), Verdict{false, All, Some, true}, nil},
	{"region", "residency removed", "#@residency(cpu, cxl)\ntype T struct { a: u64 }", "#@residency(cpu)\ntype T struct { a: u64 }", codes(diag.PlaceRemoved), shared, nil},
	{"region", "the only residency removed", "#@residency(cpu)\ntype T struct { a: u64 }", "type T struct { a: u64 }", codes(diag.PlaceRemoved), shared, nil},
	{"region", "residency given where there was none", "type T struct { a: u64 }", "#@residency(cpu)\ntype T struct { a: u64 }", nil, fine, nil},
	{"region", "residency cpu written where it was meant", "#@register(remote_read)\ntype T struct { a: u64 }", "#@residency(cpu)\n#@register(remote_read)\ntype T struct { a: u64 }", nil, fine, nil},
	{"region", "another residency written where cpu was meant", "#@register(remote_read)\ntype T struct { a: u64 }", "#@residency(cxl)\n#@register(remote_read)\ntype T struct { a: u64 }",
		codes(diag.PlaceRemoved), shared, nil},
	{"region", "type renamed", "#@residency(cpu)\ntype U struct { a: u64 } type T u8", "#@residency(cpu)\ntype V struct { a: u64 } type T u8", codes(diag.TypeRenamed, diag.HashChanged), shared, nil},
	{"region", "removed, and nothing has it", "#@residency(cpu)\ntype U struct { a: u64 } type T u8", "type T u8", codes(diag.TypeRemoved), Verdict{true, None, All, true}, nil},
	{"region", "residency added", "#@residency(cpu)\ntype T struct { a: u64 }", "#@residency(cpu, cxl)\ntype T struct { a: u64 }", nil, fine, nil},
	{"region", "fallback removed", "#@residency(cxl, fallback=unified)\ntype T struct { a: u64 }", "#@residency(cxl)\ntype T struct { a: u64 }", codes(diag.PlaceRemoved), shared, nil},
	{"region", "right removed", "#@register(remote_read, remote_write)\ntype T struct { a: u64 }", "#@register(remote_read)\ntype T struct { a: u64 }", codes(diag.RightRemoved), shared, nil},
	{"region", "right added", "#@register(remote_read)\ntype T struct { a: u64 }", "#@register(remote_read, remote_write)\ntype T struct { a: u64 }", codes(diag.RightAdded), memory, nil},
	{"region", "alignment lowered", "#@align(64)\n#@residency(cpu)\ntype T struct { a: list<u64>[8] }", "#@align(32)\n#@residency(cpu)\ntype T struct { a: list<u64>[8] }", codes(diag.AlignLowered), memory, nil},
	{"region", "alignment raised", "#@align(32)\n#@residency(cpu)\ntype T struct { a: list<u64>[8] }", "#@align(64)\n#@residency(cpu)\ntype T struct { a: list<u64>[8] }", nil, fine, nil},
	{"region", "field made atomic", "#@residency(cpu)\ntype T struct {\n a: u64\n}", "#@residency(cpu)\ntype T struct {\n #@atomic\n a: u64\n}", codes(diag.LayoutChanged, diag.AtomicChanged), memory, nil},
	{"region", "field atomic no more", "#@residency(cpu)\ntype T struct {\n #@atomic\n a: u64\n}", "#@residency(cpu)\ntype T struct {\n a: u64\n}", codes(diag.LayoutChanged, diag.AtomicChanged), shared, nil},
	{"region", "sequence made", "#@residency(cpu)\ntype T struct {\n #@atomic\n a: u64\n b: u64\n}", "#@residency(cpu)\ntype T struct {\n #@atomic(sequence)\n a: u64\n b: u64\n}", codes(diag.HashChanged, diag.AtomicChanged), memory, nil},
	{"region", "field gets its cache line", "#@residency(cpu)\ntype T struct {\n a: list<u64>[8]\n}", "#@residency(cpu)\ntype T struct {\n #@cacheline\n a: list<u64>[8]\n}", codes(diag.LayoutChanged, diag.CachelineChanged), memory, nil},
	{"region", "reference to another type", "#@register(remote_read)\ntype A u64\n#@register(remote_read)\ntype B u64 type T struct {\n #@ref(A, remote_read)\n r: data[48]\n}",
		"#@register(remote_read)\ntype A u64\n#@register(remote_read)\ntype B u64 type T struct {\n #@ref(B, remote_read)\n r: data[48]\n}", codes(diag.RefChanged), shared, nil},
	{"region", "reference with other rights", "#@register(remote_read, remote_write)\ntype A u64 type T struct {\n #@ref(A, remote_read)\n r: data[48]\n}",
		"#@register(remote_read, remote_write)\ntype A u64 type T struct {\n #@ref(A, remote_read, remote_write)\n r: data[48]\n}", codes(diag.RefChanged), shared, nil},
}

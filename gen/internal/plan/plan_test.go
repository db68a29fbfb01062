package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func planOf(t *testing.T, text string, opts plan.Options) (*plan.Package, diag.List) {
	t.Helper()
	s, found := schema.Compile([]*source.File{source.NewFile("t.bare", []byte(text))}, schema.Options{})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if opts.Package == "" {
		opts.Package = "p"
	}
	return plan.Make(s.Namespaces[0], s.Layouts, opts)
}

// dump is a package's types, fields, constants and members, one a line.
func dump(p *plan.Package) string {
	var s strings.Builder
	for _, t := range p.Types {
		fmt.Fprintf(&s, "%s", t.Go)
		switch t.Kind {
		case resolve.Struct, resolve.Enum, resolve.Union:
		default:
			fmt.Fprintf(&s, " %s", t.Under.Go)
		}
		if t.Alias != nil {
			fmt.Fprintf(&s, " = %s", t.Alias.Go)
		}
		s.WriteString("\n")
		if t.Alias != nil {
			continue
		}
		for _, f := range t.Fields {
			fmt.Fprintf(&s, "  %s %s\n", f.Go, f.Val.Go)
		}
		for _, v := range t.Values {
			fmt.Fprintf(&s, "  %s = %d %s\n", v.Go, v.N, t.EnumGo)
		}
		for _, m := range t.Members {
			fmt.Fprintf(&s, "  %d *%s %s wrapper=%v\n", m.Tag, m.Go, m.Val.Go, m.Wrapper)
		}
	}
	return s.String()
}

func TestTypes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"scalars", `type T struct { a: uint b: int c: u8 d: i16 e: f32 f: bool g: str h: data i: data[3] }`, `
T
  A uint64
  B int64
  C uint8
  D int16
  E float32
  F bool
  G string
  H []byte
  I [3]byte
`},
		{"composites", `type T struct { a: list<str> b: list<u8>[4] c: map<str><list<f64>> d: map<data><u8> e: optional<str> f: optional<data[25]> }`, `
T
  A []string
  B [4]uint8
  C map[string][]float64
  D map[string]uint8
  E wire.Optional[string]
  F *[25]byte
`},
		{"optionals", `
type A optional<u8>
type B optional<data[25]>
type C optional<optional<u8>>
type D optional<B>
type E A
`, `
A wire.Optional[uint8]
B struct{ Value *[25]byte }
C wire.Optional[wire.Optional[uint8]]
D wire.Optional[B]
E A = A
`},
		{"lifted", `
type Customer struct {
  address: optional<struct { city: str }>
  orders: list<struct { kind: enum { A B } }>
  by_name: map<str><struct { x: u8 }>
  state: union { struct { n: u8 } | str | struct { m: u8 } }
}
type Maybe optional<struct { a: u8 }>
`, `
Customer
  Address wire.Optional[CustomerAddress]
  Orders []CustomerOrdersItem
  ByName map[string]CustomerByNameValue
  State CustomerState
CustomerAddress
  City string
CustomerOrdersItem
  Kind CustomerOrdersItemKind
CustomerOrdersItemKind
  CustomerOrdersItemKindA = 0 uint8
  CustomerOrdersItemKindB = 1 uint8
CustomerByNameValue
  X uint8
CustomerState
  0 *CustomerStateStruct CustomerStateStruct wrapper=false
  1 *CustomerStateStr string wrapper=true
  2 *CustomerStateStruct2 CustomerStateStruct2 wrapper=false
CustomerStateStruct
  N uint8
CustomerStateStruct2
  M uint8
Maybe wire.Optional[MaybeValue]
MaybeValue
  A uint8
`},
		{"enums", `
type Small enum { A = 0 B = 127 }
type Large enum { A = 128 }
enum Old u16 { LOW = 1 HIGH = 300 }
`, `
Small
  SmallA = 0 uint8
  SmallB = 127 uint8
Large
  LargeA = 128 uint64
Old
  OldLow = 1 uint16
  OldHigh = 300 uint16
`},
		{"padding", "type T struct {\n#@pad\nx: data[3]\n#@pad\ny: data[1]\nz: u8 }", `
T
  _ [3]byte
  _ [1]byte
  Z uint8
`},
		{"unions", `
type A struct { a: u8 }
type B A
type V void
type U union { A | B | V = 5 | u8 | list<A> | W }
type W union { A | U2 }
type U2 union { A }
`, `
A
  A uint8
B = A
V struct{}
U
  0 *A A wrapper=false
  1 *B B wrapper=false
  5 *V V wrapper=false
  6 *UU8 uint8 wrapper=true
  7 *UListA []A wrapper=true
  8 *W W wrapper=false
W
  0 *A A wrapper=false
  1 *U2 U2 wrapper=false
U2
  0 *A A wrapper=false
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, found := planOf(t, c.text, plan.Options{})
			if found.HasErrors() {
				t.Fatal(found)
			}
			if got := "\n" + dump(p); got != c.want {
				t.Errorf("got%s", got)
			}
		})
	}
}

// TestClashes says what is found, as code and message, and what is called how.
func TestClashes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opts       plan.Options
		want       []string
	}{
		{"fields", `type T struct { user_id: u8 userId: u8 }`, plan.Options{}, []string{
			"error t.bare:1:29 field `userId` and field `user_id` both become `UserID` in Go [BW1301] also t.bare:1:17"}},
		{"values", `type E enum { A_B A__B }`, plan.Options{}, []string{
			"error t.bare:1:19 value `A__B` and value `A_B` both become `EAB` in Go [BW1301] also t.bare:1:15"}},
		{"types by annotation", "type A u8\n#@go(name=A)\ntype B u8", plan.Options{}, []string{
			"error t.bare:3:6 type `B` and type `A` both become `A` in Go [BW1301] also t.bare:1:6"}},
		{"value and type", "type E enum { X }\ntype EX u8", plan.Options{}, []string{
			"info t.bare:1:15 `EX` is called `EX_` in Go: `EX` is taken by type `EX` [BW1303] also t.bare:2:6"}},
		{"values of two enums", "type A enum { B_C }\ntype AB enum { C }", plan.Options{}, []string{
			"info t.bare:2:16 `ABC` is called `ABC_` in Go: `ABC` is taken by value `B_C` [BW1303] also t.bare:1:15"}},
		{"field and method", `type T struct { equal: u8 }`, plan.Options{NoViews: true}, []string{
			"info t.bare:1:17 `Equal` is called `EqualField` in Go: `Equal` is taken by a method of generated code [BW1303]"}},
		{"field, field and method", `type T struct { equal: u8 equal_field: u8 }`, plan.Options{NoViews: true}, []string{
			"info t.bare:1:17 `Equal` is called `EqualField_` in Go: `Equal` is taken by a method of generated code [BW1303]"}},
		{"field, method and field", `type T struct { equal_field: u8 equal: u8 }`, plan.Options{NoViews: true}, []string{
			"info t.bare:1:33 `Equal` is called `EqualField_` in Go: `Equal` is taken by a method of generated code [BW1303]"}},
		{"go-bare's methods", `type T struct { encode: u8 }`, plan.Options{NoViews: true, GoBare: true}, []string{
			"info t.bare:1:17 `Encode` is called `EncodeField` in Go: `Encode` is taken by a method of generated code [BW1303]"}},
		{"no go-bare", `type T struct { encode: u8 }`, plan.Options{NoViews: true}, nil},
		{"accessor and well-known name", `type T struct { string: u8 }`, plan.Options{}, []string{
			"info t.bare:1:17 `String` is called `StringField` in Go: `String` is taken by a method of generated code [BW1303]"}},
		{"accessor and accessor", `type T struct { x: list<u8> x_len: u8 }`, plan.Options{}, []string{
			"info t.bare:1:17 `XLen` is called `XLen_` in Go: `XLen` is taken by field `x_len` [BW1303] also t.bare:1:29"}},
		{"members have no accessor of that name", "type String u8\ntype Len u8\ntype U union { String | Len }", plan.Options{}, nil},
		{"nothing to say", `type T struct { x: u8 x_len: u8 set_y: u8 }`, plan.Options{}, nil},
		{"view and type", "type T struct { x: u8 }\ntype TView u8", plan.Options{}, []string{
			"info t.bare:1:6 `TView` is called `TView_` in Go: `TView` is taken by type `TView` [BW1303] also t.bare:2:6"}},
		{"no views", "type T struct { x: u8 }\ntype TView u8", plan.Options{NoViews: true}, nil},
		{"lifted and type", "type T struct { x: struct { y: u8 } }\ntype TX u8", plan.Options{NoViews: true}, []string{
			"info t.bare:1:20 `TX` is called `TX_` in Go: `TX` is taken by type `TX` [BW1303] also t.bare:2:6"}},
		{"member and type", "type U union { u8 }\ntype UU8 u8\ntype UMember u8", plan.Options{NoViews: true}, []string{
			"info t.bare:1:6 `UMember` is called `UMember_` in Go: `UMember` is taken by type `UMember` [BW1303] also t.bare:3:6",
			"info t.bare:1:16 `UU8` is called `UU8_` in Go: `UU8` is taken by type `UU8` [BW1303] also t.bare:2:6"}},
		{"rename", "type T struct { user_id: u8 userId: u8 }", plan.Options{Rename: map[string]string{"T.userId": "Other", "T": "Thing"}}, nil},
		{"rename to a bad name", "type T struct { a: u8 }", plan.Options{Rename: map[string]string{"T.a": "type"}}, []string{
			"error t.bare:1:17 `type` is not an exported Go identifier [BW1302]"}},
		{"a bad name and a clash", "type T struct {\n  #@go(name=type)\n  kind: u8\n  user_id: u8\n  userId: u8\n}", plan.Options{}, []string{
			"error t.bare:2:13 `type` is not an exported Go identifier [BW1302]",
			"error t.bare:5:3 field `userId` and field `user_id` both become `UserID` in Go [BW1301] also t.bare:4:3"}},
		{"bad names everywhere", "#@go(name=a)\ntype A enum {\n  #@go(name=b)\n  B\n}\ntype C union {\n  #@go(name=d_e)\n  u8\n}", plan.Options{}, []string{
			"error t.bare:1:11 `a` is not an exported Go identifier [BW1302]",
			"error t.bare:3:13 `b` is not an exported Go identifier [BW1302]",
			"error t.bare:7:13 `d_e` is not an exported Go identifier [BW1302]"}},
		{"a bad name that was to end a clash", "type T struct {\n  user_id: u8\n  #@go(name=oldID)\n  userId: u8\n}", plan.Options{}, []string{
			"error t.bare:3:13 `oldID` is not an exported Go identifier [BW1302]"}},
		{"a bad name, mended as told, clashes", "type T struct {\n  old_id: u8\n  #@go(name=oldID)\n  userId: u8\n}", plan.Options{}, []string{
			"error t.bare:3:13 `oldID` is not an exported Go identifier [BW1302]",
			"error t.bare:4:3 field `userId` and field `old_id` both become `OldID` in Go [BW1301] also t.bare:2:3"}},
		{"rename to a method", "type T struct { a: u8 }", plan.Options{Rename: map[string]string{"T.a": "Clone"}}, []string{
			"error t.bare:1:17 `Clone` is the name of a method of the generated type [BW1302]"}},
		{"rename onto another", "type T u8\ntype S u8", plan.Options{Rename: map[string]string{"S": "T"}}, []string{
			"error t.bare:2:6 type `S` and type `T` both become `T` in Go [BW1301] also t.bare:1:6"}},
		{"package", "type T u8", plan.Options{Package: "func"}, []string{
			"error - the package name `func` is not a Go identifier [BW1304]"}},
		{"package _", "type T u8", plan.Options{Package: "_"}, []string{
			"error - the package name `_` is not a Go identifier [BW1304]"}},
		{"too large", "type T list<str>[20000000]", plan.Options{}, []string{
			"error t.bare:1:8 this takes 305 MiB in Go, more than the greatest value of 256 MiB [BW1307]"}},
		{"too large together", "type T struct { a: list<str>[9000000] b: list<str>[9000000] }", plan.Options{}, []string{
			"error t.bare:1:8 this takes 274 MiB in Go, more than the greatest value of 256 MiB [BW1307]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := planOf(t, c.text, c.opts)
			var got []string
			for _, d := range found {
				got = append(got, line(d))
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestAccessors holds that all accessors of a field are named alike.
func TestAccessors(t *testing.T) {
	p, _ := planOf(t, `type T struct { error: u8 len: list<u8>[4] equal: u8 bytes: u8 bytes_field: u8 set_error_field: u8 }`, plan.Options{})
	var got []string
	for _, f := range p.Types[0].Fields {
		got = append(got, f.Go+": "+f.View(plan.Get)+" "+f.View(plan.Set)+" "+f.View(plan.All))
	}
	want := []string{
		"Error: ErrorField SetErrorField_ ErrorFieldAll",
		"Len: LenField SetLenField LenFieldAll",
		"EqualField: EqualField SetEqualField EqualFieldAll",
		"Bytes: BytesField_ SetBytesField_ BytesField_All",
		"BytesField: BytesField SetBytesField BytesFieldAll",
		"SetErrorField: SetErrorField SetSetErrorField SetErrorFieldAll",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func line(d *diag.Diagnostic) string {
	at := func(s source.Span) string {
		if !s.IsValid() {
			return "-"
		}
		return fmt.Sprintf("%s:%d:%d", s.File.Name(), s.Pos().Line, s.Pos().Column)
	}
	out := fmt.Sprintf("%s %s %s [%s]", d.Severity, at(d.Primary.Span), d.Message, d.Code)
	for _, r := range d.Related {
		out += " also " + at(r.Span)
	}
	return out
}

func TestNoPackage(t *testing.T) {
	s, _ := schema.Compile([]*source.File{source.NewFile("t.bare", []byte("type T u8\n"))}, schema.Options{})
	_, found := plan.Make(s.Namespaces[0], s.Layouts, plan.Options{})
	if len(found) != 1 || found[0].Code != diag.NoPackageName {
		t.Errorf("got %v", found)
	}
}

func TestRepresentation(t *testing.T) {
	p, _ := planOf(t, `
type T struct {
  a: u8 b: u32 c: str d: u16 e: f32 f: list<u8>[3] g: data
  #@max(4)
  h: list<str>
}
type Big data[65536]
type E enum { A }
type F struct { a: E b: u64 }
`, plan.Options{})
	var got strings.Builder
	for _, r := range p.Types[0].Runs {
		fmt.Fprintf(&got, "%d-%d fixed=%v %d bytes\n", r.First, r.End, r.Fixed, r.Size)
	}
	for _, f := range p.Types[0].Fields {
		fmt.Fprintf(&got, "%s at %d fail=%v ==%v flat=%v %d\n", f.Go, f.Offset, f.Val.CanFail, f.Val.Comparable, f.Val.Flat, f.Val.GoSize)
	}
	for _, u := range p.Types {
		fmt.Fprintf(&got, "%s big=%v fail=%v ==%v %d\n", u.Go, u.Under.Big, u.Under.CanFail, u.Under.Comparable, u.Under.GoSize)
	}
	want := `0-2 fixed=true 5 bytes
2-3 fixed=false 0 bytes
3-6 fixed=true 9 bytes
6-7 fixed=false 0 bytes
7-8 fixed=false 0 bytes
A at 0 fail=false ==true flat=true 1
B at 1 fail=false ==true flat=true 4
C at 5 fail=true ==true flat=true 16
D at -1 fail=false ==true flat=true 2
E at -1 fail=false ==false flat=true 4
F at -1 fail=false ==true flat=true 3
G at -1 fail=false ==false flat=false 24
H at -1 fail=true ==false flat=false 24
T big=false fail=true ==false 88
Big big=true fail=false ==true 65536
E big=false fail=true ==true 1
F big=false fail=true ==true 16
`
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}
}

func TestFileNames(t *testing.T) {
	for name, want := range map[string]string{
		"telemetry.bare": "telemetry_bare.go", "a/b/queue_windows.bare": "queue_windows_bare.go", `c:\x\y.bare`: "y_bare.go",
		"_hidden.bare": "hidden_bare.go", ".bare": "schema_bare.go", "x.schema.bare": "x.schema_bare.go", "noext": "noext_bare.go",
	} {
		s, _ := schema.Compile([]*source.File{source.NewFile(name, []byte("type T u8\n"))}, schema.Options{})
		p, _ := plan.Make(s.Namespaces[0], s.Layouts, plan.Options{Package: "p"})
		if got := p.Files[0].Name; got != want {
			t.Errorf("%s gives %s, want %s", name, got, want)
		}
	}
}

package dynamic

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/corpus"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// TestVectors reads the draft's vectors, and writes them again from their JSON.
func TestVectors(t *testing.T) {
	var file struct {
		Vectors, Company []struct {
			Type, Hex string
			Value     json.RawMessage
		}
	}
	if err := json.Unmarshal(corpus.Read(t, "vectors-draft11.json"), &file); err != nil {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		s, types := compiled(t, "type V "+v.Type)
		msg, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := WriteJSON(&out, s.Layouts, types["V"], msg); err != nil {
			t.Errorf("%s %s: %v", v.Type, v.Hex, err)
			continue
		}
		back, err := Encode(s.Layouts, types["V"], out.Bytes())
		if err != nil || !bytes.Equal(back, msg) {
			t.Errorf("%s %s: came back as %x: %v\n%s", v.Type, v.Hex, back, err, &out)
		}
		// Of plain values the draft's JSON is ours.
		if !strings.ContainsAny(v.Type, "<{[") && v.Type != "void" && v.Type != "data" {
			if got := strings.TrimSpace(out.String()); got != string(v.Value) {
				var want, have any
				if json.Unmarshal(v.Value, &want) != nil || json.Unmarshal(out.Bytes(), &have) != nil || fmt.Sprint(want) != fmt.Sprint(have) {
					t.Errorf("%s %s: %s, the draft has %s", v.Type, v.Hex, got, v.Value)
				}
			}
		}
	}
	if len(file.Vectors) != 54 {
		t.Errorf("%d vectors", len(file.Vectors))
	}
}

// TestJSON: what each type looks like, and that it comes back.
func TestJSON(t *testing.T) {
	for _, c := range []struct{ typ, hex, want string }{
		{"uint", "ffffffffffffffffff01", `"18446744073709551615"`},
		{"u64", "ffffffffffff1f00", `9007199254740991`},
		{"u64", "0000000000002000", `"9007199254740992"`},
		{"i64", "0000000000000080", `"-9223372036854775808"`},
		{"int", "01", `-1`},
		{"i8", "80", `-128`},
		{"f32", "0000c07f", `"NaN"`},
		{"f32", "010080ff", `"NaN:ff800001"`},
		{"f64", "000000000000f87f", `"NaN"`},
		{"f64", "0100000000000080", `-5e-324`},
		{"f64", "0000000000000080", `-0`},
		{"f64", "000000000000f0ff", `"-Infinity"`},
		{"f32", "cdcccc3d", `0.1`},
		{"bool", "01", `true`},
		{"str", "0422090041", `"\"\t\u0000A"`},
		{"data", "03deadbe", `"deadbe"`},
		{"data[2]", "beef", `"beef"`},
		{"enum { LOW HIGH = 300 }", "ac02", `"HIGH"`},
		{"optional<u8>", "0107", `7`},
		{"optional<optional<u8>>", "00", `null`},
		{"optional<optional<u8>>", "0100", `{"some": null}`},
		{"optional<optional<u8>>", "010107", `{"some": 7}`},
		{"list<u8>", "03010203", `[1, 2, 3]`},
		{"list<u16>[2]", "01000200", `[1, 2]`},
		{"list<u8>", "00", `[]`},
		{"map<data><bool>", "0101ff01", "{\n  \"ff\": true\n}"},
		{"map<i8><u8>", "0201010201", "{\n  \"1\": 1,\n  \"2\": 1\n}"},
		{"map<bool><str>", "00", "{}"},
		{"union { void | list<u8> | list<u16> }", "00", `{"void": null}`},
		{"union { void | list<u8> | list<u16> }", "020105" + "00", `{"list#2": [5]}`},
		{"struct { a: u8 b: struct { c: bool } }", "0501", "{\n  \"a\": 5,\n  \"b\": {\n    \"c\": true\n  }\n}"},
		{"struct {\n a: u8\n #@pad\n p: data[3]\n b: u8 }", "0500000006", "{\n  \"a\": 5,\n  \"b\": 6\n}"},
	} {
		s, types := compiled(t, "type T "+c.typ)
		msg, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := WriteJSON(&out, s.Layouts, types["T"], msg); err != nil {
			t.Errorf("%s %s: %v", c.typ, c.hex, err)
			continue
		}
		if got := strings.TrimSuffix(out.String(), "\n"); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.typ, c.hex, got, c.want)
		}
		if !json.Valid(out.Bytes()) {
			t.Errorf("%s %s: no JSON: %s", c.typ, c.hex, &out)
		}
		if back, err := Encode(s.Layouts, types["T"], out.Bytes()); err != nil || !bytes.Equal(back, msg) {
			t.Errorf("%s %s: came back as %x: %v", c.typ, c.hex, back, err)
		}
	}
}

// TestEncode: other JSON for the same value, and JSON that is refused.
func TestEncode(t *testing.T) {
	const text = `
type T struct { id: u8 at: At tags: map<u32><str> kind: Kind shape: Shape maybe: optional<bool> x: f32
  #@pad
  gap: data[1]
  #@max(2)
  few: list<u8>
}
type At list<i16>[2]
type Kind enum { A B = 7 }
type Shape union { Dot | Box }
type Dot void
type Box struct { w: u8 }
`
	s, types := compiled(t, text)
	const whole = `{"id":1,"at":[-1,"2"],"tags":{"300":"b","5":"a"},"kind":"B","shape":{"Box":{"w":3}},"maybe":null,"x":1.5,"few":[]}`
	const bytesOf = "01" + "ffff0200" + "02" + "05000000" + "0161" + "2c010000" + "0162" + "07" + "0103" + "00" + "0000c03f" + "00" + "00"
	for _, c := range []struct{ from, to, want string }{
		{"", "", bytesOf},
		{`"id":1,"at":[-1,"2"],`, ``, "1:1: T: missing: id, at"},
		{`{"id":1,"at":[-1,"2"],`, `{"at":[-1,2],"id":"1", `, bytesOf},
		{`"id":1`, `"id":256`, "1:7: T.id: `256` is no u8"},
		{`"id":1`, `"id":-1`, "1:7: T.id: `-1` is no u8"},
		{`"id":1`, `"id":1.0`, "1:7: T.id: `1.0` is no u8"},
		{`"id":1`, `"id":01`, "1:7: T.id: want a number (u8), have a number"},
		{`"id":1`, `"id":true`, "1:7: T.id: want a number (u8), have `true`"},
		{`"id":1`, `"id":1,"id":1`, "1:9: T: the field `id` stands twice"},
		{`"id":1`, `"id":1,"gap":"00"`, "1:9: T: `gap` is padding, which has no value"},
		{`"id":1`, `"id":1,"ids":1`, "1:9: T: there is no field `ids`"},
		{`"2"]`, `2,3]`, "1:14: T.at: 3 elements, and list<i16>[2] has 2"},
		{`"2"]`, `40000]`, "1:18: T.at[1]: `40000` is no i16"},
		{`"5"`, `"300"`, "1:41: T.tags: the key \"300\" stands twice"},
		{`"5"`, `"-5"`, "1:41: T.tags.key: `-5` is no u32"},
		{`"B"`, `"C"`, "1:57: T.kind: the enum has no value `C`; there are A, B"},
		{`{"Box"`, `{"Bax"`, "1:70: T.shape: the union has no member `Bax`; there are Dot, Box"},
		{`"Box":{"w":3}`, `"Dot":1`, "1:76: T.shape.Dot: want null, which is what JSON has for void; have a number"},
		{`"Box":{"w":3}`, `"Box":{"w":3},"Dot":null`, "1:83: T.shape: want the end of the object, which has one name, have ','"},
		{`"maybe":null`, `"maybe":nul`, "1:93: T.maybe: want true or false, have `nul`"},
		{`"x":1.5`, `"x":1e39`, "1:102: T.x: `1e39` is beyond what an f32 holds"},
		{`"x":1.5`, `"x":"0x1p3"`, "1:102: T.x: `0x1p3` is no f32"},
		{`"x":1.5`, `"x":"NaN:7f800000"`, "1:102: T.x: `NaN:7f800000` is no f32"},
		{`"few":[]`, `"few":[1,2,3]`, "1:112: T.few: 3 elements, over #@max(2)"},
		{`"few":[]`, `"few":[1,]`, "1:115: T.few[1]: want a number (u8), have ']'"},
		{`"few":[]}`, `"few":[]}}`, "1:115: T: want the end, have '}'"},
		{`"few":[]}`, `"few":[]`, "1:114: T: want a comma or the end of the object, have the end"},
		{`"a"`, `"\ud800"`, "1:46: T.tags[\"5\"]: half of a surrogate pair is no character"},
		{`"a"`, "\"\xff\"", "1:45: T.tags[\"5\"]: the string is not UTF-8"},
		{`"a"`, "\"\n\"", "1:46: T.tags[\"5\"]: a control character in a string; write it as \\u000a"},
		{`"a"`, `"\x41"`, "1:46: T.tags[\"5\"]: no escape of JSON"},
		{`"a"`, `"\u0061"`, bytesOf},
	} {
		in := strings.Replace(whole, c.from, c.to, 1)
		got, err := Encode(s.Layouts, types["T"], []byte(in))
		say := hex.EncodeToString(got)
		if err != nil {
			say = err.Error()
		}
		if say != c.want {
			t.Errorf("%s\n got %s\nwant %s", in, say, c.want)
		}
	}
}

// TestRows: few elements are told one by one, and the paths are those of errors.
func TestRows(t *testing.T) {
	s, types := compiled(t, "type T struct { l: list<u16> u: union { str | U } } type U map<u8><optional<bool>>")
	msg, _ := hex.DecodeString("05" + "01000200030004000500" + "01" + "01" + "07" + "0101")
	var got []string
	if err := Walk(s.Layouts, types["T"], msg, NewRows(msg, "T", 100, 2, func(r Row) {
		got = append(got, fmt.Sprintf("%d+%d %s %s %s", r.Offset, r.Size, r.Path, r.Role, r.Value))
	})); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"100+1 T.l length 5 elements", "101+2 T.l[0] value 1", "103+2 T.l[1] value 2", "105+6 T.l[2…] more 3 more, 6 bytes",
		"111+1 T.u tag 1 U", "112+1 T.u.U length 1 entry", "113+1 T.u.U[0].key value 7",
		"114+1 T.u.U[0].value presence present", "115+1 T.u.U[0].value value true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestElements: what a region's memory has of an element.
func TestElements(t *testing.T) {
	s, types := compiled(t, "type F u16 type B struct { a: u8 b: optional<u16> } type V str type N void")
	if n := Stride(s.Layouts, types["F"]); n != 2 {
		t.Errorf("F has a stride of %d", n)
	}
	if n := Stride(s.Layouts, types["B"]); n != 8 {
		t.Errorf("B has a stride of %d", n)
	}
	for _, name := range []string{"V", "N"} {
		if CheckStride(s.Layouts, types[name]) == nil {
			t.Errorf("%s has regions", name)
		}
	}
	for _, c := range []struct {
		hex, msg string
		err      error
	}{
		{"0200000005000000", "0500", nil},
		{"0000000000000000", "", wire.ErrSlotEmpty},
		{"0200000005000001", "0500", wire.ErrSlotTail},
		{"0500000005000000", "", wire.ErrSlot},
	} {
		memory, _ := hex.DecodeString(c.hex)
		msg, at, err := Element(s.Layouts, types["B"], memory)
		if !errors.Is(err, c.err) || err != nil && c.err == nil || hex.EncodeToString(msg) != c.msg || at != 4 {
			t.Errorf("%s: %x at %d, %v", c.hex, msg, at, err)
		}
	}
	if msg, at, err := Element(s.Layouts, types["F"], []byte{1, 2}); len(msg) != 2 || at != 0 || err != nil {
		t.Errorf("%x at %d, %v", msg, at, err)
	}
}

const fuzzed = `
type T struct { id: uint n: int f: f32 d: f64 s: str b: data h: data[3] e: E o: optional<optional<E>> l: list<list<u16>> m: map<str><U> k: map<data><list<i8>[2]> u: U
  #@pad
  p: data[2] }
type E enum { A B = 300 }
type U union { void | E | str | struct { x: bool } | list<u8> | list<u16> }
`

// FuzzWalk: bytes are refused, or they have JSON that gives the same value back; and the
// errors are those of generated code.
func FuzzWalk(f *testing.F) {
	s, types := compiled(f, fuzzed)
	w := describe(types["T"], map[*resolve.Decl]*wire.Type{})
	f.Add([]byte{})
	f.Add(make([]byte, 40))
	f.Fuzz(func(t *testing.T, msg []byte) {
		err := Walk(s.Layouts, types["T"], msg, NewRows(msg, "T", 0, 2, func(Row) {}))
		if err != nil {
			if want := w.Explain(msg, wire.Options{}, true); want.Error() != err.Error() {
				t.Fatalf("we say %v, generated code %v", err, want)
			}
			return
		}
		var out, again bytes.Buffer
		if err := WriteJSON(&out, s.Layouts, types["T"], msg); err != nil {
			t.Fatal(err)
		}
		back, err := Encode(s.Layouts, types["T"], out.Bytes())
		if err != nil || len(back) != len(msg) {
			t.Fatalf("%v: % x", err, back)
		}
		if err := WriteJSON(&again, s.Layouts, types["T"], back); err != nil || again.Len() != out.Len() {
			t.Fatalf("%v: %s", err, &again)
		}
	})
}

// FuzzEncode: JSON is refused with a place, or gives a message that is valid.
func FuzzEncode(f *testing.F) {
	s, types := compiled(f, fuzzed)
	f.Add([]byte(`{"id":1,"n":-1,"f":"NaN","d":1e3,"s":"\ud83d\ude00","b":"00","h":"010203","e":"B","o":{"some":null},"l":[[1],[]],"m":{"a":{"void":null}},"k":{"ff":[1,2]},"u":{"list#5":[3]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		msg, err := Encode(s.Layouts, types["T"], text)
		var where *JSONError
		switch {
		case err != nil && (!errors.As(err, &where) || where.Line < 1 || where.Column < 1 || msg != nil):
			t.Fatalf("%T %v", err, err)
		case err == nil && len(msg) > layout.MaxSize:
			t.Fatal("too long")
		case err == nil:
			if err := Walk(s.Layouts, types["T"], msg, nil); err != nil {
				t.Fatalf("%s gave % x: %v", text, msg, err)
			}
		}
	})
}

// TestEncodeRegion: JSON of a region becomes its memory again, and what is none says where and why.
func TestEncodeRegion(t *testing.T) {
	s, types := compiled(t, "type F u16 type B struct { a: u8 b: optional<u16> }")
	for _, c := range []struct {
		typ, json string
		n         int
		want      string // in hexadecimal, or the error
	}{
		{"F", `[{"element": 0, "offset": 0, "value": 1}, {"value": 515, "element": 1}]`, 2, "01000302"},
		{"F", `[]`, 0, ""},
		{"B", `[{"element":0,"offset":4,"value":{"a":5,"b":null}},{"element":1,"offset":12,"empty":true}]`, 2, "02000000050000000000000000000000"},
		{"F", `[{"element": 0, "value": 1}]`, 2, "1:1: F: 1 element, and the region has 2"},
		{"F", `[{"element": 0, "value": 1},{"element": 1, "value": 1}]`, 1, "1:1: F: 2 elements, and the region has 1"},
		{"F", `[{"element": 1, "value": 1}]`, 1, "1:14: F[0]: element 1 stands where 0 should: all elements of a region are needed, in their order"},
		{"F", `[{"value": 1}]`, 1, "1:2: F[0]: missing: element, its number"},
		{"F", `[{"element": 0}]`, 1, "1:2: F[0]: it has to have a value"},
		{"F", `[{"element": 0, "empty": true}]`, 1, `1:17: F[0]: an element has no "empty"; it has element, offset, value`},
		{"B", `[{"element": 0, "empty": false}]`, 1, "1:26: B[0]: want true, have `false`"},
		{"B", `[{"element": 0, "empty": true, "value": {"a": 1, "b": null}}]`, 1, "1:2: B[0]: it has to have a value, or be empty, and not both"},
		{"B", `[{"element": 0, "error": "x"}]`, 1, "1:17: B[0]: the element was refused when it was read, so that it has no value; mend it"},
		{"F", `[{"element": 0, "element": 0, "value": 1}]`, 1, `1:17: F[0]: "element" stands twice`},
		{"F", `[{"element": 0, "offset": "x", "value": 1}]`, 1, "1:27: F[0]: want a number, have a string"},
		{"F", `[{"element": 0, "value": 70000}]`, 1, "1:26: F[0]: `70000` is no u16"},
		{"F", `{"element": 0}`, 1, "1:1: F: want an array with an object for each element, have an object"},
		{"F", `[{"element": 0, "value": 1}] x`, 1, "1:30: F: want the end, have `x`"},
		{"F", `[{"element": 0, "value": 1}`, 1, "1:28: F: want a comma or the end of the array, have the end"},
	} {
		var memory []byte
		err := EncodeRegion(s.Layouts, types[c.typ], []byte(c.json), c.n, func(b []byte) error {
			memory = append(memory, b...)
			return nil
		})
		got := hex.EncodeToString(memory)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.typ, c.json, got, c.want)
		}
	}
}

// FuzzEncodeRegion: no JSON panics, and memory that is made is read again as what it was made of.
func FuzzEncodeRegion(f *testing.F) {
	f.Add([]byte(`[{"element":0,"offset":4,"value":{"a":5,"b":null}},{"element":1,"offset":12,"empty":true}]`), uint8(2))
	s, types := compiled(f, "type B struct { a: u8 b: optional<u16> }")
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		_ = EncodeRegion(s.Layouts, types["B"], text, int(n), func(memory []byte) error {
			msg, _, err := Element(s.Layouts, types["B"], memory)
			if err != nil && !errors.Is(err, wire.ErrSlotEmpty) {
				t.Fatalf("%x: %v", memory, err)
			}
			if err == nil {
				if err := Walk(s.Layouts, types["B"], msg, nil); err != nil {
					t.Fatalf("%x: %v", msg, err)
				}
			}
			return nil
		})
	})
}

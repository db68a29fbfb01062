package difftest

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/corpus"
	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
	"github.com/fidelityframework/barewire-gen/internal/schemagen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// vector is one of the draft's: a type in schema text, a value, its bytes.
type vector struct {
	Type, Hex string
	Value     json.RawMessage
}

func readVectors(t *testing.T) (vectors, company []vector) {
	t.Helper()
	data := corpus.Read(t, "vectors-draft11.json")
	var file struct{ Vectors, Company []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) != 54 || len(file.Company) != 3 {
		t.Fatalf("%d vectors and %d of the company, want 54 and 3", len(file.Vectors), len(file.Company))
	}
	return file.Vectors, file.Company
}

// compile gives the tests' model of schema text.
func compile(t *testing.T, text string) *schemagen.Schema {
	t.Helper()
	s, diags := schema.Compile([]*source.File{source.NewFile("test.bare", []byte(text))}, schema.Options{})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags.Err(), text)
	}
	return fromResolved(s.Namespaces[0])
}

// boundaries are messages at the edges of what the draft allows.
var boundaries = []struct {
	typ, hex string
	value    string // as runner.Dump writes it; empty where the message is to be refused
}{
	{"uint", "ffffffffffffffffff01", "18446744073709551615"},
	{"uint", "ffffffffffffffff7f", "9223372036854775807"},
	{"uint", "80808080808080808001", "9223372036854775808"},
	{"int", "ffffffffffffffffff01", "-9223372036854775808"},
	{"int", "feffffffffffffffff01", "9223372036854775807"},
	{"u64", "ffffffffffffffff", "18446744073709551615"},
	{"i64", "0000000000000080", "-9223372036854775808"},
	{"i8", "80", "-128"},
	{"f32", "010080ff", "fff800001"}, // a signalling NaN keeps its bits
	{"f64", "000000000000f8ff", "ffff8000000000000"},
	{"str", "00", "x"},
	{"str", "04f09f9880", "xf09f9880"},
	{"uint", "ffffffffffffffffff02", ""}, // 65 bits
	{"uint", "ffffffffffffffffff7f", ""},
	{"uint", "ffffffffffffffffffff01", ""}, // 11 octets
	{"uint", "80808080808080808080", ""},
	{"uint", "8000", ""}, // longer than need be
	{"uint", "80808080808080808000", ""},
	{"int", "8000", ""},
	{"uint", "", ""},
	{"uint", "80", ""},
	{"bool", "02", ""},
	{"optional<u8>", "02", ""},
	{"str", "02c080", ""},     // overlong
	{"str", "03eda080", ""},   // a surrogate
	{"str", "04f4908080", ""}, // past U+10FFFF
	{"str", "8000", ""},
	{"data", "ffffffffffffffffff01", ""},
	{"list<u64>", "ffffffffffffffff1f", ""}, // count times 8 wraps to a small number
	{"list<str>", "8080808010", ""},
	{"map<u8><u8>", "0201000100", ""}, // a key twice
	{"enum {A B = 300}", "01", ""},
	{"enum {A B = 300}", "8000", ""},
	{"union {u8 | str = 200}", "02", ""},
}

func vectorCases(t *testing.T) (text string, cases []runner.Case) {
	t.Helper()
	vectors, _ := readVectors(t)
	var b strings.Builder
	for i, v := range vectors {
		fmt.Fprintf(&b, "type V%d %s\n", i, v.Type)
	}
	for i, v := range boundaries {
		fmt.Fprintf(&b, "type B%d %s\n", i, v.typ)
	}
	text = b.String()
	s := compile(t, text)
	for i, v := range vectors {
		typ := s.Decls[i].Type
		value := fromJSON(t, typ, v.Value)
		msg := unhex(t, v.Hex)
		if got := hex.EncodeToString(schemagen.Encode(typ, value)); got != v.Hex {
			t.Errorf("the reference writes %s %s as %s, want %s", v.Type, v.Value, got, v.Hex)
		}
		cases = append(cases, runner.Case{Op: "ok", Type: fmt.Sprintf("vectors.V%d", i), Msg: msg, Canon: msg, Dump: schemagen.Dump(typ, value)})
	}
	for i, v := range boundaries {
		c := runner.Case{Op: "bad", Type: fmt.Sprintf("vectors.B%d", i), Msg: unhex(t, v.hex)}
		if v.value != "" {
			c.Op, c.Canon, c.Dump = "ok", c.Msg, v.value
		}
		if judge := judged(c.Type, s.Decls[len(vectors)+i].Type, c.Msg); judge.Op != c.Op {
			t.Errorf("the reference says %s to %s %s, want %s", judge.Op, v.typ, v.hex, c.Op)
		}
		cases = append(cases, c)
	}
	return text, cases
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fromJSON reads a vector's value as the type has it.
func fromJSON(t *testing.T, typ *schemagen.Type, raw json.RawMessage) schemagen.Value {
	t.Helper()
	into := func(v any) {
		if err := json.Unmarshal(raw, v); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
	}
	switch typ.Kind {
	case schemagen.Int, schemagen.I16:
		var x int64
		into(&x)
		return x
	case schemagen.F64:
		var x float64
		into(&x)
		return math.Float64bits(x)
	case schemagen.Bool:
		var x bool
		into(&x)
		return x
	case schemagen.Str:
		var x string
		into(&x)
		return x
	case schemagen.Data, schemagen.FixedData:
		var x string
		into(&x)
		return string(unhex(t, x))
	case schemagen.Enum:
		var x string
		into(&x)
		return typ.Values[slices.IndexFunc(typ.Values, func(v *schemagen.EnumValue) bool { return v.Name == x })].Value
	case schemagen.Optional:
		if string(raw) == "null" {
			return nil
		}
		return schemagen.Some{V: fromJSON(t, typ.Elem, raw)}
	case schemagen.List, schemagen.FixedList:
		var parts []json.RawMessage
		into(&parts)
		list := []schemagen.Value{}
		for _, p := range parts {
			list = append(list, fromJSON(t, typ.Elem, p))
		}
		return list
	case schemagen.Map, schemagen.Union, schemagen.Struct:
		var parts map[string]json.RawMessage
		into(&parts)
		return fromObject(t, typ, parts)
	}
	var x uint64
	into(&x)
	return x
}

func fromObject(t *testing.T, typ *schemagen.Type, parts map[string]json.RawMessage) schemagen.Value {
	t.Helper()
	if typ.Kind == schemagen.Struct {
		fields := []schemagen.Value{}
		for _, f := range typ.Fields {
			fields = append(fields, fromJSON(t, f.Type, parts[f.Name]))
		}
		return fields
	}
	pairs := []schemagen.Pair{}
	for k, v := range parts {
		if typ.Kind == schemagen.Union {
			i := slices.IndexFunc(typ.Members, func(m *schemagen.Member) bool { return m.Type.Kind.String() == k })
			return schemagen.Tagged{Member: i, V: fromJSON(t, typ.Members[i].Type, v)}
		}
		key, err := strconv.ParseUint(k, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, schemagen.Pair{K: key, V: fromJSON(t, typ.Elem, v)})
	}
	return pairs
}

// TestVectors runs the draft's vectors, its company and the boundaries through
// generated code, both ways.
func TestVectors(t *testing.T) {
	text, cases := vectorCases(t)
	company := string(corpus.Read(t, "spec", "draft-devault-bare-11__Appendix_B.1.bare"))
	p := newProgram(t)
	p.add(t, "vectors", map[string]string{"vectors.bare": text}, gen.Options{}, nil)
	p.add(t, "company", map[string]string{"company.bare": company}, gen.Options{}, nil)
	_, people := readVectors(t)
	person := declOf(compile(t, company), "Person")
	for _, v := range people {
		cases = append(cases, judged("company.Person", person.Type, unhex(t, v.Hex)))
	}
	run(t, p.build(t), nil, cases, func(string) string { return "" })
}

// kindsMessage is the last value of testdata/literals.go.txt, put together from
// the draft's examples.
const kindsMessage = "8101" + "8101" + "ff000000" + "01ff" + "6666666666660440" + "01" + "0442415245" + "02aaee" + "0102" +
	"8002" + "0101000000" + "0103666f6f" + "fe018002" + "0200000000047a65726fff0000000178" + "ff01ff01" + "ffffffffffffffffff01"

// TestLiterals builds a program whose values are written in Go, as a user
// would, and compares the messages it writes.
func TestLiterals(t *testing.T) {
	kinds, err := os.ReadFile("testdata/kinds.bare")
	if err != nil {
		t.Fatal(err)
	}
	main, err := os.ReadFile("testdata/literals.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram(t)
	p.add(t, "company", map[string]string{"company.bare": string(corpus.Read(t, "spec", "draft-devault-bare-11__Appendix_B.1.bare"))}, gen.Options{}, nil)
	p.add(t, "kinds", map[string]string{"kinds.bare": string(kinds)}, gen.Options{}, nil)
	p.m.Write("literals/main.go", []byte(strings.ReplaceAll(string(main), "SCRATCH", scratch.Path)))
	out, err := exec.Command(p.m.Build("./literals")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, company := readVectors(t)
	want := ""
	for _, v := range company {
		want += v.Hex + "\n"
	}
	if got := string(out); got != want+kindsMessage+"\n" {
		t.Errorf("wrote\n%s\nwant\n%s%s", got, want, kindsMessage)
	}
}

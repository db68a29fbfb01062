package difftest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/schemagen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// tsSchema is a schema and what bare-ts is to do with it.
type tsSchema struct {
	Schema string   `json:"schema"`
	Legacy bool     `json:"legacy"`
	Cases  []tsCase `json:"cases"`
}

// tsCase is a message to decode and encode again, or a value to encode.
type tsCase struct {
	Type string `json:"type"`
	Msg  string `json:"msg"`
	JS   string `json:"js,omitempty"`
}

// tsResult is the message that came out, or what bare-ts threw.
type tsResult struct {
	Hex   string `json:"hex"`
	Error string `json:"error"`
}

// bareTS runs bare-ts over schemas. The answer has a result for each case; a
// schema that it refuses ends the test unless refused is given to take the reason.
func bareTS(t *testing.T, in []tsSchema, refused func(i int, why string)) [][]tsResult {
	t.Helper()
	node := needBareTS(t)
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "barets.mjs")
	cmd.Stdin = bytes.NewReader(data)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bare-ts: %v\n%s", err, stderr.String())
	}
	var answers []struct {
		Error   string
		Results []tsResult
	}
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(in) {
		t.Fatalf("bare-ts: %d answers for %d schemas, %v", len(answers), len(in), err)
	}
	results := make([][]tsResult, len(in))
	for i, a := range answers {
		results[i] = a.Results
		if a.Error == "" {
			continue
		}
		if refused == nil {
			t.Fatalf("bare-ts refuses a schema: %s\n%s", a.Error, in[i].Schema)
		}
		refused(i, a.Error)
	}
	return results
}

func needBareTS(t *testing.T) string {
	t.Helper()
	node := scratch.NeedTool(t, "node", "Node.js 20 or later")
	if _, err := os.Stat(filepath.Join("node_modules", "@bare-ts", "tools")); err != nil {
		scratch.SkipOrFail(t, "bare-ts is not installed: run make deps")
	}
	return node
}

// jsValue writes a value as the JavaScript expression that bare-ts takes.
func jsValue(t *schemagen.Type, v schemagen.Value) string {
	switch t.Kind {
	case schemagen.Ref:
		return jsValue(t.Decl.Type, v)
	case schemagen.Uint, schemagen.U64, schemagen.Int, schemagen.I64:
		return fmt.Sprintf("%dn", v)
	case schemagen.F32:
		return fmt.Sprintf("F32(%d)", v)
	case schemagen.F64:
		return fmt.Sprintf("F64(%dn)", v)
	case schemagen.Str:
		s, _ := json.Marshal(v)
		return string(s)
	case schemagen.Data, schemagen.FixedData:
		return fmt.Sprintf("D(%q)", hex.EncodeToString([]byte(v.(string))))
	case schemagen.Void:
		return "null"
	case schemagen.Optional:
		if some, ok := v.(schemagen.Some); ok {
			return jsValue(t.Elem, some.V)
		}
		return "null"
	case schemagen.List, schemagen.FixedList:
		return jsList(t.Elem, v.([]schemagen.Value))
	case schemagen.Map:
		var parts []string
		for _, p := range v.([]schemagen.Pair) {
			parts = append(parts, "["+jsValue(t.Key, p.K)+","+jsValue(t.Elem, p.V)+"]")
		}
		return "new Map([" + strings.Join(parts, ",") + "])"
	case schemagen.Union:
		u := v.(schemagen.Tagged)
		m := t.Members[u.Member]
		return fmt.Sprintf("{tag:%d,val:%s}", m.Tag, jsValue(m.Type, u.V))
	case schemagen.Struct:
		var parts []string
		for i, f := range t.Fields {
			val := v.([]schemagen.Value)[i]
			if f.Pad {
				val = strings.Repeat("\x00", int(f.Type.Len))
			}
			parts = append(parts, fmt.Sprintf("%q:%s", f.Name, jsValue(f.Type, val)))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return fmt.Sprint(v)
}

// typedArrays are the arrays that bare-ts uses for lists of fixed numbers.
var typedArrays = map[schemagen.Kind]string{
	schemagen.U8: "Uint8Array", schemagen.U16: "Uint16Array", schemagen.U32: "Uint32Array", schemagen.U64: "BigUint64Array",
	schemagen.I8: "Int8Array", schemagen.I16: "Int16Array", schemagen.I32: "Int32Array", schemagen.I64: "BigInt64Array",
	schemagen.F32: "Float32Array", schemagen.F64: "Float64Array",
}

func jsList(elem *schemagen.Type, list []schemagen.Value) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, jsValue(elem, v))
	}
	array := "[" + strings.Join(parts, ",") + "]"
	if typed := typedArrays[elem.Kind]; typed != "" {
		return "new " + typed + "(" + array + ")"
	}
	return array
}

// TestReferenceAgainstBareTS holds the reference and bare-ts against each
// other, each writing and reading what the other wrote.
func TestReferenceAgainstBareTS(t *testing.T) { rounds(t, testReferenceAgainstBareTS) }

func testReferenceAgainstBareTS(t *testing.T, seed int) {
	needBareTS(t)
	var all []*subject
	n := schemas(100)
	all = append(all, subjects(seed, n, schemagen.BareTS(false), newDialect, false)...)
	all = append(all, subjects(seed, n, schemagen.BareTS(true), anyDialect, false)...)
	in := make([]tsSchema, len(all))
	want := make([][]string, len(all))
	for i, s := range all {
		in[i] = tsSchema{Schema: s.text, Legacy: i >= n, Cases: []tsCase{}}
		for _, d := range s.schema.Decls {
			if d.Type.IsVoid() {
				continue // bare-ts makes no functions for them
			}
			values := schemagen.Values(s.lang, d.Type)
			for k := range 6 {
				v := values.Example(s.seed + k)
				canon := hex.EncodeToString(schemagen.Encode(d.Type, v))
				in[i].Cases = append(in[i].Cases, tsCase{Type: d.Name, Msg: canon}, tsCase{Type: d.Name, JS: jsValue(d.Type, v)})
				want[i] = append(want[i], canon, "")
			}
		}
	}
	checked := 0
	for i, results := range bareTS(t, in, nil) {
		s := all[i]
		for k, r := range results {
			c := in[i].Cases[k]
			d := declOf(s.schema, c.Type)
			got, err := hex.DecodeString(r.Hex)
			if err != nil || r.Error != "" {
				t.Fatalf("bare-ts on %+v: %s\n%s", c, r.Error, s.text)
			}
			if k%2 == 0 && r.Hex != want[i][k] {
				t.Fatalf("bare-ts wrote %s for %s\n%s", r.Hex, c.Msg, s.text)
			}
			v, err := schemagen.Decode(d.Type, got)
			if err != nil {
				t.Fatalf("bare-ts wrote %s for %s: %v\n%s", r.Hex, c.JS, err, s.text)
			}
			if k%2 == 1 && hex.EncodeToString(schemagen.Encode(d.Type, v)) != want[i][k-1] {
				t.Fatalf("bare-ts wrote %s for %s: not the value of %s\n%s", r.Hex, c.JS, want[i][k-1], s.text)
			}
			checked++
		}
	}
	t.Logf("%d messages of %d schemas", checked, len(all))
}

// TestVerdictsAgainstBareTS holds the reference's verdict on damaged messages
// against bare-ts's, which is a strict decoder too.
func TestVerdictsAgainstBareTS(t *testing.T) { rounds(t, testVerdictsAgainstBareTS) }

func testVerdictsAgainstBareTS(t *testing.T, seed int) {
	needBareTS(t)
	lang := schemagen.BareTS(false)
	lang.NoAnnotations = true // bare-ts does not read #@max
	all := subjects(seed, schemas(100), lang, newDialect, false)
	in := make([]tsSchema, len(all))
	for i, s := range all {
		in[i] = tsSchema{Schema: s.text, Cases: []tsCase{}}
		for _, d := range s.schema.Decls {
			if d.Type.IsVoid() {
				continue
			}
			for k := range 12 {
				msg := schemagen.Encode(d.Type, schemagen.Values(lang, d.Type).Example(s.seed+k))
				mutant := schemagen.Mutants(msg).Example(s.seed + k)
				in[i].Cases = append(in[i].Cases, tsCase{Type: d.Name, Msg: hex.EncodeToString(mutant)})
			}
		}
	}
	taken, refused := 0, 0
	for i, results := range bareTS(t, in, nil) {
		for k, r := range results {
			c := in[i].Cases[k]
			d := declOf(all[i].schema, c.Type)
			msg, _ := hex.DecodeString(c.Msg)
			_, err := schemagen.Decode(d.Type, msg)
			if (err == nil) != (r.Error == "") {
				t.Errorf("%s: the reference says %v, bare-ts %q\n%s", c.Msg, err, r.Error, all[i].text)
			}
			if err == nil {
				taken++
			} else {
				refused++
			}
		}
	}
	t.Logf("%d taken, %d refused", taken, refused)
	if taken == 0 || refused == 0 {
		t.Error("the mutants are all of one kind")
	}
}

func newDialect(int) schemagen.Dialect { return schemagen.New }
func anyDialect(i int) schemagen.Dialect {
	return []schemagen.Dialect{schemagen.New, schemagen.Old, schemagen.Mixed}[i%3]
}

func declOf(s *schemagen.Schema, name string) *schemagen.Decl {
	for _, d := range s.Decls {
		if d.Name == name {
			return d
		}
	}
	return nil
}

package difftest

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/corpus"
	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
	"github.com/fidelityframework/barewire-gen/internal/schemagen"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// entry is one schema of the corpus that is meant to compile.
type entry struct {
	corpus.File
	text, pkg string
}

func corpusEntries(t *testing.T) (list []entry) {
	t.Helper()
	for _, f := range corpus.Meant(t) {
		list = append(list, entry{f, string(f.Text), fmt.Sprintf("c%d", len(list))})
	}
	return list
}

// TestCorpus generates from every schema of the corpus. What is generated
// builds, is clean to vet, and passes on random values; what is refused is
// refused for the reason in the table.
func TestCorpus(t *testing.T) { rounds(t, testCorpus) }

func testCorpus(t *testing.T, seed int) {
	p := newProgram(t)
	var cases []runner.Case
	refused := 0
	for _, e := range corpusEntries(t) {
		_, diags := schema.Compile([]*source.File{source.NewFile(e.Name, []byte(e.text))}, schema.Options{})
		if diags.HasErrors() {
			refused++
			if want, ok := corpus.Refused[e.Key()]; !ok || !strings.Contains(diags.Err().Error(), want) {
				t.Errorf("%s: %v, want %q", e.Key(), diags.Err(), want)
			}
			continue
		}
		if want, ok := corpus.Refused[e.Key()]; ok {
			t.Errorf("%s is taken, want %q", e.Key(), want)
		}
		p.add(t, e.pkg, map[string]string{"schema.bare": e.text}, gen.Options{}, nil)
		s := &subject{schema: compile(t, e.text), text: e.text, seed: seed}
		cases = append(cases, valueCases(e.pkg, s, 5)...)
	}
	if refused != len(corpus.Refused) {
		t.Errorf("%d refused, the table has %d", refused, len(corpus.Refused))
	}
	run(t, p.build(t), nil, cases, func(string) string { return "" })
	p.m.Vet("./...")
	t.Logf("%d schemas generated, %d refused, %d messages", len(p.imports), refused, len(cases))
}

// snake finds the fields of a schema that bare-ts 0.16 does not take (T6).
var snake = regexp.MustCompile(`(?m)^(\s*)([a-z]\w*_\w*)(\s*:)`)

// forBareTS spells snake_case fields in camelCase. Names do not travel, so the
// messages are the same.
func forBareTS(text string) string {
	return snake.ReplaceAllStringFunc(text, camel)
}

func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "")
}

// TestRealMessagesOfBareTS decodes, with generated code, messages that bare-ts
// wrote for random values of the real schemas.
func TestRealMessagesOfBareTS(t *testing.T) { rounds(t, testRealMessagesOfBareTS) }

func testRealMessagesOfBareTS(t *testing.T, seed int) {
	needBareTS(t)
	lang := schemagen.BareTS(true)
	var real []entry
	var theirs []*schemagen.Schema // as bare-ts reads it
	var in []tsSchema
	for _, e := range corpusEntries(t) {
		if e.Kind != "real" || corpus.Refused[e.Key()] != "" {
			continue
		}
		ts := tsSchema{Schema: forBareTS(e.text), Legacy: true, Cases: []tsCase{}}
		s := compile(t, ts.Schema)
		for _, d := range s.Decls {
			for k := 0; k < 5 && !d.Type.IsVoid(); k++ {
				v := schemagen.Values(lang, d.Type).Example(seed + k)
				ts.Cases = append(ts.Cases, tsCase{Type: d.Name, JS: jsValue(d.Type, v)})
			}
		}
		real, theirs, in = append(real, e), append(theirs, s), append(in, ts)
	}
	if len(real) != 36 {
		t.Errorf("%d real schemas, want 36", len(real))
	}
	p := newProgram(t)
	var cases []runner.Case
	for i, results := range bareTS(t, in, nil) {
		e := real[i]
		p.add(t, e.pkg, map[string]string{"schema.bare": e.text}, gen.Options{}, nil)
		for k, r := range results {
			d := declOf(theirs[i], in[i].Cases[k].Type)
			msg, err := hex.DecodeString(r.Hex)
			if err != nil || r.Error != "" {
				t.Fatalf("%s: bare-ts on %s: %s", e.Name, in[i].Cases[k].JS, r.Error)
			}
			c := judged(e.pkg+"."+d.Name, d.Type, msg)
			if c.Op != "ok" {
				t.Fatalf("%s: bare-ts wrote %s for %s", e.Name, r.Hex, in[i].Cases[k].JS)
			}
			cases = append(cases, c)
		}
	}
	run(t, p.build(t), nil, cases, func(string) string { return "" })
	t.Logf("%d messages of %d schemas", len(cases), len(p.imports))
}

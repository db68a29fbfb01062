package difftest

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
	"github.com/fidelityframework/barewire-gen/internal/schemagen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// corpusDir is the corpus in this repository.
func corpusDir(t *testing.T, elem ...string) string {
	t.Helper()
	return filepath.Join(append([]string{scratch.Root(t), "testdata", "corpus"}, elem...)...)
}

func corpusFile(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(corpusDir(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// corpusDirs are the folders whose schemas must compile, with how many files
// each has, so that none gets lost.
var corpusDirs = []struct {
	name  string
	files int
}{
	{"real", 37}, {"examples", 11}, {"spec", 1}, {"valid", 46}, {"implementations", 17},
}

// corpusRefused are the entries that we refuse, and rightly, with the code. The
// draft forbids recursion by any route, which some implementations accept; the
// others are no schemas in any dialect.
var corpusRefused = map[string]string{
	"real/poolparty__README_inline.bare":                     "[BW1003]", // an = between the name and the type
	"examples/c-cube+bare-ocaml__tests_example2.bare":        "[BW1103]", // recursion
	"examples/c-cube+bare-ocaml__tests_example3.bare":        "[BW1103]", // recursion
	"examples/rivet-dev+vbare__fixtures_tests_basic_v2.bare": "[BW1016]", // comments with //
	"examples/rivet-dev+vbare__fixtures_tests_basic_v3.bare": "[BW1016]", // comments with //
	// Recursion that ends, which bare-ts takes with --legacy.
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_list-union-circular-ref_schema.bare":     "[BW1103]",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_map-circular-ref_schema.bare":            "[BW1103]",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_optional-union-circular_schema.bare":     "[BW1103]",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_struct-circular-ref-allowed_schema.bare": "[BW1103]",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_struct-recursive_schema.bare":            "[BW1103]",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_union-circular_schema.bare":              "[BW1103]",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_union-optional-circular_schema.bare":     "[BW1103]",
}

// entry is one schema of the corpus.
type entry struct {
	dir, name, text, pkg string
}

func corpusEntries(t *testing.T) (list []entry) {
	t.Helper()
	for _, dir := range corpusDirs {
		files, err := filepath.Glob(corpusDir(t, dir.name, "*.bare"))
		if err != nil || len(files) != dir.files {
			t.Fatalf("%s has %d schemas, want %d (%v)", dir.name, len(files), dir.files, err)
		}
		for _, f := range files {
			name := filepath.Base(f)
			list = append(list, entry{dir.name, name, corpusFile(t, dir.name, name), fmt.Sprintf("c%d", len(list))})
		}
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
		key := e.dir + "/" + e.name
		_, diags := schema.Compile([]*source.File{source.NewFile(e.name, []byte(e.text))}, schema.Options{})
		if diags.HasErrors() {
			refused++
			if want, ok := corpusRefused[key]; !ok || !strings.Contains(diags.Err().Error(), want) {
				t.Errorf("%s: %v, want %q", key, diags.Err(), want)
			}
			continue
		}
		if want, ok := corpusRefused[key]; ok {
			t.Errorf("%s is taken, want %q", key, want)
		}
		p.add(t, e.pkg, map[string]string{"schema.bare": e.text}, gen.Options{}, nil)
		s := &subject{schema: compile(t, e.text), text: e.text, seed: seed}
		cases = append(cases, valueCases(e.pkg, s, 5)...)
	}
	if refused != len(corpusRefused) {
		t.Errorf("%d refused, the table has %d", refused, len(corpusRefused))
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
		if e.dir != "real" || corpusRefused[e.dir+"/"+e.name] != "" {
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
				t.Fatalf("%s: bare-ts on %s: %s", e.name, in[i].Cases[k].JS, r.Error)
			}
			c := judged(e.pkg+"."+d.Name, d.Type, msg)
			if c.Op != "ok" {
				t.Fatalf("%s: bare-ts wrote %s for %s", e.name, r.Hex, in[i].Cases[k].JS)
			}
			cases = append(cases, c)
		}
	}
	run(t, p.build(t), nil, cases, func(string) string { return "" })
	t.Logf("%d messages of %d schemas", len(cases), len(p.imports))
}

package schema_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fidelityframework/barewire-gen/internal/schemagen"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/lint"
	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/printer"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

type failer interface {
	Fatalf(string, ...any)
	Helper()
}

func formatted(t failer, text []byte) []byte {
	t.Helper()
	tree, errs := parser.Parse(source.NewFile("x.bare", text))
	if errs.HasErrors() {
		t.Fatalf("%v\n%s", errs, text)
	}
	return printer.Format(tree)
}

func mended(text []byte, breaking bool) schema.Fixed {
	return schema.Fix([]*source.File{source.NewFile("x.bare", text)}, schema.FixOptions{Breaking: breaking})
}

// comments are the plain comments of a text, sorted: those that a fix must keep.
func comments(text []byte) (all []string) {
	tree, _ := parser.Parse(source.NewFile("x.bare", text))
	for _, c := range tree.Comments {
		if t := strings.TrimSpace(c.Text()); !strings.HasPrefix(t, "@") {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return all
}

// checkFixes holds the fixes of a text to what is promised of them.
func checkFixes(t failer, text []byte) {
	t.Helper()
	for _, breaking := range []bool{false, true} {
		once := mended(text, breaking)
		is := once.Files[0].Text()
		if again := mended(is, breaking); len(again.Applied) > 0 || !bytes.Equal(again.Files[0].Text(), is) {
			t.Fatalf("fixes are not done with: %v\n%s\nthen\n%s\nthen\n%s", again.Applied, text, is, again.Files[0].Text())
		}
		if was, now := comments(text), comments(is); !slices.Equal(was, now) {
			t.Fatalf("comments were %q and are %q\n%s\n%s", was, now, text, is)
		}
		a, b := formatted(t, is), mended(formatted(t, text), breaking).Files[0].Text()
		if !bytes.Equal(a, b) {
			t.Fatalf("fmt(fix(x)) and fix(fmt(x)) differ for\n%s\nfirst\n%s\nsecond\n%s", text, a, b)
		}
		if !breaking {
			sameWire(t, text, is)
		}
	}
}

// sameWire holds a text to have the types of another, by name, with their hashes.
func sameWire(t failer, was, is []byte) {
	t.Helper()
	old, _ := schema.Compile([]*source.File{source.NewFile("x.bare", was)}, schema.Options{})
	now, _ := schema.Compile([]*source.File{source.NewFile("x.bare", is)}, schema.Options{})
	if old == nil {
		return
	}
	if now == nil {
		t.Fatalf("fixed into an error\n%s\n%s", was, is)
	}
	for _, d := range old.Order {
		n := d.File.NS.Types[d.Name]
		for _, ns := range now.Namespaces {
			if ns.Types[d.Name] != nil {
				n = ns.Types[d.Name]
			}
		}
		a, b := schema.Canonical(d), schema.Canonical(n)
		if strings.Replace(a, "enum:u8", "enum", -1) != strings.Replace(b, "enum:u8", "enum", -1) {
			t.Fatalf("`%s` was %s and is %s", d.Name, a, b)
		}
	}
}

// TestFixesKeepLineEnds mends a file with Windows' line ends, and leaves no others in it.
func TestFixesKeepLineEnds(t *testing.T) {
	const text = "type B struct {\r\n\tx: A # of x\r\n  y: u8 # of y\r\n}\r\n# of A\r\ntype A struct { # behind\r\n a: u8 # of a\r\n b: u32\r\n}\r\n"
	for _, breaking := range []bool{false, true} {
		f := mended([]byte(text), breaking)
		is := f.Files[0].Text()
		if len(f.Applied) == 0 || bytes.Count(is, []byte("\n")) != bytes.Count(is, []byte("\r\n")) || bytes.Contains(is, []byte("\r\r")) {
			t.Errorf("breaking %v: %d mended:\n%q", breaking, len(f.Applied), is)
		}
		if was := comments([]byte(text)); !slices.Equal(was, comments(is)) {
			t.Errorf("breaking %v: comments were %q, are %q", breaking, was, comments(is))
		}
	}
}

// TestFixesOfTheCorpus mends every schema of the corpus that can be read.
func TestFixesOfTheCorpus(t *testing.T) {
	n, mendedFiles := 0, 0
	err := filepath.WalkDir("../testdata/corpus", func(path string, e os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".bare" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, errs := parser.Parse(source.NewFile(path, text)); errs.HasErrors() {
			return nil
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			n++
			checkFixes(t, text)
			if f := mended(text, true); len(f.Applied) > 0 {
				mendedFiles++
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d schemas, of which %d had something to mend", n, mendedFiles)
	if n < 100 || mendedFiles < 6 {
		t.Errorf("too few schemas: %d, %d", n, mendedFiles)
	}
}

// TestFixesOfRandomSchemas does the same with random ones, in each spelling.
func TestFixesOfRandomSchemas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schemagen.Schemas(schemagen.Lang{Forward: true, Decls: 5}).Draw(t, "schema")
		lang := rapid.SampledFrom([]schemagen.Dialect{schemagen.New, schemagen.Mixed}).Draw(t, "dialect")
		text := s.Print(lang, rapid.Uint64().Draw(t, "seed"), rapid.Bool().Draw(t, "plain"))
		checkFixes(t, []byte(text))
	})
}

// grantsNothing is what is known of a program without grants.
func grantsNothing(*resolve.Decl) ([]string, bool) { return nil, true }

// findings is what lint finds in an example of a rule. Where the rule is about more than a schema, the rest is here: a
// program that grants nothing, or what was published.
func findings(t *testing.T, r lint.Rule, text string) (*schema.Schema, diag.List) {
	t.Helper()
	files := []*source.File{source.NewFile("x.bare", []byte(text))}
	s, list := schema.CompileAndLint(files, schema.Options{Granted: grantsNothing})
	if r.Code == diag.PublishedEdited {
		before, errs := schema.Compile([]*source.File{source.NewFile("x.bare", []byte(r.Right))}, schema.Options{})
		if before == nil {
			t.Fatal(errs)
		}
		list = append(list, lint.Edited(s.Schema, lint.PublishedIn(before.Schema))...)
	}
	return s, list
}

// TestRulesOfLint holds each rule of lint to its examples: the wrong one has the finding, and its severity where the
// rule says one for all, the right one has not. A fix leads from the wrong one to a schema without the finding; where there is
// no fix, the text says so.
func TestRulesOfLint(t *testing.T) {
	for _, r := range lint.Rules() {
		t.Run(string(r.Code), func(t *testing.T) {
			of := func(d *diag.Diagnostic) bool { return d.Code == r.Code }
			if r.Title == "" || r.Why == "" || r.Wrong == "" || r.Right == "" || r.Since == "" {
				t.Fatal("a rule has a title, a text, two examples and a version")
			}
			_, list := findings(t, r, r.Wrong)
			i := slices.IndexFunc(list, of)
			if i < 0 {
				t.Fatalf("not found: %v in\n%s", list, r.Wrong)
			}
			if s, list := findings(t, r, r.Right); s == nil || slices.ContainsFunc(list, of) {
				t.Errorf("%v in\n%s", list, r.Right)
			}
			if r.Fix == "" {
				if !strings.Contains(r.Why, "no fix is offered") {
					t.Error("the text does not say why no fix is offered")
				}
				return
			}
			if r.Code != diag.ForwardReference && (len(list[i].Fixes) == 0 || list[i].Fixes[0].Breaks != r.Breaks) {
				t.Errorf("the rule's fix breaks %q, and the finding has %v", r.Breaks, list[i].Fixes)
			}
			got := schema.Fix([]*source.File{source.NewFile("x.bare", []byte(r.Wrong))}, schema.FixOptions{Options: schema.Options{Granted: grantsNothing}, Breaking: true})
			if len(got.Applied) == 0 || got.Left.HasErrors() || slices.ContainsFunc(got.Left, of) {
				t.Errorf("the fix leaves %v\n%s", got.Left, got.Files[0].Text())
			}
			checkFixes(t, []byte(r.Wrong))
		})
	}
}

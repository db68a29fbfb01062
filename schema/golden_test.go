package schema_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

var update = flag.Bool("update", false, "write what the compiler says into the goldens, and fail")

// goldenCase is one case of a testdata/*.txtar file: the files NAME/….bare, given
// together, and NAME/out, what the compiler says. NAME may end in @12: a draft.
type goldenCase struct {
	name  string
	spec  int
	files []*source.File
	out   int // index of the out file in the archive, or -1
}

func readCases(t *testing.T, path string) (*txtar.Archive, []*goldenCase) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []*goldenCase
	for i, f := range archive.Files {
		name, file, ok := strings.Cut(f.Name, "/")
		if !ok {
			t.Fatalf("%s: %s: want case/file", path, f.Name)
		}
		if len(cases) == 0 || cases[len(cases)-1].name != name {
			c := &goldenCase{name: name, out: -1}
			if _, spec, ok := strings.Cut(name, "@"); ok {
				if c.spec, err = strconv.Atoi(spec); err != nil {
					t.Fatal(err)
				}
			}
			cases = append(cases, c)
		}
		c := cases[len(cases)-1]
		if file == "out" {
			c.out = i
		} else {
			c.files = append(c.files, source.NewFile(file, f.Data))
		}
	}
	return archive, cases
}

// say prints diagnostics with all that they carry.
func say(list diag.List) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(d.String() + "\n")
		if d.Primary.Text != "" {
			fmt.Fprintf(&b, "  ^ %s\n", d.Primary.Text)
		}
		for _, r := range d.Related {
			p := r.Span.Pos()
			fmt.Fprintf(&b, "  %s:%d:%d: %s\n", r.Span.File.Name(), p.Line, p.Column, r.Text)
		}
		for _, n := range d.Notes {
			b.WriteString("  note: " + n + "\n")
		}
		for _, h := range d.Help {
			b.WriteString("  help: " + h + "\n")
		}
	}
	if len(list) == 0 {
		return "nothing\n"
	}
	return b.String()
}

// TestGolden compiles every case and compares what the compiler says.
func TestGolden(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	if len(paths) == 0 {
		t.Fatal("no goldens")
	}
	for _, path := range paths {
		archive, cases := readCases(t, path)
		changed := false
		for _, c := range cases {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar")+"/"+c.name, func(t *testing.T) {
				s, list := schema.Compile(c.files, schema.Options{Spec: c.spec})
				if (s == nil) != list.HasErrors() {
					t.Errorf("schema is nil: %v, errors: %v", s == nil, list.HasErrors())
				}
				got := say(list)
				want := ""
				if c.out >= 0 {
					want = string(archive.Files[c.out].Data)
				}
				if got == want {
					return
				}
				t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
				if *update {
					changed = true
					setOut(archive, c, got)
				}
			})
		}
		if changed {
			if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func setOut(archive *txtar.Archive, c *goldenCase, got string) {
	for i := range archive.Files {
		if archive.Files[i].Name == c.name+"/out" {
			archive.Files[i].Data = []byte(got)
			return
		}
	}
	last := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, c.name+"/") })
	for last+1 < len(archive.Files) && strings.HasPrefix(archive.Files[last+1].Name, c.name+"/") {
		last++
	}
	archive.Files = slices.Insert(archive.Files, last+1, txtar.File{Name: c.name + "/out", Data: []byte(got)})
}

// TestFixes applies every fix that a golden case offers: the schema must be read
// without syntax errors, and the finding must be gone.
func TestFixes(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	fixes := 0
	for _, path := range paths {
		_, cases := readCases(t, path)
		for _, c := range cases {
			_, list := schema.Compile(c.files, schema.Options{Spec: c.spec})
			for _, d := range list {
				for _, fix := range d.Fixes {
					fixes++
					files := apply(c.files, fix)
					_, after := schema.Compile(files, schema.Options{Spec: c.spec})
					if count(after, d.Code) >= count(list, d.Code) {
						t.Errorf("%s/%s: the fix %q of\n%s\ndoes not mend it:\n%s\n%s", path, c.name, fix.Text, d, files[0].Text(), say(after))
					}
					for _, e := range after {
						if strings.HasPrefix(string(e.Code), "BW10") && count(list, e.Code) == 0 {
							t.Errorf("%s/%s: the fix %q breaks the syntax: %s\n%s", path, c.name, fix.Text, e, files[0].Text())
						}
					}
				}
			}
		}
	}
	if fixes < 10 {
		t.Errorf("only %d fixes were tried", fixes)
	}
}

func count(list diag.List, code diag.Code) (n int) {
	for _, d := range list {
		if d.Code == code {
			n++
		}
	}
	return n
}

func apply(files []*source.File, fix diag.Fix) []*source.File {
	out := slices.Clone(files)
	edits := slices.Clone(fix.Edits)
	slices.SortFunc(edits, func(a, b diag.Edit) int { return b.Span.Start - a.Span.Start })
	for i, f := range files {
		text := slices.Clone(f.Text())
		for _, e := range edits {
			if e.Span.File == f {
				text = slices.Concat(text[:e.Span.Start], []byte(e.New), text[e.Span.End:])
			}
		}
		if !bytes.Equal(text, f.Text()) {
			out[i] = source.NewFile(f.Name(), text)
		}
	}
	return out
}

// TestExamplesOfRules compiles what the registry shows for each of the codes that
// are found in schemas: the wrong example has the fault, the right one has not.
func TestExamplesOfRules(t *testing.T) {
	seen := 0
	for _, r := range diag.Rules() {
		if r.Code < "BW1100" || r.Code >= "BW1300" && r.Code < "BW2000" || r.Code >= "BW4000" {
			continue
		}
		seen++
		if r.Title == "" || r.Why == "" || r.Name == "" {
			t.Errorf("%s: no title, reason or name", r.Code)
		}
		for text, want := range map[string]bool{r.Wrong: true, r.Right: false} {
			if text == "" {
				continue
			}
			_, list := schema.CompileAndLint([]*source.File{source.NewFile("example.bare", []byte(text))}, schema.Options{Granted: grantsNothing})
			if got := count(list, r.Code) > 0; got != want {
				t.Errorf("%s: found %v, want %v in\n%s%s", r.Code, got, want, text, say(list))
			}
			if !want && list.HasErrors() {
				t.Errorf("%s: the right example is wrong:\n%s%s", r.Code, text, say(list))
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d rules", seen)
	}
}

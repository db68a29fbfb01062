package printer

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fidelityframework/barewire-gen/internal/corpus"
	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

var update = flag.Bool("update", false, "rewrite the golden files; the run fails, so that CI cannot")

// TestGolden formats the file "in" of each archive and compares it with "out".
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no goldens", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Files) == 0 || a.Files[0].Name != "in" {
				t.Fatal(`the archive's first file must be "in"`)
			}
			got, err := check(a.Files[0].Data)
			if err != nil {
				t.Error(err)
			}
			var want []byte
			if len(a.Files) > 1 {
				want = a.Files[1].Data
			}
			if bytes.Equal(got, want) {
				return
			}
			t.Errorf("-want +got\n%s", cmp.Diff(string(want), string(got)))
			if *update {
				a.Files = append(a.Files[:1], txtar.File{Name: "out", Data: got})
				if err := os.WriteFile(path, txtar.Format(a), 0o666); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// check formats a text and tests what must hold for every text: the result
// parses, means the same, and formatting it again changes nothing. A text with
// syntax errors gives nil.
func check(text []byte) ([]byte, error) {
	tree, errs := parser.Parse(source.NewFile("in.bare", text))
	if len(errs) > 0 {
		return nil, nil
	}
	out := Format(tree)
	again, errs := parser.Parse(source.NewFile("out.bare", out))
	if len(errs) > 0 {
		return out, fmt.Errorf("the output does not parse: %v\n%s", errs[0], out)
	}
	if diff := cmp.Diff(dump(tree), dump(again)); diff != "" {
		return out, fmt.Errorf("the output means something else: -in +out\n%s\n%s", diff, out)
	}
	if twice := Format(again); !bytes.Equal(out, twice) {
		return out, fmt.Errorf("formatting twice differs: -once +twice\n%s", cmp.Diff(string(out), string(twice)))
	}
	return out, style(out, again)
}

// style tests what the layout promises.
func style(out []byte, tree *ast.File) error {
	for _, bad := range []string{"\r\n", "\t\n", " \n", "\n\n\n", "{\n\n", "\n\n}", "\ufeff"} {
		if i := bytes.Index(out, []byte(bad)); i >= 0 {
			if bad == "\n\n}" && insideComment(tree, i) {
				continue
			}
			return fmt.Errorf("the output has %q at %d:\n%s", bad, i, out)
		}
	}
	if !bytes.HasSuffix(out, []byte("\n")) {
		return fmt.Errorf("no line end at the end of the output")
	}
	return nil
}

func insideComment(tree *ast.File, at int) bool {
	for _, c := range tree.Comments {
		if c.Span.Start <= at && at < c.Span.End {
			return true
		}
	}
	return false
}

func TestCorpus(t *testing.T) {
	formatted := 0
	for _, f := range corpus.All(t) {
		out, err := check(f.Text)
		if err != nil {
			t.Errorf("%s: %v", f.Key(), err)
		}
		if out != nil {
			formatted++
		}
	}
	if formatted < 100 {
		t.Errorf("only %d files of the corpus were formatted", formatted)
	}
}

func FuzzFormat(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := check(text); err != nil {
			t.Error(err)
		}
	})
}

// fuzzSeeds have each construct, and comments in places where few people put them.
var fuzzSeeds = []string{
	"type A struct { a: u8 b: optional<list<str>[4]> }\n",
	"type A { a: string b: []data<4> c: map[u8][3]u8 d: (A | B = 3) e: []{ f: u8 } }\n",
	"enum E u8 { A B = 4 # c\n }\nenum F { A }\n",
	"# d\n#@align(8)\ntype U union { # a\n | u8 # b\n # c\n | u16 = 4 # e\n | # f\n}\n# g\n\n#@package(x)\n",
	"type # a\n A # b\n map # c\n < # d\n u8 # e\n > # f\n < # g\n str # h\n > # i\n",
	"type A [ # a\n 4 # b\n ] # c\n u8 # d\ntype B { # e\n a # f\n : # g\n u8 # h\n } # i\n",
	"type U ( # a\n | # b\n u8 # c\n | # d\n u16 # e\n = # f\n 4 # g\n | # h\n ) # i\n",
	"type A union { # a\n | # b\n} # c\n # d\ntype B { a: ( # e\n | # f\n # g\n) # h\n # i\n b: u8 } # j\n",
	"type A [ # a\n 4 # b\n ] # c\n union # d\n { # e\n optional < [ # f\n # g\n ] { # h\n x: u8 } > | [ # i\n ] u8 # j\n }\n",
	"\ufefftype A data [ 4 ]\r\n\r\n\r\n\r\n# x \r\ntype B enum{A=1 B}\r\n",
}

package bwlife_test

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/fidelityframework/barewire-gen/analyzers/bwlife"
	"github.com/fidelityframework/barewire-gen/internal/golden"
)

// proposed is a finding that comes with a change.
type proposed struct {
	function, code string
	fix            analysis.SuggestedFix
	fset           *token.FileSet
	pkg            *packages.Package
}

// proposals are the changes that the corpus is given.
func proposals(t *testing.T) (list []proposed) {
	t.Helper()
	actions, err := corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range actions {
		for _, d := range act.Diagnostics {
			for _, f := range d.SuggestedFixes {
				list = append(list, proposed{functionOf(act.Package, d), d.Category, f, act.Package.Fset, act.Package})
			}
		}
	}
	return list
}

// mended are the files of the corpus with the changes made.
func mended(t *testing.T, list []proposed) map[string][]byte {
	t.Helper()
	type change struct {
		from, to int
		text     []byte
	}
	changes := map[string][]change{}
	for _, p := range list {
		for _, e := range p.fix.TextEdits {
			from, to := p.fset.Position(e.Pos), p.fset.Position(e.End)
			changes[from.Filename] = append(changes[from.Filename], change{from.Offset, to.Offset, e.NewText})
		}
	}
	files := map[string][]byte{}
	for name, list := range changes {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(list, func(a, b change) int { return b.from - a.from })
		list = slices.CompactFunc(list, func(a, b change) bool { return a.from == b.from && bytes.Equal(a.text, b.text) })
		for _, c := range list {
			text = slices.Concat(text[:c.from], c.text, text[c.to:])
		}
		if files[name], err = format.Source(text); err != nil {
			t.Errorf("%s does not parse when it is mended: %v", name, err)
		}
	}
	return files
}

// TestFixes: with all changes made the corpus compiles, and in no function is found what was to be mended there.
func TestFixes(t *testing.T) {
	if testing.Short() {
		t.Skip(bwlife.OneGoroutine)
	}
	list := proposals(t)
	files := mended(t, list)
	codes := map[string]int{}
	var dirs []string
	for _, p := range list {
		codes[p.code]++
		if f := p.pkg.GoFiles[0]; !slices.Contains(dirs, filepath.Dir(f)) {
			dirs = append(dirs, filepath.Dir(f))
		}
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Overlay: files}, dirs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Errorf("mended, it does not compile: %v", e)
		}
	}
	actions, err := look(pkgs)
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, act := range actions {
		for _, d := range act.Diagnostics {
			left[act.Package.PkgPath+"."+functionOf(act.Package, d)+" "+d.Category] = true
		}
	}
	for _, p := range list {
		if left[p.pkg.PkgPath+"."+p.function+" "+p.code] {
			t.Errorf("%s: %s is found again when it is mended: %s", p.function, p.code, p.fix.Message)
		}
	}
	for _, code := range []string{"BW5102", "BW5104", "BW5105", "BW5108", "BW5111"} {
		if codes[code] == 0 {
			t.Errorf("%s is mended nowhere", code)
		}
	}
}

// TestMend holds the changes to a file that shows them, and some findings to having none.
func TestMend(t *testing.T) {
	if testing.Short() {
		t.Skip(bwlife.OneGoroutine)
	}
	var list []proposed
	for _, p := range proposals(t) {
		if strings.HasSuffix(p.pkg.PkgPath, "/life/mend") {
			list = append(list, p)
		}
	}
	for name, text := range mended(t, list) {
		goldenFile := filepath.Join(corpusDir, "mend", filepath.Base(name)+".golden")
		if os.Getenv(golden.UpdateVar) != "" {
			if err := os.WriteFile(goldenFile, text, 0o644); err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s is written; run again without %s", goldenFile, golden.UpdateVar)
		}
		if want, err := os.ReadFile(goldenFile); err != nil || !bytes.Equal(want, text) {
			t.Errorf("%s is not as %s has it (%v), but:\n%s", name, goldenFile, err, text)
		}
	}
	want := map[string]string{
		"BadWindowLeak": "insert defer w.Close()", "BadSiblingLeak": "insert defer s.Close()",
		"BadTestLeak":          "", // it does not return, but fails the test
		"BadWindowEarlyReturn": "", // it is closed on another path
		"BadRegisterFails":     "",
		"BadNewCache":          "", // it is given away on another path
	}
	for _, act := range must(corpus()) {
		for _, f := range act.Package.Syntax {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "BadKeep") {
					want[fn.Name.Name] = ""
				}
			}
		}
	}
	for _, p := range proposals(t) {
		if w, ok := want[p.function]; ok && w != p.fix.Message {
			t.Errorf("%s: proposed %q, want %q", p.function, p.fix.Message, w)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

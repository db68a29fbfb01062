package bwlife_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPorted: each correct or wrong function of the corpus that this one began with, written against a toy runtime, is here over the real
// one. That lies beside the repository, in ../shared/vet, where it is at hand.
func TestPorted(t *testing.T) {
	old := filepath.Join("..", "..", "..", "shared", "vet")
	if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared/vet is not beside the repository")
	}
	renamed := map[string]string{"MaybeClose": "Release"} // they were the same
	n := 0
	for from, to := range map[string]string{"traps1": "traps1", "traps2": "traps2", "traps3": "traps3", "helpers": "help", "hchelp": "help"} {
		have := functions(t, filepath.Join(corpusDir, to))
		for name := range functions(t, filepath.Join(old, from)) {
			want := name
			if m := lettered.FindStringSubmatch(name); m != nil && strings.HasPrefix(from, "traps") {
				want = map[string]string{"B": "Bad", "U": "Bad", "G": "Good", "T": "Good"}[m[1]] + m[2]
			}
			if r := renamed[want]; r != "" {
				want = r
			}
			if n++; !have[want] {
				t.Errorf("%s.%s is not here: no %s in %s", from, name, want, to)
			}
		}
	}
	if n < 100 {
		t.Errorf("%d functions: that is not all", n)
	}
}

// lettered are the names that say by a letter what a function is.
var lettered = regexp.MustCompile(`^([BUGT])(\d+[a-z]?)$`)

// functions are the names of the exported functions in a directory.
func functions(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", dir, err)
	}
	all := map[string]bool{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() {
				all[fn.Name.Name] = true
			}
		}
	}
	return all
}

// Package golden compares what a test makes with what is written down beside
// its input, in one txtar file that a reviewer can read.
//
// To refresh, set BAREWIRE_UPDATE_GOLDEN to a glob over the files' base names
// ('*' for all). A refresh fails the run: no pipeline can refresh by itself and
// be green.
package golden

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
)

// UpdateVar is the environment variable that asks for a refresh.
const UpdateVar = "BAREWIRE_UPDATE_GOLDEN"

// Make turns the inputs of one file into what is wanted, in the order in which
// it shall be written. Notes is the text above the first section.
type Make func(t *testing.T, notes string, in []txtar.File) (out []txtar.File)

// Run walks the files that match a pattern, each as a subtest. A section whose
// name isInput accepts is handed to make; all others are compared with what
// comes back, section by section. It fails where no file matches.
func Run(t *testing.T, pattern string, isInput func(name string) bool, make Make) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no golden file matches %s", pattern)
	}
	for _, name := range files {
		base := filepath.Base(name)
		t.Run(strings.TrimSuffix(base, filepath.Ext(base)), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var in, want []txtar.File
			for _, f := range a.Files {
				if isInput(f.Name) {
					in = append(in, f)
				} else {
					want = append(want, f)
				}
			}
			got := make(t, string(a.Comment), in)
			for i := range got {
				got[i].Data = endLine(got[i].Data)
			}
			if refresh(t, base) {
				update(t, name, &txtar.Archive{Comment: a.Comment, Files: append(in, got...)})
				return
			}
			compare(t, want, got)
		})
	}
}

// refresh reports whether the environment asks to write this file anew.
func refresh(t *testing.T, base string) bool {
	glob := os.Getenv(UpdateVar)
	if glob == "" {
		return false
	}
	ok, err := path.Match(glob, base)
	if err != nil {
		t.Fatalf("%s=%s: %v", UpdateVar, glob, err)
	}
	return ok
}

func update(t *testing.T, name string, a *txtar.Archive) {
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	now := txtar.Format(a)
	if string(old) == string(now) {
		return
	}
	if err := os.WriteFile(name, now, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Errorf("refreshed %s; look at the change and run again without %s", name, UpdateVar)
}

// compare fails the test for each section that differs, is missing, or is not
// made any more.
func compare(t *testing.T, want, got []txtar.File) {
	t.Helper()
	left := map[string][]byte{}
	for _, f := range want {
		if _, twice := left[f.Name]; twice {
			t.Errorf("section %s stands there twice", f.Name)
		}
		left[f.Name] = f.Data
	}
	for _, f := range got {
		w, ok := left[f.Name]
		if !ok {
			t.Errorf("section %s is not in the golden file; it would be\n%s", f.Name, f.Data)
			continue
		}
		delete(left, f.Name)
		if d := diff.Diff("want/"+f.Name, w, "got/"+f.Name, f.Data); d != nil {
			t.Errorf("%s\n(refresh with %s=%s)", d, UpdateVar, filepath.Base(t.Name())+".txtar")
		}
	}
	for name := range left {
		t.Errorf("section %s is in the golden file, and nothing makes it", name)
	}
}

// endLine ends the text with a newline, as txtar does when it reads a section.
func endLine(b []byte) []byte {
	if len(b) > 0 && b[len(b)-1] != '\n' {
		b = append(b[:len(b):len(b)], '\n')
	}
	return b
}

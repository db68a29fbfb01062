// Package vettest tests analyzers as users run them: the test's own program is the tool of
// `go vet -vettool`, over packages in testdata that import the real runtime.
//
// A line with a finding says so, with what the message has:
//
//	var r barewire.Region[…] // want BW5001 "no allocator"
//
// A directive fills its line, so what is found in one stands on the line behind it, as want-above.
package vettest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/analyzers/vettool"
)

// Main is for TestMain: it runs the tests, or the tool where the go command asks for one. The tool ends the process.
func Main(m *testing.M, tool func()) {
	if vettool.Called(os.Args[1:]) {
		tool()
	}
	os.Exit(m.Run())
}

// Finding is a diagnostic as `go vet -json` writes it.
type Finding struct {
	Category string
	Posn     string
	Message  string
	Related  []struct{ Posn, Message string }
	Fixes    []struct {
		Message string
		Edits   []struct {
			Filename   string
			Start, End int
			New        string
		}
	} `json:"suggested_fixes"`
}

// Place is the file's name without its directory, and the line.
func (f Finding) Place() string {
	parts := strings.Split(filepath.Base(f.Posn), ":")
	return strings.Join(parts[:min(2, len(parts))], ":")
}

// Vet runs the tool over packages. Packages that do not build are a fault of the test, as is an analyzer that fails.
func Vet(t *testing.T, packages ...string) (found []Finding) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append([]string{"vet", "-vettool=" + self, "-json"}, packages...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("go vet: %v\n%s", err, errs.Bytes())
	}
	for dec := json.NewDecoder(&out); dec.More(); {
		var tree map[string]map[string]json.RawMessage
		if err := dec.Decode(&tree); err != nil {
			t.Fatalf("go vet -json: %v", err)
		}
		for pkg, byAnalyzer := range tree {
			for name, raw := range byAnalyzer {
				var list []Finding
				if err := json.Unmarshal(raw, &list); err != nil {
					t.Fatalf("%s over %s: %s", name, pkg, raw)
				}
				found = append(found, list...)
			}
		}
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.Posn, b.Posn) })
	return found
}

var (
	wants = regexp.MustCompile(`// want(-above)?((?: BW\d{4} "(?:[^"\\]|\\.)*")+)`)
	want  = regexp.MustCompile(`(BW\d{4}) ("(?:[^"\\]|\\.)*")`)
)

// Run runs the tool over a directory below testdata, and compares what it finds to what
// the files say. It returns the findings.
func Run(t *testing.T, dir string) []Finding {
	t.Helper()
	expected := map[string][]string{} // by place: code and part of the message
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no Go files in %s (%v)", dir, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			all := wants.FindAllStringSubmatch(line, -1)
			if len(all) != strings.Count(line, "// want") {
				t.Fatalf("%s:%d: a want without a code and a text", name, n+1)
			}
			for _, m := range all {
				at := n + 1
				if m[1] != "" {
					at = n
				}
				place := fmt.Sprintf("%s:%d", filepath.Base(name), at)
				for _, w := range want.FindAllStringSubmatch(m[2], -1) {
					part, err := strconv.Unquote(w[2])
					if err != nil {
						t.Fatalf("%s: %v", place, err)
					}
					expected[place] = append(expected[place], w[1]+" "+part)
				}
			}
		}
	}
	found := Vet(t, "./"+filepath.ToSlash(dir))
	for _, f := range found {
		place := f.Place()
		i := slices.IndexFunc(expected[place], func(w string) bool {
			code, part, _ := strings.Cut(w, " ")
			return code == f.Category && strings.Contains(f.Message, part)
		})
		if i < 0 {
			t.Errorf("%s: not expected: %s [%s]", place, f.Message, f.Category)
			continue
		}
		expected[place] = slices.Delete(expected[place], i, i+1)
	}
	for place, rest := range expected {
		for _, w := range rest {
			t.Errorf("%s: not found: %s", place, w)
		}
	}
	return found
}

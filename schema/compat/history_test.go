package compat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fidelityframework/barewire-gen/internal/golden"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/compat"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

var version = regexp.MustCompile(`^(.*[_.])v(\d+)\.bare$`)

// histories are the real schemas of which the corpus has several versions, by what they have in common.
func histories(t *testing.T) map[string][]string {
	t.Helper()
	dir := filepath.Join("..", "..", "testdata", "corpus", "real")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, e := range entries {
		if m := version.FindStringSubmatch(e.Name()); m != nil {
			all[m[1]] = append(all[m[1]], filepath.Join(dir, e.Name()))
		}
	}
	for name, files := range all {
		if slices.Sort(files); len(files) < 2 {
			delete(all, name)
		}
	}
	if len(all) < 5 {
		t.Fatalf("only %d histories", len(all))
	}
	return all
}

func read(t *testing.T, path string) *schema.Schema {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := version.FindStringSubmatch(filepath.Base(path))
	return compiled(t, "v"+m[2]+".bare", string(text))
}

// TestHistories compares each version of a real schema with the one before, and holds what is said to
// testdata/histories.txt. Each type that both have is also held to what becomes of messages.
func TestHistories(t *testing.T) {
	var b strings.Builder
	all := histories(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	pairs := 0
	for _, name := range names {
		files := all[name]
		for i := 1; i < len(files); i++ {
			pairs++
			old, now := read(t, files[i-1]), read(t, files[i])
			r := compat.Compare(side(old), side(now), options)
			fmt.Fprintf(&b, "== %s v%d to v%d: SOURCE breaks %v; new reads old %v, old reads new %v\n",
				strings.Trim(name, "_."), i, i+1, r.Verdict.Source, r.Verdict.NewReadsOld, r.Verdict.OldReadsNew)
			for _, d := range r.Findings {
				fmt.Fprintln(&b, d)
			}
			observe(t, old, now)
		}
	}
	if pairs < 20 {
		t.Errorf("only %d pairs", pairs)
	}
	path := filepath.Join("testdata", "histories.txt")
	if ok, _ := filepath.Match(os.Getenv(golden.UpdateVar), "histories.txt"); ok {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Fatal("refreshed; look at the change and run again")
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestHistoryInReadme holds the table of README.md to one protocol's versions, of which TestHistories has every finding.
func TestHistoryInReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, files := range histories(t) {
		if !strings.Contains(name, "envoy-protocol") {
			continue
		}
		for i := 1; i < len(files); i++ {
			old, now := read(t, files[i-1]), read(t, files[i])
			r := compat.Compare(side(old), side(now), options)
			errors := 0
			for _, d := range r.Findings {
				if d.Severity == diag.Error {
					errors++
				}
			}
			source := map[bool]string{true: "breaks", false: "same"}[r.Verdict.Source]
			row := fmt.Sprintf("| v%d to v%d | %s | %v | %v | %d, %d |\n", i, i+1, source, r.Verdict.NewReadsOld, r.Verdict.OldReadsNew, errors, len(r.Findings)-errors)
			if seen++; !strings.Contains(string(readme), row) {
				t.Errorf("README.md does not have\n%s", row)
			}
		}
	}
	if seen != 5 {
		t.Errorf("%d steps", seen)
	}
}

// observe tries messages of all types that both versions have.
func observe(t *testing.T, old, now *schema.Schema) {
	for i, o := range old.Order {
		n := now.Namespaces[0].Types[o.Name]
		if n == nil {
			continue
		}
		said := compat.Wires(side(old), side(now), o.Type, n.Type)
		for _, x := range []struct {
			said compat.Reach
			all  []observed
		}{{said.NewReadsOld, try(t, o, n, 10, uint64(i))}, {said.OldReadsNew, try(t, n, o, 10, uint64(i))}} {
			if got := reach(x.all); got < x.said && !(x.said == compat.Some && !misread(x.all)) {
				t.Errorf("%s of %s: said %v, observed %v %v", o.Name, o.At.File.Name(), x.said, got, x.all)
			}
		}
	}
}

package bwlife_test

import (
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

var (
	rowRE = regexp.MustCompile(`(?m)^\| (memory )?\[?(\d+)[^|]*\|[^|]*\|[^|]*\bvet \(([^)]*)\)`)
	badRE = regexp.MustCompile(`^Bad([A-Z][a-z]+)(\d\d)[A-Z]`)
)

// TestMisuse: for each mistake of which docs/misuse.md says that vet finds it, the corpus has wrong functions by its
// number in which it does, with each of the codes that stand there.
func TestMisuse(t *testing.T) {
	page, err := os.ReadFile("../../docs/misuse.md")
	if err != nil {
		t.Fatal(err)
	}
	said, numbers := map[string]bool{}, map[string]bool{}
	for _, row := range rowRE.FindAllStringSubmatch(string(page), -1) {
		entry := fmt.Sprintf("Verbs%02s", row[2])
		if row[1] != "" {
			entry = fmt.Sprintf("Memory%02s", row[2])
		}
		numbers[entry] = true
		for _, code := range strings.Split(row[3], ", ") {
			said[entry+" "+code] = true
		}
	}
	if len(numbers) < 14 {
		t.Fatalf("the page has %d entries that vet finds: its tables are not what this test reads", len(numbers))
	}
	found := entries(t)
	for entry := range said {
		if !found[entry] {
			t.Errorf("%s stands in docs/misuse.md, and no wrong function in testdata/life/misuse has it", entry)
		}
	}
	for entry := range found {
		if number, _, _ := strings.Cut(entry, " "); !numbers[number] {
			t.Errorf("%s is found in testdata/life/misuse, and docs/misuse.md does not say that vet finds %s", entry, number)
		}
	}
}

// entries are what is found in the wrong functions, by entry, with codes.
func entries(t *testing.T) map[string]bool {
	t.Helper()
	actions, err := corpus()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, act := range actions {
		if !strings.HasSuffix(act.Package.PkgPath, "/life/misuse") {
			continue
		}
		for _, d := range act.Diagnostics {
			name := functionOf(act.Package, d)
			if m := badRE.FindStringSubmatch(name); m != nil {
				found[m[1]+m[2]+" "+d.Category] = true
			}
		}
	}
	return found
}

// functionOf is the function that a finding is in.
func functionOf(p *packages.Package, d analysis.Diagnostic) string {
	for _, file := range p.Syntax {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Pos() <= d.Pos && d.Pos < fn.End() {
				return fn.Name.Name
			}
		}
	}
	return ""
}

package resolve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func parse(t *testing.T, text string) (*ast.File, diag.List) {
	t.Helper()
	return parser.Parse(source.NewFile("in.bare", []byte(text)))
}

// TestErrorsEnd holds that a schema full of errors gives a bounded list, whose
// last entry says that there are more.
func TestErrorsEnd(t *testing.T) {
	undefined := strings.Builder{}
	for i := range 2 * diag.MaxErrors {
		fmt.Fprintf(&undefined, "type A%d B%d\n", i, i)
	}
	for name, text := range map[string]string{
		"duplicates": strings.Repeat("type A struct { a: u8 }\n", 2*diag.MaxErrors),
		"undefined":  undefined.String(),
		"arguments":  strings.Repeat("#@align(3)\ntype A u8\n", 2*diag.MaxErrors),
	} {
		tree, errs := parse(t, text)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		_, list := Files([]*ast.File{tree}, Options{})
		if len(list) != diag.MaxErrors+1 || list[diag.MaxErrors].Code != diag.TooManyErrors {
			t.Errorf("%s: %d diagnostics, the last is %v", name, len(list), list[len(list)-1])
		}
	}
}

// TestDeclarationsEnd holds that too many declarations are one error, whether
// one file has them or two.
func TestDeclarationsEnd(t *testing.T) {
	var b strings.Builder
	for i := range maxDecls {
		fmt.Fprintf(&b, "type A%d u8\n", i)
	}
	full, errs := parse(t, b.String())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	_, errs = parse(t, b.String()+"type B u8\n")
	if len(errs) != 1 || errs[0].Code != diag.TooManyTypes || errs[0].Primary.Span.Pos().Line != maxDecls+1 {
		t.Errorf("one file: %v", errs)
	}
	more, _ := parse(t, "type B u8\ntype C u8\n")
	_, list := Files([]*ast.File{full, more}, Options{})
	if len(list) != 1 || list[0].String() != "in.bare:1:6: error: the files together have more than 500000 declarations; this is the first that is too many [BW1022]" {
		t.Errorf("two files: %v", list)
	}
}

// TestPartsEnd holds that too many fields are one error, wherever they stand.
func TestPartsEnd(t *testing.T) {
	fields := strings.Repeat("a: u8 ", maxParts/4)
	text := "type A struct { " + fields + "}\ntype B list<struct { " + fields + "}>\ntype C optional<struct { " + fields + "}>\n" +
		"type D enum { " + strings.Repeat("A ", maxParts/4) + "}\n"
	most, errs := parse(t, text)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if d := tooMuch([]*ast.File{most}); d != nil {
		t.Errorf("just enough: %v", d)
	}
	more, _ := parse(t, "type E union { u8 }\n")
	d := tooMuch([]*ast.File{most, more})
	if d == nil || d.Code != diag.TooManyTypes || d.Primary.Span.Text() != "E" {
		t.Errorf("one more: %v", d)
	}
}

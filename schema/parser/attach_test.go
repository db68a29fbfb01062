package parser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// attachments has a line for each node that something belongs to, then the file's.
func attachments(t *testing.T, text string) string {
	t.Helper()
	tree, errs := Parse(source.NewFile("f", []byte(text)))
	if len(errs) > 0 {
		t.Fatalf("%q: %v", text, errs)
	}
	var lines []string
	for n := range tree.Nodes() {
		var parts []string
		for _, c := range n.Attachments().Doc {
			parts = append(parts, strings.TrimSpace(c.Text()))
		}
		for _, a := range n.Attachments().Annots {
			parts = append(parts, "@"+a.Name.Name)
		}
		if parts != nil {
			lines = append(lines, nodeName(n)+": "+strings.Join(parts, " "))
		}
	}
	for _, a := range tree.Annots {
		lines = append(lines, "file: @"+a.Name.Name)
	}
	return strings.Join(lines, "; ")
}

func nodeName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Decl:
		return n.Name.Name
	case *ast.Field:
		return n.Name.Name
	case *ast.EnumValue:
		return n.Name.Name
	}
	return n.(*ast.Member).Type.Pos().Text()
}

func TestAttach(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"# one\n# two\ntype A u8\n", "A: one two"},
		{"# one\n\n# two\ntype A u8\n", "A: two"},
		{"# one\n\ntype A u8\n", ""},
		{"# one\n   \t\r\ntype A u8\n", ""},
		{"# one\r\ntype A u8\r\n", "A: one"},
		{"#@package(x)\n\n# doc\n#@align(8)\n# more\n#@max(1)\ntype A u8\n", "A: doc more @align @max; file: @package"},
		{"#@a\n\n#@b\ntype A u8\n#@c\n", "A: @b; file: @a; file: @c"},
		{"type A u8 # behind\n", "A: behind"},
		{"# above\ntype A u8 # behind\n", "A: above"},
		{"# above\ntype A u8 #@behind\n", "A: above @behind"},
		{"type A u8 # behind\n# above\ntype B u8\n", "A: behind; B: above"},
		{"type A struct { # one\n  # two\n  a: u8 # three\n  b: u8 #@four\n} #@five\n", "A: one @five; a: two; b: @four"},
		{"type A struct {\n  a: u8 #@x\n  # of nobody\n}\n", "a: @x"},
		{"type A struct {\n  #@x\n}\n", "file: @x"},
		{"type A struct { a: struct { b: u8 #@b\n } #@a\n } #@A\n", "A: @A; a: @a; b: @b"},
		{"type A struct { a: struct { b: u8 } #@a\n }\n", "a: @a"},
		{"type A struct { a: list<struct { #@a\n b: u8 }> }\n", "a: @a"},
		{"type A struct {\n  #@a\n  a: u8 b: u8 #@b\n}\n", "a: @a; b: @b"},
		{"type E enum {\n  # one\n  X # not\n  Y = 4 # two\n  #@z\n  Z\n}\n", "X: one; Y: two; Z: @z"},
		{"type U union {\n  # one\n  | A # un\n  # two\n  | B # deux\n  | C # trois\n}\n", "A: one; B: two; C: trois"},
		{"type U union {\n  A | # one\n  # two\n  B |\n  C # three\n}\n", "A: one; B: two; C: three"},
		{"type U (\n  # one\n  A | B #@b\n)\n", "A: one; B: @b"},
		{"type A # one\n  u8\n", "A: one"},
		{"type A\n  # of nobody\n  u8\n", ""},
		{"type A\n  #@nobody\n  u8\n", "file: @nobody"},
		{"# @gpu\ntype A u8 # @x\n", "A: @gpu"},
		{"#one\n#\n#  two\ntype A u8\n", "A: one  two"},
		{"enum E u8 { #@e\n X #@x\n }\n", "E: @e; X: @x"},
	} {
		if got := attachments(t, test.in); got != test.want {
			t.Errorf("%q\n got %s\nwant %s", test.in, got, test.want)
		}
	}
}

// TestAnnotations parses the forms that the grammar has.
func TestAnnotations(t *testing.T) {
	var show func(args []*ast.Arg) string
	show = func(args []*ast.Arg) string {
		var parts []string
		for _, a := range args {
			s := a.Value.Name
			if a.Key.Name != "" {
				s = a.Key.Name + "=" + s
			}
			if a.Args != nil {
				s += "(" + show(a.Args) + ")"
			}
			parts = append(parts, fmt.Sprintf("%s‹%s›", s, a.Span.Text()))
		}
		return strings.Join(parts, ", ")
	}
	for _, test := range []struct{ in, want string }{
		{"#@pad", ""},
		{"#@pad   \t", ""},
		{"#@align(64)", "64‹64›"},
		{"#@align ( 64 )", "64‹64›"},
		{"#@residency(cxl, numa(3) ,fallback = unified)", "cxl‹cxl›, numa(3‹3›)‹numa(3)›, fallback=unified‹fallback = unified›"},
		{"#@ref(KvBlock, remote_read)", "KvBlock‹KvBlock›, remote_read‹remote_read›"},
		{"#@go(name=Foo, type=time.Time)", "name=Foo‹name=Foo›, type=time.Time‹type=time.Time›"},
		{"#@x(a=b(c))", "a=b(c‹c›)‹a=b(c)›"},
	} {
		tree, errs := Parse(source.NewFile("f", []byte(test.in+"\r\ntype A u8\n")))
		if len(errs) > 0 || len(tree.Decls[0].Annots) != 1 {
			t.Errorf("%s: %v", test.in, errs)
			continue
		}
		a := tree.Decls[0].Annots[0]
		if got := show(a.Args); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.in, got, test.want)
		}
		if a.Span.Text() != test.in {
			t.Errorf("span is %q", a.Span.Text())
		}
	}
}

// TestOldSpellings checks what the tree keeps of the dialect.
func TestOldSpellings(t *testing.T) {
	for _, test := range []struct {
		in  string
		old bool
	}{
		{"type A string", true}, {"type A str", false},
		{"type A data<4>", true}, {"type A data[4]", false},
		{"type A []u8", true}, {"type A [4]u8", true}, {"type A list<u8>[4]", false}, {"type A list < u8 > [ 4 ]", false},
		{"type A map[u8]u8", true}, {"type A map<u8><u8>", false}, {"type A map <u8> <u8>", false},
		{"type A (u8)", true}, {"type A union{u8}", false},
		{"type A {a: u8}", true}, {"type A struct{a: u8}", false},
	} {
		tree, errs := Parse(source.NewFile("f", []byte(test.in)))
		if len(errs) > 0 {
			t.Errorf("%s: %v", test.in, errs)
			continue
		}
		old := false
		switch typ := tree.Decls[0].Type.(type) {
		case *ast.Prim:
			old = typ.Old
		case *ast.Data:
			old = typ.Old
		case *ast.List:
			old = typ.Old
		case *ast.Map:
			old = typ.Old
		case *ast.Union:
			old = typ.Old
		case *ast.Struct:
			old = typ.Old
			if tree.Decls[0].Old != old {
				t.Errorf("%s: the declaration's Old is %v", test.in, !old)
			}
		}
		if old != test.old {
			t.Errorf("%s: Old is %v", test.in, old)
		}
	}
	tree, errs := Parse(source.NewFile("f", []byte("enum A u16 { X } enum B { X } type C enum { X }")))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	base := tree.Decls[0].Type.(*ast.Enum).Base
	if base == nil || base.Name != "u16" || tree.Decls[1].Type.(*ast.Enum).Base != nil {
		t.Error("the bases of the enums are wrong")
	}
	if !tree.Decls[0].Old || !tree.Decls[1].Old || tree.Decls[2].Old {
		t.Error("Old of the enums is wrong")
	}
}

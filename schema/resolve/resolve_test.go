package resolve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// files resolves texts that must have no error.
func files(t *testing.T, texts ...string) *resolve.Schema {
	t.Helper()
	var trees []*ast.File
	for i, text := range texts {
		tree, diags := parser.Parse(source.NewFile(fmt.Sprintf("%d.bare", i), []byte(text)))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		trees = append(trees, tree)
	}
	s, diags := resolve.Files(trees, resolve.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return s
}

// TestTypes holds what types mean to how they print.
func TestTypes(t *testing.T) {
	for in, want := range map[string]string{
		"u8": "u8", "string": "str", "data<4>": "data[4]", "[]u8": "list<u8>", "[3]u8": "list<u8>[3]",
		"map[string][]int": "map<str><list<int>>", "(u8 | X = 4 | void)": "union { u8 = 0 | X = 4 | void = 5 }",
		"enum { A = 007 B }":             "enum { A = 7 B = 8 }",
		"{ type: u8 enum: optional<X> }": "struct { type: u8 enum: optional<X> }",
		"map<X><list<data[2]>[3]>":       "map<X><list<data[2]>[3]>",
	} {
		s := files(t, "type X u16\ntype T "+in+"\n")
		if got := s.Namespaces[0].Types["T"].Type.String(); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestShortIsShort(t *testing.T) {
	deep := strings.Repeat("optional<", 40) + "u8" + strings.Repeat(">", 40)
	s := files(t, "type T "+deep+"\ntype S list<struct { a: u8 }>\n")
	if got := s.Namespaces[0].Types["T"].Type.Short(); len(got) > 150 || !strings.Contains(got, "…") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if got := s.Namespaces[0].Types["S"].Type.Short(); got != "list<struct {…}>" {
		t.Error(got)
	}
}

// TestResolveFollowsNames follows a chain of names to its end.
func TestResolveFollowsNames(t *testing.T) {
	s := files(t, "type A B\ntype B C\ntype C str\n")
	if got := s.Namespaces[0].Types["A"].Type.Resolve().Kind; got != resolve.Str {
		t.Error(got)
	}
}

// TestOrder holds that every declaration stands behind what it refers to.
func TestOrder(t *testing.T) {
	s := files(t, "type A struct { b: B c: list<C> }\ntype B union { C | D }\n", "type D C\ntype C u8\ntype E A\n")
	var names []string
	for _, d := range s.Order {
		names = append(names, d.Name)
	}
	if got := strings.Join(names, " "); got != "C D B A E" {
		t.Error(got)
	}
}

func TestDocs(t *testing.T) {
	s := files(t, `# The file's own.
#
# Second paragraph.

# A point.
#   indented
type Point struct {
  ## bare-ts's mark
  x: u8
  y: u8 # behind
}
`)
	f := s.Namespaces[0].Files[0]
	d := f.Decls[0]
	for _, c := range []struct {
		what string
		got  []string
		want []string
	}{
		{"file", f.Doc, []string{"The file's own.", "", "Second paragraph."}},
		{"type", d.Doc, []string{"A point.", "  indented"}},
		{"x", d.Type.Fields[0].Doc, []string{"bare-ts's mark"}},
		{"y", d.Type.Fields[1].Doc, []string{"behind"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
}

// TestAnnotationsInTheModel holds where each annotation goes.
func TestAnnotationsInTheModel(t *testing.T) {
	s := files(t, `#@package(kv)

#@residency(cpu, numa(1), fallback=unified)
#@register(local, remote_read)
#@align(64)
#@go(name=Blk)
type Block struct {
  #@atomic
  #@cacheline(128)
  seq: u64
  #@pad
  pad0: data[120]
}
type Quote struct {
  #@atomic(sequence)
  seq: u64
  #@atomic
  hits: u64
}
type Other struct {
  #@ref(Block, remote_read)
  to: data[48]
  #@max(5)
  #@go(name=Word)
  name: str
  any: union {
    #@go(name=Num)
    u8
  }
  kind: enum {
    #@go(name=KindOne)
    A
  }
}
#@max(7)
type List list<u8>
`)
	ns := s.Namespaces[0]
	for i, f := range append(ns.Types["Quote"].Type.Fields, ns.Types["Block"].Type.Fields[0]) {
		if !f.Atomic || f.Sequence != (i == 0) {
			t.Errorf("%s: atomic %t, sequence %t", f.Name, f.Atomic, f.Sequence)
		}
	}
	block, other := ns.Types["Block"], ns.Types["Other"].Type.Fields
	got := fmt.Sprint(ns.Package, block.GoName.Name, block.Align, block.Fallback, len(block.Residency), block.Residency[1].Node, block.Residency[0].Node,
		block.Rights[1].Name, block.Type.Fields[0].Atomic, block.Type.Fields[0].Cacheline, block.Type.Fields[1].Pad,
		other[0].Ref.Decl.Name, other[0].Ref.Rights[0].Name, other[1].Type.Max, other[1].GoName.Name,
		other[2].Type.Members[0].GoName.Name, other[3].Type.Values[0].GoName.Name, ns.Types["List"].Type.Max)
	if want := fmt.Sprint("kv", "Blk", 64, true, 2, 1, -1, "remote_read", true, 128, true, "Block", "remote_read", 5, "Word", "Num", "KindOne", 7); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestNamespaces holds which files see each other.
func TestNamespaces(t *testing.T) {
	s := files(t, "#@package(a)\n\ntype T u8\n", "type T u16\n", "#@package(a)\n\ntype U T\n", "type U T\n")
	if len(s.Namespaces) != 2 || len(s.Namespaces[0].Files) != 2 || s.Namespaces[0].Package != "a" || s.Namespaces[1].Package != "" {
		t.Fatalf("%d namespaces", len(s.Namespaces))
	}
	for i, want := range []resolve.Kind{resolve.U8, resolve.U16} {
		if got := s.Namespaces[i].Types["U"].Type.Resolve().Kind; got != want {
			t.Errorf("namespace %d: %s, want %s", i, got, want)
		}
	}
}

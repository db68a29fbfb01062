package parser

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// nestings opens and closes one level of each construct that can hold itself.
var nestings = []struct{ open, inner, close string }{
	{"optional<", "u8", ">"},
	{"list<", "u8", ">"},
	{"list<", "u8", ">[4]"},
	{"map<u8><", "u8", ">"},
	{"map<", "u8", "><u8>"},
	{"struct { a: ", "u8", " }"},
	{"union { ", "u8", " }"},
	{"[]", "u8", ""},
	{"[4]", "u8", ""},
	{"map[u8]", "u8", ""},
	{"map[", "u8", "]u8"},
	{"(", "u8", ")"},
	{"{ a: ", "u8", " }"},
}

// TestNesting wants one error for 10,000 levels, in little time and at the level
// where it gets too deep, whether or not the brackets are closed; and none at the limit.
func TestNesting(t *testing.T) {
	const levels = 10000
	for _, n := range nestings {
		deep := strings.Repeat(n.open, levels) + n.inner + strings.Repeat(n.close, levels)
		for _, text := range []string{deep, strings.Repeat(n.open, levels)} {
			start := time.Now()
			_, errs := Parse(source.NewFile("f", []byte("type A "+text+"\n")))
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%s: took %v", n.open, took)
			}
			if len(errs) != 1 || errs[0].Code != diag.NestedTooDeep {
				t.Errorf("%s: %v", n.open, errs)
				continue
			}
			if at := errs[0].Primary.Span.Start; at > len("type A ")+MaxDepth*len(n.open) {
				t.Errorf("%s: found at %d", n.open, at)
			}
		}
		// A declaration behind the deep one is still read.
		tree, errs := Parse(source.NewFile("f", []byte("type A "+deep+"\ntype B int32\n")))
		if len(errs) != 2 || len(tree.Decls) != 2 {
			t.Errorf("%s: with a second declaration: %v", n.open, errs)
		}
		fits := strings.Repeat(n.open, MaxDepth-1) + n.inner + strings.Repeat(n.close, MaxDepth-1)
		if _, errs := Parse(source.NewFile("f", []byte("type A "+fits+"\n"))); len(errs) > 0 {
			t.Errorf("%s: %d levels are too many: %v", n.open, MaxDepth, errs)
		}
	}
}

func TestNestedAnnotation(t *testing.T) {
	text := "#@a" + strings.Repeat("(a", 10000) + strings.Repeat(")", 10000) + "\ntype A u8\n"
	_, errs := Parse(source.NewFile("f", []byte(text)))
	if len(errs) != 1 || errs[0].Code != diag.BadAnnotation {
		t.Errorf("%v", errs)
	}
}

// TestOtherFiles gives files that are no schemas: one answer, and no tree.
func TestOtherFiles(t *testing.T) {
	elf := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 1000)...)
	for name, text := range map[string][]byte{
		"a program":   elf,
		"gzip":        []byte("\x1f\x8b\x08\xff\xff\xff\xff\xff\x03\xcbH\xcd\xc9\xc9\x07\x86\xa6\x106"),
		"UTF-16":      []byte("\xff\xfet\x00y\x00p\x00e\x00"),
		"Latin-1":     []byte("# caf\xe9\ntype A u8\n"),
		"too large":   bytes.Repeat([]byte(" "), MaxFile+1),
		"nothing":     nil,
		"white space": []byte(" \r\n\t"),
	} {
		tree, errs := Parse(source.NewFile("f", text))
		if len(errs) != 1 || len(tree.Decls) != 0 {
			t.Errorf("%s: %d declarations, %v", name, len(tree.Decls), errs)
		}
	}
}

// TestManyErrors wants an end to the errors of a long text that is no schema.
func TestManyErrors(t *testing.T) {
	for _, line := range []string{"the quick brown fox\n", "% & ! ~\n", "type type type\n", "}\n", "\u00a7 x\n", "@a\n", "{ ( [ <\n", "type A u8,;\n", "type A { a: ?\n"} {
		start := time.Now()
		_, errs := Parse(source.NewFile("f", []byte(strings.Repeat(line, 100000))))
		if len(errs) == 0 || len(errs) > diag.MaxErrors+1 {
			t.Errorf("%q: %d errors", line, len(errs))
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%q: took %v", line, took)
		}
	}
}

// synthetic is a schema of about the given size, of the shape that the
// benchmarks of other compilers use.
func synthetic(size int) []byte {
	var b bytes.Buffer
	b.Grow(size + 4096)
	for i := 0; b.Len() < size; i++ {
		if i%10 == 8 {
			fmt.Fprintf(&b, "# What kind.\ntype Kind%d enum {\n  ALPHA\n  BETA\n  GAMMA = 7\n  DELTA\n}\n\n", i)
			continue
		}
		if i%10 == 9 {
			fmt.Fprintf(&b, "type Event%d union { Record%d | Record%d | Kind%d }\n\n", i, i-3, i-2, i-1)
			continue
		}
		fmt.Fprintf(&b, "# One record.\n#@align(8)\ntype Record%d struct {\n  id: u64\n  name: str\n  # Labels.\n  tags: list<str>\n  parent: optional<u32>\n"+
			"  attributes: map<str><data>\n  digest: data[32]\n  matrix: list<f32>[16]\n  flags: u16 # bits\n}\n\n", i)
	}
	return b.Bytes()
}

// TestLargeFile parses 50 MB.
func TestLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second and half a gigabyte")
	}
	text := synthetic(50_000_000)
	f := source.NewFile("large.bare", text)
	start := time.Now()
	tree, errs := Parse(f)
	took := time.Since(start)
	t.Logf("%d bytes, %d declarations in %v", len(text), len(tree.Decls), took)
	if len(errs) > 0 || len(tree.Decls) < 100000 {
		t.Errorf("%d declarations, %v", len(tree.Decls), errs)
	}
	if took > 60*time.Second {
		t.Errorf("took %v", took)
	}
}

func BenchmarkParse(b *testing.B) {
	text := synthetic(1_500_000)
	f := source.NewFile("f", text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := Parse(f); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

// TestSpans wants every node inside of its parent, in source order, and tokens where spans say.
func TestSpans(t *testing.T) {
	for _, text := range append([]string{everything}, fuzzSeeds...) {
		f := source.NewFile("f", []byte(text))
		tree, errs := Parse(f)
		checkSpans(t, tree, errs)
	}
}

// checkSpans tests what must hold for the spans of any tree.
func checkSpans(t testing.TB, tree *ast.File, errs diag.List) {
	size := len(tree.Src.Text())
	in := func(what string, s source.Span, from, to int) {
		if s.File != tree.Src || s.Start < from || s.End > to || s.Start > s.End {
			t.Errorf("%s at %d to %d, outside of %d to %d", what, s.Start, s.End, from, to)
		}
	}
	for _, d := range errs {
		in(d.Message, d.Primary.Span, 0, size)
		for _, r := range d.Related {
			in(d.Message+": "+r.Text, r.Span, 0, size)
		}
	}
	last := 0
	for _, c := range tree.Comments {
		in("comment", c.Span, last, size)
		if !strings.HasPrefix(c.Span.Text(), "#") {
			t.Errorf("comment is %q", c.Span.Text())
		}
		last = c.Span.End
	}
	last = 0
	for _, d := range tree.Decls {
		in("declaration", d.Span, last, size)
		in("name", d.Name.Span, d.Span.Start, d.Span.End)
		if d.Name.Span.Text() != d.Name.Name {
			t.Errorf("name is %q, not %q", d.Name.Span.Text(), d.Name.Name)
		}
		checkType(d.Type, d.Span, in)
		last = d.Span.End
	}
}

func checkType(t ast.Type, outer source.Span, in func(string, source.Span, int, int)) {
	at := t.Pos()
	in(fmt.Sprintf("%T", t), at, outer.Start, outer.End)
	last := at.Start
	item := func(what string, s source.Span) {
		in(what, s, last, at.End)
		last = s.End
	}
	switch t := t.(type) {
	case *ast.Enum:
		for _, v := range t.Values {
			item("value", v.Span)
			in("name", v.Name.Span, v.Span.Start, v.Span.End)
		}
	case *ast.Union:
		for _, m := range t.Members {
			item("member", m.Span)
			checkType(m.Type, m.Span, in)
		}
	case *ast.Struct:
		for _, f := range t.Fields {
			item("field", f.Span)
			in("name", f.Name.Span, f.Span.Start, f.Span.End)
			checkType(f.Type, f.Span, in)
		}
	default:
		for c := range ast.Children(t) {
			item("element", c.Pos())
			checkType(c, at, in)
		}
	}
}

var fuzzSeeds = func() (seeds []string) {
	for _, m := range mistakes {
		seeds = append(seeds, m.in)
	}
	return append(seeds, everything)
}()

func FuzzParse(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, errs := Parse(source.NewFile("f", text))
		checkSpans(t, tree, errs)
		if len(errs) == 0 {
			for _, d := range tree.Decls {
				if ast.HasBad(d.Type) {
					t.Errorf("a bad type and no error")
				}
			}
		}
		at := map[string]bool{}
		for _, d := range errs {
			key := fmt.Sprint(d.Code, d.Primary.Span.Start)
			if at[key] && d.Code != diag.TooManyErrors {
				t.Errorf("said twice: %v", d)
			}
			at[key] = true
		}
	})
}

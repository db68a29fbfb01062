package layout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func compile(text string) diag.List {
	_, list := schema.Compile([]*source.File{source.NewFile("in.bare", []byte(text))}, schema.Options{})
	return list
}

// allFixes applies every fix of a schema at once, and counts their edits.
func allFixes(text string, list diag.List) (fixed string, n int) {
	var edits []diag.Edit
	for _, d := range list {
		for _, f := range d.Fixes {
			if d.Severity == diag.Error { // what others would move is worked out when there are no errors
				edits = append(edits, f.Edits...)
			}
		}
	}
	slices.SortStableFunc(edits, func(a, b diag.Edit) int { return b.Span.Start - a.Span.Start })
	for _, e := range edits {
		text = text[:e.Span.Start] + e.New + text[e.Span.End:]
	}
	return text, len(edits)
}

// advice counts the paddings that the help of errors asks for.
func advice(list diag.List) (n int) {
	for _, d := range list {
		for _, h := range d.Help {
			if d.Severity == diag.Error && strings.Contains(h, "`#@pad` above") {
				n++
			}
		}
	}
	return n
}

// TestFixesTogether applies every fix at once: what was wrong must be right then.
func TestFixesTogether(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		pads int
	}{
		"two fields":                {"type Ring struct {\n  a: u8\n  #@atomic\n  b: u64\n  pad1: u8\n  #@atomic\n  c: u64\n}\n", 2},
		"two findings at one place": {"type Ring struct {\n  #@cacheline\n  head: u64\n  #@cacheline\n  tail: u64\n}\n", 2},
		"padding moves what was right": {
			"type Ring struct {\n  a: u8\n  #@atomic\n  b: u32\n  c: data[3]\n  #@atomic\n  d: u64\n}\n", 2},
		"the end, twice": {"#@align(32)\ntype Ring struct {\n  #@atomic\n  head: u64\n  size: u32\n}\n", 1},
		"the end moves":  {"#@align(32)\ntype Ring struct {\n  size: u32\n  #@atomic\n  head: u64\n  rest: data[20]\n}\n", 2},
		"a type inside": {
			"type Pair struct {\n  a: Counter\n  b: Counter\n}\ntype Counter struct {\n  #@atomic\n  n: u64\n  kind: u8\n}\n", 1},
		"a type inside that changes what was right": {
			"type Pair struct {\n  a: list<Counter>[1]\n  rest: data[7]\n  #@atomic\n  n: u64\n}\ntype Counter struct {\n  #@atomic\n  n: u64\n  kind: u8\n}\n", 2},
		"a region's type inside": {
			"#@align(64)\ntype Block struct {\n  a: data[8]\n}\ntype Two struct {\n  a: Block\n  #@cacheline\n  b: data[64]\n}\n", 1},
		"lines of two sizes": {
			"type A struct {\n  a: u8\n  #@cacheline(128)\n  b: u8\n  #@cacheline\n  c: u8\n  d: u8\n}\n", 4},
	} {
		t.Run(name, func(t *testing.T) {
			list := compile(c.text)
			fixed, n := allFixes(c.text, list)
			if !list.HasErrors() || n != c.pads || advice(list) != n {
				t.Errorf("%d paddings in the fixes, %d in the help, want %d:\n%s", n, advice(list), c.pads, list)
			}
			if after := compile(fixed); after.HasErrors() {
				t.Errorf("%s\n%v", fixed, after)
			}
		})
	}
}

// TestRandomPadding applies every fix of random structs.
func TestRandomPadding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	for range 3000 {
		text := randomStructs(r)
		list := compile(text)
		if !list.HasErrors() {
			continue
		}
		wrong++
		fixed, n := allFixes(text, list)
		if after := compile(fixed); after.HasErrors() || advice(list) != n {
			t.Fatalf("%s\n%v\n%d paddings in the fixes, %d in the help\n%s\n%v", text, list, n, advice(list), fixed, after)
		}
	}
	if wrong < 1000 {
		t.Errorf("only %d schemas had something to mend", wrong)
	}
}

// randomStructs makes types of fixed size that ask for places, and take what they get.
func randomStructs(r *rand.Rand) string {
	var b strings.Builder
	for n := range 1 + r.IntN(4) {
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, "#@align(%d)\n", 8<<r.IntN(5))
		}
		fmt.Fprintf(&b, "type T%d struct {\n", n)
		for f := range 1 + r.IntN(5) {
			typ := []string{"u8", "u16", "u32", "u64", "data[3]", "data[60]"}[r.IntN(6)]
			switch r.IntN(8) {
			case 0, 1:
				b.WriteString("  #@atomic\n")
				typ = []string{"u32", "i64"}[r.IntN(2)]
			case 2:
				b.WriteString("  #@cacheline\n")
			case 3:
				b.WriteString("  #@cacheline(128)\n")
			case 4:
				b.WriteString("  #@pad\n")
				typ = fmt.Sprintf("data[%d]", 1+r.IntN(64))
			case 5, 6:
				if n > 0 {
					typ = fmt.Sprintf("T%d", r.IntN(n))
				}
				if r.IntN(2) == 0 {
					typ = fmt.Sprintf("list<%s>[%d]", typ, 1+r.IntN(3))
				}
			}
			fmt.Fprintf(&b, "  f%d: %s\n", f, typ)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

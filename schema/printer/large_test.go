package printer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestDeepAndWide formats types at the greatest depth, everything on one line. The
// time must not grow with depth times length.
func TestDeepAndWide(t *testing.T) {
	wide := strings.Repeat("a: u8 ", 20000)
	for _, nest := range [][2]string{
		{"struct { x: ", " }"}, {"union { ", " }"}, {"optional<", ">"}, {"[]", ""}, {"{ x: ", " }"}, {"list<struct { x: ", " }>"},
	} {
		levels := parser.MaxDepth/(1+strings.Count(nest[0], "<st")) - 1
		text := "type A " + strings.Repeat(nest[0], levels-1) + "struct { " + wide + "}" + strings.Repeat(nest[1], levels-1) + "\n"
		start := time.Now()
		out, err := check([]byte(text))
		if out == nil || err != nil {
			t.Errorf("%s: %.300v", nest[0], err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %v", nest[0], took)
		}
	}
}

func BenchmarkFormat(b *testing.B) {
	var text bytes.Buffer
	for i := 0; text.Len() < 1_500_000; i++ {
		fmt.Fprintf(&text, "# One record.\ntype Record%d struct {\n  id: u64\n  name: str # what it is called\n  # Labels.\n  tags: list<str>\n"+
			"  attributes: map<str><data>\n  kind: union { A | B }\n}\n\n", i)
	}
	tree, errs := parser.Parse(source.NewFile("f", text.Bytes()))
	if len(errs) > 0 {
		b.Fatal(errs)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		Format(tree)
	}
}

package schema_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// TestFixesGrowWithTheirNumber mends more and more types, in as many passes as a few take, and with memory that grows as
// they do: nothing is compiled once for each fix. No number of fixes is too many.
func TestFixesGrowWithTheirNumber(t *testing.T) {
	for name, one := range map[string]string{
		"padding":  "#@residency(cpu)\ntype T%d struct {\n  a: u8 # a\n  b: u64\n}\n",
		"prefixes": "type T%d enum { T%[1]d_RED T%[1]d_GREEN }\n",
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) (passes int, bytes uint64) {
				var b strings.Builder
				for i := range n {
					fmt.Fprintf(&b, one, i)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				f := mended([]byte(b.String()), true)
				runtime.ReadMemStats(&after)
				if len(f.Applied) != n || f.Stopped || f.Refused > 0 {
					t.Fatalf("%d of %d mended, %d refused", len(f.Applied), n, f.Refused)
				}
				return f.Passes, after.TotalAlloc - before.TotalAlloc
			}
			passes, few := cost(300)
			if more, many := cost(1200); more != passes || many > 6*few {
				t.Errorf("four times as many took %d passes instead of %d, and %d bytes instead of %d", more, passes, many, few)
			}
		})
	}
}

// TestFixesInDepth mends types that stand in one another: each becomes castable when those in it are, one pass each.
func TestFixesInDepth(t *testing.T) {
	var b strings.Builder
	const depth = 12
	fmt.Fprint(&b, "#@residency(cpu)\ntype T0 struct {\n  a: u8\n  b: u64\n}\n")
	for i := range depth - 1 {
		fmt.Fprintf(&b, "#@residency(cpu)\ntype T%d struct {\n  a: u8\n  b: T%d\n}\n", i+1, i)
	}
	f := mended([]byte(b.String()), true)
	if len(f.Applied) != depth || f.Passes != depth || f.Stopped {
		t.Errorf("%d mended in %d passes:\n%s", len(f.Applied), f.Passes, f.Files[0].Text())
	}
}

// TestFixThatMakesAnError leaves out the one fix of many after which the schema would not compile, and says so.
func TestFixThatMakesAnError(t *testing.T) {
	const text = `
#@residency(cpu)
type A struct {
  a: u8
  b: u64
}
#@residency(cpu)
type B struct {
  a: u8
  b: u64
}
type C struct {
  b: B
  rest: data[7]
  #@atomic
  n: u64
}
`
	f := mended([]byte(text), true)
	is := string(f.Files[0].Text())
	if f.Refused != 1 || len(f.Applied) == 0 || f.Left.HasErrors() {
		t.Errorf("%d refused, %d mended: %v\n%s", f.Refused, len(f.Applied), f.Left, is)
	}
	if s, list := schema.CompileAndLint(f.Files, schema.Options{}); s == nil || !slices.ContainsFunc(list, func(d *diag.Diagnostic) bool { return d.Code == diag.PaddingCast }) {
		t.Errorf("%v\n%s", list, is)
	}
}

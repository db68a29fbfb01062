package gen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
)

// large is a schema of n structs with what real ones have.
func large(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "# Record %d.\ntype Record%d struct {\n  id: uint\n  name: str\n  kind: Kind%d\n  tags: list<str>\n  attributes: map<str><data>\n", i, i, i)
		if i > 0 {
			fmt.Fprintf(&s, "  parent: optional<Record%d>\n", i/2)
		}
		s.WriteString("  weight: f64\n  created: i64\n}\n\n")
		fmt.Fprintf(&s, "type Kind%d enum {\n  UNKNOWN\n  FIRST_ONE\n  SECOND_ONE\n}\n\n", i)
	}
	return s.String()
}

// BenchmarkGo says how much Go comes out for a second of CPU time: MB/s is of
// output. It does not grow with the number of types.
func BenchmarkGo(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := compile(b, "large.bare", large(n))
			b.ReportAllocs()
			for b.Loop() {
				files, err := gen.Go(s, gen.Options{Package: "large"})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(files[0].Content)))
			}
		})
	}
}

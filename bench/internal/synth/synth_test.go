package synth

import (
	"bytes"
	"strings"
	"testing"
)

// TestSchema checks what measurements rely on: the same text each time, as many
// types as asked for, and the same schema in both syntaxes.
func TestSchema(t *testing.T) {
	for _, d := range []Dialect{New, Old} {
		a, b := Schema(1000, d), Schema(1000, d)
		if !bytes.Equal(a, b) {
			t.Error("two runs differ")
		}
		types := 0
		for _, l := range strings.Split(string(a), "\n") {
			if strings.HasPrefix(l, "type ") || strings.HasPrefix(l, "enum ") {
				types++
			}
		}
		if types != 1000 {
			t.Errorf("dialect %d: %d types", d, types)
		}
		if n := len(Schema(10000, d)) / len(a); n < 9 || n > 12 {
			t.Errorf("dialect %d: ten times the types are %d times the text", d, n)
		}
	}
	fields := func(b []byte) int { return bytes.Count(b, []byte(": ")) }
	if n, o := fields(Schema(1000, New)), fields(Schema(1000, Old)); n != o {
		t.Errorf("%d fields in new syntax, %d in the old", n, o)
	}
}

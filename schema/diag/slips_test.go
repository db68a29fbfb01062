package diag

import (
	"strings"
	"testing"
)

func TestSlips(t *testing.T) {
	for _, c := range []struct {
		a, b       string
		most, want int
	}{
		{"align", "align", 3, 0},
		{"algin", "align", 3, 1},
		{"aline", "align", 3, 2},
		{"resdency", "residency", 3, 1},
		{"", "pad", 3, 3},
		{"Pad", "pad", 3, 1},
		{"pad", "residency", 3, 4}, // too far to count
		{strings.Repeat("a", 101), strings.Repeat("a", 101), 3, 4},
	} {
		if got := Slips(c.a, c.b, c.most); got != c.want {
			t.Errorf("Slips(%q, %q, %d) = %d, want %d", c.a, c.b, c.most, got, c.want)
		}
		if got := Slips(c.b, c.a, c.most); got != c.want {
			t.Errorf("Slips(%q, %q, %d) = %d, want %d", c.b, c.a, c.most, got, c.want)
		}
	}
}

package terminal

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, text, indent string
		width              int
		want               string
	}{
		{"fits", "one two", "  ", 7, "one two"},
		{"breaks", "one two three", "  ", 8, "one two\n  three"},
		{"indent counts", "aaa bbb ccc", "    ", 7, "aaa bbb\n    ccc"},
		{"a long word stands alone", "a bbbbbbbbbbbb c", "", 4, "a\nbbbbbbbbbbbb\nc"},
		{"code stays whole", "put `a b c` here", "", 9, "put\n`a b c`\nhere"},
		{"a lone backquote is none", "it's ` here now", "", 6, "it's `\nhere\nnow"},
		{"lines stay", "one\ntwo three", "> ", 7, "one\n> two\n> three"},
		{"an indented line keeps that", "one\n  two three", "", 7, "one\n  two\n  three"},
		{"columns, not bytes", "äöü äöü", "", 7, "äöü äöü"},
		{"wide characters", "漢字 漢字", "", 8, "漢字\n漢字"},
		{"nothing", "", "  ", 10, ""},
		{"spaces between words are one", "a   b", "", 10, "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Wrap(c.text, c.width, c.indent); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// FuzzWrap: no word is lost, and no line is too wide that could be broken.
func FuzzWrap(f *testing.F) {
	f.Add("put `a b` here\n  and there", uint8(9), uint8(2))
	f.Fuzz(func(t *testing.T, text string, width, indent uint8) {
		lead := strings.Repeat(" ", int(indent%20))
		got := Wrap(text, int(width), lead)
		if a, b := strings.Fields(got), strings.Fields(text); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Fatalf("%q became %q", text, got)
		}
		for _, line := range strings.Split(got, "\n") {
			ascii := !strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' })
			if ascii && len(words(line)) > 1 && len(line) > int(width) {
				t.Errorf("%q is wider than %d", line, width)
			}
		}
	})
}

// TestNoTerminal: what is none has no columns, whatever COLUMNS says.
func TestNoTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "50")
	var b strings.Builder
	if n := Columns(&b); n != 0 {
		t.Error(n)
	}
	if n := Prose(&b); n != Plain {
		t.Error(n)
	}
}

package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shows reports whether a terminal shows the text as it is: no control
// characters, nothing that turns the direction of writing, valid UTF-8.
func Shows(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return false
		}
		if unicode.IsControl(r) || turnsDirection(r) {
			return false
		}
	}
	return true
}

// turnsDirection reports whether a character changes the order in which a
// terminal shows its neighbours, so that what is read is not what is there.
func turnsDirection(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0xfeff
}

// Visible writes escapes for what Shows would not pass, so that no file name
// and no source text can steer the terminal.
func Visible(s string) string {
	if Shows(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < 0x80 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsControl(r) || turnsDirection(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

package wire

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// All lengths about the borders of the fast path, with a fault, or the end of
// a long character, at each place.
func TestValidUTF8(t *testing.T) {
	for n := range 70 {
		ascii := []byte(strings.Repeat("abcdefghij", 7)[:n])
		if !validUTF8(ascii) || !ValidString(string(ascii)) {
			t.Errorf("%d letters are refused", n)
		}
		for at := range n {
			for _, piece := range []string{"\x80", "\xff", "\xc0\x80", "é", "€", "😀", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x00"} {
				s := append([]byte{}, ascii...)
				copy(s[at:], piece)
				if got, want := ValidUTF8(s), utf8.Valid(s); got != want {
					t.Fatalf("%q: %v, want %v", s, got, want)
				}
				checkStr(t, string(s))
			}
		}
	}
}

// checkStr checks that the ways to write a str write the same, and read back.
func checkStr(t *testing.T, s string) {
	t.Helper()
	valid := utf8.ValidString(s)
	want := append(AppendUint([]byte{9}, uint64(len(s))), s...)
	got, ok := AppendStr([]byte{9}, s)
	if ok != valid || ok && !bytes.Equal(got, want) {
		t.Fatalf("AppendStr(%q) = %x, %v", s, got, ok)
	}
	room := make([]byte, len(want)+3)
	end := PutStr(room, 1, s)
	if valid != (end >= 0) || valid && (end != len(want) || !bytes.Equal(room[1:end], want[1:])) {
		t.Fatalf("PutStr(%q) = %x, %d", s, room, end)
	}
	if !bytes.Equal(room[len(want):], []byte{0, 0, 0}) {
		t.Fatalf("PutStr(%q) wrote behind it", s)
	}
	for mode := Fresh; mode <= Alias; mode++ {
		d := Begin(want, Options{Mode: mode})
		to := ""
		body := d.Buf[len(want)-len(s):]
		if ok := d.Short(&to, body) || d.Str(&to, body); ok != valid || ok && to != s {
			t.Fatalf("mode %d: Str(%q) = %q, %v", mode, s, to, ok)
		}
	}
}

func TestLongStr(t *testing.T) {
	for _, n := range []int{126, 127, 128, 129, 1000, 16383, 16384, 100_000} {
		checkStr(t, strings.Repeat("x", n))
		checkStr(t, strings.Repeat("x", n-2)+"é")
		checkStr(t, strings.Repeat("x", n-1)+"\xc3")
	}
}

func FuzzStr(f *testing.F) {
	f.Add("")
	f.Add("a name of some length, with é in it")
	f.Fuzz(func(t *testing.T, s string) { checkStr(t, s) })
}

func BenchmarkValidUTF8(b *testing.B) {
	for _, n := range []int{4, 10, 16, 20, 30, 64} {
		s := []byte(strings.Repeat("abcdefghij", 7)[:n])
		b.Run("ours/"+string(rune('0'+n/10))+string(rune('0'+n%10)), func(b *testing.B) {
			for b.Loop() {
				validUTF8(s)
			}
		})
		b.Run("std/"+string(rune('0'+n/10))+string(rune('0'+n%10)), func(b *testing.B) {
			for b.Loop() {
				utf8.Valid(s)
			}
		})
	}
}

package lint_test

import (
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/lint"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func compile(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, list := schema.Compile([]*source.File{source.NewFile("x.bare", []byte(text))}, schema.Options{})
	if s == nil {
		t.Fatal(list)
	}
	return s
}

// TestLock writes what is published, reads it back, and finds what was edited since.
func TestLock(t *testing.T) {
	s := compile(t, "#@package(kv)\n\ntype Name str\ntype User struct { name: Name }\n")
	text := lint.Lock(lint.PublishedIn(s.Schema))
	list, err := lint.ParseLock(source.NewFile("bare.lock", text))
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for in, want := range map[string]string{
		"#@package(kv)\n# Other words.\ntype User struct {\n  name: Name # here\n}\n\ntype Name str\n\ntype More u8\n": "",
		"#@package(kv)\n\ntype Name data\ntype User struct { name: Name }\n":                                           "x.bare:3:6 x.bare:4:6",
		"#@package(kv)\n\ntype Name str\n":                                     "bare.lock:4:1",
		"#@package(other)\n\ntype Name str\ntype User struct { name: Name }\n": "bare.lock:3:1 bare.lock:4:1",
	} {
		var got []string
		for _, d := range lint.Edited(compile(t, in).Schema, list) {
			where, _, _ := strings.Cut(d.String(), ": ")
			got = append(got, where)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestBadLock refuses what is no lock file, with the line.
func TestBadLock(t *testing.T) {
	hash := strings.Repeat("0", 64)
	for in, want := range map[string]string{
		"x\n":                             "bare.lock:1: not a line",
		"#\n" + hash + " - \n":            "bare.lock:2: not a line",
		hash[:63] + "g - A\n":             "bare.lock:1: ",
		hash + " - A\n" + hash + " - A\n": "bare.lock:2: `A` is locked in line 1 already",
	} {
		if _, err := lint.ParseLock(source.NewFile("bare.lock", []byte(in))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// FuzzLock reads anything: an error, or what writes as a lock file that reads the same.
func FuzzLock(f *testing.F) {
	f.Add([]byte(strings.Repeat("0", 64) + " - A\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := lint.ParseLock(source.NewFile("bare.lock", b))
		if err != nil {
			return
		}
		again, err := lint.ParseLock(source.NewFile("bare.lock", lint.Lock(list)))
		if err != nil || len(again) != len(list) {
			t.Fatal(err, list, again)
		}
	})
}

// TestExtendLock adds types to lock files that people have written in, and every line of theirs is kept.
func TestExtendLock(t *testing.T) {
	line := func(name string) string {
		return strings.SplitAfter(string(lint.Lock([]lint.Published{{Package: "p", Name: name}})), "\n")[2]
	}
	b, d := line("B"), line("D")
	for _, text := range []string{
		"", "\n", "# Ours.\n", "# Ours.\n" + b + "# About D.\n\n" + d + "# The end.\n", d + b, "# Ours.\r\n" + strings.ReplaceAll(b+d, "\n", "\r\n"),
		strings.TrimSuffix(b, "\n"), string(lint.Lock(nil)) + b + "# No end.",
	} {
		f := source.NewFile("bare.lock", []byte(text))
		locked, err := lint.ParseLock(f)
		if err != nil {
			t.Fatal(err)
		}
		got := string(lint.ExtendLock(f, locked, []lint.Published{{Package: "p", Name: "E"}, {Package: "p", Name: "C"}, {Package: "p", Name: "A"}}))
		rest := got
		for l := range strings.Lines(text) {
			_, after, ok := strings.Cut(rest, strings.TrimSpace(l))
			if rest = after; !ok {
				t.Errorf("%q is gone from %q", l, got)
			}
		}
		if all, err := lint.ParseLock(source.NewFile("bare.lock", []byte(got))); err != nil || len(all) != len(locked)+3 {
			t.Errorf("%q became %q: %v", text, got, err)
		}
		if strings.Contains(text, "About D") && got != "# Ours.\n"+line("A")+b+line("C")+"# About D.\n\n"+d+"# The end.\n"+line("E") {
			t.Errorf("%s", got)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/compat"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// TestUpToDate fails where somebody changed the registry and not the page.
func TestUpToDate(t *testing.T) {
	if err := run("../../"+path, true); err != nil {
		t.Error(err)
	}
	if err := write("../../"+changes, table(compat.Cells), true); err != nil {
		t.Error(err)
	}
}

// TestRun writes a page, finds it good, and finds it stale once it is changed.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "codes.md")
	if err := run(file, true); err == nil || !strings.Contains(err.Error(), command) {
		t.Errorf("of a page that is missing it says %v", err)
	}
	if err := run(file, false); err != nil {
		t.Fatal(err)
	}
	if err := run(file, true); err != nil {
		t.Errorf("of a page just written it says %v", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, "more"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(file, true); err == nil {
		t.Error("of a page with more it says nothing")
	}
}

// TestEveryRule holds that the page has all that explain shows.
func TestEveryRule(t *testing.T) {
	text, err := page(diag.Rules())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range diag.Rules() {
		_, section, ok := strings.Cut(string(text), "\n### "+string(r.Code)+" "+r.Name+"\n")
		section, _, _ = strings.Cut(section, "\n### ")
		if !ok || !strings.Contains(string(text), "(#"+anchor(r)+")") {
			t.Errorf("%s has no section, or no link to it", r.Code)
		}
		for _, part := range []string{plain(r.Title), plain(r.Why), r.Wrong, r.Right} {
			if !strings.Contains(section, strings.TrimSpace(part)) {
				t.Errorf("%s: the section lacks %q", r.Code, part)
			}
		}
	}
}

func TestNoStage(t *testing.T) {
	if _, err := page([]*diag.Rule{{Code: "BW0001"}}); err == nil {
		t.Error("a code of no stage has a place")
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"list<T>[n] is `list<T>[n]`": "list\\<T\\>\\[n\\] is `list<T>[n]`",
		"a_b `_` *":                  "a\\_b `_` \\*",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestProblemMatcher holds the matcher for GitHub Actions to what the command writes, with colors and without.
func TestProblemMatcher(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci/problem-matcher.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		ProblemMatcher []struct {
			Owner   string
			Pattern []struct {
				Regexp                                      string
				File, Line, Column, Severity, Message, Code int
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	p := file.ProblemMatcher[0].Pattern[0]
	// JavaScript's \x1b is Go's, too.
	re, err := regexp.Compile(p.Regexp)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("x.bare", []byte("type A struct {\n  a: u8\n  a: u8\n}\ntype B C\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check"}, {"check", "--format=short"}, {"check", "--color=always"}} {
		out, code := runCommand(append(args, "x.bare")...)
		var got []string
		for line := range strings.Lines(out) {
			if m := re.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
				got = append(got, strings.Join([]string{m[p.File], m[p.Line], m[p.Column], m[p.Severity], m[p.Code]}, " "))
			}
		}
		if want := "x.bare 3 3 error BW1104, x.bare 5 8 error BW1102"; code != 1 || strings.Join(got, ", ") != want {
			t.Errorf("%v: %q, want %q\n%q", args, got, want, out)
		}
	}
}

// TestPreCommitHooks runs the entry of each hook on a schema that is in order.
func TestPreCommitHooks(t *testing.T) {
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	exampleDir(t)
	n := 0
	for line := range strings.Lines(string(text)) {
		entry, ok := strings.CutPrefix(strings.TrimSpace(line), "entry: barewire-gen ")
		if !ok {
			continue
		}
		n++
		if out, code := runCommand(append(strings.Fields(entry), "telemetry.bare")...); code != 0 {
			t.Errorf("%q ends with %d\n%s", entry, code, out)
		}
	}
	if n < 4 {
		t.Errorf("%d hooks", n)
	}
}

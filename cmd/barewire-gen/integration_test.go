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
	if err := os.Mkdir("my schemas", 0o777); err != nil {
		t.Fatal(err)
	}
	const name = "my schemas/x y.bare"
	if err := os.WriteFile(name, []byte("type A struct {\n  a: u8\n  a: u8\n}\ntype B C\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check"}, {"check", "--format=short"}, {"check", "--color=always"}} {
		out, code := runCommand(append(args, name)...)
		var got []string
		for line := range strings.Lines(out) {
			if m := re.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
				got = append(got, strings.Join([]string{m[p.File], m[p.Line], m[p.Column], m[p.Severity], m[p.Code]}, " "))
			}
		}
		if want := name + " 3 3 error BW1104, " + name + " 5 8 error BW1102"; code != 1 || strings.Join(got, ", ") != want {
			t.Errorf("%v: %q, want %q\n%q", args, got, want, out)
		}
	}
}

// TestProblemMatcherLines holds the matcher to lines of other shapes: what is to be found in a log, and what is not.
func TestProblemMatcherLines(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci/problem-matcher.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		ProblemMatcher []struct{ Pattern []struct{ Regexp string } }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	re, err := regexp.Compile(file.ProblemMatcher[0].Pattern[0].Regexp)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"my schemas/a b.bare:3:3: error: it is wrong [BW1104]":              "my schemas/a b.bare|3|3|error|it is wrong|BW1104",
		`C:\src\a.bare:3:14: warning: a: b [c] [BW1104]`:                    `C:\src\a.bare|3|14|warning|a: b [c]|BW1104`,
		"/abs/é.bare:10:1: info: worth knowing [BW1201]":                    "/abs/é.bare|10|1|info|worth knowing|BW1201",
		"serve.go:14:24: error: `r` is not released on every path [BW5104]": "serve.go|14|24|error|`r` is not released on every path|BW5104",
		"<stdin>:1:1: error: this schema declares no type [BW1015]":         "<stdin>|1|1|error|this schema declares no type|BW1015",
		"  ::: v3.bare:3:17": "",
		" 3 |   x: f64":      "",
		"   = note: v3.bare:3:17: error: quoted [BW1104]":                       "",
		"1 error. Run `barewire-gen explain BW1104` for the rule and examples.": "",
		"other.go:3:3: undefined: x":                                            "",
		"barewire-gen: a.bare: no such file or directory":                       "",
	} {
		got := strings.Join(re.FindStringSubmatch(line)[min(1, len(re.FindStringSubmatch(line))):], "|")
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
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

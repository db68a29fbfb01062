package govet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers/vettool"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

const text = `package x

func (t *list[T]) add() {
	bad()
}

func plain() { bad() }

var top = bad
`

// TestStream reads what go commands write: one object behind the other, or, before 1.26, each under a line with
// its package, with errors of the build between them.
func TestStream(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.go")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	object := func(pkg, analyzer, list string) string {
		return `{"` + pkg + `": {"` + analyzer + `": ` + strings.ReplaceAll(list, "FILE", name) + "}}\n"
	}
	in := "# example.com/x\n" + object("example.com/x [example.com/x.test]", "bwsyntax", `[
		{"category": "BW5002", "posn": "FILE:7:16", "end": "FILE:7:19", "message": "second"},
		{"category": "BW5001", "posn": "FILE:4:2", "end": "FILE:4:5", "message": "first",
		 "related": [{"posn": "FILE:7:16", "end": "FILE:7:19", "message": "there"}, {"posn": "/missing/y.go:1:1", "end": "", "message": "gone"}],
		 "suggested_fixes": [{"message": "mend", "edits": [{"filename": "FILE", "start": 38, "end": 41, "new": "good"}]},
		                     {"message": "stale", "edits": [{"filename": "FILE", "start": 38, "end": 9999, "new": ""}]}]}
	]`) + "# example.com/broken\n./b.go:1:1: undefined: x\n" + "# example.com/y\n" +
		object("example.com/y", "bwlife", `[{"category": "BW5003", "posn": "FILE:9:11", "end": "", "message": "third"},
			{"category": "BW5003", "posn": "FILE:99:1", "end": "FILE:99:2", "message": "a line that is gone"}]`) + "{}\n" +
		object("example.com/z", "bwlife", `{"error": "internal error: it died"}`)
	c := &converter{dir: dir, result: &Result{}, files: map[string]*file{}}
	c.result.scopes = map[*diag.Diagnostic]string{}
	rest, err := c.stream([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	c.sort()
	if want := "# example.com/broken\n./b.go:1:1: undefined: x\n"; rest != want {
		t.Errorf("what is left is %q, want %q", rest, want)
	}
	if want := "bwlife over example.com/z: internal error: it died\n"; c.result.Bug != want {
		t.Errorf("the bug is %q, want %q", c.result.Bug, want)
	}
	var got []string
	for _, d := range c.result.Found {
		got = append(got, d.String()+" in "+c.result.Scope(d))
	}
	want := []string{
		"error: a line that is gone [BW5003] in example.com/y",
		"x.go:4:2: error: first [BW5001] in example.com/x.(*list).add",
		"x.go:7:16: error: second [BW5002] in example.com/x.plain",
		"x.go:9:11: error: third [BW5003] in example.com/y",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	d := c.result.Found[1]
	if d.Primary.Span.Text() != "bad" || len(d.Related) != 1 || d.Related[0].Span.Text() != "bad" {
		t.Errorf("the places are %q, %+v", d.Primary.Span.Text(), d.Related)
	}
	if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "/missing/y.go:1:1: gone") {
		t.Errorf("of the place in a file that is not there: %q", d.Notes)
	}
	if len(d.Fixes) != 1 || d.Fixes[0].Edits[0].Span.Text() != "bad" {
		t.Errorf("the fixes are %+v", d.Fixes)
	}
}

// TestBroken: what is no JSON is an error, not a clean run.
func TestBroken(t *testing.T) {
	for _, in := range []string{"{", `{"x": 1}`, `{"x": {"a": 1}}`, `{"x": {"a": {"error": 1}}}`} {
		c := &converter{result: &Result{}, files: map[string]*file{}}
		if _, err := c.stream([]byte(in)); err == nil {
			t.Errorf("%s is no error", in)
		}
	}
}

func TestCut(t *testing.T) {
	for in, want := range map[string]position{
		"/a/x.go:12:3": {"/a/x.go", 12, 3}, `C:\a\x.go:12:3`: {`C:\a\x.go`, 12, 3}, "/a/x.go:12": {"/a/x.go", 12, 1},
		"a:b.go:1:2": {"a:b.go", 1, 2}, "": {"", 0, 1}, "-": {"-", 0, 1},
	} {
		name, line, column := cut(in)
		if got := (position{name, line, column}); got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
}

type position struct {
	name         string
	line, column int
}

// TestMain lets the test's program be a tool that dies.
func TestMain(m *testing.M) {
	if os.Getenv("DIE") != "" && vettool.Called(os.Args[1:]) {
		vettool.Main(&analysis.Analyzer{Name: "dying", Doc: "dies", Run: func(*analysis.Pass) (any, error) { panic("dead") }})
	}
	os.Exit(m.Run())
}

// TestRunBug tells a tool that dies from a package that does not build.
func TestRunBug(t *testing.T) {
	t.Setenv("DIE", "1")
	t.Setenv("GOFLAGS", "-mod=mod")
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/x\n\ngo 1.25.0\n", "x.go": "package x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Options{Tool: self, Dir: dir, Packages: []string{"./..."}})
	if err != nil || !strings.Contains(r.Bug, "dying over example.com/x: dead") || r.Said != "" {
		t.Errorf("of a tool that dies it says %+v, %v", r, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n\nvar a int = \"\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err = Run(t.Context(), Options{Tool: self, Dir: dir})
	if err != nil || r.Bug != "" || !r.Failed || !strings.Contains(r.Said, "x.go:3:13") {
		t.Errorf("of a package that does not build it says %+v, %v", r, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if r, err := Run(ctx, Options{Tool: self, Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interrupt: %+v, %v", r, err)
	}
}

// TestRunSays: what the go command says beside findings is no failure; its code is. Without a go command there is an error.
func TestRunSays(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for the go command is a shell script")
	}
	dir := t.TempDir()
	stand := func(script string) {
		if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n"+script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	stand("echo 'go: downloading example.com/y v1.0.0' >&2; echo '{}'")
	r, err := Run(t.Context(), Options{Tool: "tool"})
	if err != nil || r.Failed || r.Bug != "" || r.Said != "go: downloading example.com/y v1.0.0\n" {
		t.Errorf("of a download it says %+v, %v", r, err)
	}
	stand("echo 'x.go:1:1: no' >&2; exit 1")
	if r, err := Run(t.Context(), Options{Tool: "tool"}); err != nil || !r.Failed || r.Said == "" {
		t.Errorf("of a failure it says %+v, %v", r, err)
	}
	stand("exit 7")
	if r, err := Run(t.Context(), Options{Tool: "tool"}); err == nil {
		t.Errorf("of a failure without a word it says %+v", r)
	}
	if err := os.Remove(filepath.Join(dir, "go")); err != nil {
		t.Fatal(err)
	}
	if r, err := Run(t.Context(), Options{Tool: "tool"}); err == nil || !strings.Contains(err.Error(), "cannot be run") {
		t.Errorf("without a go command: %+v, %v", r, err)
	}
}

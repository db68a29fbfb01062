package scratch

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Refusal is a line of a program that does not compile, as it must not.
type Refusal struct {
	File string // its base name
	Line int
	Code string // without the comment
	Note string // what the comment says before `want`
	Text string // what the compiler says of it
}

// comment is behind each line that must not compile. The word in quotes must be in
// what the compiler says: compilers word their errors differently, and names of ours stay.
var comment = regexp.MustCompile(`// (?:(.+): )?want "(.+)"`)

// Refused builds the programs that match a pattern, as one package of the module.
// It holds each of the compiler's errors to a line with a comment, as in
//
//	_ = barewire.Slice(w) // 44: want "CanExclusive"
//
// and gives them in the order of the lines. Lines that compile, and errors of other
// lines, fail the test.
func (m *Module) Refused(pattern string) []Refusal {
	m.t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		m.t.Fatalf("no programs %s: %v", pattern, err)
	}
	var all []Refusal
	words := map[string]string{} // by file:line
	for _, f := range files {
		code, err := os.ReadFile(f)
		if err != nil {
			m.t.Fatal(err)
		}
		m.Write("misuse/"+filepath.Base(f), code)
		lines := bufio.NewScanner(bytes.NewReader(code))
		for n := 1; lines.Scan(); n++ {
			if c := comment.FindStringSubmatch(lines.Text()); c != nil {
				r := Refusal{File: filepath.Base(f), Line: n, Note: c[1]}
				r.Code = strings.TrimSpace(strings.TrimSuffix(lines.Text(), c[0]))
				all = append(all, r)
				words[r.place()] = c[2]
			}
		}
		if err := lines.Err(); err != nil {
			m.t.Fatal(err)
		}
	}
	got := m.compileErrors("./misuse")
	for i := range all {
		r := &all[i]
		r.Text = strings.TrimSuffix(got[r.place()], "\n")
		if !strings.Contains(r.Text, words[r.place()]) {
			m.t.Errorf("%s: the compiler says %q, which should have %q", r.place(), r.Text, words[r.place()])
		}
	}
	for where, text := range got {
		if words[where] == "" {
			m.t.Errorf("%s: unexpected: %s", where, text)
		}
	}
	return all
}

func (r *Refusal) place() string { return fmt.Sprintf("%s:%d", r.File, r.Line) }

// compileErrors builds a package that does not compile, and gives what the compiler
// says by file:line.
func (m *Module) compileErrors(pkg string) map[string]string {
	m.t.Helper()
	out, err := m.Go(nil, "build", "-gcflags=-e", pkg)
	if err == nil {
		m.t.Fatal("it compiles")
	}
	at := regexp.MustCompile(`(?m)^misuse/(\w+\.go:\d+):\d+: (.*(?:\n\t.*)*)`)
	got := map[string]string{}
	for _, e := range at.FindAllStringSubmatch(out, -1) {
		got[e[1]] += strings.ReplaceAll(e[2], "\n\t", " ") + "\n"
	}
	return got
}

package schema

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/lint"
	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/printer"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Lint is what lint finds beyond compiling, of a schema without errors and of nothing but that.
func Lint(s *Schema) diag.List { return lint.Advise(s.Schema, s.Layouts, lint.Options{}) }

// CompileAndLint compiles files and, if they have no errors, lints them. The list is sorted.
func CompileAndLint(files []*source.File, opts Options) (*Schema, diag.List) {
	s, list := Compile(files, opts)
	if s != nil {
		list = append(list, lint.Advise(s.Schema, s.Layouts, lint.Options{Spec: opts.Spec, Granted: opts.Granted})...)
		list.Sort(files)
	}
	return s, list
}

// FixOptions selects fixes.
type FixOptions struct {
	Options
	Breaking bool // also those that change the wire, hashes, or names in Go
}

// Fixed is files after their fixes.
type Fixed struct {
	Files   []*source.File // in the order of those that were given; unchanged ones are the same
	Applied diag.List      // what was mended, at places of the text it had then
	Left    diag.List      // what CompileAndLint finds now
	Holds   int            // how many fixes were held back since they break something
	Refused int            // how many were not made since they would make an error
	Passes  int            // how often what could be mended was mended, all at once
	Stopped bool           // it stopped at mostPasses, and there is more to mend
}

// mostPasses bounds how often fixes are looked for again. A pass mends all that do not depend on one another,
// so there are about as many as types stand in types.
const mostPasses = 1000

// Fix applies the fixes of what lint and the compiler find, until there are none. Mistakes of
// syntax are left to who made them. A file in the standard form is in the standard form afterwards; in others only the
// places of the fixes are touched. Fixes that would make an error where there was none are not made.
func Fix(files []*source.File, opts FixOptions) Fixed {
	f := Fixed{Files: slices.Clone(files)}
	m := mender{opts: opts, refused: map[string]bool{}}
	for {
		s, list := CompileAndLint(f.Files, opts.Options)
		f.Left = list
		todo := m.choose(s, list)
		if f.Stopped = len(todo) > 0 && f.Passes == mostPasses; f.Stopped || len(todo) == 0 {
			break
		}
		if done := m.attempt(f.Files, nil, todo, s != nil); len(done) > 0 {
			f.Files = apply(f.Files, done)
			f.Passes++
			for _, x := range done {
				f.Applied = append(f.Applied, x.d)
			}
		}
	}
	f.Refused = len(m.refused)
	for _, d := range f.Left {
		if len(d.Fixes) > 0 && d.Fixes[0].Breaks != "" && !opts.Breaking {
			f.Holds++
		}
	}
	return f
}

// apply makes edits, which do not overlap, and keeps the standard form where a file has it.
func apply(files []*source.File, list []mend) []*source.File {
	edits := map[*source.File][]diag.Edit{}
	for _, x := range list {
		for _, e := range x.edits {
			edits[e.Span.File] = append(edits[e.Span.File], e)
		}
	}
	files = slices.Clone(files)
	for i, f := range files {
		mine := edits[f]
		if len(mine) == 0 {
			continue
		}
		slices.SortStableFunc(mine, func(a, b diag.Edit) int { return a.Span.Start - b.Span.Start })
		next := source.NewFile(f.Name(), edited(f.Text(), mine))
		if formatted, ok := standard(f); ok && bytes.Equal(formatted, f.Text()) {
			if formatted, ok := standard(next); ok {
				next = source.NewFile(f.Name(), formatted)
			}
		}
		files[i] = next
	}
	return files
}

// edited is a text with edits, which are in the order of their places. New lines end as the others do.
func edited(text []byte, edits []diag.Edit) []byte {
	crlf := 2*bytes.Count(text, []byte("\r\n")) > bytes.Count(text, []byte("\n"))
	var out []byte
	at := 0
	for _, e := range edits {
		lines := strings.ReplaceAll(e.New, "\r\n", "\n")
		if crlf {
			lines = strings.ReplaceAll(lines, "\n", "\r\n")
		}
		out = append(append(out, text[at:e.Span.Start]...), lines...)
		at = e.Span.End
	}
	return append(out, text[at:]...)
}

// standard is a file in the standard form, where it can be read.
func standard(f *source.File) ([]byte, bool) {
	tree, errs := parser.Parse(f)
	if errs.HasErrors() {
		return nil, false
	}
	return printer.Format(tree), true
}

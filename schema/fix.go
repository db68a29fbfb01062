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

// Lint is what lint finds beyond compiling, of a schema without errors.
func Lint(s *Schema) diag.List { return lint.Advise(s.Schema, s.Layouts) }

// CompileAndLint compiles files and, if they have no errors, lints them. The list is sorted.
func CompileAndLint(files []*source.File, opts Options) (*Schema, diag.List) {
	s, list := Compile(files, opts)
	if s != nil {
		list = append(list, Lint(s)...)
		list.Sort(files)
	}
	return s, list
}

// FixOptions selects fixes.
type FixOptions struct {
	Options
	Breaking bool // also those that change the wire, or names in Go
}

// Fixed is files after their fixes.
type Fixed struct {
	Files   []*source.File // in the order of those that were given; unchanged ones are the same
	Applied diag.List      // what was mended, at places of the text it had then
	Left    diag.List      // what CompileAndLint finds now
	Holds   int            // how many fixes were held back since they break something
}

// mostRounds bounds how often fixes are looked for again: each round mends at least one finding.
const mostRounds = 1000

// Fix applies the fixes of what lint and the compiler find, until there are none. Mistakes of
// syntax are left to who made them. A file in the standard form is in the standard form afterwards; in others only the
// places of the fixes are touched. Fixes that would make an error where there was none are not made.
func Fix(files []*source.File, opts FixOptions) Fixed {
	f := Fixed{Files: slices.Clone(files)}
	skip := map[string]bool{}
	for range mostRounds {
		s, list := CompileAndLint(f.Files, opts.Options)
		f.Left = list
		todo := fixes(s, list, opts.Breaking)
		progress := false
		for _, x := range todo {
			if skip[x.key()] {
				continue
			}
			next := apply(f.Files, x.edits)
			if now, _ := Compile(next, opts.Options); s != nil && now == nil {
				skip[x.key()] = true
				continue
			}
			f.Files, progress = next, true
			f.Applied = append(f.Applied, x.d)
			break
		}
		if !progress {
			break
		}
	}
	for _, d := range f.Left {
		if len(d.Fixes) > 0 && d.Fixes[0].Breaks != "" && !opts.Breaking {
			f.Holds++
		}
	}
	return f
}

// mend is one fix, of one finding.
type mend struct {
	d     *diag.Diagnostic
	edits []diag.Edit
}

func (m mend) key() string {
	text := string(m.d.Code) + m.d.Message
	for _, e := range m.edits {
		text += e.New
	}
	return text
}

// fixes lists what may be mended.
func fixes(s *Schema, list diag.List, breaking bool) (all []mend) {
	for _, d := range list {
		if bytes.HasPrefix([]byte(d.Code), []byte("BW10")) {
			continue
		}
		if d.Code == diag.ForwardReference && s != nil {
			for _, ns := range s.Namespaces {
				for _, f := range ns.Files {
					if f.Syntax.Src != d.Primary.Span.File {
						continue
					}
					if e, ok := lint.InOrder(f); ok {
						all = append(all, mend{d, []diag.Edit{e}})
					}
				}
			}
		}
		if len(d.Fixes) > 0 && (breaking || d.Fixes[0].Breaks == "") {
			all = append(all, mend{d, d.Fixes[0].Edits})
		}
	}
	return all
}

// apply makes edits, which do not overlap, and keeps the standard form where a file has it.
func apply(files []*source.File, edits []diag.Edit) []*source.File {
	files = slices.Clone(files)
	for i, f := range files {
		mine := slices.DeleteFunc(slices.Clone(edits), func(e diag.Edit) bool { return e.Span.File != f })
		if len(mine) == 0 {
			continue
		}
		slices.SortStableFunc(mine, func(a, b diag.Edit) int { return b.Span.Start - a.Span.Start })
		text := slices.Clone(f.Text())
		crlf := 2*bytes.Count(text, []byte("\r\n")) > bytes.Count(text, []byte("\n"))
		for _, e := range mine {
			lines := strings.ReplaceAll(e.New, "\r\n", "\n")
			if crlf {
				// New lines end as the others do.
				lines = strings.ReplaceAll(lines, "\n", "\r\n")
			}
			text = slices.Concat(text[:e.Span.Start], []byte(lines), text[e.Span.End:])
		}
		next := source.NewFile(f.Name(), text)
		if formatted, ok := standard(f); ok && bytes.Equal(formatted, f.Text()) {
			if formatted, ok := standard(next); ok {
				next = source.NewFile(f.Name(), formatted)
			}
		}
		files[i] = next
	}
	return files
}

// standard is a file in the standard form, where it can be read.
func standard(f *source.File) ([]byte, bool) {
	tree, errs := parser.Parse(f)
	if errs.HasErrors() {
		return nil, false
	}
	return printer.Format(tree), true
}

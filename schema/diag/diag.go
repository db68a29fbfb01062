// Package diag is the one model of what the compiler tells a user: diagnostics,
// and the registry of the codes that they carry.
//
// A message is one clause in lower case without a final stop. It says what is
// wrong in the user's words, points at the smallest span, shows the other place
// where there are two, and helps with what to change. How it looks on a
// terminal or in a machine format is not decided here.
package diag

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Severity is how much a diagnostic weighs.
type Severity uint8

const (
	Error   Severity = iota // the schema cannot be compiled; the program fails when it comes there
	Warning                 // it compiles; something is likely to go wrong
	Info                    // worth knowing: a peer that refuses it, a name that changed
)

func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "info"
}

// Label is a place with a remark on it.
type Label struct {
	Span source.Span
	Text string // may be empty
}

// Edit replaces what stands at a span. An empty span inserts.
type Edit struct {
	Span source.Span
	New  string
}

// Fix is a change that a tool may apply for the user, as a whole or not at all.
type Fix struct {
	Text  string
	Edits []Edit
	// Breaks is "wire" where messages of before cannot be read afterwards, "source" where Go programs may
	// have to change, "memory" where a type's hash changes and nothing else, so that peers of before refuse references
	// and lock files call the type edited; and else empty. Text says so, too.
	Breaks string
}

// Kinds of Fix.Breaks.
const (
	BreaksWire   = "wire"
	BreaksSource = "source"
	BreaksMemory = "memory"
)

// Diagnostic is one finding.
type Diagnostic struct {
	Code     Code
	Severity Severity
	Message  string
	Primary  Label   // what the first line points at; its Text stands behind the carets
	Related  []Label // the other places: a first declaration, a clashing tag
	Notes    []string
	Help     []string
	Fixes    []Fix
	Tags     []string // words for programs that choose among findings: whom a change breaks
}

// Errorf makes an error with a code at a span. Its severity is the rule's.
func Errorf(code Code, at source.Span, format string, args ...any) *Diagnostic {
	return &Diagnostic{
		Code: code, Severity: code.Rule().Severity,
		Message: fmt.Sprintf(format, args...), Primary: Label{Span: at},
	}
}

// Labelf sets the remark behind the carets of the primary span.
func (d *Diagnostic) Labelf(format string, args ...any) *Diagnostic {
	d.Primary.Text = fmt.Sprintf(format, args...)
	return d
}

// Also adds another place.
func (d *Diagnostic) Also(at source.Span, format string, args ...any) *Diagnostic {
	d.Related = append(d.Related, Label{at, fmt.Sprintf(format, args...)})
	return d
}

// Notef adds a note: a fact that explains.
func (d *Diagnostic) Notef(format string, args ...any) *Diagnostic {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
	return d
}

// Helpf adds help: what to change.
func (d *Diagnostic) Helpf(format string, args ...any) *Diagnostic {
	d.Help = append(d.Help, fmt.Sprintf(format, args...))
	return d
}

// Fix adds a change that a tool may apply.
func (d *Diagnostic) Fix(text string, edits ...Edit) *Diagnostic {
	d.Fixes = append(d.Fixes, Fix{Text: text, Edits: edits})
	return d
}

// Breaking says of the last fix what it breaks.
func (d *Diagnostic) Breaking(what string) *Diagnostic {
	if n := len(d.Fixes); n > 0 {
		d.Fixes[n-1].Breaks = what
	}
	return d
}

// String is the diagnostic's first line: file:line:col: error: message [CODE].
func (d *Diagnostic) String() string {
	where := ""
	if f := d.Primary.Span.File; f != nil {
		p := d.Primary.Span.Pos()
		where = fmt.Sprintf("%s:%d:%d: ", f.Name(), p.Line, p.Column)
	}
	return fmt.Sprintf("%s%s: %s [%s]", where, d.Severity, d.Message, d.Code)
}

// MaxErrors is how many errors a parser or resolver keeps before it gives up
// with TooManyErrors.
const MaxErrors = 1000

// List is what one run found.
type List []*Diagnostic

// HasErrors reports whether one of them is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d *Diagnostic) bool { return d.Severity == Error })
}

// Sort puts the list in the order of the files given, then of place, then of code.
// Diagnostics without a place come first.
func (l List) Sort(files []*source.File) {
	order := make(map[*source.File]int, len(files))
	for i, f := range files {
		order[f] = i + 1
	}
	slices.SortStableFunc(l, func(a, b *Diagnostic) int {
		return cmp.Or(
			cmp.Compare(order[a.Primary.Span.File], order[b.Primary.Span.File]),
			cmp.Compare(a.Primary.Span.Start, b.Primary.Span.Start),
			cmp.Compare(a.Code, b.Code),
		)
	})
}

// Err returns the list as an error where it has one, else nil.
func (l List) Err() error {
	if l.HasErrors() {
		return l
	}
	return nil
}

// Error is the first error's line, and how many more there are.
func (l List) Error() string {
	n, first := 0, ""
	for _, d := range l {
		if d.Severity == Error {
			if n++; n == 1 {
				first = d.String()
			}
		}
	}
	if n > 1 {
		return fmt.Sprintf("%s (and %d more errors)", first, n-1)
	}
	return first
}

package report

import (
	"bytes"
	"encoding/json"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// DocumentVersion is the version of the JSON format. It grows when a field
// changes its meaning or goes; new fields may come at any time.
const DocumentVersion = 1

// Document is what --format=json writes: one object on the standard output.
// Lines and columns count from 1, columns in bytes; an end is the place behind
// the last byte. A finding without a place has no file and zero for the rest.
type Document struct {
	Version     int       `json:"version"`
	Diagnostics []Finding `json:"diagnostics"`
	Files       []File    `json:"files,omitempty"`
	Mended      *Mended   `json:"mended,omitempty"` // of lint --fix and --diff
	Summary     Summary   `json:"summary"`
}

// Finding is one diagnostic.
type Finding struct {
	Code     string    `json:"code"`     // BW and four digits
	Name     string    `json:"name"`     // the rule's name in words
	Severity string    `json:"severity"` // error, warning or info
	Message  string    `json:"message"`
	Place              // the place it points at
	Label    string    `json:"label,omitempty"` // the remark on that place
	Related  []Related `json:"related,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Help     []string  `json:"help,omitempty"`
	Fixes    []Fix     `json:"fixes,omitempty"`
	Tags     []string  `json:"tags,omitempty"` // of compat: source, wire, memory
}

// Place is a run of bytes in a file.
type Place struct {
	File      string `json:"file,omitempty"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
}

// Related is another place that a finding speaks of.
type Related struct {
	Message string `json:"message"`
	Place
}

// Fix is a change that may be applied as a whole.
type Fix struct {
	Message string `json:"message"`
	Breaks  string `json:"breaks,omitempty"` // wire, source or memory: what the change breaks
	Edits   []Edit `json:"edits"`
}

// Edit replaces what stands at a place; where the place is empty, it inserts.
type Edit struct {
	Place
	NewText string `json:"newText"`
}

// File is what generate and fmt did, or would do, to a file.
type File struct {
	Name  string `json:"name"`
	State string `json:"state"` // written, unchanged, different, missing
}

// Mended counts fixes.
type Mended struct {
	Made    int  `json:"made"`
	Held    int  `json:"held"`              // they break something, and --breaking was not said
	Refused int  `json:"refused"`           // they would make an error elsewhere
	Stopped bool `json:"stopped,omitempty"` // there is more to mend: run it again
}

// Summary counts the findings.
type Summary struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

func writeJSON(buf *bytes.Buffer, l diag.List, o Options) {
	n := tallyOf(l)
	doc := Document{
		Version:     DocumentVersion,
		Diagnostics: make([]Finding, 0, len(l)),
		Files:       o.Files,
		Mended:      o.Mended,
		Summary:     Summary{n.errors, n.warnings, n.infos},
	}
	for _, d := range l {
		doc.Diagnostics = append(doc.Diagnostics, findingOf(d))
	}
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	// Encoding strings and integers into memory cannot fail.
	_ = enc.Encode(doc)
}

func findingOf(d *diag.Diagnostic) Finding {
	f := Finding{
		Code: string(d.Code), Name: d.Code.Rule().Name, Severity: d.Severity.String(), Message: d.Message,
		Place: placeOf(d.Primary.Span), Label: d.Primary.Text, Notes: d.Notes, Help: d.Help, Tags: d.Tags,
	}
	for _, l := range d.Related {
		f.Related = append(f.Related, Related{l.Text, placeOf(l.Span)})
	}
	for _, x := range d.Fixes {
		fix := Fix{Message: x.Text, Breaks: x.Breaks, Edits: make([]Edit, 0, len(x.Edits))}
		for _, e := range x.Edits {
			fix.Edits = append(fix.Edits, Edit{placeOf(e.Span), e.New})
		}
		f.Fixes = append(f.Fixes, fix)
	}
	return f
}

func placeOf(s source.Span) Place {
	if !s.IsValid() {
		return Place{}
	}
	from, to := s.Pos(), s.File.Position(s.End, source.Bytes)
	return Place{s.File.Name(), from.Line, from.Column, to.Line, to.Column}
}

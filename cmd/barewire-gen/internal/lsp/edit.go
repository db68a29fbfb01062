package lsp

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/lint"
	"github.com/fidelityframework/barewire-gen/schema/printer"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// formatting gives the edit that makes of a document what `fmt` makes of it; none where
// it has that form. What cannot be read is not formatted.
func (s *server) formatting(p *documentParams) (any, error) {
	d, err := s.open(p.TextDocument)
	if err != nil {
		return nil, err
	}
	t := d.tree()
	if t.Found.HasErrors() {
		first := slices.IndexFunc(t.Found, func(f *diag.Diagnostic) bool { return f.Severity == diag.Error })
		return nil, errorf(requestFailed, "the schema has errors of syntax: %s", t.Found[first].Message)
	}
	edits := []textEdit{}
	if e, changed := d.replace(printer.Format(t.Tree)); changed {
		edits = append(edits, e)
	}
	return edits, nil
}

// replace is the smallest edit of whole characters that makes a text of the document.
func (u *unit) replace(now []byte) (textEdit, bool) {
	old := u.file.Text()
	if bytes.Equal(old, now) {
		return textEdit{}, false
	}
	from := 0
	for from < min(len(old), len(now)) && old[from] == now[from] {
		from++
	}
	for from > 0 && (from < len(old) && !utf8.RuneStart(old[from]) || from < len(now) && !utf8.RuneStart(now[from])) {
		from--
	}
	// No edit may part a CR from its LF: positions within a line end mean its start.
	if from > 0 && old[from-1] == '\r' {
		from--
	}
	oldEnd, newEnd := len(old), len(now)
	for oldEnd > from && newEnd > from && old[oldEnd-1] == now[newEnd-1] {
		oldEnd, newEnd = oldEnd-1, newEnd-1
	}
	for oldEnd < len(old) && !utf8.RuneStart(old[oldEnd]) {
		oldEnd, newEnd = oldEnd+1, newEnd+1
	}
	if oldEnd > 0 && oldEnd < len(old) && old[oldEnd] == '\n' && old[oldEnd-1] == '\r' {
		oldEnd, newEnd = oldEnd+1, newEnd+1
	}
	return textEdit{u.span(source.Span{File: u.file, Start: from, End: oldEnd}), string(now[from:newEnd])}, true
}

// codeActions offers the changes that findings in a range come with, those of the
// compiler and of lint; and at once all of the document's that break nothing.
func (s *server) codeActions(p *codeActionParams) (any, error) {
	d, err := s.open(p.TextDocument)
	if err != nil {
		return nil, err
	}
	actions := []codeAction{}
	if d.of != d.unit {
		return actions, nil // places have moved; the next diagnostics bring them
	}
	wanted := func(kind string) bool {
		return len(p.Context.Only) == 0 || slices.ContainsFunc(p.Context.Only, func(o string) bool { return kind == o || strings.HasPrefix(kind, o+".") })
	}
	from, to := d.offset(p.Range.Start), d.offset(p.Range.End)
	var all []diag.Edit
	var order *workspaceEdit
	for _, f := range s.shown(d) {
		at := f.Primary.Span
		near := at.Start <= to && from <= at.End
		if f.Code == diag.ForwardReference && order == nil {
			if order = d.inOrder(); order != nil && near && wanted("quickfix") {
				actions = append(actions, codeAction{
					Title: "put the declarations in order", Kind: "quickfix", Diagnostics: []lspDiagnostic{s.diagnostic(d, f)}, IsPreferred: true, Edit: *order,
				})
			}
		}
		for i, fix := range f.Fixes {
			if i == 0 && fix.Breaks == "" && !slices.ContainsFunc(fix.Edits, func(e diag.Edit) bool { return overlaps(all, e) }) {
				all = append(all, fix.Edits...)
			}
			if edit, ok := d.edit(fix.Edits); ok && wanted("quickfix") && near {
				actions = append(actions, codeAction{
					Title: fix.Text + breaks(fix), Kind: "quickfix", Diagnostics: []lspDiagnostic{s.diagnostic(d, f)}, IsPreferred: i == 0 && fix.Breaks == "", Edit: edit,
				})
			}
		}
	}
	edit, ok := d.edit(all)
	if !ok && order != nil { // it replaces most of the text, so it waits until nothing else is to be done, as with lint --fix
		edit, ok = *order, true
	}
	if ok && wanted("source.fixAll") && len(p.Context.Only) > 0 {
		actions = append(actions, codeAction{Title: "apply every change that breaks nothing", Kind: "source.fixAll", Edit: edit})
	}
	return actions, nil
}

// inOrder is the change that puts each declaration behind those that it uses, as lint --fix does it; nil where there
// is none, or errors are to be mended first.
func (d *document) inOrder() *workspaceEdit {
	if d.schema == nil || d.found.HasErrors() {
		return nil
	}
	for _, ns := range d.schema.Namespaces {
		for _, f := range ns.Files {
			if f.Syntax.Src != d.of.file {
				continue
			}
			if e, ok := lint.InOrder(f); ok {
				text := d.of.file.Text()
				now := slices.Concat(text[:e.Span.Start], []byte(e.New), text[e.Span.End:])
				if change, ok := d.replace(now); ok {
					return &workspaceEdit{map[string][]textEdit{d.uri: {change}}}
				}
			}
		}
	}
	return nil
}

// breaks is what a title says of a change that others will notice, where the fix's own words do not.
func breaks(f diag.Fix) string {
	if strings.Contains(f.Text, "which changes") {
		return ""
	}
	switch f.Breaks {
	case diag.BreaksWire:
		return " (changes the wire)"
	case diag.BreaksSource:
		return " (changes names in Go)"
	case diag.BreaksMemory:
		return " (changes the hash)"
	}
	return ""
}

// overlaps reports whether an edit touches one of others.
func overlaps(edits []diag.Edit, e diag.Edit) bool {
	return slices.ContainsFunc(edits, func(o diag.Edit) bool {
		return o.Span.File == e.Span.File && e.Span.Start <= o.Span.End && o.Span.Start <= e.Span.End
	})
}

// edit is edits in the protocol's words. It fails where one is in no file of the
// document's.
func (d *document) edit(edits []diag.Edit) (workspaceEdit, bool) {
	w := workspaceEdit{map[string][]textEdit{}}
	for _, e := range edits {
		uri := d.uris[e.Span.File]
		if uri == "" {
			return w, false
		}
		w.Changes[uri] = append(w.Changes[uri], textEdit{spanOf(e.Span), e.New})
	}
	return w, len(edits) > 0
}

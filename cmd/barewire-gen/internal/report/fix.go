package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// fix shows what a change does: the lines that go and those that come.
func (t *text) fix(f diag.Fix) {
	var files []*source.File
	for _, e := range f.Edits {
		if e.Span.IsValid() && !slices.Contains(files, e.Span.File) {
			files = append(files, e.Span.File)
		}
	}
	for _, file := range files {
		edits := slices.DeleteFunc(slices.Clone(f.Edits), func(e diag.Edit) bool { return e.Span.File != file })
		slices.SortStableFunc(edits, func(a, b diag.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
		t.change(file, edits)
	}
}

// change shows edits of one file, which are sorted and do not overlap.
func (t *text) change(f *source.File, edits []diag.Edit) {
	line, old, now := apply(f, edits)
	for len(old) > 0 && len(now) > 0 && bytes.Equal(old[0], now[0]) {
		line, old, now = line+1, old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && bytes.Equal(old[len(old)-1], now[len(now)-1]) {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	fmt.Fprintln(t, t.rail())
	for i, text := range old {
		r := t.row(text, 0)
		fmt.Fprintln(t, t.numbered(line+i, "-")+" "+r.String())
	}
	for i, text := range now {
		r := t.row(text, 0)
		fmt.Fprintln(t, t.numbered(line+i, "+")+" "+r.String())
	}
}

// apply returns the whole lines that the edits touch, before and after, and the
// number of the first.
func apply(f *source.File, edits []diag.Edit) (line int, old, now [][]byte) {
	line = edits[0].Span.Pos().Line
	at := f.LineStart(line)
	var after []byte
	from := at
	for _, e := range edits {
		if e.Span.Start < at {
			continue // overlapping edits are a bug of the rule; show the first
		}
		after = append(after, f.Text()[at:e.Span.Start]...)
		after = append(after, e.New...)
		at = e.Span.End
	}
	end := at
	if i := bytes.IndexByte(f.Text()[at:], '\n'); i >= 0 {
		end = at + i
	} else {
		end = len(f.Text())
	}
	after = append(after, f.Text()[at:end]...)
	return line, bytes.Split(f.Text()[from:end], []byte("\n")), bytes.Split(after, []byte("\n"))
}

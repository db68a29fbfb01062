package lint

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// InOrder writes the declarations of a file so that each stands behind those that it uses, and
// otherwise as they stand. Comments above a declaration, and behind it on its line, go with it; what stands
// above the first one and does not belong to it stays. It returns false where the order is good.
func InOrder(f *resolve.File) (diag.Edit, bool) {
	place := make(map[*resolve.Decl]int, len(f.Decls))
	for i, d := range f.Decls {
		place[d] = i
	}
	var order []int
	state := make([]uint8, len(f.Decls)) // 1: being visited, 2: written
	var visit func(i int)
	uses := func(t *resolve.Type) {
		if j, here := place[t.Decl]; t.Kind == resolve.Ref && here {
			visit(j)
		}
	}
	visit = func(i int) {
		if state[i] != 0 {
			return
		}
		state[i] = 1
		each(f.Decls[i].Type, uses)
		order = append(order, i)
	}
	same := true
	for i := range f.Decls {
		visit(i)
	}
	for i, j := range order {
		same = same && i == j
	}
	if same {
		return diag.Edit{}, false
	}
	return reorder(f, order), true
}

// reorder writes the declarations of a file in an order.
func reorder(f *resolve.File, order []int) diag.Edit {
	src := f.Syntax.Src
	var spans []source.Span
	for _, d := range f.Decls {
		spans = append(spans, d.Syntax.Span)
	}
	first := f.Decls[0].Syntax
	from := first.Span.Start
	top := 0 // behind #@package, which stays at the top with what is above it
	for _, a := range first.Annots {
		if a.Name.Name == "package" {
			top = a.Span.End
		}
	}
	for _, c := range first.Doc {
		if c.Span.Start >= top {
			from = min(from, c.Span.Start)
		}
	}
	for _, a := range first.Annots {
		if a.Span.Start >= top {
			from = min(from, a.Span.Start)
		}
	}
	list := chunks(src, f.Syntax.Comments, from, spans)
	list[0].blank = true
	var b strings.Builder
	if !firstOnLine(src, list[0].start) {
		b.WriteByte('\n')
	}
	for n, i := range order {
		if n > 0 {
			b.WriteByte('\n')
			if list[i].blank || list[order[n-1]].blank {
				b.WriteByte('\n')
			}
		}
		b.WriteString(list[i].text)
	}
	end := list[len(list)-1].end
	if lineRest(src, end) != "" {
		b.WriteByte('\n')
	}
	return diag.Edit{Span: source.Span{File: src, Start: list[0].start, End: end}, New: b.String()}
}

// each visits a type and what stands in it, but does not follow names.
func each(t *resolve.Type, visit func(*resolve.Type)) {
	visit(t)
	for _, f := range t.Fields {
		each(f.Type, visit)
	}
	for _, m := range t.Members {
		each(m.Type, visit)
	}
	if t.Key != nil {
		each(t.Key, visit)
	}
	if t.Elem != nil {
		each(t.Elem, visit)
	}
}

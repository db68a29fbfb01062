package printer

import (
	"bytes"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// maxLine is how wide a body on one line may be, without what stands before and
// behind it: so whether it fits does not depend on where it stands.
const maxLine = 72

func (p *printer) decl(d *ast.Decl) {
	start := d.Span.Start
	e, _ := d.Type.(*ast.Enum)
	switch {
	case e != nil && e.Base != nil:
		p.token("enum", start, 4)
	default:
		p.token("type", start, 4)
	}
	p.space = true
	p.token(d.Name.Name, d.Name.Span.Start, len(d.Name.Name))
	p.space = true
	switch {
	case e != nil && e.Base != nil:
		p.token(e.Base.Name, e.Base.Span.Start, len(e.Base.Name))
		p.space = true
		p.enumBody(e)
	case e != nil && d.Old:
		p.write("enum")
		p.space = true
		p.enumBody(e)
	default:
		p.typ(d.Type)
	}
}

func (p *printer) typ(t ast.Type) {
	start := t.Pos().Start
	switch t := t.(type) {
	case *ast.Prim:
		p.token(t.Name, start, t.Span.End-start)
	case *ast.Named:
		p.token(t.Name, start, t.Span.End-start)
	case *ast.Data:
		p.data(t)
	case *ast.Optional:
		p.token("optional", start, 8)
		p.mark("<", '<')
		p.typ(t.Elem)
		p.mark(">", '>')
	case *ast.List:
		p.list(t)
	case *ast.Map:
		p.mapType(t)
	case *ast.Enum:
		p.token("enum", start, 4)
		p.space = true
		p.enumBody(t)
	case *ast.Union:
		p.keyword("union", t.Span, t.Old)
		p.unionBody(t)
	case *ast.Struct:
		p.keyword("struct", t.Span, t.Old)
		p.structBody(t)
	}
}

// keyword writes the word before a body; the old syntax has none.
func (p *printer) keyword(word string, at source.Span, old bool) {
	if old {
		p.token(word, at.Start, 0)
	} else {
		p.token(word, at.Start, len(word))
	}
	p.space = true
}

func (p *printer) data(t *ast.Data) {
	p.token("data", t.Span.Start, 4)
	if t.Len == nil {
		return
	}
	open, closing := byte('['), byte(']')
	if t.Old {
		open, closing = '<', '>'
	}
	p.mark("[", open)
	p.number(t.Len)
	p.mark("]", closing)
}

func (p *printer) number(n *ast.Int) {
	p.token(n.Span.Text(), n.Span.Start, n.Span.End-n.Span.Start)
}

func (p *printer) list(t *ast.List) {
	if t.Old && p.commentsBefore(t.Elem.Pos().Start) > p.commentsBefore(t.Span.Start)+1 {
		p.oldList(t)
		return
	}
	if t.Old {
		p.token("list", t.Span.Start, 1)
		p.write("<")
		p.typ(t.Elem)
		p.write(">")
		if t.Len != nil {
			p.write("[" + t.Len.Span.Text() + "]")
		}
		return
	}
	p.token("list", t.Span.Start, 4)
	p.mark("<", '<')
	p.typ(t.Elem)
	p.mark(">", '>')
	if t.Len != nil {
		p.mark("[", '[')
		p.number(t.Len)
		p.mark("]", ']')
	}
}

// oldList writes []T as it stands. In list<T> one comment has a place in front of
// the element; more of them need the brackets and the length where they are.
func (p *printer) oldList(t *ast.List) {
	p.token("[", t.Span.Start, 1)
	if t.Len != nil {
		p.number(t.Len)
	}
	p.mark("]", ']')
	p.typ(t.Elem)
}

func (p *printer) mapType(t *ast.Map) {
	p.token("map", t.Span.Start, 3)
	if t.Old {
		p.mark("<", '[')
		p.typ(t.Key)
		p.mark(">", ']')
		p.write("<")
		p.typ(t.Value)
		p.write(">")
		return
	}
	p.mark("<", '<')
	p.typ(t.Key)
	p.mark(">", '>')
	p.mark("<", '<')
	p.typ(t.Value)
	p.mark(">", '>')
}

func (p *printer) enumBody(t *ast.Enum) {
	p.body('{', t.Span.End-1, p.width(t) >= 0, len(t.Values), func(i int, oneLine bool) {
		v := t.Values[i]
		if !oneLine {
			p.item(v.Span.Start)
		}
		p.token(v.Name.Name, v.Name.Span.Start, len(v.Name.Name))
		p.equals(v.Value)
	})
}

func (p *printer) equals(n *ast.Int) {
	if n != nil {
		p.space = true
		p.mark("=", '=')
		p.space = true
		p.number(n)
	}
}

func (p *printer) structBody(t *ast.Struct) {
	aligned, column := 0, 0
	p.body('{', t.Span.End-1, p.width(t) >= 0, len(t.Fields), func(i int, oneLine bool) {
		f := t.Fields[i]
		if !oneLine {
			if i >= aligned {
				aligned, column = p.section(t.Fields, i)
			}
			p.item(f.Span.Start)
		}
		p.token(f.Name.Name, f.Name.Span.Start, len(f.Name.Name))
		p.mark(":", ':')
		if !oneLine && p.lines == 0 && !p.commentIn(p.cur, f.Type.Pos().Start) {
			for range column - len(f.Name.Name) {
				p.out = append(p.out, ' ')
			}
		}
		p.space = true
		p.typ(f.Type)
	})
}

// section is the run of fields from i on whose types are aligned: the index
// behind it and the length of its longest name.
func (p *printer) section(fields []*ast.Field, i int) (end, column int) {
	for end = i; end < len(fields); end++ {
		f := fields[end]
		if p.width(f.Type) < 0 || p.commentIn(f.Span.Start, f.Span.End) {
			break
		}
		if end > i && p.blankBetween(fields[end-1].Span.End, f.Span.Start) {
			break
		}
		column = max(column, len(f.Name.Name))
	}
	if end == i {
		return i + 1, 0
	}
	return end, column
}

func (p *printer) unionBody(t *ast.Union) {
	open := byte('{')
	if t.Old {
		open = '('
	}
	closing := t.Span.End - 1
	p.body(open, closing, p.width(t) >= 0, len(t.Members), func(i int, oneLine bool) {
		m := t.Members[i]
		last := i == len(t.Members)-1
		if oneLine {
			p.typ(m.Type)
			p.equals(m.Tag)
			if !last {
				p.space = true
				p.write("|")
			}
			return
		}
		if i == 0 {
			p.pipe(p.cur, m.Span.Start, false)
		}
		p.item(m.Span.Start)
		p.typ(m.Type)
		p.equals(m.Tag)
		if last {
			p.pipe(m.Span.End, closing, false)
		} else {
			p.pipe(m.Span.End, t.Members[i+1].Span.Start, true)
		}
	})
}

// pipe writes the | between two members, right behind the first one wherever it
// stood in the source. Where comments stand before it and behind it on its line,
// it keeps its place, so that both keep theirs. An optional | is only written then.
func (p *printer) pipe(from, to int, needed bool) {
	at := p.after(from)
	if at < to && p.src[at] == '|' && p.commentIn(from, at) {
		behind := p.commentsBefore(at)
		if behind < p.commentsBefore(to) && !p.comments[behind].OwnLine {
			p.endItems(at)
			p.token("|", at, 1)
			return
		}
	}
	if needed {
		p.space = true
		p.write("|")
	}
}

// body writes a bracketed body of n items, on one line or one item to a line. It
// must be one line where there is neither an item nor a comment.
func (p *printer) body(open byte, closing int, oneLine bool, n int, item func(i int, oneLine bool)) {
	p.mark("{", open)
	if oneLine {
		for i := range n {
			p.space = true
			item(i, true)
		}
		p.space = n > 0
		p.token("}", closing, 1)
		return
	}
	p.indent++
	p.first, p.inItem = true, false
	for i := range n {
		item(i, false)
	}
	if n == 0 { // a union without members may still hold a |
		p.pipe(p.cur, closing, false)
	}
	p.endItems(closing)
	p.first = false
	p.indent--
	p.token("}", closing, 1)
}

// width is how wide a type is on one line, or -1 where it takes several.
func (p *printer) width(t ast.Type) int {
	switch t := t.(type) {
	case *ast.Prim:
		return len(t.Name)
	case *ast.Named:
		return len(t.Name)
	case *ast.Data:
		return len("data") + lenWidth(t.Len)
	case *ast.Optional:
		return sum(len("optional<>"), p.width(t.Elem))
	case *ast.List:
		return sum(len("list<>")+lenWidth(t.Len), p.width(t.Elem))
	case *ast.Map:
		return sum(len("map<><>"), p.width(t.Key), p.width(t.Value))
	}
	return p.bodyWidth(t)
}

// bodyWidth is the width of a type with a body.
func (p *printer) bodyWidth(t ast.Type) int {
	open, end := p.bracket(t.Pos()), t.Pos().End
	if empty := emptyWidth(t); empty > 0 && !p.commentIn(open, end) {
		return empty // a body of nothing stands on one line, whatever white space is in it
	}
	if end-open > 8*maxLine { // far too wide, whatever white space is in it; bounds the search below
		return -1
	}
	if bytes.IndexByte(p.src[open:end], '\n') >= 0 || p.commentIn(open, end) {
		return -1
	}
	w := 0
	switch t := t.(type) {
	case *ast.Enum:
		w = len("enum {}")
		for _, v := range t.Values {
			w += 1 + len(v.Name.Name) + tagWidth(v.Value)
		}
	case *ast.Union:
		w = len("union {}")
		for i, m := range t.Members {
			if i > 0 {
				w += len(" |")
			}
			if w = sum(w+1+tagWidth(m.Tag), p.width(m.Type)); w < 0 {
				return -1
			}
		}
	case *ast.Struct:
		w = len("struct {}")
		for _, f := range t.Fields {
			if w = sum(w+len(" : ")+len(f.Name.Name), p.width(f.Type)); w < 0 {
				return -1
			}
		}
	}
	if w > maxLine {
		return -1
	}
	return w
}

// emptyWidth is the width of a type whose body has nothing in it, or 0 for another.
func emptyWidth(t ast.Type) int {
	switch t := t.(type) {
	case *ast.Enum:
		if len(t.Values) == 0 {
			return len("enum {}")
		}
	case *ast.Union:
		if len(t.Members) == 0 {
			return len("union {}")
		}
	case *ast.Struct:
		if len(t.Fields) == 0 {
			return len("struct {}")
		}
	}
	return 0
}

// bracket is the place of the bracket that opens the body at a place, behind the
// word that the new syntax has in front of it.
func (p *printer) bracket(at source.Span) int {
	i := at.Start
	for i < at.End && p.src[i] >= '0' && p.src[i] <= 'z' {
		i++
	}
	return p.after(i)
}

// sum adds widths; -1 among them makes the sum -1.
func sum(widths ...int) int {
	total := 0
	for _, w := range widths {
		if w < 0 {
			return -1
		}
		total += w
	}
	return total
}

func lenWidth(n *ast.Int) int {
	if n == nil {
		return 0
	}
	return len("[]") + n.Span.End - n.Span.Start
}

func tagWidth(n *ast.Int) int {
	if n == nil {
		return 0
	}
	return len(" = ") + n.Span.End - n.Span.Start
}

package lsp

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// The kinds of words that editors color, in the protocol's words.
var (
	tokenTypes     = []string{"keyword", "type", "property", "enumMember", "number", "comment", "decorator", "parameter"}
	tokenModifiers = []string{"declaration", "defaultLibrary"}
)

const (
	tokKeyword uint32 = iota
	tokType
	tokProperty
	tokEnumMember
	tokNumber
	tokComment
	tokDecorator
	tokParameter
)

const (
	modDeclaration uint32 = 1 << iota
	modLibrary
)

// painted is a run of bytes of one kind. It lies within a line.
type painted struct {
	start, end int
	kind, mods uint32
}

func (s *server) tokensFull(p *documentParams) (any, error) {
	d, err := s.open(p.TextDocument)
	if err != nil {
		return nil, err
	}
	return semanticTokens{d.paint(0, len(d.file.Text()))}, nil
}

func (s *server) tokensRange(p *rangeParams) (any, error) {
	d, err := s.open(p.TextDocument)
	if err != nil {
		return nil, err
	}
	return semanticTokens{d.paint(d.offset(p.Range.Start), d.offset(p.Range.End))}, nil
}

// paint gives the tokens between two offsets as the protocol wants them: five numbers
// each, places relative to the token before.
func (u *unit) paint(from, to int) []uint32 {
	tree := u.tree().Tree
	c := painter{from: from, to: to}
	for _, d := range tree.Decls {
		if d.Span.End < from || d.Span.Start > to {
			c.annotations(&d.Attached)
			continue
		}
		c.decl(d)
	}
	c.list(tree.Annots)
	for _, x := range tree.Comments {
		if text := x.Span.Text(); !strings.HasPrefix(text, "#@") {
			c.add(x.Span, tokComment, 0)
		}
	}
	slices.SortFunc(c.all, func(a, b painted) int { return a.start - b.start })
	return u.relative(c.all)
}

// relative writes tokens, which are sorted, as numbers. One walk over the text counts
// lines and UTF-16 units.
func (u *unit) relative(all []painted) []uint32 {
	data := make([]uint32, 0, 5*len(all))
	text := u.file.Text()
	var lastLine, lastChar, line uint32
	at, char := 0, uint32(0)
	advance := func(to int) {
		for at < to {
			if text[at] < utf8.RuneSelf {
				if char++; text[at] == '\n' {
					line, char = line+1, 0
				}
				at++
				continue
			}
			r, n := utf8.DecodeRune(text[at:])
			if char++; r > 0xffff {
				char++
			}
			at += n
		}
	}
	if len(all) > 0 {
		// No need to walk over what stands before.
		p := u.at(all[0].start)
		at, line, char = all[0].start, uint32(p.Line), uint32(p.Character)
	}
	end := 0
	for _, t := range all {
		if t.start < end || t.end <= t.start {
			continue // what is broken may overlap; the protocol has no word for that
		}
		advance(t.start)
		startLine, startChar := line, char
		advance(t.end)
		if line != startLine {
			continue
		}
		delta := startChar
		if startLine == lastLine {
			delta -= lastChar
		}
		data = append(data, startLine-lastLine, delta, char-startChar, t.kind, t.mods)
		lastLine, lastChar, end = startLine, startChar, t.end
	}
	return data
}

type painter struct {
	from, to int
	all      []painted
}

func (c *painter) add(s source.Span, kind, mods uint32) {
	if s.IsValid() && s.End > c.from && s.Start < c.to {
		c.all = append(c.all, painted{s.Start, s.End, kind, mods})
	}
}

// word paints the keyword with which a span begins, if it does.
func (c *painter) word(s source.Span, kind, mods uint32) {
	n := 0
	for text := s.File.Text()[s.Start:s.End]; n < len(text) && (text[n] >= 'a' && text[n] <= 'z' || text[n] >= '0' && text[n] <= '9'); {
		n++
	}
	if n > 0 {
		c.add(source.Span{File: s.File, Start: s.Start, End: s.Start + n}, kind, mods)
	}
}

func (c *painter) number(n *ast.Int) {
	if n != nil {
		c.add(n.Span, tokNumber, 0)
	}
}

func (c *painter) annotations(a *ast.Attached) { c.list(a.Annots) }

func (c *painter) list(annots []*ast.Annotation) {
	for _, a := range annots {
		if !a.Name.Span.IsValid() {
			c.add(a.Span, tokDecorator, 0)
			continue
		}
		c.add(source.Span{File: a.Span.File, Start: a.Span.Start, End: a.Name.Span.End}, tokDecorator, 0)
		c.args(a.Args, a.Name.Name == "ref")
	}
}

func (c *painter) args(args []*ast.Arg, ref bool) {
	for i, x := range args {
		c.add(x.Key.Span, tokParameter, 0)
		kind := tokEnumMember
		switch name := x.Value.Name; {
		case ref && i == 0:
			kind = tokType
		case name != "" && name[0] >= '0' && name[0] <= '9':
			kind = tokNumber
		}
		c.add(x.Value.Span, kind, 0)
		c.args(x.Args, false)
	}
}

func (c *painter) decl(d *ast.Decl) {
	c.annotations(&d.Attached)
	c.word(source.Span{File: d.Span.File, Start: d.Span.Start, End: d.Name.Span.Start}, tokKeyword, 0)
	c.add(d.Name.Span, tokType, modDeclaration)
	c.typ(d.Type)
}

func (c *painter) typ(t ast.Type) {
	switch t := t.(type) {
	case *ast.Prim:
		c.add(t.Span, tokType, modLibrary)
	case *ast.Named:
		c.add(t.Span, tokType, 0)
	case *ast.Data:
		c.word(t.Span, tokType, modLibrary)
		c.number(t.Len)
	case *ast.Enum:
		c.keyword(t.Span)
		if t.Base != nil {
			c.add(t.Base.Span, tokType, modLibrary)
		}
		for _, v := range t.Values {
			c.annotations(&v.Attached)
			c.add(v.Name.Span, tokEnumMember, modDeclaration)
			c.number(v.Value)
		}
	case *ast.Optional:
		c.word(t.Span, tokType, modLibrary)
	case *ast.List:
		c.word(t.Span, tokType, modLibrary)
		c.number(t.Len)
	case *ast.Map:
		c.word(t.Span, tokType, modLibrary)
	case *ast.Union:
		c.keyword(t.Span)
		for _, m := range t.Members {
			c.annotations(&m.Attached)
			c.number(m.Tag)
		}
	case *ast.Struct:
		c.keyword(t.Span)
		for _, f := range t.Fields {
			c.annotations(&f.Attached)
			c.add(f.Name.Span, tokProperty, modDeclaration)
		}
	}
	for child := range ast.Children(t) {
		if child != nil {
			c.typ(child)
		}
	}
}

// keyword paints struct, union or enum where the type begins with it; old spellings
// may leave it out, or have it in front of the name.
func (c *painter) keyword(s source.Span) {
	for _, w := range []string{"struct", "union", "enum"} {
		if strings.HasPrefix(string(s.File.Text()[s.Start:min(s.End, s.Start+len(w))]), w) {
			c.word(s, tokKeyword, 0)
		}
	}
}

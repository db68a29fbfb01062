package parser

import (
	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// body is a bracketed body that is being read.
type body struct {
	word      string // enum, union or struct
	open      token  // its bracket
	separator *diag.Diagnostic
	last      int32 // where the item before this one started
}

// openBody takes the bracket that opens a body. Where it is missing but a body
// follows, the body is read as if it were there; ok is false where none follows.
func (p *parser) openBody(word string, open kind) (b body, ok bool) {
	b = body{word: word, open: p.tok, last: -1}
	if p.tok.kind == open {
		p.next()
		return b, true
	}
	at := p.found()
	d := diag.Errorf(diag.Unexpected, at, "expected `{` to open the %s%s", word, p.butFound())
	if p.tok.kind == '(' || p.tok.kind == '[' || p.tok.kind == '<' {
		p.error(d.Fix("write {", diag.Edit{Span: at, New: "{"}))
		p.next()
		return b, true
	}
	p.error(d)
	follows := p.tok.kind == '|' && word == "union" ||
		p.tok.kind == tIdent && !(p.tok.first && p.atDeclaration()) && (word != "struct" || p.peek(1).kind == ':')
	b.open = token{start: int32(p.prevEnd), end: int32(p.prevEnd)}
	return b, follows
}

// inBody reports whether more of the body follows. At its end it takes the
// closing bracket, or reports that it is missing.
func (p *parser) inBody(b *body) bool {
	closing := partner(b.open.kind)
	switch k := p.tok.kind; {
	case k == closing, k == '}', closesAny(k) && (closing == ')' || p.lastInDecl()):
		if k != closing && b.open.end > b.open.start {
			p.mismatch(closing, b.open)
		}
		p.next()
		return false
	case k == tEOF, k == tIdent && p.tok.first && p.strayDeclaration(), p.strayField(b.word):
		p.unclosed(closing, b.open, b.word)
		return false
	}
	if p.tok.start == b.last { // nothing was taken, and it is reported
		p.skip()
		return p.inBody(b)
	}
	b.last = p.tok.start
	return true
}

// strayField reports whether the token starts a field, in the body of an enum or union.
func (p *parser) strayField(word string) bool {
	if word == "struct" || p.tok.kind != tIdent || p.peek(1).kind != ':' {
		return false
	}
	return word == "union" || p.peek(2).kind != tNumber
}

// lastInDecl reports whether nothing but another declaration follows the token.
func (p *parser) lastInDecl() bool {
	after := p.peek(1)
	if word := p.textOf(after); after.first && (word == "type" || word == "enum") {
		return true
	}
	return after.kind == tEOF
}

// closesAny reports whether a token of this kind closes some bracket.
func closesAny(k kind) bool { return k == ')' || k == ']' || k == '>' || k == '}' }

// strayDeclaration reports whether the token, the first on its line, starts a
// declaration rather than a field or value that is called type or enum.
func (p *parser) strayDeclaration() bool {
	word := p.textOf(p.tok)
	if word != "type" && word != "enum" {
		return false
	}
	name := p.peek(1)
	if name.kind != tIdent || name.first {
		return false
	}
	if c := p.text[name.start]; c < 'A' || c > 'Z' {
		return false
	}
	after := p.peek(2)
	return !after.first && (startsType(after.kind) || after.kind == '=')
}

// atDeclaration reports whether the token starts a declaration, in a place
// where nothing else can be meant.
func (p *parser) atDeclaration() bool {
	if !p.is("type") && !p.is("enum") {
		return false
	}
	name := p.peek(1)
	return name.kind == tIdent && !name.first
}

// pipe takes what stands between two members of a union.
func (p *parser) pipe(b *body, spot int) {
	switch k := p.tok.kind; {
	case k == '|':
		p.next()
		p.spots[spot].end = int32(p.prevEnd) // a comment behind the | is the member's
	case startsType(k) && !(p.tok.first && p.strayDeclaration()):
		p.error(diag.Errorf(diag.BadSeparator, p.span(p.prevEnd, p.prevEnd), "members of a union are separated by `|`").
			Fix("insert |", diag.Edit{Span: p.span(p.prevEnd, p.prevEnd), New: " |"}))
	}
}

// wrongInBody reports a token that starts nothing in this body, and skips what
// belongs to it.
func (p *parser) wrongInBody(b *body, expected string) {
	at := p.at(p.tok)
	switch p.tok.kind {
	case ',', ';':
		p.separator(b, at)
		return
	case '@':
		p.bareAnnotation()
		return
	case '|':
		if b.word == "union" {
			p.errorUnlessSaid(diag.Errorf(diag.MissingType, at, "expected a type in front of this `|`"))
			p.next()
			return
		}
	}
	d := diag.Errorf(diag.Unexpected, at, "expected %s or `%c`, found %s", expected, rune(partner(b.open.kind)), p.describe(p.tok))
	if p.tok.kind == '=' && b.word == "struct" {
		d = diag.Errorf(diag.Unexpected, at, "a field has no default value and no number")
	}
	p.errorUnlessSaid(d)
	p.skip()
}

// separator reports a , or ; where white space or | separates. The first in a
// body is the error; the fix covers the others.
func (p *parser) separator(b *body, at source.Span) {
	text, instead := p.textOf(p.tok), ""
	if b.word == "union" {
		instead = " |"
	}
	if b.separator == nil {
		if b.word == "union" {
			b.separator = diag.Errorf(diag.BadSeparator, at, "members of a union are separated by `|`, not by `%s`", text)
		} else {
			b.separator = diag.Errorf(diag.BadSeparator, at, "no `%s` is needed: white space separates", text)
		}
		b.separator.Fix("mend them all in this "+b.word, diag.Edit{Span: at, New: instead})
		p.errorUnlessSaid(b.separator)
	} else {
		f := &b.separator.Fixes[0]
		f.Edits = append(f.Edits, diag.Edit{Span: at, New: instead})
	}
	p.next()
}

// skip passes over tokens that make no sense, bracketed groups as a whole, up
// to the end of the line, a field, or a closing bracket.
func (p *parser) skip() {
	for first := true; p.tok.kind != tEOF; first = false {
		switch k := p.tok.kind; {
		case k == '{' || k == '(' || k == '[' || k == '<':
			p.skipGroup()
			continue
		case k == '}' || !first && (k == ')' || k == ']' || k == '>' || k == '|'):
			return
		case !first && (p.tok.first || k == ',' || k == ';' || k == tIdent && p.peek(1).kind == ':'):
			return
		}
		p.next()
	}
}

// skipGroup passes over a bracketed group, however deep.
func (p *parser) skipGroup() {
	depth := 0
	for p.tok.kind != tEOF {
		switch p.tok.kind {
		case '{', '(', '[', '<':
			depth++
		case '}', ')', ']', '>':
			depth--
		}
		p.next()
		if depth <= 0 {
			return
		}
	}
}

// partner is the bracket that closes an opening one.
func partner(open kind) kind {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	case '<':
		return '>'
	}
	return '}'
}

// tooDeep reports a type below the deepest level, once, and skips it.
func (p *parser) tooDeep() ast.Type {
	start := int(p.tok.start)
	if !p.deep {
		p.error(diag.Errorf(diag.NestedTooDeep, p.at(p.tok), "types are nested more than %d deep", MaxDepth).
			Helpf("give the inner types names of their own"))
	}
	p.deep = true
	for {
		switch k := p.tok.kind; {
		case k == '[':
			p.skipGroup()
			continue // []T
		case k == '{' || k == '(':
			p.skipGroup()
		case k == tIdent:
			isMap := p.is("map")
			p.next()
			if isMap && p.tok.kind == '[' {
				continue // map[K]V
			}
			for p.tok.kind == '<' || p.tok.kind == '{' || p.tok.kind == '[' {
				p.skipGroup()
			}
		}
		return &ast.Bad{Span: p.from(start)}
	}
}

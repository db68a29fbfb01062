package parser

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// This file knows what people write who know another schema language, or who
// misremember this one: it says how it is written here, and reads on as if it
// had been.

// wrongDecl reports a word that starts no declaration. Where a body or a type
// follows it, that is read as the declaration that was meant.
func (p *parser) wrongDecl() *ast.Decl {
	if p.tok.kind != tIdent {
		return nil
	}
	t, word := p.tok, p.textOf(p.tok)
	name, after := p.peek(1), p.peek(2)
	named := name.kind == tIdent && !name.first
	switch lower := strings.ToLower(word); {
	case named && bodyWord(lower) != "":
		body := bodyWord(lower)
		example := "type " + p.textOf(name) + " " + body
		p.error(diag.Errorf(diag.BadDeclaration, p.at(t), "a declaration starts with `type`, not with `%s`", word).
			Helpf("write `%s { … }`", example).
			Fix("write "+example, diag.Edit{Span: source.Span{File: p.file, Start: int(t.start), End: int(name.end)}, New: example}))
		if body == "enum" {
			return p.enumDecl()
		}
		return p.bodyDecl(body)
	case lower == "import" || lower == "include" || lower == "package" || lower == "namespace" || lower == "using" || lower == "syntax" || lower == "option",
		lower == "const" || lower == "service" || lower == "interface" || lower == "rpc":
		d := diag.Errorf(diag.BadDeclaration, p.at(t), "BARE has no `%s`", word)
		switch lower {
		case "package", "namespace":
			d.Helpf("`#@package(name)` names the Go package")
		case "import", "include", "using":
			d.Helpf("files that are given together are one schema: give them all to the command")
		}
		p.error(d)
	case named && (startsType(after.kind) || after.kind == '=') && !after.first:
		p.error(diag.Errorf(diag.BadDeclaration, p.at(t), "a declaration starts with `type`, not with `%s`", word).
			Fix("write type", diag.Edit{Span: p.at(t), New: "type"}))
		return p.typeDecl()
	default:
		p.errorUnlessSaid(diag.Errorf(diag.BadDeclaration, p.at(t), "expected a declaration, found `%s`", word).
			Helpf("a declaration is written `type Name u8`"))
	}
	p.skipToDecl()
	return nil
}

// bodyWord is the built-in type with a body that a word means, or "".
func bodyWord(lower string) string {
	switch lower {
	case "struct", "message", "record", "class", "table":
		return "struct"
	case "enum":
		return "enum"
	case "union", "oneof", "variant":
		return "union"
	}
	return ""
}

// bodyDecl reads `struct Name { … }` as if it were `type Name struct { … }`.
func (p *parser) bodyDecl(body string) *ast.Decl {
	spot := p.open()
	start := int(p.tok.start)
	p.next()
	d := p.decls.new()
	d.Name = p.typeName()
	if body == "union" {
		d.Type = p.union(int(p.tok.start))
	} else {
		d.Type = p.structType(int(p.tok.start))
	}
	d.Span = p.from(start)
	p.close(spot, &d.Attached)
	return d
}

// generics reports type parameters and skips them.
func (p *parser) generics() {
	p.error(diag.Errorf(diag.Unexpected, p.at(p.tok), "types have no parameters in BARE"))
	p.skipGroup()
}

// bareAnnotation reports an annotation that stands outside a comment, and
// takes it with its arguments.
func (p *parser) bareAnnotation() {
	t := p.tok
	p.next()
	at := p.at(t)
	if p.tok.kind == tIdent && p.tok.glued {
		p.next()
		at = p.from(int(t.start))
		if p.tok.kind == '(' && !p.tok.first {
			p.skipGroup()
			if whole := p.from(int(t.start)); !strings.Contains(whole.Text(), "\n") {
				at = whole
			}
		}
	}
	text := at.Text()
	d := diag.Errorf(diag.BareAnnotation, at, "annotations stand in comments: `#%s`", text).
		Notef("so every other BARE compiler can read the file too")
	if p.tok.first || p.tok.kind == tEOF {
		d.Fix("make it a comment", diag.Edit{Span: p.span(int(t.start), int(t.start)), New: "#"})
	} else {
		d.Helpf("put it on a line above, or at the end of this one, as `#%s`", text)
	}
	p.error(d)
}

// misplacedBase reports `enum u16 {` inside a type: only the old declaration can say that.
func (p *parser) misplacedBase() {
	base := p.textOf(p.tok)
	p.error(diag.Errorf(diag.BadEnumBase, p.at(p.tok), "`%s` cannot stand here", base).
		Helpf("only the old form gives an enum a fixed size: `enum Name %s { … }`", base))
	p.next()
}

// wrongBrackets reports [ or ( where the word takes another bracket.
func (p *parser) wrongBrackets(word, example string) {
	p.error(diag.Errorf(diag.BadTypeForm, p.at(p.tok), "`%s` does not take `%s`", word, p.textOf(p.tok)).
		Helpf("write `%s`", example))
}

// noAngle reports a type without its angle brackets, and reads the type if it follows.
func (p *parser) noAngle(word, example string) ast.Type {
	at := p.found()
	if startsType(p.tok.kind) && !p.tok.first && p.peek(1).kind != ':' {
		start := int(p.tok.start)
		d := diag.Errorf(diag.BadTypeForm, at, "`%s` needs angle brackets around its type", word)
		t := p.typ("for the " + word)
		inner := p.from(start)
		switch {
		case p.tok.kind == '>' && p.angles == 0:
			p.next() // only the opening one was forgotten
			d.Fix("insert <", diag.Edit{Span: p.span(start, start), New: "<"})
		case word != "map": // whose second type is yet to come
			d.Fix("add the brackets", diag.Edit{Span: p.span(start, start), New: "<"},
				diag.Edit{Span: p.span(inner.End, inner.End), New: ">"})
		}
		text := inner.Text()
		if len(text) > 40 || strings.Contains(text, "\n") {
			text = "…"
		}
		d.Helpf("write `%s`", strings.Replace(example, "T", text, 1))
		p.errorAt(d, start)
		return t
	}
	p.error(diag.Errorf(diag.BadTypeForm, at, "expected `<` after `%s`, found %s", word, p.describe(p.tok)).
		Helpf("write `%s`", example))
	return &ast.Bad{Span: p.span(p.prevEnd, p.prevEnd)}
}

// errorAt reports an error at an earlier place, unless one stands there.
func (p *parser) errorAt(d *diag.Diagnostic, start int) {
	if p.lastErr != start+1 {
		p.report(d)
	}
}

// mapArgs parses <K><V>, and what people write instead.
func (p *parser) mapArgs(m *ast.Map) {
	const example = "map<K><V>"
	open := p.tok
	if open.kind != '<' {
		m.Key = p.noAngle("map", example)
		m.Value = &ast.Bad{Span: p.span(p.prevEnd, p.prevEnd)}
		switch k := p.tok.kind; {
		case k == '<':
			m.Value = p.angle("map", "for the map's value", example)
		case startsType(k) && !p.tok.first && p.peek(1).kind != ':':
			m.Value = p.typ("")
		}
		return
	}
	enter("angle")
	p.next()
	p.angles++
	m.Key = p.typ("for the map's key")
	p.angles--
	if p.tok.kind == ',' {
		p.wrongPair(false)
		m.Value = p.typ("for the map's value")
		p.closer('>', open)
		return
	}
	p.closer('>', open)
	if p.tok.kind == '<' {
		m.Value = p.angle("map", "for the map's value", example)
		return
	}
	at := p.found()
	p.error(diag.Errorf(diag.BadTypeForm, at, "expected `<` and the type of the map's values, found %s", p.describe(p.tok)).
		Helpf("write `%s`", example))
	if startsType(p.tok.kind) && !p.tok.first && p.peek(1).kind != ':' {
		m.Value = p.typ("")
		return
	}
	m.Value = &ast.Bad{Span: p.span(p.prevEnd, p.prevEnd)}
}

// wrongPair reports the comma of map<K, V>, or of map[K, V].
func (p *parser) wrongPair(old bool) {
	d := diag.Errorf(diag.BadTypeForm, p.at(p.tok), "a map's key and value have brackets of their own").Helpf("write `map<K><V>`")
	if !old {
		d.Fix("write ><", diag.Edit{Span: p.at(p.tok), New: "><"})
	}
	p.error(d)
	p.next()
}

// postfix reports T? and T[], and reads them as what they mean.
func (p *parser) postfix(t ast.Type) ast.Type {
	for {
		text := t.Pos().Text()
		if len(text) > 40 || strings.Contains(text, "\n") {
			text = "T"
		}
		start := t.Pos().Start
		at := p.at(p.tok)
		switch p.tok.kind {
		case '?':
			p.next()
			p.error(diag.Errorf(diag.BadTypeForm, at, "`?` does not make a type optional").
				Helpf("write `optional<%s>`", text).
				Fix("write optional<…>", diag.Edit{Span: p.span(start, start), New: "optional<"}, diag.Edit{Span: at, New: ">"}))
			t = &ast.Optional{Span: p.from(start), Elem: t}
		case '[':
			open := p.tok
			p.next()
			l := &ast.List{Elem: t}
			d := diag.Errorf(diag.BadTypeForm, at, "a list is not written with `[` behind its type")
			if p.tok.kind == tNumber {
				d.Helpf("write `list<%s>[%s]`", text, p.textOf(p.tok))
				p.error(d)
				l.Len = p.integer()
			} else {
				d.Helpf("write `list<%s>`", text)
				p.error(d)
			}
			p.closer(']', open)
			l.Span = p.from(start)
			t = l
		default:
			return t
		}
	}
}

// bracketed reports [T], which is a list elsewhere, and reads it as one.
func (p *parser) bracketed(open token) ast.Type {
	l := &ast.List{Elem: p.word()}
	text := l.Elem.Pos().Text()
	p.error(diag.Errorf(diag.BadTypeForm, p.at(open), "a list is not written as `[%s]`", text).Helpf("write `list<%s>`", text))
	p.closer(']', open)
	l.Span = p.from(int(open.start))
	return l
}

// brokenName reports a - or . in a name and takes the rest of the name.
func (p *parser) brokenName(id ast.Ident) {
	at, mark := p.at(p.tok), p.textOf(p.tok)
	broken := false
	for (p.tok.kind == '-' || p.tok.kind == '.') && p.tok.glued {
		if rest := p.peek(1); !rest.glued || rest.kind != tIdent && rest.kind != tNumber {
			break
		}
		broken = true
		p.next()
		p.next()
	}
	if !broken {
		return
	}
	d := diag.Errorf(diag.BadCharacter, at, "`%s` cannot stand in a name", mark)
	if whole := p.from(id.Span.Start).Text(); len(whole) < 60 {
		d.Helpf("write `%s`", strings.NewReplacer("-", "_", ".", "_").Replace(whole))
	}
	if mark == "." {
		d.Notef("BARE has no name spaces: all types of a schema are called by one name")
	}
	p.error(d)
}

package parser

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// error reports a parse error. Two of them at one place are one mistake: only
// the first is kept. The end of the file is no news where brackets were left
// open on purpose.
func (p *parser) error(d *diag.Diagnostic) {
	at := p.errorPlace(d)
	if p.lastErr == at+1 || p.deep && p.tok.kind == tEOF {
		p.skipped = true
		return
	}
	p.lastErr = at + 1
	p.report(d)
}

// errorPlace is where parsing stood: errors before and at the current token are alike.
func (p *parser) errorPlace(d *diag.Diagnostic) int {
	if d.Primary.Span.Start == p.prevEnd && d.Primary.Span.End == p.prevEnd {
		return int(p.tok.start)
	}
	return d.Primary.Span.Start
}

// errorUnlessSaid reports a token that makes no sense, unless an error on the
// same line came before it and is the likely cause.
func (p *parser) errorUnlessSaid(d *diag.Diagnostic) {
	if from := p.lastErr - 1; from >= 0 && from <= int(p.tok.start) &&
		!strings.Contains(p.text[from:p.tok.start], "\n") {
		p.lastErr = int(p.tok.start) + 1
		p.skipped = true
		return
	}
	p.error(d)
}

// describe names a token in a message.
func (p *parser) describe(t token) string {
	if t.kind == tEOF {
		return "the end of the file"
	}
	text := p.textOf(t)
	if len(text) > 40 {
		text = text[:37] + "…"
		text = strings.ToValidUTF8(text, "")
	}
	return "`" + text + "`"
}

// found is the place of an error about something that is missing: the token that
// stands there instead, or, where that is on a later line, the end of the last one.
func (p *parser) found() source.Span {
	if p.tok.first || p.tok.kind == tEOF {
		return p.span(p.prevEnd, p.prevEnd)
	}
	return p.at(p.tok)
}

// butFound says what stands in the place of what was expected. What stands on
// another line is not what somebody wrote instead.
func (p *parser) butFound() string {
	if p.tok.first && p.tok.kind != tEOF {
		return ""
	}
	return ", found " + p.describe(p.tok)
}

func (p *parser) missingType(what string) ast.Type {
	if what == "" {
		what = "here"
	}
	d := diag.Errorf(diag.MissingType, p.found(), "expected a type %s%s", what, p.butFound())
	if k := p.tok.kind; k == '"' || k == '\'' || k == '`' {
		d.Helpf("types are written without quotes")
	}
	p.error(d)
	return &ast.Bad{Span: p.span(p.prevEnd, p.prevEnd)}
}

// closer takes a closing bracket, or reports that it is missing.
func (p *parser) closer(want kind, open token) {
	if p.tok.kind == want {
		p.next()
		return
	}
	if closesAny(p.tok.kind) && p.tok.kind != '}' {
		p.mismatch(want, open)
		p.next()
		return
	}
	if p.tok.kind == tNumber && !p.tok.first {
		p.errorUnlessSaid(p.expected(want, open))
		p.next()
		if p.tok.kind == want {
			p.next()
		}
		return
	}
	p.error(p.expected(want, open))
}

func (p *parser) expected(want kind, open token) *diag.Diagnostic {
	d := diag.Errorf(diag.Unclosed, p.found(), "expected `%c`%s", rune(want), p.butFound())
	if p.tok.first && p.tok.kind != tEOF {
		d.Message += " before the end of the line"
	}
	if open.end > open.start {
		d.Also(p.at(open), "`%s` opened here", p.textOf(open))
	}
	return d
}

// mismatch reports a closing bracket of another kind than the opening one.
func (p *parser) mismatch(want kind, open token) {
	p.error(diag.Errorf(diag.Unclosed, p.at(p.tok), "expected `%c`, found %s", rune(want), p.describe(p.tok)).
		Also(p.at(open), "`%s` opened here", p.textOf(open)).
		Fix("write "+string(rune(want)), diag.Edit{Span: p.at(p.tok), New: string(rune(want))}))
}

// unclosed reports a body that ends without its bracket.
func (p *parser) unclosed(want kind, open token, word string) {
	d := diag.Errorf(diag.Unclosed, p.at(p.tok), "expected `%c` to close the %s, found %s", rune(want), word, p.describe(p.tok))
	if p.tok.kind == tEOF {
		d.Primary.Span = p.span(p.prevEnd, p.prevEnd)
	} else {
		p.lost++
	}
	if open.end > open.start {
		d.Also(p.at(open), "`%s` opened here", p.textOf(open))
	}
	p.error(d)
}

// notANumber reports what stands where a number must, and passes over it if it
// looks like one.
func (p *parser) notANumber(expected string) {
	d := diag.Errorf(diag.BadInteger, p.found(), "%s, found %s", expected, p.describe(p.tok))
	switch p.tok.kind {
	case '-', '+':
		if n := p.peek(1); n.kind == tNumber && n.glued {
			d = diag.Errorf(diag.BadInteger, p.at(p.tok), "numbers have no sign here")
			p.next()
		}
		p.error(d)
		p.next()
	case tIdent, '"', '*':
		p.error(d)
		if !p.tok.first {
			p.next()
		}
	default:
		p.error(d)
	}
}

// badInteger reports a number that is not decimal.
func (p *parser) badInteger(t token) {
	text := p.textOf(t)
	d := diag.Errorf(diag.BadInteger, p.at(t), "`%s` is not a decimal number", text)
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		s := strconv.FormatUint(n, 10)
		d.Helpf("write `%s`", s).Fix("write "+s, diag.Edit{Span: p.at(t), New: s})
	}
	p.error(d)
}

// noColon reports a field without its colon, and reads the type if one follows.
func (p *parser) noColon(f *ast.Field) ast.Type {
	name := f.Name.Name
	at := p.found()
	d := diag.Errorf(diag.MissingColon, at, "expected `:` between field `%s` and its type, found %s", name, p.describe(p.tok))
	sameLine := !p.tok.first
	switch k := p.tok.kind; {
	case k == '?':
		p.error(diag.Errorf(diag.BadTypeForm, at, "`?` does not make a field optional").Helpf("write `%s: optional<T>`", name))
		if p.next(); p.tok.kind == ':' {
			p.next()
		}
		return p.fieldType(f)
	case k == '=':
		p.error(d.Fix("write :", diag.Edit{Span: at, New: ":"}))
		p.next()
		return p.fieldType(f)
	case sameLine && k == tIdent && p.typeFirst(f, d):
		return &ast.Bad{Span: p.span(p.prevEnd, p.prevEnd)}
	case sameLine && startsType(k) && !(k == tIdent && p.peek(1).kind == ':'):
		p.error(d.Fix("insert :", diag.Edit{Span: p.span(p.prevEnd, p.prevEnd), New: ":"}))
		return p.typ("")
	case !sameLine || k == '}' || k == tEOF || k == tIdent:
		d.Message = fmt.Sprintf("field `%s` has no type", name)
		d.Helpf("write `%s: T`", name)
	}
	p.error(d)
	return &ast.Bad{Span: p.span(p.prevEnd, p.prevEnd)}
}

// typeFirst reports a field that is written as in C, its type first, and takes the name.
func (p *parser) typeFirst(f *ast.Field, d *diag.Diagnostic) bool {
	typ, name := f.Name.Name, p.textOf(p.tok)
	if _, known := builtins[typ]; !known && asBuiltin(typ) == "" || asBuiltin(name) != "" || p.peek(1).kind == ':' {
		return false
	}
	if after := p.peek(1).kind; after == '<' || after == '{' {
		return false
	}
	p.error(d.Helpf("the name comes first: `%s: %s`", name, typ).
		Fix("write the name first", diag.Edit{Span: f.Name.Span.To(p.at(p.tok)), New: name + ": " + typ}))
	f.Name = p.name()
	return true
}

// afterDecl reports and skips what stands between two declarations.
func (p *parser) afterDecl() {
	for {
		if p.tok.kind == tEOF || p.tok.kind == tIdent {
			return
		}
		at := p.at(p.tok)
		switch k := p.tok.kind; {
		case k == '@':
			p.bareAnnotation()
			continue
		case k == ',' || k == ';':
			p.errorUnlessSaid(diag.Errorf(diag.BadSeparator, at, "no `%s` is needed: white space separates", p.textOf(p.tok)).
				Fix("remove it", diag.Edit{Span: at}))
			p.next()
			continue
		case k == '}' && p.lost > 0: // closes a body that was given up at a declaration inside of it
			p.lost--
			p.next()
			continue
		case closesAny(k):
			p.errorUnlessSaid(diag.Errorf(diag.Unclosed, at, "`%s` closes nothing", p.textOf(p.tok)))
			p.next()
			continue
		case k == '|':
			p.errorUnlessSaid(diag.Errorf(diag.BadTypeForm, at, "a union is written in braces").Helpf("write `union { A | B }`"))
		case k == '=':
			p.errorUnlessSaid(diag.Errorf(diag.Unexpected, at, "only values of enums and members of unions have numbers"))
		default:
			p.errorUnlessSaid(diag.Errorf(diag.Unexpected, at, "expected a declaration, found %s", p.describe(p.tok)))
		}
		p.skipToDecl()
	}
}

// skipToDecl skips to what looks like the next declaration.
func (p *parser) skipToDecl() {
	for first := true; p.tok.kind != tEOF; first = false {
		if !first && p.tok.first && (p.is("type") || p.is("enum")) {
			return
		}
		if k := p.tok.kind; k == '{' || k == '(' {
			p.skipGroup()
			continue
		}
		p.next()
	}
}

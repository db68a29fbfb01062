// Package parser reads a schema file into its tree.
//
// It reads every dialect of BARE, and any mix of them, without being told which:
// the new syntax (drafts 03 to 14), the old one (go-bare's), and the hybrid that
// BAREWire writes. What was spelled the old way is marked so in the tree. The
// grammar is grammar.ebnf; each function below names its production.
//
// The parser never stops at the first error. One mistake gives one diagnostic,
// at the smallest span, and the tree holds what could be read; a type that could
// not is an *ast.Bad. Which names exist, and which spellings a given draft
// allows, is not decided here.
//
// # Comments
//
// A run of comments on lines of their own belongs to the declaration, field,
// member or value that starts on the line right below it. A blank line, or
// anything but a | between the two, separates them. A comment behind something on
// its line belongs to the innermost such node that holds what stands before it:
// behind a { that is the node whose body opens, behind a | the member before it.
//
// Annotations (#@…) become the node's Annots, wherever they stand. Plain comments
// above become its Doc; where there are none above, the first plain comment on
// a line of the node does. An annotation that belongs to nothing goes to File.Annots.
//
// # Limits
//
// A file has at most 64 MiB and 500000 declarations, types nest at most 128
// deep, and after 1000 errors the rest of the file is not read.
package parser

import (
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

const (
	// MaxFile is the greatest file that is read, in bytes.
	MaxFile = 64 << 20
	// MaxDepth is how deep types may nest.
	MaxDepth = 128
	// MaxDecls is how many declarations a file, and a run, may have.
	MaxDecls = 500_000
)

// Parse reads a file. The tree is never nil; where the list has an error it is
// a tree of what could be read. The list is in source order.
func Parse(f *source.File) (*ast.File, diag.List) {
	tree := &ast.File{Src: f}
	if d := unreadable(f); d != nil {
		tree.Partial = true
		return tree, diag.List{d}
	}
	p := &parser{lexer: lexer{file: f, text: string(f.Text()), fresh: true}}
	p.spots = make([]spot, 0, len(p.text)/24)
	p.pos = len(byteOrderMark(f.Text()))
	p.tok = p.scan()
	p.schema(tree)
	p.attach(tree)
	tree.Partial = p.partial()
	slices.SortStableFunc(p.errs, func(a, b *diag.Diagnostic) int {
		return a.Primary.Span.Start - b.Primary.Span.Start
	})
	return tree, p.errs
}

// enter notes that a production is being parsed; tests listen through trace.
func enter(production string) {
	if trace != nil {
		trace(production)
	}
}

var trace func(production string)

// parser is one run over one file.
type parser struct {
	lexer
	tok      token
	ahead    [2]token // tokens read beyond tok
	nahead   int
	prevEnd  int // end of the token before tok
	depth    int
	lastErr  int               // 1 + start of the last error reported by a parse function
	deep     bool              // nesting was cut off: brackets may be left open
	skipped  bool              // an error was not reported, since another is the likely cause
	lost     int               // bodies that were given up at a declaration inside of them
	angles   int               // angle brackets that are open
	declared map[string]string // names that are declared, by their letters in lower case; nil until asked for

	spots []spot // nodes that comments can belong to, in source order

	fieldStack  []*ast.Field
	memberStack []*ast.Member
	valueStack  []*ast.EnumValue
	fieldPool   []*ast.Field
	memberPool  []*ast.Member
	valuePool   []*ast.EnumValue

	docPool   []*ast.Comment
	annotPool []*ast.Annotation

	annots    slab[ast.Annotation]
	args      slab[ast.Arg]
	decls     slab[ast.Decl]
	fields    slab[ast.Field]
	members   slab[ast.Member]
	values    slab[ast.EnumValue]
	prims     slab[ast.Prim]
	named     slab[ast.Named]
	datas     slab[ast.Data]
	enums     slab[ast.Enum]
	optionals slab[ast.Optional]
	lists     slab[ast.List]
	maps      slab[ast.Map]
	unions    slab[ast.Union]
	structs   slab[ast.Struct]
	ints      slab[ast.Int]
}

func (p *parser) next() {
	p.prevEnd = int(p.tok.end)
	if p.nahead > 0 {
		p.tok, p.ahead[0] = p.ahead[0], p.ahead[1]
		p.nahead--
		return
	}
	p.tok = p.scan()
}

// peek returns the token i places after tok, i being 1 or 2.
func (p *parser) peek(i int) token {
	for p.nahead < i {
		p.ahead[p.nahead] = p.scan()
		p.nahead++
	}
	return p.ahead[i-1]
}

func (p *parser) textOf(t token) string { return p.text[t.start:t.end] }
func (p *parser) at(t token) source.Span {
	return p.span(int(t.start), int(t.end))
}

// from is the span from a start to the end of the last token taken. Where no
// token was taken since, it is empty.
func (p *parser) from(start int) source.Span { return p.span(min(start, p.prevEnd), p.prevEnd) }

func (p *parser) is(word string) bool { return p.tok.kind == tIdent && p.textOf(p.tok) == word }

// schema = { type_decl | enum_decl } .
func (p *parser) schema(tree *ast.File) {
	enter("schema")
	for p.tok.kind != tEOF {
		if len(tree.Decls) == MaxDecls {
			p.report(diag.Errorf(diag.TooManyTypes, p.at(p.tok), "more than %d declarations; the rest of the file was not read", MaxDecls))
			return
		}
		if d := p.decl(); d != nil {
			tree.Decls = append(tree.Decls, d)
		}
		p.afterDecl()
	}
	if len(tree.Decls) == 0 && len(p.errs) == 0 {
		end := len(p.text)
		p.report(diag.Errorf(diag.EmptySchema, p.span(end, end), "this schema declares no type").
			Helpf("a schema has at least one declaration: type Name u8"))
	}
}

// decl parses one declaration, or reports what stands in its place and returns nil.
func (p *parser) decl() *ast.Decl {
	switch {
	case p.is("type"):
		return p.typeDecl()
	case p.is("enum"):
		return p.enumDecl()
	}
	return p.wrongDecl()
}

// type_decl = "type" type_name type .
func (p *parser) typeDecl() *ast.Decl {
	enter("type_decl")
	spot := p.open()
	start := int(p.tok.start)
	p.next()
	return p.restOfTypeDecl(spot, start)
}

// restOfTypeDecl parses what follows the keyword.
func (p *parser) restOfTypeDecl(spot, start int) *ast.Decl {
	d := p.decls.new()
	d.Name = p.typeName()
	if p.tok.kind == '<' {
		p.generics()
	}
	if p.tok.kind == '=' || p.tok.kind == ':' {
		p.equals(d)
	}
	if startsType(p.tok.kind) && !(p.tok.first && p.atDeclaration()) {
		d.Type = p.typ("")
	} else {
		d.Type = p.missingType("for " + describeName(d.Name))
	}
	s, isStruct := d.Type.(*ast.Struct)
	d.Old = isStruct && s.Old
	d.Span = p.from(start)
	p.close(spot, &d.Attached)
	return named(d)
}

// equals reports and takes the = of `type Name = u8`. The fix leaves one space.
func (p *parser) equals(d *ast.Decl) {
	at := p.at(p.tok)
	edit := diag.Edit{Span: at}
	spaced := at.End < len(p.text) && class[p.text[at.End]] == cSpace
	switch {
	case spaced && !p.tok.first:
		edit.Span.Start = p.prevEnd
	case !spaced && p.tok.glued:
		edit.New = " "
	}
	p.error(diag.Errorf(diag.EqualsInDeclaration, at, "no `%s` stands between the name and the type", p.textOf(p.tok)).
		Helpf("write `type %s …`", orName(d.Name.Name)).
		Fix("remove it", edit))
	p.next()
}

// named returns the declaration, or nil where it has no name: nothing can refer
// to it, and its one fault is reported.
func named(d *ast.Decl) *ast.Decl {
	if d.Name.Name == "" {
		return nil
	}
	return d
}

// enum_decl = "enum" type_name [ enum_base ] enum_body .
func (p *parser) enumDecl() *ast.Decl {
	enter("enum_decl")
	spot := p.open()
	start := int(p.tok.start)
	p.next()
	d := p.decls.new()
	d.Old = true
	d.Name = p.typeName()
	typeStart := int(p.tok.start)
	var base *ast.Prim
	if p.tok.kind == tIdent && p.peek(1).kind == '{' {
		base = p.enumBase()
	}
	d.Type = p.enumBody(typeStart, base, d.Name.Name)
	d.Span = p.from(start)
	p.close(spot, &d.Attached)
	return named(d)
}

// enum_base = "u8" | "u16" | "u32" | "u64" .
func (p *parser) enumBase() *ast.Prim {
	enter("enum_base")
	t := p.tok
	p.next()
	switch name := p.textOf(t); name {
	case "u8", "u16", "u32", "u64":
		b := p.prims.new()
		*b = ast.Prim{Span: p.at(t), Name: name}
		return b
	case "uint":
		p.error(diag.Errorf(diag.BadEnumBase, p.at(t), "an enum is a uint unless it says otherwise").
			Helpf("leave out `uint`").Fix("remove it", diag.Edit{Span: p.at(t)}))
	default:
		p.error(diag.Errorf(diag.BadEnumBase, p.at(t), "an enum cannot be stored as `%s`", name).
			Helpf("u8, u16, u32 and u64 can stand here; with none of them the enum is a uint"))
	}
	return nil
}

// typeName takes the name that a declaration declares, or reports that there is
// none, which gives the zero Ident.
//
// type_name = upper { letter | digit } .
func (p *parser) typeName() ast.Ident {
	enter("type_name")
	if p.tok.kind != tIdent || p.tok.first && p.atDeclaration() {
		p.error(diag.Errorf(diag.MissingName, p.found(), "expected the type's name%s", p.butFound()))
		return ast.Ident{}
	}
	t := p.tok
	id := p.ident()
	if c := id.Name[0]; (c < 'A' || c > 'Z') && !t.foreign {
		d := diag.Errorf(diag.LowerCaseTypeName, id.Span, "a type's name starts with a capital letter")
		if up := upperFirst(id.Name); up != "" {
			d.Helpf("write `%s`", up)
		}
		p.error(d)
	}
	return id
}

// integer = digit { digit } .
func (p *parser) integer() *ast.Int {
	enter("integer")
	t := p.tok
	p.next()
	n := p.ints.new()
	n.Span = p.at(t)
	s := p.textOf(t)
	for i := 0; i < len(s); i++ {
		if class[s[i]] != cDigit {
			n.Err = true
			p.badInteger(t)
			return n
		}
		if digit := uint64(s[i] - '0'); n.Value > (1<<64-1-digit)/10 {
			n.Err = true
		} else {
			n.Value = n.Value*10 + digit
		}
	}
	if n.Err {
		n.Value = 0
		p.error(diag.Errorf(diag.IntegerTooLarge, n.Span, "this number does not fit in 64 bits").
			Notef("the greatest is 18446744073709551615"))
	}
	return n
}

// orName is a name to show in an example.
func orName(name string) string {
	if name == "" {
		return "Name"
	}
	return name
}

func describeName(id ast.Ident) string {
	if id.Name == "" {
		return "this declaration"
	}
	return "`" + id.Name + "`"
}

// upperFirst is the name in the form that types have: PascalCase.
func upperFirst(name string) string {
	var b strings.Builder
	up := true
	for _, c := range []byte(name) {
		switch {
		case c == '_' || class[c] == cDigit && b.Len() == 0:
			up = true
			continue
		case up && c >= 'a' && c <= 'z':
			c -= 'a' - 'A'
		}
		up = false
		b.WriteByte(c)
	}
	return b.String()
}

package parser

import (
	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// typ parses a type. What says in an error what the type is for.
//
// type = prim | named | data | enum | optional | list | map | union | struct | old_list | old_union | old_struct .
func (p *parser) typ(what string) ast.Type {
	enter("type")
	if p.depth >= MaxDepth {
		return p.tooDeep()
	}
	p.depth++
	t := p.typeBody(what)
	p.depth--
	if k := p.tok.kind; k == '?' || k == '[' {
		t = p.postfix(t)
	}
	return t
}

func (p *parser) typeBody(what string) ast.Type {
	switch p.tok.kind {
	case tIdent:
		if p.peek(1).kind == ':' || p.tok.first && p.atDeclaration() { // what comes next: this type is missing
			return p.missingType(what)
		}
		return p.word()
	case '[':
		return p.oldList()
	case '(':
		return p.oldUnion()
	case '{':
		return p.oldStruct()
	}
	return p.missingType(what)
}

// word parses a type that starts with a word.
func (p *parser) word() ast.Type {
	t := p.tok
	name := p.textOf(t)
	if known, ok := builtins[name]; ok {
		return p.builtin(t, known)
	}
	if c := name[0]; c >= 'A' && c <= 'Z' || t.foreign {
		if k := p.peek(1).kind; (k == '{' || k == '<') && k == opensWith[asBuiltin(name)] {
			return p.misspelled(t)
		}
		return p.namedType()
	}
	return p.misspelled(t)
}

// namedType takes a reference to a declared type.
//
// named = type_name .
func (p *parser) namedType() ast.Type {
	enter("named")
	errs := len(p.errs)
	id := p.ident()
	if len(p.errs) > errs { // the name goes on with a - or a .
		return &ast.Bad{Span: p.from(id.Span.Start)}
	}
	n := p.named.new()
	*n = ast.Named{Span: id.Span, Name: id.Name}
	return n
}

// form is how a built-in type goes on after its word.
type form uint8

const (
	fPrim form = iota
	fData
	fEnum
	fOptional
	fList
	fMap
	fUnion
	fStruct
)

// builtin is a built-in type: its word in the new spelling and its form.
type builtin struct {
	name string
	form form
	old  bool
}

var builtins = func() map[string]builtin {
	m := map[string]builtin{
		"string": {"str", fPrim, true},
		"data":   {"data", fData, false},
		"enum":   {"enum", fEnum, false}, "optional": {"optional", fOptional, false},
		"list": {"list", fList, false}, "map": {"map", fMap, false},
		"union": {"union", fUnion, false}, "struct": {"struct", fStruct, false},
	}
	for _, s := range []string{"uint", "u8", "u16", "u32", "u64", "int", "i8", "i16", "i32", "i64", "f32", "f64", "bool", "str", "void"} {
		m[s] = builtin{s, fPrim, false}
	}
	return m
}()

// builtin parses a built-in type whose word is at t.
//
// prim = "uint" | "u8" | "u16" | "u32" | "u64" | "int" | "i8" | "i16" | "i32" | "i64" | "f32" | "f64" | "bool" | "str" | "string" | "void" .
func (p *parser) builtin(t token, b builtin) ast.Type {
	p.next()
	start := int(t.start)
	switch b.form {
	case fData:
		return p.data(start)
	case fEnum:
		return p.enum(start)
	case fOptional:
		return p.optional(start)
	case fList:
		return p.list(start)
	case fMap:
		return p.mapType(start)
	case fUnion:
		return p.union(start)
	case fStruct:
		return p.structType(start)
	}
	enter("prim")
	n := p.prims.new()
	*n = ast.Prim{Span: p.at(t), Name: b.name, Old: b.old}
	return n
}

// data = "data" [ length | "<" integer ">" ] .
func (p *parser) data(start int) ast.Type {
	enter("data")
	d := p.datas.new()
	switch open := p.tok; open.kind {
	case '[':
		d.Len = p.length()
	case '<':
		d.Old = true
		p.next()
		d.Len = p.count('<')
		p.closer('>', open)
	case '(':
		p.wrongBrackets("data", "data[n]")
		p.next()
		d.Len = p.count('(')
		p.closer(')', open)
	}
	d.Span = p.from(start)
	return d
}

// length = "[" integer "]" .
func (p *parser) length() *ast.Int {
	enter("length")
	open := p.tok
	p.next()
	n := p.count(open.kind)
	p.closer(']', open)
	return n
}

// count is the integer in a length; anything else there is reported.
func (p *parser) count(open kind) *ast.Int {
	if p.tok.kind == tNumber {
		return p.integer()
	}
	p.notANumber("expected a number after `" + string(rune(open)) + "`")
	n := p.ints.new()
	*n = ast.Int{Span: p.from(p.prevEnd), Err: true}
	return n
}

// optional = "optional" angle .
func (p *parser) optional(start int) ast.Type {
	enter("optional")
	o := p.optionals.new()
	o.Elem = p.angle("optional", "for the optional", "optional<T>")
	o.Span = p.from(start)
	return o
}

// list = "list" angle [ length ] .
func (p *parser) list(start int) ast.Type {
	enter("list")
	l := p.lists.new()
	l.Elem = p.angle("list", "for the list", "list<T>")
	if p.tok.kind == '[' {
		l.Len = p.length()
	}
	l.Span = p.from(start)
	return l
}

// map = "map" ( angle angle | old_map ) .
func (p *parser) mapType(start int) ast.Type {
	m := p.maps.new()
	if p.tok.kind == '[' {
		p.oldMap(m)
	} else {
		enter("map")
		p.mapArgs(m)
	}
	m.Span = p.from(start)
	return m
}

// old_map = "[" type "]" type .
func (p *parser) oldMap(m *ast.Map) {
	enter("old_map")
	m.Old = true
	open := p.tok
	p.next()
	m.Key = p.typ("for the map's key")
	if p.tok.kind == ',' {
		p.wrongPair(true)
		m.Value = p.typ("for the map's value")
		p.closer(']', open)
		return
	}
	p.closer(']', open)
	m.Value = p.typ("for the map's value")
}

// angle = "<" type ">" .
func (p *parser) angle(word, what, example string) ast.Type {
	enter("angle")
	open := p.tok
	switch open.kind {
	case '<':
		p.next()
		p.angles++
		t := p.typ(what)
		p.angles--
		p.closer('>', open)
		return t
	case '[', '(':
		p.wrongBrackets(word, example)
		p.next()
		t := p.typ(what)
		p.closer(partner(open.kind), open)
		return t
	}
	return p.noAngle(word, example)
}

// old_list = "[" [ integer ] "]" type .
func (p *parser) oldList() ast.Type {
	enter("old_list")
	open := p.tok
	l := p.lists.new()
	l.Old = true
	p.next()
	if p.tok.kind == tIdent && p.peek(1).kind == ']' && (p.peek(2).first || !startsType(p.peek(2).kind)) {
		return p.bracketed(open)
	}
	if p.tok.kind != ']' {
		l.Len = p.count('[')
	}
	p.closer(']', open)
	l.Elem = p.typ("for the list")
	l.Span = p.from(int(open.start))
	return l
}

// enum = "enum" enum_body .
func (p *parser) enum(start int) ast.Type {
	enter("enum")
	if p.tok.kind == tIdent && !p.tok.first && p.peek(1).kind == '{' {
		p.misplacedBase()
	}
	return p.enumBody(start, nil, "")
}

// enum_body = "{" { enum_value } "}" .
func (p *parser) enumBody(start int, base *ast.Prim, name string) ast.Type {
	enter("enum_body")
	errs := len(p.errs)
	b, ok := p.openBody("enum", '{')
	if !ok {
		return &ast.Bad{Span: p.from(start)}
	}
	mark := len(p.valueStack)
	for p.inBody(&b) {
		if p.tok.kind == tIdent {
			p.valueStack = append(p.valueStack, p.enumValue())
			continue
		}
		p.wrongInBody(&b, "a value's name")
	}
	e := p.enums.new()
	*e = ast.Enum{Span: p.from(start), Base: base, Values: seal(&p.valueStack, mark, &p.valuePool)}
	if len(e.Values) == 0 && len(p.errs) > errs {
		return &ast.Bad{Span: e.Span}
	}
	return e
}

// enum_value = name [ "=" integer ] .
func (p *parser) enumValue() *ast.EnumValue {
	enter("enum_value")
	spot := p.open()
	v := p.values.new()
	start := int(p.tok.start)
	v.Name = p.name()
	v.Value = p.number("value")
	v.Span = p.from(start)
	p.close(spot, &v.Attached)
	return v
}

// name = letter { letter | digit } .
func (p *parser) name() ast.Ident {
	enter("name")
	return p.ident()
}

// ident takes an identifier, and whatever clings to it by a character that
// cannot stand in a name.
func (p *parser) ident() ast.Ident {
	id := ast.Ident{Name: p.textOf(p.tok), Span: p.at(p.tok)}
	p.next()
	if k := p.tok.kind; k == '-' || k == '.' {
		p.brokenName(id)
	}
	return id
}

// number parses the = integer that may follow a value or a member.
func (p *parser) number(what string) *ast.Int {
	switch p.tok.kind {
	case '=':
	case ':':
		p.error(diag.Errorf(diag.Unexpected, p.at(p.tok), "a %s gets its number with `=`", what).
			Fix("write =", diag.Edit{Span: p.at(p.tok), New: " ="}))
	default:
		return nil
	}
	p.next()
	if p.tok.kind == tNumber {
		return p.integer()
	}
	p.notANumber("expected a number after `=`")
	return nil
}

// union = "union" "{" members "}" .
func (p *parser) union(start int) ast.Type {
	enter("union")
	return p.unionBody(start, '{', false)
}

// old_union = "(" members ")" .
func (p *parser) oldUnion() ast.Type {
	enter("old_union")
	return p.unionBody(int(p.tok.start), '(', true)
}

// members = [ "|" ] [ member { "|" member } [ "|" ] ] .
func (p *parser) unionBody(start int, open kind, old bool) ast.Type {
	enter("members")
	errs := len(p.errs)
	b, ok := p.openBody("union", open)
	if !ok {
		return &ast.Bad{Span: p.from(start)}
	}
	mark := len(p.memberStack)
	if p.tok.kind == '|' {
		p.next()
	}
	for p.inBody(&b) {
		if !startsType(p.tok.kind) {
			p.wrongInBody(&b, "a type")
			continue
		}
		m, spot := p.member()
		p.memberStack = append(p.memberStack, m)
		p.pipe(&b, spot)
	}
	u := p.unions.new()
	*u = ast.Union{Span: p.from(start), Members: seal(&p.memberStack, mark, &p.memberPool), Old: old}
	if len(u.Members) == 0 && len(p.errs) > errs {
		return &ast.Bad{Span: u.Span}
	}
	return u
}

// member = type [ "=" integer ] .
func (p *parser) member() (*ast.Member, int) {
	enter("member")
	spot := p.open()
	m := p.members.new()
	start := int(p.tok.start)
	m.Type = p.typ("for this member")
	m.Tag = p.number("member")
	m.Span = p.from(start)
	p.close(spot, &m.Attached)
	return m, spot
}

// struct = "struct" fields .
func (p *parser) structType(start int) ast.Type {
	enter("struct")
	return p.structBody(start, false)
}

// old_struct = fields .
func (p *parser) oldStruct() ast.Type {
	enter("old_struct")
	return p.structBody(int(p.tok.start), true)
}

// fields = "{" { field } "}" .
func (p *parser) structBody(start int, old bool) ast.Type {
	enter("fields")
	errs := len(p.errs)
	b, ok := p.openBody("struct", '{')
	if !ok {
		return &ast.Bad{Span: p.from(start)}
	}
	mark := len(p.fieldStack)
	for p.inBody(&b) {
		if p.tok.kind == tIdent {
			p.fieldStack = append(p.fieldStack, p.field())
			continue
		}
		p.wrongInBody(&b, "a field")
	}
	s := p.structs.new()
	*s = ast.Struct{Span: p.from(start), Fields: seal(&p.fieldStack, mark, &p.fieldPool), Old: old}
	if len(s.Fields) == 0 && len(p.errs) > errs {
		return &ast.Bad{Span: s.Span}
	}
	return s
}

// field = name ":" type .
func (p *parser) field() *ast.Field {
	enter("field")
	spot := p.open()
	f := p.fields.new()
	start := int(p.tok.start)
	f.Name = p.name()
	if p.tok.kind == ':' {
		p.next()
		f.Type = p.fieldType(f)
	} else {
		f.Type = p.noColon(f)
	}
	f.Span = p.from(start)
	p.close(spot, &f.Attached)
	return f
}

// fieldType parses the type behind the colon.
func (p *parser) fieldType(f *ast.Field) ast.Type {
	// The text is only built where it is needed: this is the parser's busiest place.
	if startsType(p.tok.kind) && !(p.tok.kind == tIdent && p.peek(1).kind == ':') {
		return p.typ("")
	}
	return p.missingType("for field `" + f.Name.Name + "`")
}

// startsType reports whether a type can start with a token of this kind.
func startsType(k kind) bool { return k == tIdent || k == '[' || k == '(' || k == '{' }

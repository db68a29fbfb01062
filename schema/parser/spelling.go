package parser

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// otherNames are the words that other languages have for built-in types.
var otherNames = map[string]string{
	"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "sint32": "i32", "sint64": "i64",
	"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "byte": "u8", "char": "u8",
	"short": "i16", "ushort": "u16", "long": "i64", "ulong": "u64", "integer": "int", "number": "f64",
	"fixed32": "u32", "fixed64": "u64", "varint": "uint", "usize": "uint", "isize": "int", "uvarint": "uint",
	"float": "f32", "double": "f64", "float32": "f32", "float64": "f64", "single": "f32", "real": "f64",
	"boolean": "bool", "text": "str", "utf8": "str", "bytes": "data", "blob": "data", "binary": "data", "buffer": "data",
	"null": "void", "none": "void", "unit": "void", "nil": "void", "empty": "void",
	"array": "list", "vec": "list", "vector": "list", "slice": "list", "seq": "list", "sequence": "list", "repeated": "list",
	"dict": "map", "hashmap": "map", "dictionary": "map", "option": "optional", "maybe": "optional", "nullable": "optional",
	"opt": "optional", "enumeration": "enum", "oneof": "union", "variant": "union", "record": "struct", "message": "struct",
}

// noSuchType says what to write for types that BARE does not have.
var noSuchType = map[string]string{
	"u128": "data[16]", "i128": "data[16]", "uint128": "data[16]", "int128": "data[16]", "uuid": "data[16]",
	"f16": "u16", "bfloat16": "u16", "f128": "data[16]",
	"timestamp": "i64", "time": "i64", "date": "str", "datetime": "str", "duration": "i64", "decimal": "str", "any": "data",
}

// opensWith is the bracket behind the word of a built-in type.
var opensWith = map[string]kind{
	"enum": '{', "union": '{', "struct": '{', "optional": '<', "list": '<', "map": '<', "data": '<',
}

// asBuiltin is the built-in type that a word stands for in another spelling, or "".
func asBuiltin(word string) string {
	word = strings.ToLower(word)
	if _, ok := builtins[word]; ok {
		return word
	}
	return otherNames[word]
}

// misspelled parses a type whose word is no built-in type: the one that was
// likely meant, so that the error about the word stays the only one. A name
// that the file declares is a name, whatever its first letter: the
// declaration has the error.
func (p *parser) misspelled(t token) ast.Type {
	word := p.textOf(t)
	declared := p.declares(word)
	if declared == word {
		return p.namedType()
	}
	meant := asBuiltin(word)
	if declared != "" && meant == "" {
		p.error(diag.Errorf(diag.UnknownBuiltin, p.at(t), "there is no built-in type `%s`", word).
			Helpf("write `%s`, which this file declares", declared).
			Fix("write "+declared, diag.Edit{Span: p.at(t), New: declared}))
		p.next()
		n := p.named.new()
		*n = ast.Named{Span: p.at(t), Name: declared}
		return n
	}
	if meant == "" {
		if near := nearest(word); opensWith[near] == 0 || opensWith[near] == p.peek(1).kind {
			meant = near
		}
	}
	d := diag.Errorf(diag.UnknownBuiltin, p.at(t), "there is no built-in type `%s`", word)
	switch instead := noSuchType[word]; {
	case instead != "":
		d.Helpf("`%s` can hold one", instead)
	case meant != "":
		d.Helpf("write `%s`", meant).Fix("write "+meant, diag.Edit{Span: p.at(t), New: meant})
	default:
		d.Helpf("names of types that a schema declares start with a capital letter")
	}
	p.error(d)
	if b, ok := builtins[meant]; ok && noSuchType[word] == "" {
		errs := len(p.errs)
		typ := p.builtin(t, b)
		if len(p.errs) > errs && p.errs[errs].Code == diag.BadTypeForm {
			p.errs = append(p.errs[:errs], p.errs[errs+1:]...) // `repeated u8`: the word says it all
		}
		return typ
	}
	p.next()
	if p.tok.kind == '<' || p.tok.kind == '{' || p.tok.kind == '(' && p.tok.glued {
		p.skipGroup()
	}
	return &ast.Bad{Span: p.from(int(t.start))}
}

// declares returns the name, declared anywhere in the file, that is spelled like this
// one but for the case of its letters, or "". The names are collected when first
// asked for: few files need them.
func (p *parser) declares(name string) string {
	if p.declared == nil {
		p.declared = map[string]string{}
		l := lexer{file: p.file, text: p.text}
		for t := l.scan(); t.kind != tEOF; {
			word := p.textOf(t)
			if t = l.scan(); t.kind == tIdent && (word == "type" || word == "enum") {
				id := p.textOf(t)
				p.declared[strings.ToLower(id)] = id
			}
		}
	}
	if d := p.declared[strings.ToLower(name)]; d == name || d != "" && d[0] >= 'A' && d[0] <= 'Z' {
		return d
	}
	return ""
}

// nearest is the built-in type that a word is a slip of the finger away from, or "".
func nearest(word string) string {
	best, least := "", 2
	if len(word) < 6 {
		least = 1 // point is not int
	}
	for name := range builtins {
		if d := diag.Slips(word, name, least); d < least+1 && len(name) > 2 {
			if d < least || best == "" || d == least && name < best {
				best, least = name, d
			}
		}
	}
	return best
}

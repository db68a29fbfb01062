// Package gocode is the vocabulary in which emitters write Go: a thin layer
// over dave/jennifer. Jennifer holds the structure (declarations, comments,
// imports); what stands inside a declaration is written as the Go that it is.
//
// Qualifiers are tracked: in `b = wire.AppendUint(b, x)` the identifier before
// the dot is looked up in Imports, and the file imports the package because,
// and only because, it is used.
//
//	g.Func("BinarySize is …", "(x *"+t.Go+") BinarySize() int", func(b *gocode.Body) {
//		b.P("n := 0")
//		b.Block("for i := range x.%s", f.Go)
//		b.P("n += wire.SizeStr(x.%s[i])", f.Go)
//		b.End()
//		b.P("return n")
//	})
package gocode

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"
)

// Code is a run of declarations of one file, in order. It is not safe for
// concurrent use; a file is made of several.
type Code struct {
	decls      []jen.Code
	directives []string // for the next declaration
	err        error
}

// Directive puts a //barewire: directive above the declaration that is added next: "effect views=0 of w".
func (g *Code) Directive(format string, args ...any) {
	g.directives = append(g.directives, DirectivePrefix+sprintf(format, args))
}

// DirectivePrefix is how the directives begin that generated code has for the analyzers.
const DirectivePrefix = "//barewire:"

// Func adds a function or method. The comment may be empty and may have
// several lines; sig is what stands between `func ` and ` {`.
//
//	// doc
//	func (x *Customer) BinarySize() int {
//		body
//	}
func (g *Code) Func(doc, sig string, body func(b *Body)) {
	g.add(doc, jen.Func().Add(split(sig)...).Block(g.body(sig, body)...))
}

// Struct adds a struct type; body writes the fields.
//
//	// doc
//	type Customer struct {
//		body
//	}
func (g *Code) Struct(doc, name string, body func(b *Body)) {
	g.add(doc, jen.Type().Id(name).Struct(g.body(name, body)...))
}

// Interface adds an interface type; body writes the methods.
func (g *Code) Interface(doc, name string, body func(b *Body)) {
	g.add(doc, jen.Type().Id(name).Interface(g.body(name, body)...))
}

// Const adds a group of constants; body writes `Name Type = value` lines.
func (g *Code) Const(doc string, body func(b *Body)) {
	g.add(doc, jen.Const().Defs(g.body("const", body)...))
}

// Var adds a group of variables.
func (g *Code) Var(doc string, body func(b *Body)) {
	g.add(doc, jen.Var().Defs(g.body("var", body)...))
}

// Line adds a declaration in one piece: `type Name string`, `const _ = wire.X`.
// It may have several lines.
func (g *Code) Line(doc, format string, args ...any) {
	g.add(doc, jen.Add(split(sprintf(format, args))...))
}

// body is what stands between the braces of the declaration that head names:
// one statement of few nodes, or nothing.
func (g *Code) body(head string, write func(b *Body)) []jen.Code {
	var b Body
	write(&b)
	if b.depth != 0 && g.err == nil {
		g.err = fmt.Errorf("blocks are not balanced in %s", head)
	}
	if b.Empty() {
		return nil
	}
	return []jen.Code{jen.Add(split(string(b.text[:len(b.text)-1]))...)}
}

// add puts a declaration behind the others, an empty line between. The comment
// is an item of its own, so that nothing comes between its end and the
// declaration: gofmt knows it as the declaration's by that.
func (g *Code) add(doc string, s *jen.Statement) {
	if doc != "" {
		doc = "\n" + strings.TrimSuffix(Comment(doc), "\n")
	}
	for i, d := range g.directives {
		if i == 0 && doc != "" {
			doc += "\n//"
		}
		doc += "\n" + d
	}
	g.directives = nil
	g.decls = append(g.decls, jen.Op(doc), s)
}

// Comment is text as Go comment lines, each with its newline. What a Go file
// cannot hold, and what would be a build constraint, is changed.
func Comment(doc string) string {
	doc = strings.ToValidUTF8(doc, "\uFFFD")
	doc = strings.NewReplacer("\x00", "", "\uFEFF", "").Replace(doc)
	var out strings.Builder
	for line := range strings.SplitSeq(strings.Trim(doc, "\r\n"), "\n") {
		out.WriteString("//")
		if line = strings.TrimRight(line, " \t\r"); line != "" {
			out.WriteByte(' ')
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "+build"); ok {
				line = "+ build" + rest
			}
			out.WriteString(line)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// Body is what stands inside a declaration: lines of Go.
type Body struct {
	text  []byte
	depth int
}

// P adds a line, or several, formatted as fmt does. Indentation is left to the
// format step.
func (b *Body) P(format string, args ...any) {
	if len(args) == 0 {
		b.text = append(b.text, format...)
	} else {
		b.text = fmt.Appendf(b.text, format, args...)
	}
	b.text = append(b.text, '\n')
}

// Comment adds comment lines.
func (b *Body) Comment(doc string) {
	if doc != "" {
		b.text = append(b.text, Comment(doc)...)
	}
}

// Block opens a block: the head, which may be empty, and a brace. End closes it.
func (b *Body) Block(head string, args ...any) {
	b.depth++
	b.P(head+" {", args...)
}

// Else ends the block of an if and opens another: `} else {`, or with a
// condition `} else if cond {`.
func (b *Body) Else(cond string, args ...any) {
	if cond == "" {
		b.P("} else {")
		return
	}
	b.P("} else if "+cond+" {", args...)
}

// End closes the innermost block.
func (b *Body) End() {
	b.depth--
	b.P("}")
}

// Empty reports whether nothing was written yet.
func (b *Body) Empty() bool { return len(b.text) == 0 }

func sprintf(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

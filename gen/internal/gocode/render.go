package gocode

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"
)

// Piece is a run of declarations as formatted text, and the packages that it
// uses.
type Piece struct {
	Text    []byte
	Imports []string
}

// FormatError says that what was written is not Go. It is always a fault of an
// emitter, never of a schema.
type FormatError struct {
	Err   error
	Raw   []byte // all that was to be formatted
	Lines string // five numbered lines of it around the fault
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("generated Go does not parse: %v\n%s", e.Err, e.Lines)
}

func (e *FormatError) Unwrap() error { return e.Err }

const clause = "package p\n"

// Render gives the declarations as gofmt would have them. Jennifer works out
// the imports; they are taken off again, since pieces of one file share them.
func (g *Code) Render() (Piece, error) {
	if g.err != nil {
		return Piece{}, g.err
	}
	f := jen.NewFile("p")
	f.NoFormat = true
	for name, path := range Imports {
		f.ImportName(path, name)
	}
	for _, d := range g.decls {
		f.Add(d)
	}
	var raw bytes.Buffer
	if err := f.Render(&raw); err != nil {
		return Piece{}, err
	}
	var p Piece
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "", raw.Bytes(), parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return Piece{}, formatError(err, raw.Bytes())
	}
	for _, im := range tree.Imports {
		path, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			return Piece{}, formatError(err, raw.Bytes())
		}
		p.Imports = append(p.Imports, path)
	}
	tree.Decls = slices.DeleteFunc(tree.Decls, func(d ast.Decl) bool {
		gen, ok := d.(*ast.GenDecl)
		return ok && gen.Tok == token.IMPORT
	})
	out := bytes.NewBuffer(make([]byte, 0, raw.Len()+raw.Len()/4))
	if err := format.Node(out, fset, tree); err != nil {
		return Piece{}, formatError(err, raw.Bytes())
	}
	p.Text = bytes.TrimPrefix(bytes.TrimPrefix(out.Bytes(), []byte(clause)), []byte("\n"))
	return p, nil
}

func formatError(err error, raw []byte) *FormatError {
	line := 1
	if at, ok := lineOf(err); ok {
		line = at
	}
	lines := strings.Split(string(raw), "\n")
	var out strings.Builder
	for n := max(1, line-2); n <= min(len(lines), line+2); n++ {
		fmt.Fprintf(&out, "%6d  %s\n", n, lines[n-1])
	}
	return &FormatError{Err: err, Raw: raw, Lines: out.String()}
}

// lineOf finds the line in an error that begins with line:column.
func lineOf(err error) (int, bool) {
	head, _, ok := strings.Cut(err.Error(), ":")
	if !ok {
		return 0, false
	}
	n, convErr := strconv.Atoi(head)
	return n, convErr == nil
}

// Head is what stands in a file before its declarations.
type Head struct {
	Generated string   // the line that marks the file as generated, without marks
	Doc       []string // the package's comment
	Package   string
}

// Assemble puts pieces together: the header, the imports that they use, sorted
// and with the standard library's first, then their text.
func Assemble(h Head, pieces []Piece) ([]byte, error) {
	size := 0
	used := map[string]bool{}
	for _, p := range pieces {
		size += len(p.Text) + 1
		for _, path := range p.Imports {
			used[path] = true
		}
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "// %s\n\n", h.Generated)
	if len(h.Doc) > 0 {
		head.WriteString(Comment(strings.Join(h.Doc, "\n")))
	}
	fmt.Fprintf(&head, "package %s\n", h.Package)
	writeImports(&head, used)
	text, err := format.Source(head.Bytes()) // for the comment
	if err != nil {
		return nil, formatError(err, head.Bytes())
	}
	out := append(make([]byte, 0, size+len(text)), text...)
	for _, p := range pieces {
		if len(p.Text) > 0 {
			out = append(out, '\n')
			out = append(out, p.Text...)
		}
	}
	return out, nil
}

func writeImports(out *bytes.Buffer, used map[string]bool) {
	var std, other []string
	for path := range used {
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			other = append(other, path)
		} else {
			std = append(std, path)
		}
	}
	slices.Sort(std)
	slices.Sort(other)
	switch {
	case len(std)+len(other) == 0:
		return
	case len(std)+len(other) == 1:
		fmt.Fprintf(out, "\nimport %s\n", importSpec(append(std, other...)[0]))
		return
	}
	out.WriteString("\nimport (\n")
	for _, path := range std {
		fmt.Fprintf(out, "\t%s\n", importSpec(path))
	}
	if len(std) > 0 && len(other) > 0 {
		out.WriteByte('\n')
	}
	for _, path := range other {
		fmt.Fprintf(out, "\t%s\n", importSpec(path))
	}
	out.WriteString(")\n")
}

// importSpec names the package where its path does not say its name.
func importSpec(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	if Imports[base] == path {
		return strconv.Quote(path)
	}
	for name, p := range Imports {
		if p == path {
			return name + " " + strconv.Quote(path)
		}
	}
	return strconv.Quote(path)
}

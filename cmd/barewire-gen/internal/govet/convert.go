package govet

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/analyzers/vettool"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// finding is a diagnostic as `go vet -json` writes it.
type finding struct {
	Category string `json:"category"`
	Posn     string `json:"posn"` // file:line:column, columns in bytes
	End      string `json:"end"`
	Message  string `json:"message"`
	Fixes    []struct {
		Message string `json:"message"`
		Edits   []struct {
			Filename   string `json:"filename"`
			Start, End int    // offsets
			New        string `json:"new"`
		} `json:"edits"`
	} `json:"suggested_fixes"`
	Related []struct {
		Posn    string `json:"posn"`
		End     string `json:"end"`
		Message string `json:"message"`
	} `json:"related"`
}

// file is a Go file that something was found in.
type file struct {
	*source.File
	functions []function
}

// function is where a function stands: offsets.
type function struct {
	name       string
	start, end int
}

// converter makes diagnostics of findings.
type converter struct {
	dir    string
	result *Result
	files  map[string]*file // by the name that the go command gave; nil: it cannot be read
}

// stream reads what the go command wrote: JSON objects, lines that name a package, and what else it has to say, which is returned.
func (c *converter) stream(text []byte) (rest string, err error) {
	var other strings.Builder
	for len(text) > 0 {
		if text[0] == '{' {
			dec := json.NewDecoder(bytes.NewReader(text))
			var tree map[string]map[string]json.RawMessage
			if err := dec.Decode(&tree); err != nil {
				return "", err
			}
			if err := c.tree(tree); err != nil {
				return "", err
			}
			text = bytes.TrimLeft(text[dec.InputOffset():], "\r\n")
			continue
		}
		line, after, _ := bytes.Cut(text, []byte("\n"))
		// A line that names a package and is followed by what was found there says nothing of its own.
		if !bytes.HasPrefix(line, []byte("# ")) || len(after) > 0 && after[0] != '{' && after[0] != '#' {
			other.Write(line)
			other.WriteByte('\n')
		}
		text = after
	}
	return other.String(), nil
}

// tree takes one object: findings or an error, by package and analyzer.
func (c *converter) tree(tree map[string]map[string]json.RawMessage) error {
	for pkg, byAnalyzer := range tree {
		pkg, _, _ = strings.Cut(pkg, " ") // "x [x.test]"
		for analyzer, raw := range byAnalyzer {
			var failed struct{ Error string }
			if raw[0] == '{' {
				if err := json.Unmarshal(raw, &failed); err != nil {
					return err
				}
				c.result.Bug += fmt.Sprintf("%s over %s: %s\n", analyzer, pkg, failed.Error)
				continue
			}
			var list []finding
			if err := json.Unmarshal(raw, &list); err != nil {
				return err
			}
			for _, f := range list {
				c.add(pkg, f)
			}
		}
	}
	return nil
}

// add makes a diagnostic of a finding.
func (c *converter) add(pkg string, f finding) {
	d := diag.Errorf(diag.Code(f.Category), c.span(f.Posn, f.End), "%s", strings.TrimSuffix(f.Message, vettool.Code(f.Category)))
	if !d.Primary.Span.IsValid() {
		d.Notef("it is at %s", f.Posn)
	}
	for _, r := range f.Related {
		if s := c.span(r.Posn, r.End); s.IsValid() {
			d.Also(s, "%s", r.Message)
		} else {
			d.Notef("%s: %s", r.Posn, r.Message)
		}
	}
	for _, x := range f.Fixes {
		fix := diag.Fix{Text: x.Message}
		for _, e := range x.Edits {
			src := c.file(e.Filename)
			if src == nil || e.Start < 0 || e.End < e.Start || e.End > len(src.Text()) {
				fix.Edits = nil // it has changed since
				break
			}
			fix.Edits = append(fix.Edits, diag.Edit{Span: source.Span{File: src.File, Start: e.Start, End: e.End}, New: e.New})
		}
		if len(fix.Edits) > 0 {
			d.Fixes = append(d.Fixes, fix)
		}
	}
	c.result.Found = append(c.result.Found, d)
	c.result.scopes[d] = pkg + c.function(f.Posn, d.Primary.Span)
}

// function is the function around a place, as ".f" or ".(*T).f".
func (c *converter) function(posn string, s source.Span) string {
	name, _, _ := cut(posn)
	if f := c.file(name); f != nil && s.IsValid() {
		for _, fn := range f.functions {
			if fn.start <= s.Start && s.Start < fn.end {
				return "." + fn.name
			}
		}
	}
	return ""
}

// cut takes a place apart: a file's name, which may have colons, a line and a column.
func cut(posn string) (name string, line, column int) {
	number := func() int {
		i := strings.LastIndexByte(posn, ':')
		n, err := strconv.Atoi(posn[i+1:])
		if i < 0 || err != nil {
			return 0
		}
		posn = posn[:i]
		return n
	}
	column = number()
	if line = number(); line == 0 {
		line, column = column, 1
	}
	return posn, line, column
}

// span is the place from one position to another; none where the file is not there, or has changed.
func (c *converter) span(from, to string) source.Span {
	name, line, column := cut(from)
	f := c.file(name)
	if f == nil || line < 1 || line > f.Lines() {
		return source.Span{}
	}
	offset := func(line, column int) int { return min(f.LineStart(line)+max(column-1, 0), len(f.Text())) }
	s := source.Span{File: f.File, Start: offset(line, column)}
	s.End = s.Start
	if other, line, column := cut(to); other == name && line >= 1 && line <= f.Lines() {
		s.End = max(s.Start, offset(line, column))
	}
	return s
}

// file reads a file, once. It is nil if it cannot be read.
func (c *converter) file(name string) *file {
	if f, ok := c.files[name]; ok {
		return f
	}
	c.files[name] = nil
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	f := &file{File: source.NewFile(c.shown(name), text), functions: functions(text)}
	c.files[name] = f
	return f
}

// shown is a file's name as people want it: from where the command runs, unless it is elsewhere.
func (c *converter) shown(name string) string {
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return name
	}
	rel, err := filepath.Rel(dir, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return name
	}
	return rel
}

// functions finds the functions and methods of a Go file.
func functions(text []byte) (list []function) {
	fset := token.NewFileSet()
	// What can be parsed is enough: it was type-checked a moment ago.
	f, _ := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if f == nil {
		return nil
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			list = append(list, function{receiver(fn) + fn.Name.Name, fset.PositionFor(fn.Pos(), false).Offset, fset.PositionFor(fn.End(), false).Offset})
		}
	}
	return list
}

// receiver is a method's receiver without its type parameters: "(*T)." or "T.".
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	star, t := "", fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			star, t = "*", x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			if star != "" {
				return "(*" + x.Name + ")."
			}
			return x.Name + "."
		default:
			return ""
		}
	}
}

// sort brings the findings into the order of file names, then of places. That of packages, which are looked
// at side by side, changes from run to run.
func (c *converter) sort() {
	var files []*source.File
	for _, f := range c.files {
		if f != nil {
			files = append(files, f.File)
		}
	}
	slices.SortFunc(files, func(a, b *source.File) int { return cmp.Compare(a.Name(), b.Name()) })
	found := c.result.Found
	slices.SortFunc(found, func(a, b *diag.Diagnostic) int { return cmp.Compare(a.Message, b.Message) })
	found.Sort(files)
}

package difftest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/scratch"
	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestTextMate colors the corpus with the grammar in docs/editors and VS Code's engine, and
// holds the colors to what the parser says that the words are.
func TestTextMate(t *testing.T) {
	node := scratch.NeedTool(t, "node", "Node.js 20 or later")
	if _, err := os.Stat(filepath.Join("node_modules", "vscode-textmate")); err != nil {
		scratch.SkipOrFail(t, "VS Code's engine is not installed: run make deps")
	}
	root := scratch.Root(t)
	var files []string
	for _, where := range []string{"testdata/corpus/*/*.bare", "examples/*/*.bare"} {
		found, err := filepath.Glob(filepath.Join(root, where))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	own := filepath.Join(t.TempDir(), "own.bare")
	if err := os.WriteFile(own, []byte(colored), 0o666); err != nil {
		t.Fatal(err)
	}
	files = append(files, own)
	out, err := exec.Command(node, append([]string{"textmate.mjs", filepath.Join(root, "docs/editors/bare.tmLanguage.json")}, files...)...).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(err))
	}
	var all [][][][3]any
	if err := json.Unmarshal(out, &all); err != nil || len(all) != len(files) {
		t.Fatalf("%d of %d files: %v", len(all), len(files), err)
	}
	n, words := 0, 0
	for i, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tree, found := parser.Parse(source.NewFile(filepath.Base(name), text))
		if found.HasErrors() {
			continue // there is nothing to hold it to
		}
		n++
		c := colors{t: t, lines: all[i], comments: map[int]bool{}}
		c.file(tree)
		words += c.words
	}
	t.Logf("%d words of %d schemas", words, n)
	if n < 100 || words < 5000 {
		t.Errorf("only %d words of %d schemas", words, n)
	}
}

func stderrOf(err error) string {
	if e, ok := err.(*exec.ExitError); ok {
		return string(e.Stderr)
	}
	return ""
}

// colored has what the corpus has not, and words where they mean something else.
const colored = `#@package(colored)
#@residency(cpu, fallback=unified) # not a comment of its own
type Some struct { # é😀 behind
  type: u8
  enum: Kind
  list: list<u8>[4]  struct: optional<data[3]>
  #@ref(Some, remote_read)
  ref: data[48] #@max(3)
}
type Kind enum { u8 data = 3 }
enum Old u16 { A B = 300 }
type Many (Some | []Kind | [3]string = 9)
type Map map[string]map<str><Old>
`

// colors are the colors of a file.
type colors struct {
	t        *testing.T
	lines    [][][3]any
	comments map[int]bool
	words    int
}

// at wants a scope for every character of a span that lies within a line.
func (c *colors) at(s source.Span, scope string) {
	c.t.Helper()
	if !s.IsValid() || s.Start == s.End {
		return
	}
	c.words++
	from, to := s.File.Position(s.Start, source.UTF16), s.File.Position(s.End, source.UTF16)
	end := 0
	for _, x := range c.lines[from.Line-1] {
		start, stop, have := int(x[0].(float64)), int(x[1].(float64)), x[2].(string)
		end = stop
		if stop <= from.Column-1 || start >= to.Column-1 || from.Line != to.Line {
			continue
		}
		if !strings.Contains(have, scope) {
			c.t.Errorf("%s:%d:%d: `%s` is colored %q, want %q", s.File.Name(), from.Line, from.Column, s.Text(), have, scope)
			return
		}
	}
	if end < to.Column-1 {
		c.t.Errorf("%s:%d: the line's colors end at %d", s.File.Name(), from.Line, end)
	}
}

func (c *colors) file(tree *ast.File) {
	inside := 0
	for _, x := range tree.Comments {
		if strings.HasPrefix(x.Span.Text(), "#@") {
			c.at(source.Span{File: x.Span.File, Start: x.Span.Start, End: x.Span.Start + 2}, "annotation")
			continue
		}
		c.at(x.Span, "comment.line")
		inside += x.Span.File.Position(x.Span.End, source.UTF16).Column - x.Span.File.Position(x.Span.Start, source.UTF16).Column
	}
	for _, line := range c.lines {
		for _, x := range line {
			if strings.Contains(x[2].(string), "comment") {
				inside -= int(x[1].(float64)) - int(x[0].(float64))
			}
		}
	}
	if inside != 0 && !strings.Contains(string(tree.Src.Text()), "\r") {
		c.t.Errorf("%s: comments and what is colored as comments differ by %d characters", tree.Src.Name(), inside)
	}
	for _, d := range tree.Decls {
		c.at(d.Name.Span, "entity.name.type.declaration")
	}
	for node := range tree.Nodes() {
		for _, a := range node.Attachments().Annots {
			c.at(a.Name.Span, "storage.type.annotation")
		}
		switch x := node.(type) {
		case *ast.Decl:
			c.types(x.Type)
		case *ast.Field:
			c.at(x.Name.Span, "variable.other.member")
		case *ast.EnumValue:
			c.at(x.Name.Span, "constant.other.enum")
			if x.Value != nil {
				c.at(x.Value.Span, "constant.numeric")
			}
		}
	}
}

func (c *colors) types(t ast.Type) {
	ast.Walk(t, func(t ast.Type) bool {
		switch x := t.(type) {
		case *ast.Prim:
			c.at(x.Span, "support.type")
		case *ast.Named:
			c.at(x.Span, "entity.name.type.bare")
		case *ast.Data:
			if x.Len != nil {
				c.at(x.Len.Span, "constant.numeric")
			}
		}
		return true
	})
}

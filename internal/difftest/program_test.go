package difftest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// perPackage is how many random schemas share a Go package. Few and large
// packages build faster than many small ones.
const perPackage = 50

// program is a scratch program that links generated packages with the runner.
type program struct {
	m       *scratch.Module
	imports []string
	types   []string        // elements of the list that main gives to the runner
	views   map[string]bool // the types by package.Type, and whether they have a view
	casts   int
	slots   int
}

func newProgram(t *testing.T) *program {
	t.Helper()
	return &program{m: scratch.New(t, goBareExtra, goBareSums), views: map[string]bool{}}
}

// add generates a package from files (name to text) and registers its types.
// Peer, where there is one, gives the Go expression of a type's peer function.
func (p *program) add(t *testing.T, pkg string, files map[string]string, opts gen.Options, peer func(typ string) string) {
	t.Helper()
	opts.Package = pkg
	code, err := scratch.Generate(files, opts)
	if err != nil {
		t.Fatal(err)
	}
	found := &declared{}
	for name, src := range code {
		p.m.Write(pkg+"/"+name, src)
		found.read(t, name, src)
	}
	p.imports = append(p.imports, importOf(pkg))
	for _, typ := range found.messages {
		peerExpr := "nil"
		if peer != nil {
			peerExpr = peer(typ)
		}
		view := "nil"
		switch found.params[typ+"ViewOf"] {
		case 1:
			view = fmt.Sprintf("runner.Fixed(%s.%sViewOf)", pkg, typ)
		case 2:
			view = fmt.Sprintf("runner.Indexed(%s.%sViewOf)", pkg, typ)
		}
		over, slot := "nil", "nil"
		if found.params[typ+"Over"] == 1 {
			over, p.casts = fmt.Sprintf("runner.Over(%s.%sOver)", pkg, typ), p.casts+1
		}
		if found.params["Put"+typ+"Slot"] == 2 {
			slot, p.slots = fmt.Sprintf("runner.Slot(%[1]s.%[2]sSlotSize, %[1]s.Put%[2]sSlot, %[1]s.Load%[2]sSlot)", pkg, typ), p.slots+1
		}
		name := pkg + "." + typ
		p.views[name] = view != "nil"
		p.types = append(p.types, fmt.Sprintf("{Name: %q, New: func() runner.Message { return new(%s) }, View: %s, Over: %s, Slot: %s, Peer: %s},",
			name, name, view, over, slot, peerExpr))
	}
}

// declared is what generated code declares: types with the methods of a
// message, and functions with how many parameters they take.
type declared struct {
	messages []string
	params   map[string]int
}

func (d *declared) read(t *testing.T, name string, src []byte) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%s does not parse: %v", name, err)
	}
	if d.params == nil {
		d.params = map[string]int{}
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		switch {
		case !ok:
		case fn.Recv == nil:
			d.params[fn.Name.Name] = fn.Type.Params.NumFields()
		case fn.Name.Name == "UnmarshalBinary":
			if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
				d.messages = append(d.messages, star.X.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(d.messages)
}

// build writes the program's main and builds it.
func (p *program) build(t *testing.T, env ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	fmt.Fprintf(&b, "%q\n", "github.com/fidelityframework/barewire-gen/internal/difftest/runner")
	for _, imp := range p.imports {
		b.WriteString(imp + "\n")
	}
	b.WriteString(")\n\nfunc main() {\nrunner.Main([]*runner.Type{\n")
	b.WriteString(strings.Join(p.types, "\n"))
	b.WriteString("\n}...)\n}\n")
	p.m.Write("main.go", []byte(b.String()))
	return p.m.Build(".", env...)
}

// run gives cases to a built program and reports what fails. Wrap is the
// command that runs it, for another machine's binary.
func run(t *testing.T, bin string, wrap []string, cases []runner.Case, schemaOf func(line string) string) {
	t.Helper()
	var in bytes.Buffer
	for _, c := range cases {
		in.WriteString(c.String() + "\n")
	}
	args := append(slices.Clone(wrap), bin)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin = &in
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	done, failures := false, 0
	var report []string
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, len(out)+1)
	for lines.Scan() {
		line := lines.Text()
		if line == fmt.Sprintf("DONE %d", len(cases)) {
			done = true
			continue
		}
		if strings.HasPrefix(line, "FAIL ") {
			failures++
			line = shorten(line) + schemaOf(line)
		}
		if failures <= 10 {
			report = append(report, fmt.Sprintf("%.4000s", line))
		}
	}
	if failures > 0 {
		t.Error(strings.Join(report, "\n"))
	}
	if failures > 10 {
		t.Errorf("… and %d more", failures-10)
	}
	if err != nil || !done {
		t.Fatalf("%s ended before its time: %v\n%.4000s", filepath.Base(bin), err, stderr.String())
	}
}

// shorten cuts the parts of a report line, which may have long messages in hex.
func shorten(line string) string {
	parts := strings.Split(line, "\t")
	for i, p := range parts[:len(parts)-1] {
		if len(p) > 400 {
			parts[i] = p[:400] + fmt.Sprintf("… (%d)", len(p))
		}
	}
	return strings.Join(parts, "\t")
}

// importOf is the import spec of a package of the scratch module.
func importOf(pkg string) string { return fmt.Sprintf("%s %q", pkg, scratch.Path+"/"+pkg) }

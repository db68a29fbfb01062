package bwlife_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/analyzers/bwlife"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/randprog"
)

const (
	module    = "github.com/fidelityframework/barewire-gen"
	judgePath = module + "/analyzers/testdata/judge"
)

// failure and verdict are what package judge writes.
type failure struct {
	Kind        string
	Lines       []int
	What, Input string
}

type verdict struct {
	Name        string
	Hard, Maybe []failure
	Runs        int
}

// kinds are the failures that a finding tells of, by its code. What a finding says happens later than a
// mistake may not be reached: the runtime refuses what comes first.
var kinds = map[string][]string{
	"BW5101": {"released", "none", "panic"},
	"BW5102": {"released", "window", "moved"},
	"BW5103": {"moved", "released"},
	"BW5104": {"leak"},
	"BW5105": {"window leak"},
	"BW5106": {"window"},
	"BW5107": {"borrowed"},
	"BW5108": {"in flight"},
	"BW5109": {"dropped", "in flight"},
	"BW5110": {"lost wait"},
	"BW5111": {"view", "window"},
	"BW5112": {"none", "panic"},
	"BW5114": {"touched"},
}

// TestRandom writes programs, runs the analyzer on them, and runs them themselves: whatever is reported must fail. The environment
// variable BAREWIRE_RANDOM_SEEDS, as in 1-20, gives other programs: 200 for each seed.
func TestRandom(t *testing.T) {
	if testing.Short() {
		t.Skip(bwlife.OneGoroutine)
	}
	first, last, n := uint64(1), uint64(1), 60
	if s := os.Getenv("BAREWIRE_RANDOM_SEEDS"); s != "" {
		n = 200
		if _, err := fmt.Sscanf(s, "%d-%d", &first, &last); err != nil {
			t.Fatalf("BAREWIRE_RANDOM_SEEDS=%s: %v", s, err)
		}
	}
	var programs, failing, found, reports int
	for seed := first; seed <= last; seed++ {
		f, g, r := judged(t, seed, n)
		programs, failing, found, reports = programs+n, failing+f, found+g, reports+r
	}
	fmt.Printf("random programs: %d, findings %d, found %d of %d failing programs\n", programs, reports, found, failing)
	if found*100 < failing*60 {
		t.Errorf("it was better once: 8 of 10")
	}
}

// judged tells how many of the programs of a seed fail, and of how many of these there is a finding.
func judged(t *testing.T, seed uint64, n int) (failing, found, reports int) {
	t.Helper()
	dir := programs(t, seed, n)
	judge := build(t, filepath.Join(dir, "judged"))
	verdicts, runs := judge(t)
	pkgs, err := load("./" + filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	actions, err := look(pkgs)
	if err != nil {
		t.Fatal(err)
	}
	act := actions[0]
	byFunc := map[string][]string{} // findings
	for _, d := range act.Diagnostics {
		at := act.Package.Fset.Position(d.Pos)
		name := ""
		for _, f := range act.Package.Syntax {
			for _, decl := range f.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Pos() <= d.Pos && d.Pos < fn.End() {
					name = fn.Name.Name
				}
			}
		}
		if !runs(at.Line) {
			continue // a way that is closed by other flags: it is not for the analyzer to know
		}
		v := verdicts[name]
		byFunc[name] = append(byFunc[name], fmt.Sprintf("%d: %s %s", at.Line, d.Category, d.Message))
		reports++
		if !fails(v, d.Category, at.Line) { // look longer
			more, _ := judge(t, name)
			v = more[name]
		}
		if !fails(v, d.Category, at.Line) {
			text, _ := os.ReadFile(at.Filename)
			t.Errorf("seed %d, %s:%d: reported, and never fails so: %s %s\n%s\n%v", seed, name, at.Line, d.Category, d.Message, function(string(text), name), v)
		}
	}
	for name, v := range verdicts {
		if len(v.Hard) > 0 {
			failing++
			if len(byFunc[name]) > 0 {
				found++
			} else if os.Getenv("BAREWIRE_RANDOM_MISSED") != "" {
				text, _ := os.ReadFile(filepath.Join(dir, "plain", "program.go"))
				t.Logf("seed %d, %s: not found: %v\n%s", seed, name, v.Hard, function(string(text), name))
			}
		}
	}
	return failing, found, reports
}

// fails reports whether a program fails as a finding says: of what leaks, or nobody waits for, on the line that made it. The other
// findings may be at a defer, and what they tell happens when the function returns.
func fails(v verdict, code string, line int) bool {
	for _, f := range append(slices.Clone(v.Hard), v.Maybe...) {
		switch f.Kind {
		case "leak", "window leak", "dropped":
			if !slices.Contains(f.Lines, line) {
				continue
			}
		}
		if slices.Contains(kinds[code], f.Kind) {
			return true
		}
	}
	return false
}

// programs writes the programs of a seed twice: over the runtime, and over what judges them.
func programs(t *testing.T, seed uint64, n int) string {
	t.Helper()
	dir := filepath.Join("..", "testdata", fmt.Sprintf("random%d-%d", os.Getpid(), seed))
	t.Cleanup(func() { os.RemoveAll(dir) })
	var table strings.Builder
	table.WriteString("package main\n\nimport \"" + judgePath + "\"\n\ntype Keep = judge.Keep\n\nfunc main() {\n\tjudge.Main([]judge.Func{\n")
	for i := range n {
		fmt.Fprintf(&table, "\t\t{Name: \"F%d\", Run: F%d},\n", i, i)
	}
	table.WriteString("\t})\n}\n")
	for name, text := range map[string]string{
		"plain/program.go": randprog.Source(seed, n, randprog.Imports{
			Package: "plain", Barewire: module + "/runtime", Rdma: module + "/runtime/rdma", Sample: module + "/analyzers/testdata/life/sample",
		}),
		"plain/keep.go": "package plain\n\nimport \"math/rand/v2\"\n\ntype Keep struct {\n\tU  *U\n\tM  *M\n\tMs []*M\n}\n\n" +
			"func (k *Keep) Flag() bool { return rand.IntN(2) == 0 }\n\nfunc (k *Keep) Times() int { return rand.IntN(3) }\n",
		"judged/program.go": randprog.Source(seed, n, randprog.Imports{Package: "main", Barewire: judgePath, Rdma: judgePath, Sample: judgePath}),
		"judged/main.go":    table.String(),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// build builds the programs with the checks that the runtime has for debugging. What it gives runs them, all of them or longer those that
// are named, and gives the verdicts, and what lines ran.
func build(t *testing.T, dir string) func(t *testing.T, names ...string) (map[string]verdict, func(line int) bool) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "judged")
	if out, err := exec.Command("go", "build", "-tags", "barewiredebug", "-cover", "-coverpkg=./"+dir, "-o", bin, "./"+dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(t *testing.T, names ...string) (map[string]verdict, func(line int) bool) {
		t.Helper()
		cover := t.TempDir()
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(bin, names...)
		cmd.Env = append(os.Environ(), "GOCOVERDIR="+cover)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &stderr)
		}
		var list []verdict
		if err := json.Unmarshal(stdout.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		byName := map[string]verdict{}
		for _, v := range list {
			byName[v.Name] = v
		}
		return byName, covered(t, cover)
	}
}

// covered reads what was covered: a line has run if a block that it is in has.
func covered(t *testing.T, dir string) func(line int) bool {
	t.Helper()
	out := filepath.Join(dir, "text")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i", dir, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[int]bool{}
	for _, l := range strings.Split(string(text), "\n") {
		_, block, ok := strings.Cut(l, "/program.go:")
		var from, to, col, statements, count int
		if !ok {
			continue
		}
		if _, err := fmt.Sscanf(block, "%d.%d,%d.%d %d %d", &from, &col, &to, &col, &statements, &count); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		for ; count > 0 && from <= to; from++ {
			ran[from] = true
		}
	}
	if len(ran) == 0 {
		t.Fatal("nothing was covered")
	}
	return func(line int) bool { return ran[line] }
}

// function is the text of one function, with the numbers of its lines.
func function(text, name string) string {
	var b strings.Builder
	in := false
	for i, l := range strings.Split(text, "\n") {
		in = in || strings.HasPrefix(l, "func "+name+"(")
		if in {
			fmt.Fprintf(&b, "%4d %s\n", i+1, l)
			if l == "}" {
				break
			}
		}
	}
	return b.String()
}

package bwlife_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/fidelityframework/barewire-gen/analyzers/bwlife"
)

// corpusDir has packages of correct and wrong functions. Those whose names begin with Good are correct, and
// any finding in them is a false positive; those that begin with Bad are wrong, and say where and how:
//
//	m.Span(0, 1) // want "BW5101 .m. .* is used"
//
// or // joins, for what is found with that flag only, or // miss and a reason, for what is known not to be found.
const corpusDir = "../testdata/life"

// load loads packages of this module with all that they need.
func load(patterns ...string) ([]*packages.Package, error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, patterns...)
	if err != nil {
		return nil, err
	}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
	})
	return pkgs, err
}

// look runs the analyzer on packages.
func look(pkgs []*packages.Package) ([]*checker.Action, error) {
	graph, err := checker.Analyze([]*analysis.Analyzer{bwlife.Analyzer}, pkgs, nil)
	if err != nil {
		return nil, err
	}
	for _, root := range graph.Roots {
		err = errors.Join(err, root.Err)
	}
	return graph.Roots, err
}

// loaded is the corpus, and corpus what is found in it.
var loaded = sync.OnceValues(func() ([]*packages.Package, error) {
	files, err := filepath.Glob(corpusDir + "/*/*.go")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, f := range files {
		dirs = append(dirs, "./"+filepath.Dir(f))
	}
	return load(slices.Compact(dirs)...)
})

var corpus = sync.OnceValues(func() ([]*checker.Action, error) {
	pkgs, err := loaded()
	if err != nil {
		return nil, err
	}
	return look(pkgs)
})

// withJoins is what is found with the flag joins.
func withJoins(t *testing.T) []*checker.Action {
	pkgs, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	if err := bwlife.Analyzer.Flags.Set("joins", "true"); err != nil {
		t.Fatal(err)
	}
	defer bwlife.Analyzer.Flags.Set("joins", "false")
	actions, err := look(pkgs)
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

// count is what the corpus says of the analyzer.
type count struct {
	joins                                 bool // the flag
	correct, falsePositives, wrong, found int
}

var (
	wantRE = regexp.MustCompile(`"([^"]*)"`)
	missRE = regexp.MustCompile(`^// miss \S+`)
)

// TestCorpus holds the findings to what the functions say of themselves.
func TestCorpus(t *testing.T) {
	var without count
	actions, err := corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range actions {
		without.pkg(t, act)
	}
	n := count{joins: true}
	for _, act := range withJoins(t) {
		n.pkg(t, act)
	}
	n.falsePositives = max(n.falsePositives, without.falsePositives)
	counts := fmt.Sprintf("correct %d, false positives %d, wrong %d, found %d", n.correct, n.falsePositives, n.wrong, n.found)
	fmt.Println(counts)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "`"+counts+"`") {
		t.Errorf("README.md has other counts: it should say `%s`", counts)
	}
	if n.correct < 50 || n.wrong < 30 {
		t.Errorf("that is not the whole corpus")
	}
}

// want is what is to be found on a line.
type want struct {
	re  *regexp.Regexp
	met bool
}

func (n *count) pkg(t *testing.T, act *checker.Action) {
	fset := act.Package.Fset
	wants := map[string][]*want{}
	misses := map[string]bool{}
	for _, f := range act.Package.Syntax {
		for _, g := range f.Comments {
			for _, c := range g.List {
				at := line(fset, c.Pos())
				if strings.HasPrefix(c.Text, "// want ") || strings.HasPrefix(c.Text, "// joins ") && n.joins {
					for _, m := range wantRE.FindAllStringSubmatch(c.Text, -1) {
						wants[at] = append(wants[at], &want{re: regexp.MustCompile(m[1])})
					}
				}
				misses[at] = missRE.MatchString(c.Text) || strings.HasPrefix(c.Text, "// joins ") && !n.joins
			}
		}
	}
	unexpected := map[string][]string{}
	for _, d := range act.Diagnostics {
		at := line(fset, d.Pos)
		text := d.Category + " " + d.Message
		i := slices.IndexFunc(wants[at], func(w *want) bool { return !w.met && w.re.MatchString(text) })
		if i < 0 {
			unexpected[at] = append(unexpected[at], text)
			continue
		}
		wants[at][i].met = true
	}
	for _, f := range act.Package.Syntax {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				n.function(t, fset, fn, wants, misses, unexpected)
			}
		}
	}
	for at, list := range unexpected {
		t.Errorf("%s: unexpected: %s", at, strings.Join(list, "; "))
	}
}

func (n *count) function(t *testing.T, fset *token.FileSet, fn *ast.FuncDecl, wants map[string][]*want, misses map[string]bool, unexpected map[string][]string) {
	name := fn.Name.Name
	from, to := fset.Position(fn.Pos()), fset.Position(fn.End())
	asked, met, missed, more := 0, 0, false, 0
	for l := from.Line; l <= to.Line; l++ {
		at := fmt.Sprintf("%s:%d", from.Filename, l)
		for _, w := range wants[at] {
			asked++
			if w.met {
				met++
			} else {
				t.Errorf("%s: %s: not found: %s", at, name, w.re)
			}
		}
		missed = missed || misses[at]
		more += len(unexpected[at])
	}
	switch {
	case strings.HasPrefix(name, "Good"):
		n.correct++
		if asked > 0 || missed {
			t.Errorf("%s: %s is to be correct, and wants findings", from, name)
		}
		if more > 0 {
			n.falsePositives++
		}
	case strings.HasPrefix(name, "Bad"):
		n.wrong++
		if asked == 0 && !missed {
			t.Errorf("%s: %s does not say what is wrong", from, name)
		}
		if asked > 0 && met == asked {
			n.found++
		}
	}
}

func line(fset *token.FileSet, p token.Pos) string {
	at := fset.Position(p)
	return fmt.Sprintf("%s:%d", at.Filename, at.Line)
}

// Command bodyclose compares the analyzer of lifetimes with timakin/bodyclose, which finds bodies of HTTP responses that are not closed. The
// corpus of correct and wrong functions is translated mechanically: regions and windows become responses, their Close becomes that of the
// body. bodyclose runs on the translation, and our analyzer on the original.
//
// What cannot be said with responses is left out and counted: operations, moves between domains, views, whatever does not compile
// when it is translated; and what is no mistake there, as closing twice.
//
//	go run . [-v] [-keep DIR] ROOT
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// function is one of the corpus, and what was said of it.
type function struct {
	key    string // package.name
	wrong  bool
	codes  []string // that it is to be found by
	left   string   // why it was not translated
	ours   bool     // we report something in it
	theirs bool
	moves  bool // it registers or deregisters
}

// leaks are the codes of what is not closed, which is what bodyclose looks for; after those of uses after the end, which it does not
// claim to find. What else is wrong is not wrong for responses.
var (
	leaks = []string{"BW5104", "BW5105"}
	after = []string{"BW5101", "BW5106", "BW5103"}
)

func main() {
	log.SetFlags(0)
	verbose := flag.Bool("v", false, "name the functions")
	keep := flag.String("keep", "", "where the translation is left; else it is removed")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: bodyclose [-v] [-keep DIR] ROOT, where ROOT is barewire-gen's directory")
	}
	if err := compare(flag.Arg(0), *keep, *verbose); err != nil {
		log.Fatal(err)
	}
}

func compare(root, dir string, verbose bool) error {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "bodyclose")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	all, err := translate(root, dir)
	if err != nil {
		return err
	}
	if err := ours(root, all); err != nil {
		return err
	}
	if err := theirs(dir, all); err != nil {
		return err
	}
	report(all, verbose)
	return nil
}

// ours runs barewire-gen vet on the corpus as it is.
func ours(root string, all map[string]*function) error {
	cmd := exec.Command("go", "run", "./cmd/barewire-gen", "vet", "--format=json", "./"+corpus+"/...")
	cmd.Dir = root
	out, err := cmd.Output()
	if len(out) == 0 && err != nil {
		return fmt.Errorf("barewire-gen vet: %w", err)
	}
	var found struct {
		Diagnostics []struct {
			Code, File string
			Line       int
		}
	}
	if err := json.Unmarshal(out, &found); err != nil {
		return fmt.Errorf("barewire-gen vet --format=json: %w", err)
	}
	where, err := index(filepath.Join(root, corpus), func(string) bool { return true })
	if err != nil {
		return err
	}
	for _, f := range found.Diagnostics {
		path, err := filepath.Abs(filepath.Join(root, f.File))
		if err != nil {
			return err
		}
		if key := where.at(path, f.Line); all[key] != nil && strings.HasPrefix(f.Code, "BW51") {
			all[key].ours = true
		}
	}
	return nil
}

// theirs runs bodyclose on the translation.
func theirs(dir string, all map[string]*function) error {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: dir}, "./...")
	if err != nil {
		return err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return fmt.Errorf("the translation does not compile")
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{bodyclose.Analyzer}, pkgs, nil)
	if err != nil {
		return err
	}
	where, err := index(dir, func(name string) bool { return name != "shim" })
	if err != nil {
		return err
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			return act.Err
		}
		for _, d := range act.Diagnostics {
			at := act.Package.Fset.Position(d.Pos)
			if key := where.at(at.Filename, at.Line); all[key] != nil {
				all[key].theirs = true
			}
		}
	}
	return nil
}

var (
	wantRE = regexp.MustCompile(`"(BW\d+)`)
	named  = regexp.MustCompile(`^(Good|Bad)[A-Z0-9]`)
)

func report(all map[string]*function, verbose bool) {
	list := make([]*function, 0, len(all))
	for _, f := range all {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *function) int { return cmp.Compare(a.key, b.key) })
	left := map[string]int{}
	var good, leaky, used []*function
	for _, f := range list {
		is := func(codes []string) bool {
			return slices.ContainsFunc(f.codes, func(c string) bool { return slices.Contains(codes, c) })
		}
		switch {
		case f.left != "":
			left[f.left]++
		case !f.wrong:
			good = append(good, f)
		case is(leaks):
			leaky = append(leaky, f)
		case is(after):
			used = append(used, f)
		default:
			left["it is no mistake for responses"]++
		}
	}
	version := "?"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/timakin/bodyclose" {
				version = d.Version
			}
		}
	}
	fmt.Printf("functions of the corpus: %d\n", len(list))
	for _, why := range slices.Sorted(keys(left)) {
		fmt.Printf("  left out, %s: %d\n", why, left[why])
	}
	fmt.Printf("\n%-44s %10s %10s\n", "", "bodyclose", "bwlife")
	fmt.Printf("%-44s %10s %10s\n", "", short(version), "")
	row := func(what string, of []*function, hit bool) {
		var t, o int
		for _, f := range of {
			if f.theirs == hit {
				t++
			}
			if f.ours == hit {
				o++
			}
			if verbose && what[0] != ' ' && (f.theirs == hit || f.ours == hit) {
				fmt.Printf("    %s: bodyclose %v, bwlife %v\n", f.key, f.theirs == hit, f.ours == hit)
			}
		}
		fmt.Printf("%-44s %10d %10d\n", fmt.Sprintf("%s (of %d)", what, len(of)), t, o)
	}
	row("correct functions with a finding", good, true)
	row("  those that register nothing", slices.DeleteFunc(slices.Clone(good), func(f *function) bool { return f.moves }), true)
	row("functions that leak, without one", leaky, false)
	row("functions that use what is closed, without", used, false)
}

func keys(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// short is a version without the hash.
func short(v string) string {
	if parts := strings.Split(v, "-"); len(parts) == 3 {
		return parts[1][:8]
	}
	return v
}

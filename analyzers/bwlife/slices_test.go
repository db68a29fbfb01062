package bwlife

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
)

// TestSlices: what is left out of a run changes nothing of what it finds. All objects of many functions that have nothing to
// do with the runtime are followed twice, through slices and through whole functions. Where one of the two is given up there is nothing to
// compare; that it is the slice, which leaves tests out and so has more ways, may happen to one in a thousand.
func TestSlices(t *testing.T) {
	if testing.Short() {
		t.Skip(OneGoroutine)
	}
	patterns := []string{"net/http", "os", "database/sql", "go/types", "encoding/json", "archive/zip", "golang.org/x/tools/go/ssa"}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	var n, found, given, dearer, whole, sliced int
	for _, p := range pkgs {
		a := pretended(p)
		a.functions()
		var all func(fn *ssa.Function)
		all = func(fn *ssa.Function) {
			for _, sp := range a.specs(fn) {
				a.whole = true
				full := a.follow(fn, sp)
				a.whole = false
				part := a.follow(fn, sp)
				if full == nil {
					given++
					continue
				}
				n++
				found += len(full.reports)
				whole += full.steps
				if part == nil {
					dearer++
					t.Logf("%s: a slice costs more than the whole", fn)
					continue
				}
				sliced += part.steps
				if x, y := places(full), places(part); x != y {
					t.Errorf("%s, %s (%s): of the whole function\n%s of the slice\n%s", p.Fset.Position(fn.Pos()), fn, full.name(), x, y)
				}
			}
			for _, anon := range fn.AnonFuncs {
				all(anon)
			}
		}
		for _, fn := range a.all() {
			all(fn)
		}
	}
	t.Logf("%d runs with %d findings took %d steps, and %d in slices; %d were given up", n, found, whole, sliced, given)
	if dearer*1000 > n {
		t.Errorf("%d of %d slices cost more than the whole", dearer, n)
	}
	if n < 300 || found < 10 {
		t.Error("these are not the packages that were asked for")
	}
}

// specs are all objects that are followed through a function.
func (a *analyzer) specs(fn *ssa.Function) (list []spec) {
	if fn.Parent() == nil {
		for i, p := range fn.Params {
			for _, at := range a.handlesIn(p.Type(), "", 2) {
				list = append(list, spec{kind: at.kind, typ: at.typ, param: i, path: at.path})
			}
		}
	}
	return append(list, append(a.made(fn), a.foundIn(fn)...)...)
}

// places are what was found, and where.
func places(r *run) string {
	var list []string
	for _, rep := range r.reports {
		list = append(list, fmt.Sprintln(rep.code, r.a.pass.Fset.Position(rep.pos)))
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "")
}

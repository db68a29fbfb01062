package difftest

import (
	"fmt"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
	"github.com/fidelityframework/barewire-gen/internal/schemagen"
)

// packageOf is the package that subject i is generated into.
func packageOf(i int) string { return fmt.Sprintf("p%d", i/perPackage) }

// addSubjects generates subjects, perPackage in each package.
func (p *program) addSubjects(t *testing.T, all []*subject, peer func(typ string) string) {
	t.Helper()
	for first := 0; first < len(all); first += perPackage {
		files := map[string]string{}
		for i := first; i < min(first+perPackage, len(all)); i++ {
			files[fmt.Sprintf("s%d.bare", i)] = all[i].text
		}
		p.add(t, packageOf(first), files, gen.Options{}, peer)
	}
	for i, s := range all {
		for _, d := range s.schema.Decls {
			name := packageOf(i) + "." + d.Name
			view, ok := p.views[name]
			if !ok {
				t.Errorf("%s: no type with the methods of a message was generated\n%s", name, s.text)
			}
			if view != hasView(d.Type) {
				t.Errorf("%s: has a view: %v, want %v\n%s", name, view, !view, s.text)
			}
		}
	}
}

// hasView reports whether there is something in a type to look into.
func hasView(t *schemagen.Type) bool {
	switch t.Under().Kind {
	case schemagen.Optional, schemagen.List, schemagen.FixedList, schemagen.Map, schemagen.Union, schemagen.Struct:
		return true
	}
	return false
}

// TestRandomSchemas holds generated code for random schemas against the
// reference: random values, and damaged messages, by every way in and out.
func TestRandomSchemas(t *testing.T) { rounds(t, testRandomSchemas) }

func testRandomSchemas(t *testing.T, seed int) {
	all := subjects(seed, schemas(300), langAll, anyDialect, false)
	p := newProgram(t)
	p.addSubjects(t, all, nil)
	bin := p.build(t)
	var cases []runner.Case
	for i, s := range all {
		valid := valueCases(packageOf(i), s, 8)
		cases = append(cases, valid...)
		cases = append(cases, mutantCases(packageOf(i), s, valid, 4)...)
		for _, d := range s.schema.Decls {
			cases = append(cases, hostileCases(packageOf(i)+"."+d.Name)...)
		}
	}
	run(t, bin, nil, cases, contextOf(all))
	p.m.Vet("./...")
	t.Logf("%d schemas, %d types (%d casts, %d slots), %d cases", len(all), len(p.types), p.casts, p.slots, len(cases))
	if !testing.Short() && (p.casts == 0 || p.slots == 0) {
		t.Error("no type was castable, or none bounded")
	}
}

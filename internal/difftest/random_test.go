package difftest

import (
	"fmt"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
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
			if name := packageOf(i) + "." + d.Name; !p.names[name] {
				t.Errorf("%s: no type with the methods of a message was generated\n%s", name, s.text)
			}
		}
	}
}

// TestRandomSchemas holds generated code for random schemas against the
// reference: random values, and damaged messages, by every way in and out.
func TestRandomSchemas(t *testing.T) {
	sayHow(t)
	all := subjects(schemas(300), langAll, anyDialect, false)
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
	t.Logf("%d schemas, %d types (%d with views), %d cases", len(all), len(p.types), p.views, len(cases))
}

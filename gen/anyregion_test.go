package gen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/schemagen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// regionAnnotations are everything that makes code.
const regionAnnotations = "#@residency(cpu, numa(1), cxl, fallback=unified)\n#@register(local, remote_read, remote_write, remote_atomic)\n"

// withRegions puts those above each declaration that can have them, and counts
// the declarations by class.
func withRegions(t *testing.T, text string, classes map[layout.Class]int) string {
	t.Helper()
	s := compile(t, "s.bare", text)
	var decls []*resolve.Decl
	for _, d := range s.Order {
		if i := s.Layouts.Of(d.Type); i.Class != layout.Variable && i.Max > 0 {
			decls = append(decls, d)
			classes[i.Class]++
		}
	}
	slices.SortFunc(decls, func(a, b *resolve.Decl) int { return b.At.Start - a.At.Start })
	for _, d := range decls { // from the end on, so that places stay
		at, before := d.Syntax.Span.Start, ""
		if at > 0 && text[at-1] != '\n' {
			before = "\n"
		}
		text = text[:at] + before + regionAnnotations + text[at:]
	}
	return text
}

// withSequence appends a type with a sequence, and the first type of fixed size
// behind it.
func withSequence(t *testing.T, text string) string {
	t.Helper()
	s := compile(t, "s.bare", text)
	for _, d := range s.Order {
		i := s.Layouts.Of(d.Type)
		if i.Class < layout.Fixed || i.Max == 0 {
			continue
		}
		text += "\ntype WithSequence struct {\n  #@atomic(sequence)\n  sequence: u64\n  rest: " + d.Name + "\n"
		if over := i.Max % 8; over > 0 {
			text += fmt.Sprintf("  #@pad\n  pad0: data[%d]\n", 8-over)
		}
		return text + "}\n"
	}
	return text
}

// TestRegionsOfRandomSchemas generates code for regions of whatever type can have
// them, and builds and vets it.
func TestRegionsOfRandomSchemas(t *testing.T) {
	if testing.Short() {
		t.Skip("builds many packages")
	}
	m := scratch.New(t, "", "")
	classes, sequences := map[layout.Class]int{}, 0
	for i := range 60 {
		s := schemagen.Schemas(schemagen.Lang{}).Example(i)
		text := withRegions(t, withSequence(t, s.Print(schemagen.Mixed, uint64(i), false)), classes)
		sequences += strings.Count(text, "#@atomic(sequence)")
		for variant, opts := range map[string]gen.Options{"plain": {}, "noviews": {NoViews: true}} {
			write(t, m, fmt.Sprintf("r%d%s", i, variant), compile(t, fmt.Sprintf("r%d.bare", i), text), opts)
		}
	}
	if _, err := m.Go(nil, "vet", "./..."); err != nil {
		t.Error(err)
	}
	t.Logf("%d castable, %d fixed, %d bounded, %d sequences", classes[layout.Castable], classes[layout.Fixed], classes[layout.Bounded], sequences)
	if sequences == 0 {
		t.Error("no type has a sequence")
	}
	for c := layout.Bounded; c <= layout.Castable; c++ {
		if classes[c] == 0 {
			t.Errorf("no type is %s", c)
		}
	}
}

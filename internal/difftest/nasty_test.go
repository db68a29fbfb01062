package difftest

import (
	"os"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
)

// TestNasty generates from a schema of names and nestings that are easily got
// wrong and runs values and damage through it.
func TestNasty(t *testing.T) { rounds(t, testNasty) }

func testNasty(t *testing.T, seed int) {
	text, err := os.ReadFile("testdata/nasty.bare")
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram(t)
	p.add(t, "nasty", map[string]string{"nasty.bare": string(text)}, gen.Options{}, nil)
	s := &subject{schema: compile(t, string(text)), text: string(text), seed: seed}
	cases := valueCases("nasty", s, 40)
	cases = append(cases, mutantCases("nasty", s, cases, 5)...)
	for _, d := range s.schema.Decls {
		cases = append(cases, hostileCases("nasty."+d.Name)...)
	}
	run(t, p.build(t), nil, cases, func(string) string { return "" })
	p.m.Vet("./...")
}

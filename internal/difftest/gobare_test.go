package difftest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// go-bare's generator needs one module more than this repository.
const (
	goBareExtra = `
require git.sr.ht/~sircmpwn/go-bare v0.0.0-20210406120253-ab86bc2846d9
require git.sr.ht/~sircmpwn/getopt v0.0.0-20191230200459-23622cc906b3
`
	goBareSums = "git.sr.ht/~sircmpwn/getopt v0.0.0-20191230200459-23622cc906b3 h1:4wDp4BKF7NQqoh73VXpZsB/t1OEhDpz/zEpmdQfbjDk=\n"
)

// goBareGen is go-bare's generator, built in a module that can use its code.
type goBareGen struct {
	m   *scratch.Module
	bin string
}

func newGoBareGen(t *testing.T) *goBareGen {
	t.Helper()
	m := scratch.New(t, goBareExtra, goBareSums)
	return &goBareGen{m, m.Build("git.sr.ht/~sircmpwn/go-bare/cmd/gen")}
}

// run generates a package from schema text and gives what the generator said.
func (g *goBareGen) run(dir, pkg, text string) (string, error) {
	g.m.Write(dir+"/schema.bare", []byte(text))
	path := filepath.Join(g.m.Dir, filepath.FromSlash(dir))
	out, err := exec.Command(g.bin, "-p", pkg, filepath.Join(path, "schema.bare"), filepath.Join(path, "schema.go")).CombinedOutput()
	return string(out), err
}

// goBareFault is a place where go-bare is wrong, by the number that the project
// has given it.
type goBareFault struct {
	id, what string
	// One of the following says how it shows.
	codec   bool   // testdata/gobare/faults.go.txt
	crashes bool   // with codec: by dying
	builds  string // the generator takes this schema, and what it writes does not build
	fails   string // it refuses this valid schema
	takes   string // it takes this wrong schema
}

// goBareFaults are shown by running the peer, so that one that is mended fails
// here, and the differential tests can then ask more of it.
var goBareFaults = []goBareFault{
	{id: "G1", what: "an absent optional in a map keeps the value of the entry before it", codec: true},
	{id: "G2", what: "values after an explicit one do not go on from it", builds: "enum E {\nA = 5\nB\nC = 5\n}\n"},
	{id: "G3", what: "data over 4096 bytes encodes and does not decode", codec: true},
	{id: "G4", what: "memory is taken for what a length claims", codec: true},
	{id: "G5", what: "nesting overflows the stack", codec: true, crashes: true},
	{id: "G6", what: "a uint longer than need be decodes", codec: true},
	{id: "G7", what: "bytes left over are ignored", codec: true},
	{id: "G8", what: "enum values that are none decode and encode", codec: true},
	{id: "G9", what: "NaN is refused", codec: true},
	{id: "G10", what: "text that is no UTF-8 encodes", codec: true},
	{id: "G11", what: "map entries have no order", codec: true},
	{id: "G12", what: "a file that ends early loses its last type", takes: "type A u8\ntype X {\na: u8"},
	{id: "G13", what: "a length over 32 bits becomes another", takes: "type X data<5000000000>\n"},
	{id: "G14", what: "a type in two unions", builds: "type A { x: u8 }\ntype U (A)\ntype V (A)\n"},
	{id: "G15", what: "two enums with a value of one name", builds: "enum E { OK }\nenum F { OK }\n"},
	{id: "G16", what: "an enum value with a type's name", builds: "enum E { OK }\ntype OK u8\n"},
	{id: "G17", what: "a field called decode", builds: "type X { Decode: u8 }\n"},
	{id: "G18", what: "two fields that fold to one Go name", builds: "type X { fooBar: u8 FooBar: u8 }\n"},
	{id: "G19", what: "an enum alone leaves an import unused", builds: "enum E { OK }\n"},
	{id: "G20", what: "a named optional", builds: "type X optional<u8>\n"},
	{id: "G21", what: "a union with a primitive", fails: "type X { u: (u8 | u16) }\n"},
	{id: "G22", what: "void in a struct, a float as a key, no length", takes: "type X { v: void m: map[f64]u8 d: data<0> }\n"},
	{id: "G27", what: "a field called like a word of the language", fails: "type X { type: u8 }\n"},
	{id: "G24", what: "a byte order mark", fails: "\ufefftype X u8\n"},
}

// TestGoBareFaults shows that go-bare is wrong where the table says so.
func TestGoBareFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds a program for each of go-bare's faults")
	}
	g := newGoBareGen(t)
	bin := buildFaults(t, g)
	for i, f := range goBareFaults {
		t.Run(f.id, func(t *testing.T) {
			if !f.shown(t, g, bin, fmt.Sprintf("f%d", i)) {
				t.Errorf("not shown: %s", f.what)
			}
		})
	}
	t.Run("G23", func(t *testing.T) {
		if out, err := g.run("g23", "x", "type X {"); err != nil && !strings.Contains(out, "%!e(") {
			t.Errorf("an error reads well now: %s", out)
		}
	})
	t.Run("G25", func(t *testing.T) {
		if _, err := g.run("g25", "x", "type X u8\n"); err != nil {
			t.Fatal(err)
		}
		code, err := os.ReadFile(filepath.Join(g.m.Dir, "g25", "schema.go"))
		if err != nil || strings.Index(string(code), "Code generated") < strings.Index(string(code), "package") {
			t.Errorf("the header is in its place now, or %v", err)
		}
	})
	t.Run("G26", func(t *testing.T) {
		if out, err := g.run("g26", "func", "type X u8\n"); err == nil || !strings.Contains(out, "error formatting source code") {
			t.Errorf("package func: %v, %s", err, out)
		}
	})
}

func buildFaults(t *testing.T, g *goBareGen) string {
	t.Helper()
	schema, err := os.ReadFile("testdata/gobare/faults.bare")
	if err != nil {
		t.Fatal(err)
	}
	main, err := os.ReadFile("testdata/gobare/faults.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := g.run("faults/gobare", "gobare", string(schema)); err != nil {
		t.Fatal(out, err)
	}
	g.m.Write("faults/main.go", []byte(strings.Replace(string(main), "SCRATCH", scratch.Path, 1)))
	return g.m.Build("./faults")
}

// shown runs the peer on what a line of the table is about.
func (f goBareFault) shown(t *testing.T, g *goBareGen, bin, dir string) bool {
	if f.codec {
		out, err := exec.Command(bin, f.id).CombinedOutput()
		if f.crashes {
			return err != nil && strings.Contains(string(out), "stack overflow")
		}
		return string(out) == "shown\n"
	}
	out, err := g.run(dir, "x", f.builds+f.fails+f.takes)
	switch {
	case f.fails != "":
		return err != nil
	case err != nil:
		t.Fatal(out, err)
	case f.takes != "":
		return true
	}
	_, err = g.m.Go(nil, "build", "./"+dir)
	return err != nil
}

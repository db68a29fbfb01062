package emit_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// regionsModule is a module with the code generated for testdata/regions, with
// views and without.
func regionsModule(t *testing.T) *scratch.Module {
	t.Helper()
	text, err := os.ReadFile("testdata/regions/regions.bare")
	if err != nil {
		t.Fatal(err)
	}
	m := scratch.New(t, "", "")
	mod, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	// The tests look into what only the runtime's own packages see.
	m.Write("go.mod", bytes.Replace(mod, []byte(scratch.Path), []byte(gocode.Regions+"/scratch"), 1))
	for pkg, opts := range map[string]gen.Options{"regions": {}, "noviews": {NoViews: true}} {
		opts.Package = pkg
		code, err := scratch.Generate(map[string]string{"regions.bare": string(text)}, opts)
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range code {
			m.Write(pkg+"/"+name, content)
		}
		program, err := os.ReadFile("testdata/regions/" + pkg + "_test.go.txt")
		if err != nil {
			t.Fatal(err)
		}
		m.Write(pkg+"/"+pkg+"_test.go", program)
	}
	return m
}

// TestRegions runs the tests in testdata/regions beside the code generated for the
// schema there: with the compiler's checks of unsafe pointers, and with the race detector,
// under which regions lie on the Go heap.
func TestRegions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	m := regionsModule(t)
	m.Vet("./...")
	for _, arch := range []string{"386", "arm64", "s390x"} {
		if _, err := m.Go([]string{"GOARCH=" + arch, "CGO_ENABLED=0"}, "build", "./..."); err != nil {
			t.Error(err)
		}
	}
	for _, how := range []string{"-gcflags=github.com/fidelityframework/...=-d=checkptr", "-race"} {
		out, err := m.Go([]string{"CGO_ENABLED=1"}, "test", how, "./...")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(out, "ok") != 2 {
			t.Errorf("the programs print %s", out)
		}
	}
}

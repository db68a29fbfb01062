package emit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// TestCodec runs testdata/codec/codec_test.go.txt beside the code generated for
// the schemas there, with the compiler's checks of unsafe pointers.
func TestCodec(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	names, err := filepath.Glob("testdata/codec/*.bare")
	if err != nil || len(names) == 0 {
		t.Fatal("no schemas", err)
	}
	files := map[string]string{}
	for _, n := range names {
		text, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(n)] = string(text)
	}
	code, err := scratch.Generate(files, gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := scratch.New(t, "", "")
	for name, content := range code {
		m.Write("codec/"+name, content)
	}
	program, err := os.ReadFile("testdata/codec/codec_test.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	m.Write("codec/codec_test.go", program)
	m.Vet("./codec")
	for _, arch := range []string{"386", "arm64", "s390x"} {
		if _, err := m.Go([]string{"GOARCH=" + arch, "CGO_ENABLED=0"}, "build", "./codec"); err != nil {
			t.Error(err)
		}
	}
	out, err := m.Go(nil, "test", "-gcflags=github.com/fidelityframework/...=-d=checkptr", "./codec")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out, "ok") {
		t.Errorf("the program prints %s", out)
	}
}

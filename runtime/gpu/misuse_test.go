package gpu_test

import (
	"flag"
	"os"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// The providers' tests look at it: go test ./runtime/gpu/... -gpu gives it to all packages.
var _ = flag.Bool("gpu", false, "for the tests of the providers")

// TestMisuse compiles what must not, and holds each of the compiler's errors to the line and the word that the program says.
func TestMisuse(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	m := scratch.New(t, "", "")
	code, err := os.ReadFile("internal/sample/sample_bare.go")
	if err != nil {
		t.Fatal(err)
	}
	m.Write("sample/sample_bare.go", code)
	if n := len(m.Refused("testdata/misuse/*.go")); n < 15 {
		t.Errorf("%d lines are refused", n)
	}
}

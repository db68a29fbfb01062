//barewire:trust tests misuse what they have
package cxl_test

import (
	"os"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// TestMisuse compiles what must not, and holds each of the compiler's errors to the line and the word that the program says.
func TestMisuse(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	m := scratch.New(t, "", "")
	code, err := os.ReadFile("../internal/placed/placed_bare.go")
	if err != nil {
		t.Fatal(err)
	}
	m.Write("placed/placed_bare.go", code)
	if got := m.Refused("testdata/misuse/*.go"); len(got) < 15 {
		t.Errorf("%d mistakes were refused", len(got))
	}
}

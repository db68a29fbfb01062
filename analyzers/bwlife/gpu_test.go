package bwlife_test

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/analyzers/bwlife"
)

// TestGPU holds the findings on programs with memory of GPUs to what the functions say of themselves. Unlike the corpus's devices
// these use the runtime as it is: its directives have to say what its functions do.
func TestGPU(t *testing.T) {
	if testing.Short() {
		t.Skip(bwlife.OneGoroutine)
	}
	pkgs, err := load("../testdata/gpu")
	if err != nil {
		t.Fatal(err)
	}
	actions, err := look(pkgs)
	if err != nil {
		t.Fatal(err)
	}
	var n count
	for _, act := range actions {
		n.pkg(t, act)
	}
	if n.correct < 32 || n.falsePositives != 0 || n.found != n.wrong || n.wrong < 33 {
		t.Errorf("of %d correct functions %d have findings; of %d wrong ones %d", n.correct, n.falsePositives, n.wrong, n.found)
	}
}

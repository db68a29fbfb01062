//go:build amd64 || arm64

package opencl

import (
	"errors"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
)

// TestWhoHasIt: an error about memory that the host has says where it took it, as a program outside the runtime calls it.
func TestWhoHasIt(t *testing.T) {
	p, d := device(t)
	dev, err := gpu.Open(t.Context(), gpu.Config{Provider: p, Device: "opencl/" + d.Name})
	must(t, err)
	r, err := gpu.New(dev, sample.BodyInGPU(), 8)
	must(t, err)
	m, err := gpu.NewManaged(dev, sample.BodyInManaged(), 8)
	must(t, err)
	w, err := gpu.Map(t.Context(), r)
	must(t, err)
	_, again := gpu.Map(t.Context(), r)
	must(t, gpu.Acquire(t.Context(), m))
	const here = "opencl/place_linux_test.go:"
	for err, want := range map[error]string{again: "mapped onto it, at " + here, gpu.Acquire(t.Context(), m): "acquired at " + here} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	must(t, errors.Join(w.Close(), r.Close(), gpu.Release(m), m.Close(), dev.Close()))
}

//go:build amd64 || arm64

package cuda

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// whatKey is the environment variable with what TestChild does.
const whatKey = "BAREWIRE_FAKECUDA_WHAT"

// TestFaults runs this program again to do what it does not survive: what types and errors keep programs from faults at once where
// unsafe code does it nevertheless.
func TestFaults(t *testing.T) {
	fake(t)
	path, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"device memory", "managed memory while a kernel runs", "a window that was closed", "memory that was freed"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
		cmd.Env = append(os.Environ(), childKey+"="+path, whatKey+"="+what)
		out, _ := cmd.CombinedOutput()
		if s := string(out); !strings.Contains(s, "now read "+what) || !strings.Contains(s, "SIGSEGV") || strings.Contains(s, "\nread ") {
			t.Errorf("%s:\n%s", what, out)
		}
	}
}

// TestChild reads what it must not.
func TestChild(t *testing.T) {
	what := os.Getenv(whatKey)
	if what == "" {
		return
	}
	s := fake(t)
	var p unsafe.Pointer
	switch what {
	case "managed memory while a kernel runs":
		s.with(attrConcurrent, 0)
		c := newScene(t, s)
		m, err := gpu.NewManaged(c.dev, sample.BodyInManaged(), 10) //barewire:ignore BW5104 the process ends by the fault
		if err != nil {
			t.Fatal(err)
		}
		if err := gpu.Acquire(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		w, err := gpu.OpenManaged(m)
		if err != nil {
			t.Fatal(err)
		}
		p = unsafe.Pointer(unsafe.SliceData(sample.BodyAt(w, 0).Bytes()))
		_ = *(*byte)(p) // the host has it
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := gpu.Release(m); err != nil {
			t.Fatal(err)
		}
		mod, err := c.dev.Module(t.Context(), kernels) //barewire:ignore BW5104 the process ends by the fault
		if err != nil {
			t.Fatal(err)
		}
		k, err := mod.Kernel("spin")
		if err != nil {
			t.Fatal(err)
		}
		s.now(setHold, 1)
		if _, err := gpu.Launch(c.q, k, gpu.Grid{}, gpu.Mem(gpu.All(c.r)), gpu.Num(uint32(1))); err != nil {
			t.Fatal(err)
		}
	case "a window that was closed":
		s.version(mapsDMABuf)
		c := newScene(t, s)
		w, err := gpu.Map(t.Context(), c.r)
		if err != nil {
			t.Fatal(err)
		}
		m := memoryIn(t, c)
		p = unsafe.Pointer(unsafe.SliceData(m.win))
		_ = *(*byte)(p)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	case "memory that was freed":
		c := newScene(t, s)
		h, err := gpu.NewManaged(c.dev, sample.BodyInManaged(), 10)
		if err != nil {
			t.Fatal(err)
		}
		hh, _, err := barewire.Core(seal.Key(), h)
		if err != nil {
			t.Fatal(err)
		}
		p = hh.Base()
		_ = *(*byte)(p)
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	default:
		c := newScene(t, s)
		p = pointer(memoryIn(t, c).dev)
	}
	fmt.Println("now read", what)
	fmt.Println("read", *(*byte)(p))
}

// memoryIn is the memory of a scene's region on the device.
func memoryIn(t *testing.T, c *scene) *memory {
	t.Helper()
	m, ok := gpu.MemoryOf(seal.Key(), c.r).(*memory)
	if !ok {
		t.Fatal("the region has no memory of this package's")
	}
	return m
}

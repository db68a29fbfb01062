//go:build amd64 || arm64

package opencl

import (
	"errors"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
)

// TestKindsOfArguments: what OpenCL would take without a word, and a driver then for an address, is refused: a number where the kernel
// takes memory, memory where it takes a number, and anything for memory of a group.
func TestKindsOfArguments(t *testing.T) {
	p, d := device(t)
	dev, err := gpu.Open(t.Context(), gpu.Config{Provider: p, Device: "opencl/" + d.Name})
	must(t, err)
	mod, err := dev.Module(t.Context(), []byte(`
		kernel void memory(global ulong *p, ulong n) { p[0] = n; }
		kernel void table(constant ulong *c, global ulong *p) { p[0] = c[0]; }
		kernel void group(local ulong *l, global ulong *p) { l[0] = 1; p[0] = l[0]; }`))
	must(t, err)
	q, err := dev.Queue(0)
	must(t, err)
	r, err := gpu.New(dev, sample.BodyInGPU(), 8)
	must(t, err)
	h, err := gpu.NewHost(dev, sample.BodyInCPU(), 8)
	must(t, err)
	mem, host, num := gpu.Mem(gpu.All(r)), gpu.Mem(gpu.All(h)), gpu.Num(uint64(8))
	for _, c := range []struct {
		kernel string
		args   []gpu.Arg
		want   string // in the error; "": none
	}{
		{"memory", []gpu.Arg{mem, num}, ""},
		{"memory", []gpu.Arg{host, num}, ""},
		{"memory", []gpu.Arg{num, num}, "argument 0: wrong arguments: a number, and the kernel takes memory there"},
		{"memory", []gpu.Arg{gpu.Num(uint64(0)), num}, "argument 0: wrong arguments: a number, and"},
		{"memory", []gpu.Arg{mem, mem}, "argument 1: wrong arguments: memory, and the kernel takes a number there"},
		{"memory", []gpu.Arg{mem, host}, "argument 1: wrong arguments: memory, and"},
		{"table", []gpu.Arg{mem, host}, ""},
		{"table", []gpu.Arg{num, mem}, "argument 0: wrong arguments: a number, and"},
		{"group", []gpu.Arg{num, mem}, "argument 0: wrong arguments: the kernel takes memory of a group there"},
		{"group", []gpu.Arg{host, mem}, "argument 0: wrong arguments: the kernel takes memory of a group there"},
	} {
		k, err := mod.Kernel(c.kernel)
		must(t, err)
		op, err := gpu.Launch(q, k, gpu.Line(1, 1), c.args...)
		if err == nil {
			err = op.Wait(t.Context())
		}
		if c.want == "" {
			must(t, err)
		} else if !errors.Is(err, gpu.ErrArgs) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.kernel, err, c.want)
		}
	}
	must(t, errors.Join(r.Close(), h.Close(), q.Close(), mod.Close(t.Context()), dev.Close()))
}

// TestZeroByte: of a program with a byte of zero in it nothing is left out without a word.
func TestZeroByte(t *testing.T) {
	p, d := device(t)
	dev, err := gpu.Open(t.Context(), gpu.Config{Provider: p, Device: "opencl/" + d.Name})
	must(t, err)
	_, err = dev.Module(t.Context(), []byte("kernel void a() {}\x00kernel void b() {}"))
	if !errors.Is(err, gpu.ErrArgs) || !strings.Contains(err.Error(), "a zero byte at 18") {
		t.Errorf("got %v", err)
	}
	must(t, dev.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

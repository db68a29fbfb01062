package gputest

import (
	"errors"
	"fmt"
	"math"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
)

var kernelChecks = []check{
	{"kernel/scale", scale},
	{"kernel/two regions", twoRegions},
	{"kernel/part", part},
	{"kernel/refused", kernelRefused},
	{"kernel/modules", modules},
}

func scale(e *env) {
	r := e.device(1)
	for range 3 {
		e.wait(gpu.Launch(e.q, e.kernel("scale"), gpu.Line(count, 128), gpu.Mem(gpu.All(r)), gpu.Num(uint32(count)), gpu.Num(float32(2))))
	}
	e.deviceHolds(r, 1, 8, 3)
	e.must(r.Close())
}

func twoRegions(e *env) {
	a, b := e.device(1), e.device(300)
	e.wait(gpu.Launch(e.q, e.kernel("move"), gpu.Line(count, 50), gpu.Mem(gpu.All(a)), gpu.In(gpu.All(b)), gpu.Num(uint32(count))))
	e.deviceHolds(a, 300, 1, 0)
	e.must(errors.Join(a.Close(), b.Close()))
}

// part: a kernel that is given some elements works on those.
func part(e *env) {
	r, h := e.device(0), e.host(0)
	const from, n = 256, 100 // an offset that any device takes: 4096 bytes
	e.wait(gpu.Launch(e.q, e.kernel("scale"), gpu.Line(n, 10), gpu.Mem(gpu.Some(r, from, n)), gpu.Num(uint32(n)), gpu.Num(float32(10))))
	e.wait(gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r)))
	e.must(barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error {
		for i, v := range sample.BodyAll(w) {
			want := float32(i)
			if i >= from && i < from+n {
				want *= 10
			}
			if v.Value() != want {
				e.Fatalf("element %d is %v, want %v", i, v.Value(), want)
			}
		}
		return nil
	}))
	e.must(errors.Join(r.Close(), h.Close()))
}

// kernelRefused: what a kernel must not be given.
func kernelRefused(e *env) {
	r, h := e.device(0), e.host(0)
	k := e.kernel("scale")
	n, f := gpu.Num(uint32(1)), gpu.Num(float32(1))
	for _, c := range []struct {
		why  string
		k    *gpu.Kernel
		args []gpu.Arg
		want error
	}{
		{"no kernel", nil, nil, gpu.ErrNoKernel},
		{"a zero argument", k, []gpu.Arg{{}, n, f}, gpu.ErrArgs},
		{"a part that is not there", k, []gpu.Arg{gpu.Mem(gpu.Some(r, 5, count)), n, f}, barewire.ErrRange},
		{"no elements", k, []gpu.Arg{gpu.Mem(gpu.Some(r, 5, 0)), n, f}, gpu.ErrEmpty},
		{"too many", k, make([]gpu.Arg, gpu.MaxArgs+1), gpu.ErrArgs},
	} {
		_, err := gpu.Launch(e.q, c.k, gpu.Grid{}, c.args...)
		if !errors.Is(err, c.want) {
			e.Errorf("%s: got %v, want %v", c.why, err, c.want)
		}
	}
	for _, c := range []struct {
		n, group int
		want     error
	}{{0, 64, gpu.ErrEmpty}, {-1, 64, gpu.ErrEmpty}, {math.MinInt, 1, gpu.ErrEmpty}, {8, -1, gpu.ErrArgs}, {math.MaxInt, math.MinInt, gpu.ErrArgs}} {
		_, err := gpu.Launch(e.q, k, gpu.Line(c.n, c.group), gpu.Mem(gpu.All(r)), n, f)
		e.refused(err, c.want, fmt.Sprintf("a line of %d threads", c.n))
	}
	if big := math.MaxInt; uint64(big) > math.MaxUint32 { // not on 32 bits
		_, err := gpu.Launch(e.q, k, gpu.Line(big>>31+2, 1), gpu.Mem(gpu.All(r)), n, f) // whose low half is one
		e.refused(err, gpu.ErrArgs, "at most 4294967295 of either")
		_, err = gpu.Launch(e.q, k, gpu.Line(big, big), gpu.Mem(gpu.All(r)), n, f)
		e.refused(err, gpu.ErrArgs, "at most")
	}
	if !e.dev.Info().Facts.Pageable {
		_, err := gpu.Launch(e.q, k, gpu.Grid{}, gpu.Mem(gpu.All(h)), n, f)
		e.refused(err, gpu.ErrNotMapped, "argument 0", "gpu.NewHost")
	}
	e.wait(gpu.Launch(e.q, k, gpu.Grid{}, gpu.Mem(gpu.All(r)), n, f)) // the queue is none the worse
	e.must(errors.Join(r.Close(), h.Close()))
}

// modules: programs with mistakes, kernels that are not there, modules that are closed.
func modules(e *env) {
	if _, err := e.dev.Module(e.ctx, []byte("this is no program")); err == nil {
		e.Error("a program that is none was loaded")
	} else {
		e.Log(err)
	}
	_, err := e.dev.Module(e.ctx, nil)
	e.refused(err, gpu.ErrEmpty)
	_, err = e.mod.Kernel("nothing")
	e.refused(err, gpu.ErrNoKernel, `"nothing"`)
	_, err = e.mod.Kernel("scale\x00nothing") // C would find scale
	e.refused(err, gpu.ErrNoKernel, "nothing")
	m, err := e.dev.Module(e.ctx, e.f.Module)
	e.must(err)
	k, err := m.Kernel("scale")
	e.must(err)
	e.refused(e.dev.Close(), gpu.ErrBusy, "2 modules")
	e.must(m.Close(e.ctx))
	e.refused(m.Close(e.ctx), gpu.ErrClosed)
	_, err = m.Kernel("scale")
	e.refused(err, gpu.ErrClosed)
	_, err = gpu.Launch(e.q, k, gpu.Grid{})
	e.refused(err, gpu.ErrClosed)
}

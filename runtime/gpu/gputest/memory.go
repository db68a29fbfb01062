package gputest

import (
	"errors"
	"fmt"
	"math"
	"strings"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
)

var memoryChecks = []check{
	{"memory/facts", facts},
	{"memory/zeroed", zeroed},
	{"memory/pinned", pinned},
	{"memory/pinned at a node", pinnedAt},
	{"memory/unified", unified},
	{"memory/too much", tooMuch},
	{"memory/places", places},
	{"memory/packed elements", packed},
}

// facts: a device says what it is, and where that was read.
func facts(e *env) {
	info := e.dev.Info()
	if info.State != gpu.StateReady || info.Model == "" || info.Memory == 0 || len(info.Facts.Read) == 0 {
		e.Errorf("the device says too little of itself: %+v", info)
	}
	for _, f := range info.Facts.Read {
		if f.Name == "" || f.From == "" {
			e.Errorf("a fact without a source: %+v", f)
		}
	}
	e.Logf("%s: %s, %d MiB", e.dev, info.Model, info.Memory>>20)
}

// zeroed: memory of the device is zeroed, also where other data was before.
func zeroed(e *env) {
	for range 3 {
		r, err := gpu.New(e.dev, sample.BodyInGPU(), count)
		e.must(err)
		h := e.host(5)
		e.wait(gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r)))
		e.must(barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error {
			for i, v := range sample.BodyAll(w) {
				if v.Value() != 0 || v.Count() != 0 {
					e.Fatalf("element %d is not zero", i)
				}
			}
			put(w, 9)
			return nil
		}))
		e.wait(gpu.CopyToDevice(e.q, gpu.All(r), gpu.All(h)))
		b, err := gpu.Backing(r)
		if err != nil || b.Device != e.dev.String() || b.Kind != gpu.DeviceMemory || b.How == "" {
			e.Errorf("backing: %+v, %v", b, err)
		}
		if back, err := barewire.Backing(r); err != nil || back.Kind != barewire.InGPU {
			e.Errorf("the region's own word of its backing: %+v, %v", back, err)
		}
		e.must(r.Close())
		e.must(h.Close())
	}
}

// pinned: kernels work on pinned host memory in place, and copies go from it and to it.
func pinned(e *env) {
	h, err := gpu.NewHost(e.dev, sample.BodyInCPU(), count)
	if !e.dev.Info().Facts.HostMapped {
		e.refused(err, gpu.ErrNotHere)
		return
	}
	e.must(err)
	e.must(barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error { put(w, 3); return nil }))
	e.wait(gpu.Launch(e.q, e.kernel("scale"), gpu.Line(count, 64), gpu.Mem(gpu.All(h)), gpu.Num(uint32(count)), gpu.Num(float32(2))))
	look := func(w barewire.Window[sample.Body, barewire.Unregistered]) error { return holds(w, 3, 2, 1) }
	e.must(barewire.With(h, look))
	r, err := gpu.New(e.dev, sample.BodyInGPU(), count)
	e.must(err)
	e.wait(gpu.CopyToDevice(e.q, gpu.All(r), gpu.All(h)))
	e.deviceHolds(r, 3, 2, 1)
	e.must(barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error { put(w, 0); return nil }))
	e.wait(gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r)))
	e.must(barewire.With(h, look))
	b, err := gpu.Backing(h)
	e.must(err)
	e.Log(b.How)
	e.must(r.Close())
	e.must(h.Close())
}

// pinnedAt: pinned memory is at the node that was asked for, the device's own where none is named, and works as other pinned memory.
func pinnedAt(e *env) {
	node, err := e.dev.Node()
	if err != nil {
		e.refused(err, gpu.ErrNotHere, e.dev.String())
		e.Log(err)
		node = 0
	}
	h, err := gpu.NewHostAt(e.dev, node, sample.BodyInCPU(), count)
	switch {
	case !e.dev.Info().Facts.HostMapped, errors.Is(err, gpu.ErrNotHere):
		e.refused(err, gpu.ErrNotHere, e.dev.String(), "use gpu.New")
		return
	case errors.Is(err, mempolicy.ErrNoNUMA), errors.Is(err, mempolicy.ErrForbidden), errors.Is(err, mempolicy.ErrUntold):
		e.refused(err, barewire.ErrPlace)
		e.Logf("nothing is placed on this system: %v", err)
		return
	}
	e.must(err)
	b, err := gpu.Backing(h)
	e.must(err)
	if !strings.Contains(b.How, fmt.Sprintf("at node %d", node)) {
		e.Errorf("it does not say where it is: %s", b.How)
	}
	if at, err := barewire.Placement(h); err != nil || at.Node != node {
		e.Errorf("the pages are at %+v, %v", at, err)
	}
	e.must(barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error { put(w, 3); return nil }))
	e.wait(gpu.Launch(e.q, e.kernel("scale"), gpu.Line(count, 64), gpu.Mem(gpu.All(h)), gpu.Num(uint32(count)), gpu.Num(float32(2))))
	e.must(barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error { return holds(w, 3, 2, 1) }))
	r := e.device(0)
	e.wait(gpu.CopyToDevice(e.q, gpu.All(r), gpu.All(h)))
	e.deviceHolds(r, 3, 2, 1)
	e.wait(gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r)))
	if near, err := gpu.NewHostAt(e.dev, gpu.Near, sample.BodyInCPU(), 1); err == nil {
		e.must(near.Close())
	} else {
		e.refused(err, gpu.ErrNotHere, "name one")
	}
	for _, none := range []int{-2, 1000, 1 << 20} {
		_, err = gpu.NewHostAt(e.dev, none, sample.BodyInCPU(), count)
		e.refused(err, barewire.ErrPlace, "sample.Body")
		e.refused(err, mempolicy.ErrNoNode)
	}
	for _, n := range []int{0, -1, math.MaxInt} {
		_, err = gpu.NewHostAt(e.dev, node, sample.BodyInCPU(), n)
		e.refused(err, barewire.ErrRange, e.dev.String())
	}
	e.must(errors.Join(h.Close(), r.Close()))
}

// unified: with a witness host and kernels share memory; without one there is none.
func unified(e *env) {
	w, err := e.dev.Witness()
	if err != nil {
		e.refused(err, gpu.ErrNotCoherent, e.dev.String())
		_, err = gpu.NewUnified(gpu.Witness{}, sample.BodyInUnified(), count)
		e.refused(err, gpu.ErrNotCoherent)
		return
	}
	e.Log(w)
	u, err := gpu.NewUnified(w, sample.BodyInUnified(), count)
	e.must(err)
	win, err := barewire.Open(u)
	e.must(err)
	put(win, 1)
	e.wait(gpu.Launch(e.q, e.kernel("scale"), gpu.Line(count, 64), gpu.Mem(gpu.All(u)), gpu.Num(uint32(count)), gpu.Num(float32(4))))
	e.must(holds(win, 1, 4, 1))
	// Touched while a kernel runs on the device: that is what was witnessed. In the memory that the kernel has, too, where it has it not to itself.
	other := e.device(0)
	op := e.spin(e.q, gpu.Mem(gpu.All(other)))
	put(win, 7)
	e.must(op.Wait(e.ctx))
	e.must(holds(win, 7, 1, 0))
	op = e.spin(e.q, gpu.Shared(gpu.Some(u, 0, 256)))
	for i := 256; i < count; i++ {
		sample.BodyAt(win, i).SetValue(float32(9 + i))
	}
	e.must(op.Wait(e.ctx))
	if got := sample.BodyAt(win, 300).Value(); got != 309 {
		e.Errorf("what was written while the kernel ran is %v", got)
	}
	e.must(win.Close())
	e.must(other.Close())
	e.must(u.Close())
}

// tooMuch: what no device has is refused, with what was asked for, and leaves nothing behind.
func tooMuch(e *env) {
	n := math.MaxInt >> 22
	r, err := gpu.New(e.dev, sample.BodyInGPU(), n)
	if err == nil {
		e.Errorf("the device gave 32 TiB: %v", r.Close())
	}
	e.refused(err, barewire.ErrNoMemory, "sample.Body", e.dev.String(), fmt.Sprint(16 * n)[:8], " bytes")
	for _, n := range []int{0, -1, math.MaxInt} {
		_, err = gpu.New(e.dev, sample.BodyInGPU(), n)
		e.refused(err, barewire.ErrRange, e.dev.String())
	}
}

// places: the zero place, and another allocator's, are refused.
func places(e *env) {
	_, err := gpu.New(e.dev, barewire.Place[sample.Body, barewire.GPU]{}, 1)
	e.refused(err, barewire.ErrNoPlace)
	_, err = gpu.New(nil, sample.BodyInGPU(), 1)
	e.refused(err, gpu.ErrNoDevice)
}

// packed: elements whose fields are not aligned are copied as they are.
func packed(e *env) {
	h, err := barewire.New(sample.TagInCPU(), 7)
	e.must(err)
	r, err := gpu.New(e.dev, sample.TagInGPU(), 7)
	e.must(err)
	look := func(do func(i int, v sample.TagView)) {
		e.must(barewire.With(h, func(w barewire.Window[sample.Tag, barewire.Unregistered]) error {
			for i, v := range sample.TagAll(w) {
				do(i, v)
			}
			return nil
		}))
	}
	look(func(i int, v sample.TagView) { v.SetKind(uint8(i)); v.SetSize(uint32(i) * 1000) })
	e.wait(gpu.CopyToDevice(e.q, gpu.Some(r, 1, 5), gpu.Some(h, 1, 5)))
	look(func(_ int, v sample.TagView) { v.SetKind(99); v.SetSize(99) })
	e.wait(gpu.CopyToHost(e.q, gpu.Some(h, 0, 6), gpu.Some(r, 1, 6)))
	look(func(i int, v sample.TagView) {
		kind, size := uint8(i+1), uint32(i+1)*1000
		switch i {
		case 5:
			kind, size = 0, 0
		case 6:
			kind, size = 99, 99
		}
		if v.Kind() != kind || v.Size() != size {
			e.Errorf("element %d: %d, %d; want %d, %d", i, v.Kind(), v.Size(), kind, size)
		}
	})
	e.must(h.Close())
	e.must(r.Close())
}

package gputest

import (
	"context"
	"errors"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
)

var managedChecks = []check{
	{"managed/turns", turns},
	{"managed/host's turn", hostsTurn},
	{"managed/device's turn", devicesTurn},
	{"managed/closing", managedClose},
	{"managed/copies", managedCopies},
}

// managed is managed memory, or nil where the device has none.
func (e *env) managed() *barewire.Region[sample.Body, barewire.Managed, barewire.Unregistered] {
	m, err := gpu.NewManaged(e.dev, sample.BodyInManaged(), count)
	if !e.dev.Info().Facts.Managed {
		e.refused(err, gpu.ErrNotHere)
		return nil
	}
	e.must(err)
	return m
}

// turns: host and device have the memory in turns.
func turns(e *env) {
	m := e.managed()
	if m == nil {
		return
	}
	for i := range 3 {
		e.must(gpu.Acquire(e.ctx, m))
		w, err := gpu.OpenManaged(m)
		e.must(err)
		if i > 0 {
			e.must(holds(w, float32(i-1), 2, 1))
		}
		put(w, float32(i))
		e.must(w.Close())
		e.must(gpu.Release(m))
		e.wait(gpu.Launch(e.q, e.kernel("scale"), gpu.Line(count, 64), gpu.Mem(gpu.All(m)), gpu.Num(uint32(count)), gpu.Num(float32(2))))
	}
	e.must(m.Close())
}

// hostsTurn: while the host has it kernels are refused it, and it is not released under open windows.
func hostsTurn(e *env) {
	m := e.managed()
	if m == nil {
		return
	}
	_, err := gpu.OpenManaged(m)
	e.refused(err, gpu.ErrNotAcquired, "gpu.Acquire")
	e.refused(gpu.Release(m), gpu.ErrNotAcquired)
	e.must(gpu.Acquire(e.ctx, m))
	e.refused(gpu.Acquire(e.ctx, m), gpu.ErrHostHas, "gputest/managed.go:")
	spin := e.kernel("spin")
	_, err = gpu.Launch(e.q, spin, gpu.Grid{}, gpu.Mem(gpu.All(m)), gpu.Num(uint32(1)))
	e.refused(err, gpu.ErrHostHas)
	w, err := gpu.OpenManaged(m)
	e.must(err)
	put(w, 5)
	e.refused(gpu.Release(m), barewire.ErrBorrowed, "gputest/managed.go:")
	e.refused(m.Close(), barewire.ErrBorrowed)
	e.must(w.Close())
	e.must(gpu.Release(m))
	e.wait(gpu.Launch(e.q, spin, gpu.Grid{}, gpu.Mem(gpu.All(m)), gpu.Num(uint32(1))))
	e.must(m.Close())
}

// devicesTurn: who acquires waits for the kernels that have the memory, or until its context ends; and where the device
// excludes the host from managed memory at all, for those that have other memory.
func devicesTurn(e *env) {
	m := e.managed()
	if m == nil {
		return
	}
	op := e.spin(e.q, gpu.Mem(gpu.All(m)))
	e.waits(m, op)
	if e.dev.Info().Facts.Exclusive {
		r := e.device(0)
		op := e.spin(e.q, gpu.Mem(gpu.All(r)))
		e.waits(m, op)
		e.must(gpu.Acquire(e.ctx, m))
		_, err := gpu.Launch(e.q, e.kernel("spin"), gpu.Grid{}, gpu.Mem(gpu.All(r)), gpu.Num(uint32(1)))
		e.refused(err, gpu.ErrHostHas)
		e.must(gpu.Release(m))
		e.must(r.Close())
	}
	e.must(m.Close())
}

// waits: memory is not acquired as long as an operation runs.
func (e *env) waits(m *barewire.Region[sample.Body, barewire.Managed, barewire.Unregistered], op gpu.Op) {
	e.Helper()
	soon, cancel := context.WithTimeout(e.ctx, time.Millisecond)
	defer cancel()
	switch err := gpu.Acquire(soon, m); {
	case err != nil:
		e.refused(err, context.DeadlineExceeded, "gpu: acquire")
		e.must(gpu.Acquire(e.ctx, m))
		fallthrough
	default:
		if !op.Done() {
			e.Error("acquired while a kernel runs")
		}
	}
	e.must(gpu.Release(m))
	e.must(op.Wait(e.ctx))
}

// managedClose: memory that is closed while the host has it is given back like any other.
func managedClose(e *env) {
	m := e.managed()
	if m == nil {
		return
	}
	e.must(gpu.Acquire(e.ctx, m))
	e.must(m.Close())
	e.refused(errors.Join(gpu.Acquire(e.ctx, m)), barewire.ErrReleased)
	e.refused(gpu.Release(m), barewire.ErrReleased)
	r := e.device(0) // kernels run again
	e.wait(gpu.Launch(e.q, e.kernel("spin"), gpu.Grid{}, gpu.Mem(gpu.All(r)), gpu.Num(uint32(1))))
	e.must(r.Close())
}

// managedCopies: the device copies managed memory from and to its own, and to other managed memory, while the host has it not.
func managedCopies(e *env) {
	m := e.managed()
	if m == nil {
		return
	}
	n, r, back := e.managed(), e.device(30), e.device(0)
	e.wait(gpu.Copy(e.q, gpu.All(m), gpu.All(r)))
	e.wait(gpu.Copy(e.q, gpu.Some(n, 0, count-10), gpu.Some(m, 10, count-10)))
	e.wait(gpu.Copy(e.q, gpu.Some(n, count-10, 10), gpu.Some(m, 0, 10)))
	e.wait(gpu.Copy(e.q, gpu.Some(back, 10, count-10), gpu.Some(n, 0, count-10)))
	e.wait(gpu.Copy(e.q, gpu.Some(back, 0, 10), gpu.Some(n, count-10, 10)))
	e.deviceHolds(back, 30, 1, 0)
	_, err := gpu.Copy(e.q, gpu.Some(m, 0, 10), gpu.Some(m, 9, 10))
	e.refused(err, gpu.ErrArgs, "overlap")

	e.must(gpu.Acquire(e.ctx, m))
	_, err = gpu.Copy(e.q, gpu.All(r), gpu.All(m))
	e.refused(err, gpu.ErrHostHas, "gpu: copy within the device", "gputest/managed.go:")
	_, err = gpu.Copy(e.q, gpu.All(m), gpu.All(r))
	e.refused(err, gpu.ErrHostHas)
	w, err := gpu.OpenManaged(m)
	e.must(err)
	e.must(holds(w, 30, 1, 0))
	put(w, 70)
	e.must(w.Close())
	if e.dev.Info().Facts.Exclusive { // then other managed memory is not copied either
		_, err = gpu.Copy(e.q, gpu.All(r), gpu.All(n))
		e.refused(err, gpu.ErrHostHas, "the device runs no kernel meanwhile")
	}
	e.must(gpu.Release(m))
	e.wait(gpu.Copy(e.q, gpu.All(r), gpu.All(m)))
	e.deviceHolds(r, 70, 1, 0)
	e.must(errors.Join(m.Close(), n.Close(), r.Close(), back.Close()))
}

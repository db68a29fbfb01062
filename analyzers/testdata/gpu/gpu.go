// Package gpu uses memory of GPUs by the runtime itself, right and wrong: what its directives say is what the analyzer knows of it.
package gpu

import (
	"context"
	"errors"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type (
	device  = barewire.Region[sample.Tick, barewire.GPU, barewire.Unregistered]
	host    = barewire.Region[sample.Tick, barewire.CPU, barewire.Unregistered]
	managed = barewire.Region[sample.Tick, barewire.Managed, barewire.Unregistered]
	unified = barewire.Region[sample.Tick, barewire.Unified, barewire.Unregistered]
)

func GoodCopy(ctx context.Context, q *gpu.Queue, r *device, h *host) error {
	op, err := gpu.CopyToHost(q, gpu.All(h), gpu.All(r))
	if err != nil {
		return err
	}
	if err := op.Wait(ctx); err != nil {
		return err
	}
	return barewire.With(h, func(w barewire.Window[sample.Tick, barewire.Unregistered]) error {
		sample.TickAt(w, 0).SetPrice(1)
		return nil
	})
}

func GoodFlush(ctx context.Context, q *gpu.Queue, dev *gpu.Device, p barewire.Place[sample.Tick, barewire.GPU], h *host) error {
	r, err := gpu.New(dev, p, 8)
	if err != nil {
		return err
	}
	if _, err := gpu.CopyToDevice(q, gpu.All(r), gpu.Some(h, 0, 8)); err != nil {
		return errors.Join(err, r.Close())
	}
	return errors.Join(q.Flush(ctx), r.Close())
}

func GoodManaged(ctx context.Context, m *managed) error {
	if err := gpu.Acquire(ctx, m); err != nil {
		return err
	}
	w, err := gpu.OpenManaged(m)
	if err != nil {
		return errors.Join(err, gpu.Release(m))
	}
	sample.TickAt(w, 0).SetPrice(1)
	return errors.Join(w.Close(), gpu.Release(m))
}

func GoodMap(ctx context.Context, r *device) error {
	w, err := gpu.Map(ctx, r)
	if err != nil {
		return err
	}
	return errors.Join(gpu.Put(w, 0, make([]sample.Tick, 1)), w.Close())
}

func GoodKernel(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, h *host) (float64, error) {
	w, err := barewire.Open(h)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	sample.TickAt(w, 0).SetPrice(1)
	op, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.All(h)), gpu.Num(uint32(8)))
	if err != nil {
		return 0, err
	}
	if err := op.Wait(ctx); err != nil {
		return 0, err
	}
	return sample.TickAt(w, 0).Price(), nil
}

// GoodKernelOther has the host at elements that the kernel was not given.
func GoodKernelOther(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, h *host) (float64, error) {
	w, err := barewire.Open(h)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	op, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.Some(h, 8, 8)))
	if err != nil {
		return 0, err
	}
	sample.TickAt(w, 0).SetPrice(2)
	x := sample.TickAt(w, 7).Price()
	return x, op.Wait(ctx)
}

// GoodKernelReads has a kernel that only reads what the host reads.
func GoodKernelReads(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, r *device, h *host) (float64, error) {
	w, err := barewire.Open(h)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	op, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.All(r)), gpu.In(gpu.All(h)))
	if err != nil {
		return 0, err
	}
	x := sample.TickAt(w, 0).Price()
	return x, op.Wait(ctx)
}

// GoodShared looks how far a kernel is, in memory where it may.
func GoodShared(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, u *unified) error {
	w, err := barewire.Open(u)
	if err != nil {
		return err
	}
	defer w.Close()
	op, err := gpu.Launch(q, k, gpu.Grid{}, gpu.Shared(gpu.All(u)))
	if err != nil {
		return err
	}
	for sample.TickAt(w, 0).Price() == 0 && !op.Done() {
		sample.TickAt(w, 1).SetPrice(1)
	}
	return op.Wait(ctx)
}

func BadLeak(dev *gpu.Device, p barewire.Place[sample.Tick, barewire.GPU]) error {
	r, err := gpu.New(dev, p, 8) // want "BW5104 .r. .* is not released"
	if err != nil {
		return err
	}
	_, err = gpu.Backing(r)
	return err
}

func BadClosedInFlight(ctx context.Context, q *gpu.Queue, r *device, h *host) error {
	op, err := gpu.CopyToHost(q, gpu.All(h), gpu.All(r))
	if err != nil {
		return err
	}
	return errors.Join(r.Close(), op.Wait(ctx)) // want "BW5108 .r. .* is ended by Close while an operation on it is in flight"
}

func BadHostClosedInFlight(ctx context.Context, q *gpu.Queue, r *device, h *host) error {
	op, err := gpu.CopyToDevice(q, gpu.All(r), gpu.All(h))
	if err != nil {
		return err
	}
	return errors.Join(h.Close(), op.Wait(ctx)) // want "BW5108 .h. .* is ended by Close while an operation on it is in flight"
}

func BadKernelFreed(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, r *device) error {
	op, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.All(r)))
	if err != nil {
		return err
	}
	return errors.Join(r.Close(), op.Wait(ctx)) // want "BW5108 .r. .* is ended by Close while an operation on it is in flight"
}

func BadKernelInFreed(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, h *host) error {
	op, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.In(gpu.All(h)))
	if err != nil {
		return err
	}
	return errors.Join(h.Close(), op.Wait(ctx)) // want "BW5108 .h. .* is ended by Close while an operation on it is in flight"
}

func BadSharedFreed(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, u *unified) error {
	op, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Shared(gpu.All(u)))
	if err != nil {
		return err
	}
	return errors.Join(u.Close(), op.Wait(ctx)) // want "BW5108 .u. .* is ended by Close while an operation on it is in flight"
}

func BadKernelReadEarly(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, h *host) (float64, error) {
	w, err := barewire.Open(h)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	op, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.All(h)), gpu.Num(uint32(8)))
	if err != nil {
		return 0, err
	}
	x := sample.TickAt(w, 0).Price() // want "BW5114 memory of .h. .* is read while an operation that writes it is in flight"
	return x, op.Wait(ctx)
}

func BadKernelWrittenEarly(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, r *device, h *host) error {
	w, err := barewire.Open(h)
	if err != nil {
		return err
	}
	defer w.Close()
	op, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.All(r)), gpu.Mem(gpu.Some(h, 2, 4)))
	if err != nil {
		return err
	}
	sample.TickAt(w, 3).SetPrice(1) // want "BW5114 memory of .h. .* is written while an operation that writes it is in flight"
	return op.Wait(ctx)
}

func BadReadEarly(ctx context.Context, q *gpu.Queue, r *device, h *host) (float64, error) {
	w, err := barewire.Open(h)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	op, err := gpu.CopyToHost(q, gpu.All(h), gpu.All(r))
	if err != nil {
		return 0, err
	}
	x := sample.TickAt(w, 0).Price() // want "BW5114 "
	return x, op.Wait(ctx)
}

func BadUsedAfter(q *gpu.Queue, r *device, h *host) error {
	if err := r.Close(); err != nil {
		return err
	}
	_, err := gpu.CopyToHost(q, gpu.All(h), gpu.All(r)) // want "BW5101 .r. .* is used after"
	return err
}

func BadTwice(r *device) error {
	if err := r.Close(); err != nil {
		return err
	}
	return r.Close() // want "BW5102 .r. .*"
}

func BadManagedNeverAcquired(dev *gpu.Device, p barewire.Place[sample.Tick, barewire.Managed]) error {
	m, err := gpu.NewManaged(dev, p, 8)
	if err != nil {
		return err
	}
	w, err := gpu.OpenManaged(m) // want "BW5117 memory of .m. .* is asked for before it was acquired"
	if err != nil {
		return errors.Join(err, m.Close())
	}
	return errors.Join(w.Close(), m.Close())
}

func BadManagedAfterRelease(ctx context.Context, m *managed) error {
	if err := gpu.Acquire(ctx, m); err != nil {
		return err
	}
	if err := gpu.Release(m); err != nil {
		return err
	}
	w, err := gpu.OpenManaged(m) // want "BW5117 memory of .m. .* is asked for after Release"
	if err != nil {
		return err
	}
	return w.Close()
}

func BadWindowLeft(ctx context.Context, r *device) error {
	w, err := gpu.Map(ctx, r) // want "BW5105 "
	if err != nil {
		return err
	}
	return gpu.Put(w, 0, make([]sample.Tick, 1))
}

// GoodMapThenKernel has closed the window.
func GoodMapThenKernel(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, r *device) error {
	w, err := gpu.Map(ctx, r)
	if err != nil {
		return err
	}
	if err := errors.Join(gpu.Put(w, 0, make([]sample.Tick, 1)), w.Close()); err != nil {
		return err
	}
	if _, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.All(r))); err != nil {
		return err
	}
	return q.Flush(ctx)
}

// GoodMapOther has another region mapped.
func GoodMapOther(ctx context.Context, q *gpu.Queue, r, other *device, h *host) error {
	w, err := gpu.Map(ctx, other)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := gpu.CopyToHost(q, gpu.All(h), gpu.All(r)); err != nil {
		return err
	}
	return q.Flush(ctx)
}

// GoodWindowKernel has a window on memory that both reach.
func GoodWindowKernel(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, h *host) error {
	w, err := barewire.Open(h)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.All(h))); err != nil {
		return err
	}
	return q.Flush(ctx)
}

// GoodManagedTurns copies, and works on it, and copies back.
func GoodManagedTurns(ctx context.Context, q *gpu.Queue, m *managed, r *device) error {
	for range 3 {
		if err := gpu.Acquire(ctx, m); err != nil {
			return err
		}
		if err := GoodManagedWork(m); err != nil {
			return errors.Join(err, gpu.Release(m))
		}
		if err := gpu.Release(m); err != nil {
			return err
		}
		if _, err := gpu.Copy(q, gpu.All(r), gpu.All(m)); err != nil {
			return err
		}
	}
	return q.Flush(ctx)
}

// GoodManagedWork is called with m acquired.
func GoodManagedWork(m *managed) error {
	w, err := gpu.OpenManaged(m)
	if err != nil {
		return err
	}
	sample.TickAt(w, 0).SetPrice(1)
	return w.Close()
}

func BadManagedLeft(ctx context.Context, m *managed) error {
	if err := gpu.Acquire(ctx, m); err != nil { // want "BW5121 .m. .* is acquired, and not released on every path"
		return err
	}
	w, err := gpu.OpenManaged(m)
	if err != nil {
		return err
	}
	sample.TickAt(w, 0).SetPrice(1)
	return errors.Join(w.Close(), gpu.Release(m))
}

func BadKernelAcquired(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, m *managed) error {
	if err := gpu.Acquire(ctx, m); err != nil {
		return err
	}
	_, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Num(uint32(1)), gpu.Mem(gpu.All(m))) // want "BW5122 .m. .* is given to Launch while the host has it acquired"
	return errors.Join(err, gpu.Release(m), q.Flush(ctx))
}

func BadCopyAcquired(ctx context.Context, q *gpu.Queue, m *managed, r *device) error {
	if err := gpu.Acquire(ctx, m); err != nil {
		return err
	}
	_, err := gpu.Copy(q, gpu.All(r), gpu.All(m)) // want "BW5122 .m. .* is given to Copy while the host has it acquired"
	return errors.Join(err, gpu.Release(m), q.Flush(ctx))
}

func BadKernelMapped(ctx context.Context, q *gpu.Queue, k *gpu.Kernel, r *device) error {
	w, err := gpu.Map(ctx, r)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.All(r))); err != nil { // want "BW5122 .r. .* is given to Launch while the host has it mapped"
		return err
	}
	return q.Flush(ctx)
}

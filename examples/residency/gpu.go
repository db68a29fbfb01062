package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	_ "github.com/fidelityframework/barewire-gen/runtime/gpu/cuda"
	_ "github.com/fidelityframework/barewire-gen/runtime/gpu/opencl"
)

// samples is how many each region of a GPU's has: 1 MiB.
const samples = 1 << 16

// onGPU asks for memory of each residency that a GPU has part in, and takes what is in one to the device's own and back.
func onGPU(ctx context.Context, out io.Writer) error {
	dev, err := gpu.Open(ctx, gpu.Config{}) // the best one; with PoCL the processor is one
	if err != nil {
		fmt.Fprintf(out, "\nno GPU: %v\n", err)
		return nil
	}
	fmt.Fprintf(out, "\n%s is %s\n", dev, dev.Info().Model)
	q, err := dev.Queue(0)
	if err != nil {
		return errors.Join(err, dev.Close())
	}
	own, err := gpu.New(dev, SampleInGPU(), samples)
	if err != nil {
		return errors.Join(err, q.Close(), dev.Close())
	}
	err = errors.Join(
		got(out, "gpu.New, gpu", own),
		pinned(ctx, out, dev, q, own),
		managed(ctx, out, dev),
		unified(out, dev),
	)
	return errors.Join(err, own.Close(), q.Close(), dev.Close())
}

// got says what a region's memory is to its GPU.
func got[R barewire.Residency](out io.Writer, asked string, r *barewire.Region[Sample, R, barewire.Unregistered]) error {
	back, err := gpu.Backing(r)
	if err == nil {
		fmt.Fprintf(out, "%-29s %d KiB of %s: %s\n", asked, r.Len()*16>>10, back.Kind, back.How)
	}
	return err
}

// pinned writes memory of the host's, copies it to the device's, clears it, and copies it back.
func pinned(ctx context.Context, out io.Writer, dev *gpu.Device, q *gpu.Queue, own *SampleGPU[barewire.Unregistered]) error {
	const asked = "gpu.NewHost, cpu"
	r, err := gpu.NewHost(dev, SampleInCPU(), samples)
	if errors.Is(err, gpu.ErrNotHere) {
		fmt.Fprintf(out, "%-29s nothing: %v\n", asked, err)
		return nil
	}
	if err != nil {
		return err
	}
	err = errors.Join(
		got(out, asked, r),
		barewire.With(r, func(w SampleWindow[barewire.Unregistered]) error { return number(w, 1) }),
		ended(ctx)(gpu.CopyToDevice(q, gpu.All(own), gpu.All(r))),
		barewire.With(r, func(w SampleWindow[barewire.Unregistered]) error { return number(w, 0) }),
		ended(ctx)(gpu.CopyToHost(q, gpu.All(r), gpu.All(own))),
		barewire.With(r, check),
	)
	return errors.Join(err, r.Close())
}

// ended waits for an operation.
func ended(ctx context.Context) func(gpu.Op, error) error {
	return func(op gpu.Op, err error) error {
		if err != nil {
			return err
		}
		return op.Wait(ctx)
	}
}

// managed has the host's turn with memory that the driver moves.
func managed(ctx context.Context, out io.Writer, dev *gpu.Device) error {
	const asked = "gpu.NewManaged, managed"
	r, err := gpu.NewManaged(dev, SampleInManaged(), samples)
	if errors.Is(err, gpu.ErrNotHere) {
		fmt.Fprintf(out, "%-29s nothing: %v\n", asked, err)
		return nil
	}
	if err != nil {
		return err
	}
	err = got(out, asked, r)
	if aerr := gpu.Acquire(ctx, r); aerr != nil {
		return errors.Join(err, aerr, r.Close())
	}
	w, werr := gpu.OpenManaged(r)
	if werr == nil {
		werr = errors.Join(number(w, 1), check(w), w.Close())
	}
	return errors.Join(err, werr, gpu.Release(r), r.Close())
}

// unified takes a witness that the device and the host are coherent.
func unified(out io.Writer, dev *gpu.Device) error {
	const asked = "gpu.NewUnified, unified"
	witness, err := dev.Witness()
	if err != nil {
		fmt.Fprintf(out, "%-29s nothing: %v\n", asked, err)
		return nil
	}
	r, err := gpu.NewUnified(witness, SampleInUnified(), samples)
	if err != nil {
		return err
	}
	err = errors.Join(got(out, asked, r), barewire.With(r, func(w SampleWindow[barewire.Unregistered]) error { return errors.Join(number(w, 1), check(w)) }))
	return errors.Join(err, r.Close())
}

// number writes each element's number, times something.
func number(w SampleWindow[barewire.Unregistered], times uint64) error {
	for i, s := range SampleAll(w) {
		s.SetCount(uint64(i) * times)
	}
	return nil
}

// check wants each element to have its number.
func check(w SampleWindow[barewire.Unregistered]) error {
	for i, s := range SampleAll(w) {
		if s.Count() != uint64(i) {
			return fmt.Errorf("sample %d has %d", i, s.Count())
		}
	}
	return nil
}

//go:build amd64 || arm64

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/fidelityframework/barewire-gen/bench/regions"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

var libraries = []library{
	{"opencl", openCL, "Debian: ocl-icd-libopencl1, pocl-opencl-icd"},
	{"cuda", openCUDA, "the stand-in needs a C compiler, and this module's directory"},
}

const pageSize = 4096

// ours is package gpu with one device.
type ours struct {
	dev *gpu.Device
	q   *gpu.Queue
}

func openOurs(p gpu.Provider) (*ours, error) {
	dev, err := gpu.Open(context.Background(), gpu.Config{Provider: p})
	if err != nil {
		return nil, err
	}
	q, err := dev.Queue(0)
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return &ours{dev, q}, nil
}

func (o *ours) close() error { return errors.Join(o.q.Close(), o.dev.Close()) }

// copies gives both ways of n pages, and what ends them.
func (o *ours) copies(n int, host *barewire.Region[regions.Page, barewire.CPU, barewire.Unregistered]) (to, from *copies, end func() error, err error) {
	r, err := gpu.New(o.dev, regions.PageInGPU(), n)
	if err != nil {
		return nil, nil, nil, err
	}
	ctx := context.Background()
	times := func(post func() (gpu.Op, error)) func(int) error {
		return func(n int) error {
			for range n {
				op, err := post()
				if err == nil {
					err = op.Wait(ctx)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	to = &copies{name: "gpu.CopyToDevice, Wait", run: times(func() (gpu.Op, error) { return gpu.CopyToDevice(o.q, gpu.All(r), gpu.All(host)) })}
	from = &copies{name: "gpu.CopyToHost, Wait", run: times(func() (gpu.Op, error) { return gpu.CopyToHost(o.q, gpu.All(host), gpu.All(r)) })}
	return to, from, r.Close, nil
}

// open is where memory is, written to once; its window stays open.
func open(host *barewire.Region[regions.Page, barewire.CPU, barewire.Unregistered], ends *cleanup) (uintptr, error) {
	w, err := barewire.Open(host)
	if err != nil {
		return 0, err
	}
	ends.add(w.Close)
	s, err := barewire.Slice(w)
	if err != nil {
		return 0, err
	}
	clear(s)
	return uintptr(unsafe.Pointer(unsafe.SliceData(s))), nil
}

// bare is functions of a library by their names.
type bare map[string]uintptr

// openBare finds all of them.
func openBare(path string, names ...string) (bare, error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	b := bare{}
	for _, name := range names {
		if b[name], err = purego.Dlsym(h, name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// fn is a function that was found.
func (b bare) fn(name string) uintptr { return b[name] }

// call calls a function with arguments that stand in memory of the caller's: nothing is allocated.
func call(fn uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// status is the error of a result that is not 0.
func status(what string, r uintptr) error {
	if int32(r) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d", what, int32(r))
}

// out is memory that libraries write to, on the heap, which does not move.
type out [8]uint64

//go:noinline
func newOut() *out { return new(out) }

func addr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// cleanup is what ends what was made, the last first.
type cleanup []func() error

func (c *cleanup) add(f func() error) { *c = append(*c, f) }

func (c *cleanup) close() error {
	var errs []error
	for _, f := range slices.Backward(*c) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// failed ends it where something failed.
func (c *cleanup) failed(err *error) {
	if *err != nil {
		*err = errors.Join(*err, c.close())
	}
}

// locked runs copies on a thread that is kept.
func locked(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return f()
}

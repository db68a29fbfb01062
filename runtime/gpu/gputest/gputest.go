// Package gputest has the tests that every provider of package gpu must pass. A provider's own tests call [Run] with a [Factory] for it:
//
//	func TestConformance(t *testing.T) {
//		gputest.Run(t, gputest.Factory{Provider: myProvider, Device: "0", Module: source})
//	}
//
// It is for tests only, as net/http/httptest is. What a device has not (managed memory, windows, …) is asked for and must be refused as it says.
//
//barewire:trust the tests make zero values, and misuse what they have, to see the errors
package gputest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
)

// Factory says what provider is tested, and how to use it.
type Factory struct {
	Provider gpu.Provider
	Device   string // its name
	// Module has three kernels, for elements of 16 bytes {float value, float scale, uint64 count}:
	//
	//	scale(p, uint n, float k)   value *= k, count += 1, for the first n
	//	move(dst, src, uint n)      dst[i] = src[i], for the first n
	//	spin(p, uint n)             one thread that takes the longer the greater n is, and then adds 1 to the count of p[0]
	Module []byte
	// Left says what the device has that was not given back, when it is closed; nil: nobody counts. Empty: nothing.
	Left func() string
}

// patience is how long anything may take on a machine that is busy with other things.
const patience = time.Minute

// count is how many elements regions have.
const count = 1000

// check is one test of the suite.
type check struct {
	name string
	run  func(*env)
}

// env is a device that a check has to itself.
type env struct {
	*testing.T
	f   *Factory
	ctx context.Context
	dev *gpu.Device
	q   *gpu.Queue
	mod *gpu.Module
}

// Run runs the tests as subtests of t, one after the other. Each has the device opened for it, and must leave nothing open.
func Run(t *testing.T, f Factory) {
	for _, group := range [][]check{memoryChecks, copyChecks, kernelChecks, managedChecks, windowChecks, misuseChecks, lifeChecks} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) { one(t, &f, c) })
		}
	}
}

// one runs a check.
func one(t *testing.T, f *Factory, c check) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dev, err := gpu.Open(ctx, gpu.Config{Provider: f.Provider, Device: f.Provider.Name() + "/" + f.Device})
	if err != nil {
		t.Fatal(err)
	}
	e := &env{T: t, f: f, ctx: ctx, dev: dev}
	if e.q, err = dev.Queue(0); err != nil {
		t.Fatal(err)
	}
	if e.mod, err = dev.Module(ctx, f.Module); err != nil {
		t.Fatal(err)
	}
	c.run(e)
	if err := errors.Join(e.q.Flush(ctx), e.mod.Close(ctx), e.q.Close()); err != nil {
		t.Error(err)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
	if f.Left != nil {
		if left := f.Left(); left != "" {
			t.Errorf("left on the device: %s", left)
		}
	}
}

// must ends the test at an error.
func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// refused wants an error to be what it should, and to say what it should.
func (e *env) refused(err, want error, says ...string) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Errorf("got %v, want %v", err, want)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			e.Errorf("%q does not say %q", err, s)
		}
	}
}

// wait waits for what was posted.
func (e *env) wait(op gpu.Op, err error) {
	e.Helper()
	e.must(err)
	e.must(op.Wait(e.ctx))
}

// kernel finds a kernel.
func (e *env) kernel(name string) *gpu.Kernel {
	e.Helper()
	k, err := e.mod.Kernel(name)
	e.must(err)
	return k
}

// host is memory of the runtime's own, with values from first on.
func (e *env) host(first float32) *barewire.Region[sample.Body, barewire.CPU, barewire.Unregistered] {
	e.Helper()
	r, err := barewire.New(sample.BodyInCPU(), count)
	e.must(err)
	e.must(barewire.With(r, func(w barewire.Window[sample.Body, barewire.Unregistered]) error {
		put(w, first)
		return nil
	}))
	return r
}

// put writes values from first on.
func put[A barewire.Access](w barewire.Window[sample.Body, A], first float32) {
	for i, v := range sample.BodyAll(w) {
		v.SetValue(first + float32(i))
		v.SetCount(uint64(i))
	}
}

// holds wants elements to have values from first on times k, and counts from more on. Where i is not in a
// part, nothing is asked of it.
func holds[A barewire.Access](w barewire.Window[sample.Body, A], first, k float32, more uint64) error {
	for i, v := range sample.BodyAll(w) {
		if got, want := v.Value(), (first+float32(i))*k; got != want {
			return fmt.Errorf("value %d is %v, want %v", i, got, want)
		}
		if got, want := v.Count(), uint64(i)+more; got != want {
			return fmt.Errorf("count %d is %d, want %d", i, got, want)
		}
	}
	return nil
}

// device is memory of the device, with values from first on.
func (e *env) device(first float32) *barewire.Region[sample.Body, barewire.GPU, barewire.Unregistered] {
	e.Helper()
	r, err := gpu.New(e.dev, sample.BodyInGPU(), count)
	e.must(err)
	h := e.host(first)
	e.wait(gpu.CopyToDevice(e.q, gpu.All(r), gpu.All(h)))
	e.must(h.Close())
	return r
}

// deviceHolds wants memory of the device to be as holds wants it.
func (e *env) deviceHolds(r *barewire.Region[sample.Body, barewire.GPU, barewire.Unregistered], first, k float32, more uint64) {
	e.Helper()
	h := e.host(-1)
	e.wait(gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r)))
	e.must(barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error { return holds(w, first, k, more) }))
	e.must(h.Close())
}

// spin starts a kernel on memory that has not ended when it returns.
func (e *env) spin(q *gpu.Queue, mem gpu.Arg) gpu.Op {
	e.Helper()
	k := e.kernel("spin")
	for n := uint32(1 << 24); n != 0; n <<= 1 {
		op, err := gpu.Launch(q, k, gpu.Grid{}, mem, gpu.Num(n))
		e.must(err)
		if !op.Done() {
			return op
		}
	}
	e.Fatal("no kernel takes long enough to be seen running")
	return gpu.Op{}
}

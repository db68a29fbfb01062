package gputest

import (
	"context"
	"errors"
	"strings"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// What is done wrong here is of the catalogue of mistakes with memory of GPUs: each is refused when the program runs.
var misuseChecks = []check{
	{"misuse/closed with a copy in flight", closedInFlight},
	{"misuse/used after it was closed", usedAfter},
	{"misuse/closed twice", closedTwice},
	{"misuse/another device's memory", otherDevice},
	{"misuse/queue and device closed in use", closedInUse},
	{"misuse/zero values", zeroValues},
	{"misuse/arrived", arrived},
	{"misuse/exported", exported},
}

// closedInFlight: neither the device's memory nor the host's goes while an operation has it.
func closedInFlight(e *env) {
	r, h := e.device(0), e.host(0)
	op := e.spin(e.q, gpu.Mem(gpu.All(r)))
	next, err := gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r))
	e.must(err)
	var held []func() error
	for _, close := range []func() error{r.Close, h.Close} {
		if err := close(); err != nil {
			e.refused(err, barewire.ErrInFlight, "posted at gputest/", "wait for them first")
			held = append(held, close)
		} else if !op.Done() {
			e.Fatal("memory was closed that a kernel works on")
		}
	}
	e.must(op.Wait(e.ctx))
	e.must(next.Wait(e.ctx))
	if len(held) < 2 { // all has ended between the two, or the copy after it had let go of one
		for _, close := range held {
			e.must(close())
		}
		return
	}
	// What has ended, and nobody waited for, is in nobody's way.
	_, err = gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r))
	e.must(err)
	for range 1000 {
		if err = r.Close(); !errors.Is(err, barewire.ErrInFlight) {
			break
		}
		e.must(e.pause())
	}
	e.must(errors.Join(err, e.q.Flush(e.ctx), h.Close()))
}

// pause gives the device time, by an operation on something else.
func (e *env) pause() error {
	q, err := e.dev.Queue(1)
	if err != nil {
		return err
	}
	r := e.device(0)
	op, err := gpu.Copy(q, gpu.Some(r, 0, 1), gpu.Some(r, 1, 1))
	if err == nil {
		err = op.Wait(e.ctx)
	}
	return errors.Join(err, q.Close(), r.Close())
}

// usedAfter: nothing is done with memory that was closed.
func usedAfter(e *env) {
	r, h := e.device(0), e.host(0)
	all := gpu.All(r)
	e.must(r.Close())
	_, err := gpu.CopyToHost(e.q, gpu.All(h), all)
	e.refused(err, barewire.ErrReleased, "gputest/misuse.go:")
	_, err = gpu.CopyToDevice(e.q, all, gpu.All(h))
	e.refused(err, barewire.ErrReleased)
	_, err = gpu.Launch(e.q, e.kernel("spin"), gpu.Grid{}, gpu.Mem(all), gpu.Num(uint32(1)))
	e.refused(err, barewire.ErrReleased)
	_, err = gpu.Map(e.ctx, r)
	e.refused(err, barewire.ErrReleased)
	_, err = gpu.Backing(r)
	e.refused(err, barewire.ErrReleased)
	e.refused(gpu.Arrived(r), barewire.ErrReleased)
	live := e.device(0)
	src := gpu.All(h)
	e.must(h.Close())
	_, err = gpu.CopyToDevice(e.q, gpu.All(live), src)
	e.refused(err, barewire.ErrReleased)
	e.must(live.Close()) // what was refused holds nothing
}

func closedTwice(e *env) {
	r := e.device(0)
	e.must(r.Close())
	e.refused(r.Close(), barewire.ErrReleased, "gputest/misuse.go:")
}

// otherDevice: memory, kernels and queues of two openings do not mix.
func otherDevice(e *env) {
	two, err := gpu.Open(e.ctx, gpu.Config{Provider: e.f.Provider, Device: e.dev.String()})
	e.must(err)
	r, h := e.device(0), e.host(0)
	q, err := two.Queue(0)
	e.must(err)
	_, err = gpu.CopyToHost(q, gpu.All(h), gpu.All(r))
	e.refused(err, gpu.ErrOtherDevice, e.dev.String())
	_, err = gpu.CopyToDevice(q, gpu.All(r), gpu.All(h))
	e.refused(err, gpu.ErrOtherDevice)
	other, err := gpu.New(two, sample.BodyInGPU(), count)
	e.must(err)
	for _, on := range []*gpu.Queue{e.q, q} {
		_, err = gpu.Copy(on, gpu.All(r), gpu.All(other))
		e.refused(err, gpu.ErrOtherDevice, "gpu: copy within the device", e.dev.String())
		_, err = gpu.Copy(on, gpu.All(other), gpu.All(r))
		e.refused(err, gpu.ErrOtherDevice)
	}
	if m := e.managed(); m != nil {
		_, err = gpu.Copy(q, gpu.All(other), gpu.All(m))
		e.refused(err, gpu.ErrOtherDevice)
		_, err = gpu.Copy(q, gpu.All(m), gpu.All(other))
		e.refused(err, gpu.ErrOtherDevice)
		e.must(m.Close())
	}
	e.must(other.Close())
	_, err = gpu.Launch(q, e.kernel("spin"), gpu.Grid{}, gpu.Mem(gpu.All(r)), gpu.Num(uint32(1)))
	e.refused(err, gpu.ErrOtherDevice, "it was loaded on")
	m, err := two.Module(e.ctx, e.f.Module)
	e.must(err)
	k, err := m.Kernel("spin")
	e.must(err)
	_, err = gpu.Launch(q, k, gpu.Grid{}, gpu.Mem(gpu.All(r)), gpu.Num(uint32(1)))
	e.refused(err, gpu.ErrOtherDevice, "argument 0")
	e.must(errors.Join(r.Close(), h.Close(), q.Close(), m.Close(e.ctx), two.Close()))
}

func closedInUse(e *env) {
	r := e.device(0)
	e.refused(e.dev.Close(), gpu.ErrBusy, "1 queue", "1 region", "gputest/", "1 module")
	q, err := e.dev.Queue(2)
	e.must(err)
	op := e.spin(q, gpu.Mem(gpu.All(r)))
	if err := q.Close(); err != nil {
		e.refused(err, barewire.ErrInFlight, "kernel spin posted at gputest/")
		e.must(op.Wait(e.ctx))
		e.must(q.Close())
	} else if !op.Done() {
		e.Error("a queue was closed in use")
	}
	e.refused(q.Close(), gpu.ErrClosed)
	_, err = gpu.Copy(q, gpu.Some(r, 0, 1), gpu.Some(r, 1, 1))
	e.refused(err, gpu.ErrClosed)
	for _, depth := range []int{-1, 3, 1 << 20} {
		if _, err := e.dev.Queue(depth); !errors.Is(err, gpu.ErrArgs) || !strings.Contains(err.Error(), "power of two") {
			e.Errorf("a queue of depth %d: %v", depth, err)
		}
	}
	e.must(r.Close())
}

// zeroValues: what nobody made is refused, and nothing panics.
func zeroValues(e *env) {
	var (
		q *gpu.Queue
		r *barewire.Region[sample.Body, barewire.GPU, barewire.Unregistered]
		m *barewire.Region[sample.Body, barewire.Managed, barewire.Unregistered]
	)
	live, h := e.device(0), e.host(0)
	_, err := gpu.CopyToHost(q, gpu.All(h), gpu.All(live))
	e.refused(err, err, "no queue")
	_, err = gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r))
	e.refused(err, barewire.ErrNoRegion)
	_, err = gpu.CopyToHost(e.q, gpu.All(h), gpu.Part[sample.Body, barewire.GPU, barewire.Unregistered]{})
	e.refused(err, barewire.ErrNoRegion)
	e.refused(gpu.Acquire(e.ctx, m), barewire.ErrNoRegion)
	e.refused(gpu.Arrived(r), barewire.ErrNoRegion)
	e.refused(gpu.Op{}.Wait(e.ctx), gpu.ErrOp)
	_, err = gpu.Open(e.ctx, gpu.Config{Provider: e.f.Provider, Device: "none/7"})
	e.refused(err, gpu.ErrNoDevice, `is not "none/7"`)
	if q.Device() != nil {
		e.Error("a queue that is none has a device")
	}
	var d *gpu.Device
	for _, err := range []error{d.Close(), d.Sync(e.ctx), d.Lost(), q.Close(), q.Flush(e.ctx), (*gpu.Module)(nil).Close(context.Background())} {
		if err == nil {
			e.Error("a zero value was used")
		}
	}
	e.must(errors.Join(live.Close(), h.Close()))
}

// arrived: what others wrote to the device's memory may be asked for at any time.
func arrived(e *env) {
	r := e.device(0)
	e.must(gpu.Arrived(r))
	e.must(r.Close())
}

// exported: memory goes to other devices as a dma-buf, or it is said that it does not, and what else there is.
func exported(e *env) {
	r := e.device(0)
	h, _, err := barewire.Core(seal.Key(), r)
	e.must(err)
	d, err := h.DMABuf()
	if !e.dev.Info().Facts.DMABuf {
		e.refused(err, gpu.ErrNotExportable, e.dev.String(), "gpu.NewHost")
		e.refused(err, errors.ErrUnsupported)
	} else {
		e.must(err)
		e.must(d.File.Close())
	}
	e.must(r.Close())
}

//go:build amd64 || arm64

package cuda

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
)

// soon is a context that ends at once, and not before.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// TestHang: of a device that hangs nobody waits for longer than they want to, whatever the driver waits for; what it may still write
// is nobody else's; and when it gets on after all, everything is given back.
func TestHang(t *testing.T) {
	s := fake(t)
	c := newSceneOf(t, s, gpu.Config{Provider: s.Provider, Patience: time.Second})
	idle, err := gpu.New(c.dev, sample.BodyInGPU(), 10)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gpu.NewManaged(c.dev, sample.BodyInManaged(), 10)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := c.dev.Module(t.Context(), kernels)
	if err != nil {
		t.Fatal(err)
	}
	k, err := mod.Kernel("spin")
	if err != nil {
		t.Fatal(err)
	}
	s.now(setHold, 1).now(setWaits, 1)
	op, err := gpu.Launch(c.q, k, gpu.Grid{}, gpu.Mem(gpu.All(c.r)), gpu.Num(uint32(1)))
	if err != nil {
		t.Fatal(err)
	}
	managed, err := gpu.Launch(c.q, k, gpu.Grid{}, gpu.Mem(gpu.All(m)), gpu.Num(uint32(1)))
	if err != nil {
		t.Fatal(err)
	}

	// Waits end with their contexts, and name what does not end, where it was posted, and on which queue.
	const names = "a kernel spin posted at cuda/hang_linux_test.go:"
	c.refused(op.Wait(soon(t)), context.DeadlineExceeded, names, "queue of cuda/0 made at cuda/fault_linux_test.go:")
	c.refused(c.q.Flush(soon(t)), context.DeadlineExceeded, "kernel spin posted at", "queue of cuda/0")
	c.refused(c.dev.Sync(soon(t)), context.DeadlineExceeded, "kernel spin posted at")
	c.refused(gpu.Acquire(soon(t), m), context.DeadlineExceeded, "operations have it")
	c.refused(mod.Close(soon(t)), context.DeadlineExceeded, "kernel spin posted at")
	// What the device may write is not given back, nor is the queue.
	c.refused(c.r.Close(), barewire.ErrInFlight, "posted at cuda/hang_linux_test.go:")
	c.refused(c.q.Close(), barewire.ErrInFlight, "queue of cuda/0 made at cuda/fault_linux_test.go:", "2 outstanding, the oldest "+names)
	c.refused(c.dev.Close(), gpu.ErrBusy, "2 outstanding, the oldest "+names)
	// Other memory is closed; the driver, which waits for the device with it, has it until then.
	c.refused(idle.Close(), gpu.ErrHung, "device memory of cuda/0 is not taken back")
	c.refused(idle.Close(), barewire.ErrReleased)
	_, err = gpu.New(c.dev, sample.BodyInGPU(), 10)
	c.refused(err, gpu.ErrHung, "10 elements of sample.Body as device memory on cuda/0", "Config.Patience")
	c.refused(c.dev.Close(), gpu.ErrBusy, "regions")

	// A post from which the driver does not return keeps others neither from waiting for a while only, nor from being told.
	var posts sync.WaitGroup
	var stuck gpu.Op
	posts.Go(func() {
		var err error
		if stuck, err = gpu.CopyToHost(c.q, gpu.Some(c.h, 0, 1), gpu.Some(c.r, 0, 1)); err != nil { // memory that is not pinned
			t.Error(err)
		}
	})
	for err := c.q.Close(); !strings.Contains(err.Error(), "is being posted"); err = c.q.Close() {
		c.refused(err, barewire.ErrInFlight)
	}
	c.refused(op.Wait(soon(t)), context.DeadlineExceeded, "queue of cuda/0")
	c.refused(c.q.Flush(soon(t)), context.DeadlineExceeded, "queue of cuda/0")
	c.refused(c.r.Close(), barewire.ErrInFlight)
	c.refused(c.dev.Close(), gpu.ErrBusy, "has not returned from an operation's post")

	// Giving the queue up lets go who waits without end, and nothing else.
	var waits sync.WaitGroup
	why := errors.New("it took a day")
	waits.Go(func() { c.refused(op.Wait(context.Background()), gpu.ErrAbandoned, "it took a day", "queue of cuda/0") })
	waits.Go(func() { c.refused(c.q.Flush(context.Background()), why) })
	c.q.Abandon(why)
	c.q.Abandon(errors.New("the second cause"))
	waits.Wait()
	c.refused(managed.Wait(t.Context()), gpu.ErrAbandoned)
	c.refused(c.r.Close(), barewire.ErrInFlight)
	c.refused(c.q.Close(), barewire.ErrInFlight)

	s.now(setHold, 0) // it was slow only
	posts.Wait()
	for !stuck.Done() {
		time.Sleep(time.Millisecond)
	}
	if err := errors.Join(op.Wait(t.Context()), managed.Wait(t.Context())); err != nil {
		t.Errorf("what has ended, on a queue that was given up: %v", err)
	}
	_, err = gpu.CopyToDevice(c.q, gpu.All(c.r), gpu.All(c.h))
	c.refused(err, gpu.ErrAbandoned, "it took a day")
	s.now(setWaits, 0)
	if err := errors.Join(m.Close(), c.r.Close(), c.h.Close(), c.q.Close(), mod.Close(t.Context())); err != nil {
		t.Error(err)
	}
	// The driver gives back what it had, and then the device can be closed.
	for err = c.dev.Close(); errors.Is(err, gpu.ErrBusy); err = c.dev.Close() {
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestEnded: a context that has ended before does nothing, and one that is none is an error.
func TestEnded(t *testing.T) {
	s := fake(t)
	c := newScene(t, s.version(mapsDMABuf))
	m, err := gpu.NewManaged(c.dev, sample.BodyInManaged(), 10)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	var none context.Context
	for _, x := range []struct {
		ctx  context.Context
		want error
	}{{ended, why}, {none, gpu.ErrArgs}} {
		for name, do := range map[string]func() error{
			"gpu: devices": func() error { _, err := gpu.Devices(x.ctx); return err },
			"gpu: open":    func() error { _, err := gpu.Open(x.ctx, gpu.Config{Provider: s.Provider}); return err },
			"gpu: acquire": func() error { return gpu.Acquire(x.ctx, m) },
			"gpu: map":     func() error { _, err := gpu.Map(x.ctx, c.r); return err },
			"gpu: module":  func() error { _, err := c.dev.Module(x.ctx, kernels); return err },
		} {
			c.refused(do(), x.want, name)
		}
	}
	// What was not done is done with another.
	if err := gpu.Acquire(t.Context(), m); err != nil {
		t.Error(err)
	}
	w, err := gpu.Map(t.Context(), c.r)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), m.Close()); err != nil {
		t.Error(err)
	}
	// An operation that has ended has, whatever became of the context.
	op := c.post()
	if err := c.q.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if err := op.Wait(ended); err != nil {
		t.Error(err)
	}
	c.refused(op.Wait(none), gpu.ErrArgs, "no context")
	c.close()
}

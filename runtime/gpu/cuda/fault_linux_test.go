//go:build amd64 || arm64

package cuda

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// scene is what a test of faults needs.
type scene struct {
	*testing.T
	s   *stand
	dev *gpu.Device
	q   *gpu.Queue
	r   *barewire.Region[sample.Body, barewire.GPU, barewire.Unregistered]
	h   *barewire.Region[sample.Body, barewire.CPU, barewire.Unregistered]
}

const elements = 100

func newScene(t *testing.T, s *stand) *scene {
	t.Helper()
	return newSceneOf(t, s, gpu.Config{Provider: s.Provider})
}

// newSceneOf is one whose device is opened as a configuration says.
func newSceneOf(t *testing.T, s *stand, cfg gpu.Config) *scene {
	t.Helper()
	dev, err := gpu.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := &scene{T: t, s: s, dev: dev}
	if c.q, err = c.dev.Queue(16); err == nil {
		if c.r, err = gpu.New(c.dev, sample.BodyInGPU(), elements); err == nil {
			c.h, err = barewire.New(sample.BodyInCPU(), elements)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// close closes all, which must work whatever happened.
func (c *scene) close() {
	c.Helper()
	if err := errors.Join(c.r.Close(), c.h.Close(), c.q.Close(), c.dev.Close()); err != nil {
		c.Error(err)
	}
}

func (c *scene) refused(err, want error, says ...string) {
	c.Helper()
	if !errors.Is(err, want) {
		c.Errorf("got %v, want %v", err, want)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			c.Errorf("%q does not say %q", err, s)
		}
	}
}

func (c *scene) post() gpu.Op {
	c.Helper()
	op, err := gpu.CopyToDevice(c.q, gpu.All(c.r), gpu.All(c.h))
	if err != nil {
		c.Fatal(err)
	}
	return op
}

// TestOutOfMemory: an allocation that fails at any point leaves nothing behind, and the device is as good as before.
func TestOutOfMemory(t *testing.T) {
	c := newScene(t, fake(t))
	for _, kind := range []string{"GPU", "CPU", "Managed"} {
		c.s.now(setOOM, 1)
		var err error
		switch kind {
		case "GPU":
			_, err = gpu.New(c.dev, sample.BodyInGPU(), 10)
		case "CPU":
			_, err = gpu.NewHost(c.dev, sample.BodyInCPU(), 10)
		default:
			_, err = gpu.NewManaged(c.dev, sample.BodyInManaged(), 10)
		}
		c.refused(err, barewire.ErrNoMemory, "10 elements of sample.Body", "cuda/0", "CUDA_ERROR_OUT_OF_MEMORY (2)", "bytes")
	}
	if err := c.post().Wait(t.Context()); err != nil {
		t.Error(err)
	}
	c.close()
}

// TestNotThat: memory that the driver does not call what was asked for is not given out, and given back.
func TestNotThat(t *testing.T) {
	c := newScene(t, fake(t))
	for _, x := range []struct {
		attr int
		says string
		new  func() error
	}{
		{pointerMemoryType, "device memory is not that: its pointer attribute 2 is 7", func() error { _, err := gpu.New(c.dev, sample.BodyInGPU(), 10); return err }},
		{pointerOrdinal, "device memory is on device 7, and not on 0", func() error { _, err := gpu.New(c.dev, sample.BodyInGPU(), 10); return err }},
		{pointerMemoryType, "pinned host memory is not that", func() error { _, err := gpu.NewHost(c.dev, sample.BodyInCPU(), 10); return err }},
		{pointerIsManaged, "managed memory is not that: its pointer attribute 8 is 7", func() error { _, err := gpu.NewManaged(c.dev, sample.BodyInManaged(), 10); return err }},
	} {
		c.s.now(setKind, x.attr)
		if err := x.new(); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("attribute %d: %v, want %q", x.attr, err, x.says)
		}
	}
	c.s.now(setKind, 0)
	c.close()
}

// TestRuined: an operation that ruins the context ends all, on all queues; everything can be closed, and the device opened again.
func TestRuined(t *testing.T) {
	c := newScene(t, fake(t))
	other, err := c.dev.Queue(4)
	if err != nil {
		t.Fatal(err)
	}
	c.s.now(setHold, 1).now(setSticky, 2)
	first, second, third := c.post(), c.post(), c.post()
	fourth, err := gpu.CopyToHost(other, gpu.All(c.h), gpu.All(c.r))
	if err != nil {
		t.Fatal(err)
	}
	c.s.now(setHold, 0)
	var errs []error
	for _, op := range []gpu.Op{first, second, third, fourth} {
		if err := op.Wait(t.Context()); err != nil {
			c.refused(err, gpu.ErrLost)
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		t.Fatal("nothing failed")
	}
	c.refused(errs[0], gpu.ErrLost, "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "of this operation, or one before it", "posted at cuda/fault_linux_test.go:", "region of sample.Body made at cuda/fault_linux_test.go:")
	c.refused(c.dev.Lost(), gpu.ErrLost)
	_, err = gpu.CopyToDevice(c.q, gpu.All(c.r), gpu.All(c.h))
	c.refused(err, gpu.ErrLost)
	_, err = gpu.New(c.dev, sample.BodyInGPU(), 1)
	c.refused(err, gpu.ErrLost)
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	c.close()
	again := newScene(t, c.s)
	if err := again.post().Wait(t.Context()); err != nil {
		t.Error(err)
	}
	again.close()
}

// TestLost: a device that falls off the bus ends what was posted; what is in the host's hands is given back.
func TestLost(t *testing.T) {
	c := newScene(t, fake(t).with(attrConcurrent, 0))
	m, err := gpu.NewManaged(c.dev, sample.BodyInManaged(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := gpu.Acquire(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	c.s.now(setHold, 1)
	op := c.post()
	c.s.now(setLost, 214)
	c.refused(op.Wait(t.Context()), gpu.ErrLost, "CUDA_ERROR_ECC_UNCORRECTABLE (214)")
	c.refused(c.q.Flush(t.Context()), gpu.ErrLost)
	c.refused(gpu.Arrived(c.r), gpu.ErrLost)
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	c.s.now(setHold, 0)
	c.close()
	if _, err := gpu.Open(t.Context(), gpu.Config{Provider: c.s.Provider}); !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), "CUDA_ERROR_ECC_UNCORRECTABLE") {
		t.Errorf("a device that is lost is opened: %v", err)
	}
	c.s.now(setLost, 0)
}

// TestEvents: an event that cannot be recorded, or asked for, fails its operation and queue, and not the device.
func TestEvents(t *testing.T) {
	c := newScene(t, fake(t))
	c.s.now(setDelay, 2000).now(setEvent, 1)
	_, err := gpu.CopyToDevice(c.q, gpu.All(c.r), gpu.All(c.h))
	c.refused(err, err, "gpu: copy to the device of 1600 bytes", "cuEventRecord", "result 998 (998)")
	if err := c.h.Close(); err != nil { // nothing has it: it was waited for
		t.Error(err)
	}
	if c.h, err = barewire.New(sample.BodyInCPU(), elements); err != nil {
		t.Fatal(err)
	}
	c.s.now(setEvent, 2)
	bad, next := c.post(), c.post()
	err = bad.Wait(t.Context())
	c.refused(err, err, "cuEventQuery", "CUDA_ERROR_INVALID_VALUE (1)")
	c.refused(next.Wait(t.Context()), gpu.ErrFlushed, "CUDA_ERROR_INVALID_VALUE")
	_, err = gpu.CopyToDevice(c.q, gpu.All(c.r), gpu.All(c.h))
	c.refused(err, gpu.ErrFailed, "CUDA_ERROR_INVALID_VALUE")
	err = c.q.Flush(t.Context())
	c.refused(err, err, "cuEventQuery")
	if err := c.dev.Lost(); err != nil {
		t.Error(err)
	}
	if err := c.q.Close(); err != nil {
		t.Error(err)
	}
	if c.q, err = c.dev.Queue(16); err != nil {
		t.Fatal(err)
	}
	if err := c.post().Wait(t.Context()); err != nil {
		t.Error(err)
	}
	c.close()
}

// TestMissing: a library that is none, or is too old, is said to be; nothing is guessed.
func TestMissing(t *testing.T) {
	for _, c := range []struct{ path, says string }{
		{"libno-such-cuda.so.1", "not on this machine"},
		{"libc.so.6", "cuInit"},
	} {
		p := New(Options{Library: c.path})
		infos, err := p.Devices(t.Context())
		if err != nil || len(infos) != 1 || !strings.Contains(infos[0].State, c.says) || !strings.Contains(infos[0].State, "NVIDIA's driver") {
			t.Errorf("%s: %+v, %v", c.path, infos, err)
		}
		if _, err := gpu.Open(t.Context(), gpu.Config{Provider: p}); !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	s := fake(t)
	for _, name := range []string{"2", "-1", "x", ""} {
		if a, err := s.Open(t.Context(), name); err == nil {
			t.Errorf("device %q was opened: %v", name, a.Close())
		}
	}
}

// TestArrived: what a network card wrote is there for kernels after Arrived, where the device asks for that, and not before.
func TestArrived(t *testing.T) {
	s := fake(t)
	c := newScene(t, s)
	h, _, err := barewire.Core(seal.Key(), c.r)
	if err != nil {
		t.Fatal(err)
	}
	first := func() byte {
		op, err := gpu.CopyToHost(c.q, gpu.All(c.h), gpu.All(c.r))
		if err == nil {
			err = op.Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		var b byte
		if err := barewire.With(c.h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error {
			b = sample.BodyAt(w, 0).Bytes()[0]
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	s.nic(uint64(uintptr(h.Base())), []byte{7, 8})
	if b := first(); b != 0 {
		t.Fatalf("the stand-in orders writes by itself: %d", b)
	}
	if err := gpu.Arrived(c.r); err != nil {
		t.Fatal(err)
	}
	if b := first(); b != 7 {
		t.Errorf("after Arrived there is %d, want 7", b)
	}
	c.close()

	// A device that takes no flush from the host says so, and one that needs none is not asked.
	c = newScene(t, s.with(attrFlushOptions, 2))
	c.refused(gpu.Arrived(c.r), gpu.ErrNotHere, "GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS")
	c.close()
	c = newScene(t, s.with(attrOrdering, orderedOwner))
	if err := gpu.Arrived(c.r); err != nil {
		t.Error(err)
	}
	c.close()
}

// TestDMABuf: memory of a device is exported from its beginning, in whole pages, wherever the driver put it; other memory is not.
func TestDMABuf(t *testing.T) {
	s := fake(t).now(setMisalign, 512)
	c := newScene(t, s)
	h, _, err := barewire.Core(seal.Key(), c.r)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.post().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	d, err := h.DMABuf()
	if err != nil {
		t.Fatal(err)
	}
	if d.Off != 0 || uintptr(h.Base())%exportPage != 0 || !h.Opaque() {
		t.Errorf("at %p, offset %d, opaque %v", h.Base(), d.Off, h.Opaque())
	}
	// The other device writes, and this one sees it.
	b, err := unix.Mmap(int(d.File.Fd()), 0, elements*16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	b[16+8] = 42
	op, err := gpu.CopyToHost(c.q, gpu.All(c.h), gpu.All(c.r))
	if err == nil {
		err = op.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := barewire.With(c.h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error {
		if n := sample.BodyAt(w, 1).Count(); n != 42 {
			t.Errorf("what another device wrote is %d here", n)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := errors.Join(unix.Munmap(b), d.File.Close()); err != nil {
		t.Error(err)
	}
	c.close()

	c = newScene(t, s.with(attrDMABuf, 0))
	h, _, err = barewire.Core(seal.Key(), c.r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.DMABuf(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a device without dma-bufs exports one: %v", err)
	}
	c.close()
}

// TestTwoDevices: memory of one device is refused on the other, by name.
func TestTwoDevices(t *testing.T) {
	c := newScene(t, fake(t))
	two, err := gpu.Open(t.Context(), gpu.Config{Provider: c.s.Provider, Device: "cuda/1"})
	if err != nil {
		t.Fatal(err)
	}
	q, err := two.Queue(4)
	if err != nil {
		t.Fatal(err)
	}
	_, err = gpu.CopyToDevice(q, gpu.All(c.r), gpu.All(c.h))
	c.refused(err, gpu.ErrOtherDevice, "it is on cuda/0, the queue is on cuda/1; copy by way of the host")
	far, err := gpu.New(two, sample.BodyInGPU(), elements)
	if err != nil {
		t.Fatal(err)
	}
	_, err = gpu.Copy(q, gpu.All(far), gpu.All(c.r))
	c.refused(err, gpu.ErrOtherDevice, "gpu: copy within the device", "it is on cuda/0, the queue is on cuda/1; copy by way of the host")
	_, err = gpu.Copy(c.q, gpu.All(far), gpu.All(c.r))
	c.refused(err, gpu.ErrOtherDevice, "it is on cuda/1, the queue is on cuda/0")
	there, err := gpu.CopyToHost(c.q, gpu.All(c.h), gpu.All(c.r)) // by way of the host
	if err == nil {
		err = there.Wait(t.Context())
	}
	if err == nil {
		there, err = gpu.CopyToDevice(q, gpu.All(far), gpu.All(c.h))
	}
	if err == nil {
		err = there.Wait(t.Context())
	}
	if err := errors.Join(err, far.Close()); err != nil { //barewire:ignore BW5108 what was refused is not in flight
		t.Error(err)
	}
	if infos, err := c.s.Devices(t.Context()); err != nil || len(infos) != 2 || infos[1].PCI != "0000:02:00.0" || infos[1].Memory != 1<<33 {
		t.Errorf("devices: %+v, %v", infos, err)
	}
	// The host's memory is whose turn it is.
	op, err := gpu.CopyToDevice(c.q, gpu.All(c.r), gpu.All(c.h))
	if err == nil {
		err = op.Wait(t.Context())
	}
	if err := errors.Join(err, q.Close(), two.Close()); err != nil {
		t.Error(err)
	}
	c.close()
}

//go:build amd64 || arm64

package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
)

// FuzzDriver has the driver say anything of its devices: how many there are, what they are called, how much memory they have, each
// attribute, where it put what it allocated. They are listed, opened and used, or there are errors; nothing panics, and nothing is left.
func FuzzDriver(f *testing.F) {
	f.Add(2, int64(1)<<33, []byte("card"), []byte{}, 0)
	f.Add(-1, int64(-1), []byte(strings.Repeat("x", 256)), []byte{attrManaged, 0xff, attrConcurrent, 0x80, attrFlushOptions, 0, attrHostNode, 200}, 0)
	f.Add(1<<30, int64(0), []byte{0}, []byte{attrDMABuf, 0, attrMapHost, 0, attrSameAddress, 0, attrOrdering, 100}, 0)
	f.Add(0, int64(0), []byte("a\xff\x00b"), []byte{attrPageable, 1, attrManaged, 0}, 0)
	f.Add(1, int64(1), []byte{}, []byte{attrDMABuf, 1}, 8)
	f.Add(1, int64(1), []byte{}, []byte{attrDMABuf, 1}, -1<<40)
	f.Fuzz(func(t *testing.T, count int, memory int64, name, attrs []byte, given int) {
		s := fake(t)
		s.now(setCount, int(int32(count))).now(setMemory, int(memory))
		s.called(name)
		for i := 0; i+1 < len(attrs) && attrs[i] < 160; i += 2 {
			s.with(int(attrs[i]), int(int8(attrs[i+1])))
		}
		infos, err := s.Devices(t.Context())
		if err != nil || len(infos) == 0 || len(infos) > mostDevices {
			t.Fatalf("%d devices, %v", len(infos), err)
		}
		for _, d := range infos {
			if d.Name == "" || d.State == "" || strings.ContainsRune(d.Model+d.PCI, 0) {
				t.Errorf("listed as %+v", d)
			}
		}
		if infos[0].State != gpu.StateReady {
			return
		}
		dev, err := gpu.Open(t.Context(), gpu.Config{Provider: s.Provider, Device: "cuda/0"})
		if err != nil {
			if !errors.Is(err, gpu.ErrNoDevice) {
				t.Error(err)
			}
			return
		}
		if _, err := dev.Witness(); err != nil && !errors.Is(err, gpu.ErrNotCoherent) {
			t.Error(err)
		}
		s.now(setGiven, given)
		r, err := gpu.New(dev, sample.BodyInGPU(), 4)
		s.now(setGiven, 0)
		if err == nil {
			if err := gpu.Arrived(r); err != nil && !errors.Is(err, gpu.ErrNotHere) {
				t.Error(err)
			}
			if w, err := gpu.Map(t.Context(), r); err == nil {
				t.Errorf("a driver of CUDA 12.4 maps memory: %v", w.Close())
			} else if !errors.Is(err, gpu.ErrNoWindow) {
				t.Error(err)
			}
			if err := r.Close(); err != nil && given == 0 {
				t.Error(err)
			}
		} else if given == 0 {
			t.Error(err)
		}
		if given != 0 {
			dl.Fast(s.forget, nil) // what it does not find again it has lost
		}
		if h, err := gpu.NewHost(dev, sample.BodyInCPU(), 4); err == nil {
			err = h.Close()
			if err != nil {
				t.Error(err)
			}
		} else if !errors.Is(err, gpu.ErrNotHere) {
			t.Error(err)
		}
		for err = dev.Close(); errors.Is(err, gpu.ErrBusy); err = dev.Close() {
			time.Sleep(time.Millisecond)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// FuzzLaunch starts kernels with any grid, numbers and parts of memory, out of modules of any source: they run within what they were given,
// or are refused, and the stand-in has nothing to note.
func FuzzLaunch(f *testing.F) {
	f.Add("// .visible .entry spin(", "spin", 0, 1, uint32(1), uint32(1), uint32(8), 4)
	f.Add(".version 7", "spin\x00x", 3, -1, uint32(0), uint32(1<<31), uint32(0), 3)
	f.Add("", "", 1<<62, 1<<62, ^uint32(0), ^uint32(0), ^uint32(0), -8)
	f.Add("//\x00.entry spin(", strings.Repeat("spin", 100), 0, elements, uint32(9), uint32(1024), uint32(1), 1<<16)
	f.Fuzz(func(t *testing.T, source, name string, i, n int, groups, threads, count uint32, depth int) {
		s := fake(t)
		c := newScene(t, s)
		if q, err := c.dev.Queue(depth); err == nil {
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		} else if !errors.Is(err, gpu.ErrArgs) && !errors.Is(err, barewire.ErrNoMemory) { // the stand-in has 4096 events
			t.Error(err)
		}
		if mod, err := c.dev.Module(t.Context(), []byte(source)); err == nil {
			if _, err := mod.Kernel(name); err != nil && !errors.Is(err, gpu.ErrNoKernel) {
				t.Error(err)
			}
			if err := mod.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		mod, err := c.dev.Module(t.Context(), kernels)
		if err != nil {
			t.Fatal(err)
		}
		k, err := mod.Kernel("spin")
		if err != nil {
			t.Fatal(err)
		}
		op, err := gpu.Launch(c.q, k, gpu.Grid{Groups: [3]uint32{groups}, Threads: [3]uint32{threads}}, gpu.Mem(gpu.Some(c.r, i, n)), gpu.Num(count%1024))
		if err == nil {
			err = op.Wait(t.Context())
		}
		var refused *gpu.OpError
		if err != nil && !errors.As(err, &refused) {
			t.Errorf("%v is no OpError", err)
		}
		there := i >= 0 && n > 0 && i <= elements && n <= elements-i
		if err == nil && !there {
			t.Errorf("a kernel ran with %d elements from %d on", n, i)
		}
		if !there && err != nil && !errors.Is(err, barewire.ErrRange) && !errors.Is(err, gpu.ErrEmpty) {
			t.Error(err)
		}
		if err := mod.Close(t.Context()); err != nil {
			t.Error(err)
		}
		c.close()
	})
}

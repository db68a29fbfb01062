//go:build amd64 || arm64

package cuda

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/gputest"
	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
)

//go:embed testdata/kernels.ptx
var kernels []byte

var realGPU = flag.Bool("gpu", false, "run the suite on the GPUs of this machine; fail where there are none")

// What the stand-in can be set to.
const (
	setVersion = iota
	setDelay   // microseconds before each operation
	setOOM     // the allocation from now on that fails, counted from 1
	setSticky  // the operation from now on that ruins its context
	setEvent   // 1: the next event is not recorded; 2: asking for it fails
	setHold    // operations wait
	setLost    // the result that all calls give
	setMisalign
	setLate  // what other devices write by a dma-buf is seen after a flush
	setWaits // the driver waits for the device where it may: freeing memory, copying what is not pinned
	setCount // of devices
	setMemory
	setGiven // how far from the memory the address is that an allocation gives
	setKind  // the pointer attribute that is wrong
)

// stand is the stand-in, loaded.
type stand struct {
	*Provider
	t                                                     testing.TB
	reset, set, attr, left, fault, arrives, named, forget uintptr
}

var compile = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "barewire-fakecuda")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "libfakecuda.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-O2", "-pthread", "-Wl,-Bsymbolic", "-o", path, "testdata/fake.c").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if path, _ := compile(); path != "" && os.Getenv(childKey) == "" {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// fake is the stand-in as it is at first: devices of their own memory, with concurrent managed access. When the test ends nothing may
// be left on it, and nothing have been done that the driver does not allow.
func fake(t testing.TB) *stand {
	t.Helper()
	path := os.Getenv(childKey)
	if path == "" {
		var err error
		if path, err = compile(); err != nil {
			const need = "this needs a C compiler (Debian: gcc, libc6-dev): %v"
			if os.Getenv("CI") != "" {
				t.Fatalf(need, err)
			}
			t.Skipf(need, err)
		}
	}
	so, err := dl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{Provider: New(Options{Library: path}), t: t}
	for name, at := range map[string]*uintptr{"fake_reset": &s.reset, "fake_set": &s.set, "fake_attr": &s.attr, "fake_left": &s.left, "fake_fault": &s.fault, "fake_nic": &s.arrives, "fake_text": &s.named, "fake_forget": &s.forget} {
		if *at, err = so.Func(name, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Devices(t.Context()); err != nil {
		t.Fatal(err)
	}
	dl.Fast(s.reset, nil)
	t.Cleanup(func() {
		if bad := s.bad(); bad != "" {
			t.Error(bad)
		}
		dl.Fast(s.reset, nil)
	})
	return s
}

// with sets attributes, by pairs of number and value.
func (s *stand) with(attrs ...int) *stand {
	for i := 0; i < len(attrs); i += 2 {
		dl.Fast(s.attr, []uintptr{uintptr(attrs[i]), uintptr(attrs[i+1])})
	}
	return s
}

// now sets what the stand-in does from now on.
func (s *stand) now(what, value int) *stand {
	dl.Fast(s.set, []uintptr{uintptr(what), uintptr(value)})
	return s
}

// called has devices be called something, and be at it on the bus.
func (s *stand) called(name []byte) {
	b := bytes(len(name) + 1)
	copy(b, name)
	dl.Fast(s.named, []uintptr{addr(&b[0]), uintptr(len(name))})
	runtime.KeepAlive(b)
}

// version has the driver be of another version. Libraries are loaded once: this is what the provider knows of it.
func (s *stand) version(v int) *stand {
	s.t.Helper()
	l, err := load(s.opts.Library)
	if err != nil {
		s.t.Fatal(err)
	}
	old := l.version
	l.version = v
	s.t.Cleanup(func() { l.version = old })
	return s
}

// bad is what was left on the device, or done wrong.
func (s *stand) bad() string {
	if p := dl.Fast(s.fault, nil); *(*byte)(pointer(p)) != 0 {
		b := []byte{}
		for i := uintptr(0); *(*byte)(pointer(p + i)) != 0; i++ {
			b = append(b, *(*byte)(pointer(p + i)))
		}
		return "the stand-in notes: " + string(b)
	}
	if n := int32(dl.Fast(s.left, nil)); n != 0 {
		return fmt.Sprintf("%d things were not given back", n)
	}
	return ""
}

// nic writes to memory of a device as a network card does.
func (s *stand) nic(dst uint64, data []byte) {
	b := bytes(len(data))
	copy(b, data)
	dl.Fast(s.arrives, []uintptr{uintptr(dst), addr(&b[0]), uintptr(len(b))})
	runtime.KeepAlive(b)
}

// TestConformance runs the suite of all providers on stand-ins for the machines there are.
func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*stand)
	}{
		{"a card", func(*stand) {}},
		{"late", func(s *stand) { s.now(setDelay, 300) }},
		{"managed in turns", func(s *stand) { s.with(attrConcurrent, 0) }},
		{"host at another address", func(s *stand) { s.with(attrSameAddress, 0) }},
		{"host tables", func(s *stand) { s.with(attrPageable, 1, attrHostTables, 1) }},
		{"neither mapped nor managed", func(s *stand) { s.with(attrMapHost, 0, attrManaged, 0, attrConcurrent, 0) }},
		{"pageable alone", func(s *stand) { s.with(attrPageable, 1, attrManaged, 0, attrConcurrent, 0) }},
		{"pageable, and managed in turns", func(s *stand) { s.with(attrPageable, 1, attrConcurrent, 0) }},
		{"windows by dma-buf", func(s *stand) { s.version(mapsDMABuf) }},
		{"allocations between pages", func(s *stand) { s.version(mapsDMABuf); s.now(setMisalign, 512) }},
		{"a driver that waits", func(s *stand) { s.now(setWaits, 1) }},
		{"ordered writes", func(s *stand) { s.with(attrOrdering, orderedOwner) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fake(t)
			c.make(s)
			gputest.Run(t, gputest.Factory{Provider: s.Provider, Device: "0", Module: kernels, Left: s.bad})
		})
	}
}

// TestGPU runs the suite on the GPUs of this machine, with -gpu.
func TestGPU(t *testing.T) {
	if !*realGPU {
		t.Skip("without -gpu nothing is run on GPUs")
	}
	p := New(Options{})
	infos, err := p.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range infos {
		t.Run(d.Name, func(t *testing.T) {
			if d.State != gpu.StateReady {
				t.Fatal(d.State)
			}
			t.Logf("%s, %s, %+v", d.Model, d.PCI, d.Facts)
			gputest.Run(t, gputest.Factory{Provider: p, Device: d.Name, Module: kernels})
		})
	}
}

// childKey is the environment variable with the stand-in's path in tests that run this program again.
const childKey = "BAREWIRE_FAKECUDA"

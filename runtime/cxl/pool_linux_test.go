//barewire:trust tests make what is wrong, and leave regions on purpose
package cxl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

const (
	align = 2 << 20
	size  = 8 * align
)

func fact[T any](v T) platform.Fact[T] { return platform.Fact[T]{Value: v, From: "a test"} }

// machine has one device-dax, dax0.0, whose memory is a file, and node 5 that is not there.
func machine(t *testing.T) *platform.Machine {
	t.Helper()
	name := filepath.Join(t.TempDir(), "dax0.0")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, size); err != nil {
		t.Fatal(err)
	}
	return &platform.Machine{Dax: []platform.Dax{{
		Name: "dax0.0", Dev: name, Kind: fact(platform.CXLMemory), Region: "region0",
		Size: fact(uint64(size)), Align: fact(uint64(align)), TargetNode: fact(5), Driver: fact("device_dax"),
	}}, CXL: platform.CXL{Regions: []platform.Region{{Name: "region0", UUID: fact("5afe11e5-ca5e-4000-8000-000000000001")}}}}
}

func open(t *testing.T, m *platform.Machine, opts ...cxl.Option) *cxl.Pool {
	t.Helper()
	p, err := cxl.Open(t.Context(), append(opts, cxl.On(m))...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func closed(t *testing.T, r interface{ Close() error }) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func wrong(t *testing.T, err, is error, words ...string) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Errorf("%v, want %v", err, is)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v does not say %q", err, w)
		}
	}
}

// TestPool: regions of a device's memory, which is zero though it was not, and closes after them.
func TestPool(t *testing.T) {
	m := machine(t)
	if err := os.WriteFile(m.Dax[0].Dev, []byte(strings.Repeat("x", size)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, m)
	if o := p.Origin(); o.Device != "dax0.0" || o.Node != 5 || o.Size != size || o.Assumed || o.Tag != p.Tag() || !strings.HasPrefix(o.Tag, "5afe") {
		t.Errorf("%+v", o)
	}
	r, err := cxl.New(p, placed.SensorInCXL(), 1000, barewire.Named("sensors"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := barewire.Backing(r); err != nil || b.Kind != barewire.InCXL || b.Why != "" || b.File || !strings.Contains(b.Note, "device-dax") {
		t.Errorf("%+v, %v", b, err)
	}
	if pl, err := barewire.Placement(r); err != nil || pl.Kind != barewire.InCXL || pl.Node != 5 {
		t.Errorf("%+v, %v", pl, err)
	}
	got := make([]byte, 1000*64)
	if err := barewire.CopyOut(r, 0, got); err != nil || strings.Trim(string(got), "\x00") != "" {
		t.Errorf("its memory is not zero, %v", err)
	}
	if err := barewire.With(r, func(w placed.SensorWindow[barewire.Unregistered]) error {
		placed.SensorAt(w, 999).SetCelsius(21.5)
		return nil
	}); err != nil {
		t.Error(err)
	}
	if s := p.Stats(); s.Regions != 1 || s.Used != 1000*64+64 || s.Used+s.Free != size || s.Peak != s.Used || s.Given != 1 || s.Bad != 0 {
		t.Errorf("%+v", s)
	}
	err = p.Close()
	var leak *cxl.LeakError
	if !errors.As(err, &leak) || leak.Bytes != 64000 || len(leak.Regions) != 1 {
		t.Errorf("%v", err)
	}
	wrong(t, err, cxl.ErrInUse, "close first 1 region with 64000 bytes: region sensors of placed.Sensor made at cxl/pool_linux_test.go:")
	closed(t, r)
	closed(t, p)
	closed(t, p)
	_, err = cxl.New(p, placed.SensorInCXL(), 1)
	wrong(t, err, barewire.ErrPlace, "it is closed")
}

// TestTag: of a region of dynamic capacity each device is an allocation, with a tag of its own; else it is the region's UUID, or there is none.
func TestTag(t *testing.T) {
	const own, region = "7a600000-0000-4000-8000-000000000002", "5afe11e5-ca5e-4000-8000-000000000001"
	for _, c := range []struct {
		tag  platform.Fact[string]
		of   string
		want string
	}{{fact(own), "region0", own}, {platform.Fact[string]{}, "region0", region}, {fact(own), "", own}, {platform.Fact[string]{}, "", ""}} {
		m := machine(t)
		m.Dax[0].Tag, m.Dax[0].Region = c.tag, c.of
		p := open(t, m)
		if p.Tag() != c.want {
			t.Errorf("device's %v, region %q: %q, want %q", c.tag, c.of, p.Tag(), c.want)
		}
		closed(t, p)
	}
}

// TestFallback: without a pool, or room in it, an exact place is an error, and one with a fallback memory of the machine.
func TestFallback(t *testing.T) {
	_, err := cxl.New(nil, placed.SensorInCXL(), 1)
	wrong(t, err, cxl.ErrNoCXL, "region of placed.Sensor made at cxl/pool_linux_test.go:")
	wrong(t, err, barewire.ErrPlace)
	p := open(t, machine(t))
	defer closed(t, p)
	_, err = cxl.New(p, placed.SensorInCXL(), size/64)
	wrong(t, err, cxl.ErrFull, "bytes")
	for what, c := range map[string]struct {
		pool *cxl.Pool
		n    int
		kind barewire.Kind
		why  string
	}{
		"no pool": {nil, 10, barewire.InCPU, "no CXL memory"},
		"no room": {p, size / 64, barewire.InCPU, "the pool is full"},
		"a pool":  {p, 10, barewire.InCXL, ""},
	} {
		u, err := cxl.New(c.pool, placed.SensorInCXLOrUnified(), c.n)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := barewire.Backing(u); err != nil || b.Kind != c.kind || !strings.Contains(b.Why, c.why) || (b.Why == "") != (c.why == "") {
			t.Errorf("%s: %+v, %v", what, b, err)
		}
		closed(t, u)
	}
	_, err = cxl.New(p, barewire.Place[placed.Sensor, barewire.CXL]{}, 1)
	wrong(t, err, barewire.ErrNoPlace)
	_, err = cxl.New(p, placed.SensorInCXL(), -1)
	wrong(t, err, barewire.ErrRange)
	_, err = cxl.New(p, placed.SensorInNUMAOrUnified(), 1)
	if err == nil || !strings.Contains(err.Error(), "this place of placed.Sensor is numa") {
		t.Error(err)
	}
	var none *cxl.Pool
	if none.Close() != nil || none.Stats() != (cxl.Stats{}) || none.String() != "no pool" || none.Origin().Node != -1 {
		t.Error("a nil pool")
	}
}

// TestOpen: what cannot be opened, and why.
func TestOpen(t *testing.T) {
	m := machine(t)
	for name, c := range map[string]struct {
		opts   []cxl.Option
		change func(*platform.Machine)
		is     error
		says   string
	}{
		"no device":      {opts: []cxl.Option{cxl.Device("dax9.9")}, is: cxl.ErrNoCXL, says: `there is no dax device "dax9.9"`},
		"an odd offset":  {opts: []cxl.Option{cxl.Part(4096, align)}, is: cxl.ErrPart, says: "0x1000 is no multiple of 0x200000"},
		"an odd length":  {opts: []cxl.Option{cxl.Part(0, align+4096)}, is: cxl.ErrPart, says: "no multiple"},
		"too long":       {opts: []cxl.Option{cxl.Part(align, size)}, is: cxl.ErrPart, says: "and it has 0x1000000"},
		"far too long":   {opts: []cxl.Option{cxl.Part(align, -align&(1<<64-1))}, is: cxl.ErrPart, says: "and it has"},
		"behind its end": {opts: []cxl.Option{cxl.Part(size, 0)}, is: cxl.ErrPart, says: "is behind its"},
		"two":            {opts: []cxl.Option{cxl.Device("dax0.0"), cxl.Node(1)}, is: cxl.ErrPart, says: "both"},
		"a file":         {opts: []cxl.Option{cxl.File("/dev/shm/x")}, is: cxl.ErrPart, says: "/dev/shm/x is a file, which Share takes"},
		"no node":        {opts: []cxl.Option{cxl.Node(77)}, is: cxl.ErrNoNode, says: "77"},
		"node -1":        {opts: []cxl.Option{cxl.Node(-1)}, is: cxl.ErrNoNode, says: "node -1"},
		"two, one of -1": {opts: []cxl.Option{cxl.Device("dax0.0"), cxl.Node(-1)}, is: cxl.ErrPart, says: "both"},
		"no name":        {opts: []cxl.Option{cxl.Device("")}, is: cxl.ErrDevice, says: "there is no dax device"},
		"kmem": {opts: []cxl.Option{cxl.Device("dax0.0")}, is: cxl.ErrDevice, says: "is the system's memory", change: func(m *platform.Machine) {
			m.Dax[0].Driver = fact("kmem")
		}},
		"no driver": {opts: []cxl.Option{cxl.Device("/dev/dax0.0")}, is: cxl.ErrDevice, says: "daxctl reconfigure-device --mode=devdax --force dax0.0", change: func(m *platform.Machine) {
			m.Dax[0].Driver = platform.Fact[string]{}
		}},
		"reserved": {opts: []cxl.Option{cxl.Device("dax0.0")}, is: cxl.ErrNotCXL, says: "Assume", change: func(m *platform.Machine) {
			m.Dax[0].Kind = fact(platform.SoftReserved)
		}},
		"HBM": {opts: []cxl.Option{cxl.Device("dax0.0"), cxl.Assume()}, is: cxl.ErrNotCXL, change: func(m *platform.Machine) {
			m.Dax[0].Kind = fact(platform.HBM)
		}},
		"no file": {opts: []cxl.Option{cxl.Device("dax0.0")}, is: cxl.ErrDevice, says: "no such file", change: func(m *platform.Machine) { m.Dax[0].Dev += "x" }},
		"another device": {opts: []cxl.Option{cxl.Device("dax0.0")}, is: cxl.ErrDevice, says: "/dev/null is the device 1:3, and dax0.0 is 251:0", change: func(m *platform.Machine) {
			m.Dax[0].Dev, m.Dax[0].Number = "/dev/null", fact("251:0")
		}},
		"a device of no number": {opts: []cxl.Option{cxl.Device("dax0.0")}, is: cxl.ErrDevice, says: "and dax0.0 is unknown", change: func(m *platform.Machine) { m.Dax[0].Dev = "/dev/null" }},
		"no size":               {is: cxl.ErrNoCXL, says: "unknown", change: func(m *platform.Machine) { m.Dax[0].Size = platform.Fact[uint64]{} }},
		"no align":              {is: cxl.ErrNoCXL, says: "unknown", change: func(m *platform.Machine) { m.Dax[0].Align = platform.Fact[uint64]{} }},
		"nothing":               {is: cxl.ErrNoCXL, says: "0 dax devices", change: func(m *platform.Machine) { m.Dax = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			c2 := *m
			c2.Dax = append([]platform.Dax(nil), m.Dax...)
			if c.change != nil {
				c.change(&c2)
			}
			p, err := cxl.Open(t.Context(), append(c.opts, cxl.On(&c2))...)
			wrong(t, err, c.is, "cxl: open: ", c.says)
			if p != nil {
				t.Error("and a pool")
			}
		})
	}
	m.Dax[0].Kind = fact(platform.SoftReserved)
	p := open(t, m, cxl.Device("dax0.0"), cxl.Assume())
	if !p.Origin().Assumed {
		t.Errorf("%+v", p.Origin())
	}
	closed(t, p)
}

// TestNone: what is no pool, and what is no context, is an error, and a place with a fallback has its fallback.
func TestNone(t *testing.T) {
	for _, p := range []*cxl.Pool{nil, new(cxl.Pool)} {
		_, err := cxl.New(p, placed.SensorInCXL(), 1)
		wrong(t, err, cxl.ErrNoCXL, "region of")
		r, err := cxl.New(p, placed.SensorInCXLOrUnified(), 1)
		if err != nil {
			t.Fatal(err)
		}
		closed(t, r)
		if p.String() != "no pool" || p.Stats() != (cxl.Stats{}) || p.Origin() != (cxl.Origin{Node: -1}) || p.Close() != nil {
			t.Errorf("%s %+v %+v", p, p.Stats(), p.Origin())
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var none context.Context
	_, err := cxl.Open(ended, cxl.On(machine(t)))
	wrong(t, err, context.Canceled, "cxl: open: ")
	if _, err := cxl.Open(none); err == nil || !strings.Contains(err.Error(), "the context is nil") {
		t.Error(err)
	}
	name := file(t, 4096)
	_, err = cxl.Share(ended, placed.BlockInCXLShared(), 1, cxl.Reader, cxl.File(name))
	wrong(t, err, context.Canceled, name)
	if _, err := cxl.Share(none, placed.BlockInCXLShared(), 1, cxl.Reader, cxl.File(name)); err == nil || !strings.Contains(err.Error(), "the context is nil") {
		t.Error(err)
	}
}

// TestClaim: bytes of a device have one pool at a time; others are free.
func TestClaim(t *testing.T) {
	m := machine(t)
	low, high := open(t, m, cxl.Part(0, align)), open(t, m, cxl.Part(align, align))
	for _, part := range []cxl.Option{cxl.Part(0, 0), cxl.Part(0, align), cxl.Part(align, 2*align)} {
		_, err := cxl.Open(t.Context(), cxl.On(m), part, cxl.Device("dax0.0"))
		wrong(t, err, cxl.ErrClaimed, "dax0.0: ")
	}
	a, err := cxl.New(low, placed.SensorInCXL(), 10)
	if err != nil {
		t.Fatal(err)
	}
	b, err := cxl.New(high, placed.SensorInCXL(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := barewire.CopyIn(a, 0, make([]byte, 640)); err != nil {
		t.Error(err)
	}
	for _, c := range []interface{ Close() error }{a, b, low} {
		closed(t, c)
	}
	again := open(t, m, cxl.Part(0, align))
	closed(t, again)
	closed(t, high)
}

// TestGuard: who writes beside a region is found when it is closed, and the memory goes back all the same.
func TestGuard(t *testing.T) {
	p := open(t, machine(t))
	defer closed(t, p)
	r, err := cxl.New(p, placed.SensorInCXL(), 3)
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := barewire.Core(seal.Key(), r)
	if err != nil {
		t.Fatal(err)
	}
	*(*byte)(unsafe.Add(h.Base(), 3*64+7)) ^= 1
	wrong(t, r.Close(), cxl.ErrGuard, "byte 7 behind the region's 192", "dax0.0")
	if s := p.Stats(); s.Regions != 0 || s.Free != size {
		t.Errorf("%+v", s)
	}
	q := open(t, machine(t), cxl.Unguarded())
	defer closed(t, q)
	r, err = cxl.New(q, placed.SensorInCXL(), size/64)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, r)
}

// TestBad: memory that fails when it is made zero is not given out, then or later.
func TestBad(t *testing.T) {
	m := machine(t)
	p := open(t, m)
	if err := os.Truncate(m.Dax[0].Dev, align); err != nil {
		t.Fatal(err)
	}
	a, err := cxl.New(p, placed.SensorInCXL(), align/64-10)
	if err != nil {
		t.Fatal(err)
	}
	_, err = cxl.New(p, placed.SensorInCXL(), 1000)
	wrong(t, err, barewire.ErrPlace, "poisoned")
	if s := p.Stats(); s.Bad != 64064 || s.Regions != 1 {
		t.Errorf("%+v", s)
	}
	closed(t, a)
	closed(t, p)
}

// TestMany: regions of many goroutines never share a byte, and all of the pool comes back.
func TestMany(t *testing.T) {
	p := open(t, machine(t))
	defer closed(t, p)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				n := 1 + (g*31+i*7)%50
				r, err := cxl.New(p, placed.SensorInCXL(), n)
				if err != nil {
					t.Error(err)
					return
				}
				w, err := barewire.Open(r)
				if err != nil {
					t.Error(err)
					return
				}
				for j := range n {
					if placed.SensorAt(w, j).Seq() != 0 {
						t.Error("its memory is not zero")
					}
					placed.SensorAt(w, j).SetSeq(uint64(g + 1))
				}
				for j := range n {
					if got := placed.SensorAt(w, j).Seq(); got != uint64(g+1) {
						t.Errorf("%d of another goroutine", got)
					}
				}
				if err := errors.Join(w.Close(), r.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if s := p.Stats(); s.Free != size || s.Largest != size || s.Given != 1600 {
		t.Errorf("%+v", s)
	}
}

// TestRegister: memory of a pool is registered as any other, and goes back when its last region is closed.
func TestRegister(t *testing.T) {
	p := open(t, machine(t))
	dev, err := rdma.Open(t.Context(), rdma.Config{Provider: soft.New(soft.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, dev)
	dom, err := dev.Domain()
	if err != nil {
		t.Fatal(err)
	}
	r, err := cxl.New(p, placed.SensorInCXL(), 10)
	if err != nil {
		t.Fatal(err)
	}
	mr, err := rdma.Register(dom, r, placed.SensorRemoteRead())
	if err != nil {
		t.Fatal(err)
	}
	also, err := rdma.Also(dom, mr, placed.SensorLocal())
	if err != nil {
		t.Fatal(err)
	}
	closed(t, mr)
	wrong(t, p.Close(), cxl.ErrInUse)
	closed(t, also)
	closed(t, p)
}

func ExampleNew() {
	p, err := cxl.Open(context.Background(), cxl.On(&platform.Machine{})) // a machine with nothing
	fmt.Println(errors.Is(err, cxl.ErrNoCXL))
	u, err := cxl.New(p, placed.SensorInCXLOrUnified(), 1024)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	b, err := barewire.Backing(u)
	fmt.Println(b.Kind, b.Why, err)
	// Output:
	// true
	// cpu platform: no CXL memory device <nil>
}

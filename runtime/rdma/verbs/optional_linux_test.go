//go:build !lab && (amd64 || arm64)

package verbs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ends is two connected queues, each in a domain of its own.
type ends struct {
	p      *Provider
	da, db *domain
	a, b   *queue
}

func connected(t testing.TB, p *Provider, cfg rdma.Config) *ends {
	t.Helper()
	cfg.Depth, cfg.Credits = 16, 32
	e := &ends{p: p}
	for _, d := range []**domain{&e.da, &e.db} {
		a, err := p.Open(t.Context(), "", &cfg)
		ok(t, err)
		t.Cleanup(func() { ok(t, a.Close()) })
		pd, err := a.NewDomain()
		ok(t, err)
		*d = pd.(*domain)
	}
	e.a, e.b = e.join(t)
	return e
}

// join connects two queues more.
func (e *ends) join(t testing.TB) (a, b *queue) {
	t.Helper()
	l, err := e.db.Listen(t.Context(), "")
	ok(t, err)
	defer l.Close()
	accepted := make(chan rdma.Queue, 1)
	go func() {
		q, err := l.Accept(t.Context(), func([]byte) ([]byte, error) { return []byte("hello"), nil })
		if err != nil {
			t.Error(err)
		}
		accepted <- q
	}()
	q, err := e.da.Dial(t.Context(), l.Addr(), []byte("hello"))
	ok(t, err)
	return q.(*queue), (<-accepted).(*queue)
}

// mapped is memory of the test's, which is unmapped after all domains are closed.
func mapped(t testing.TB, n int) []byte {
	t.Helper()
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	ok(t, err)
	t.Cleanup(func() { ok(t, unix.Munmap(b)) })
	return b
}

func memory(b []byte, name string) rdma.Memory {
	return rdma.Memory{Base: unsafe.Pointer(&b[0]), Len: len(b), Name: name}
}

// end posts a request and polls its end.
func end(t testing.TB, q *queue, wr rdma.WorkRequest) rdma.Completion {
	t.Helper()
	if n, err := q.Post([]rdma.WorkRequest{wr}); n != 1 {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out [1]rdma.Completion
	for q.Poll(out[:]) == 0 {
		ok(t, ctx.Err())
		ok(t, q.Wait(ctx))
	}
	return out[0]
}

// write is a write of own memory to a peer's.
func write(own []byte, l rdma.Keys, far rdma.Keys) rdma.WorkRequest {
	wr := rdma.WorkRequest{Verb: rdma.VerbWrite, Segs: 1, Key: far.R, Epoch: far.Epoch, Addr: far.Addr}
	wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&own[0]), Len: len(own), Key: l.L}
	return wr
}

// TestDMABuf registers memory that this processor cannot reach, at both ends: what is written and read goes by its dma-buf, for
// which a memfd stands. Nothing touches the addresses that the segments count from.
func TestDMABuf(t *testing.T) {
	const size, off = 64 << 10, 8192
	p := fake(t)
	none, err := unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	ok(t, err)
	defer unix.Munmap(none)
	e := connected(t, p, rdma.Config{})
	if !e.da.adapter.Limits().DMABuf {
		t.Fatal("the device does not take a dma-buf")
	}
	fd, err := unix.MemfdCreate("buffer", unix.MFD_CLOEXEC)
	ok(t, err)
	buffer := os.NewFile(uintptr(fd), "buffer")
	defer buffer.Close()
	ok(t, buffer.Truncate(size+off))
	asked := 0
	gpu := rdma.Memory{Base: unsafe.Pointer(&none[0]), Len: size, Opaque: true, Name: "a GPU's", DMABuf: func() (rdma.DMABuf, error) {
		asked++
		dup, err := unix.FcntlInt(buffer.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		return rdma.DMABuf{File: os.NewFile(uintptr(dup), "its dma-buf"), Off: off}, err
	}}
	far, err := e.db.Register(gpu, anyRight, nil)
	ok(t, err)
	near, err := e.da.Register(gpu, 0, nil)
	ok(t, err)
	own := mapped(t, 4096)
	for i := range own {
		own[i] = byte(i*3 + 1)
	}
	l, err := e.da.Register(memory(own, "own"), 0, nil)
	ok(t, err)
	if c := end(t, e.a, write(own, l, far)); c.Err != nil {
		t.Fatal(c.Err)
	}
	// From one part of the opaque memory to another: eight bytes, which would otherwise be taken from this process' memory at once.
	wr := write(none[:8:8][:8], near, far)
	wr.Addr += 16384
	if c := end(t, e.a, wr); c.Err != nil {
		t.Fatal(c.Err)
	}
	got := make([]byte, size)
	_, err = buffer.ReadAt(got, off)
	ok(t, err)
	if !bytes.Equal(got[:4096], own) || !bytes.Equal(got[16384:16392], own[:8]) {
		t.Error("what was written is not in the buffer")
	}
	ok(t, e.db.Deregister(t.Context(), far))
	if asked != 2 {
		t.Errorf("the dma-buf was asked for %d times, want 2", asked)
	}
	for name, c := range map[string]struct {
		m    rdma.Memory
		want error
	}{
		"nothing exports it": {rdma.Memory{Base: gpu.Base, Len: size, Opaque: true}, errors.ErrUnsupported},
		"no file":            {rdma.Memory{Base: gpu.Base, Len: size, Opaque: true, DMABuf: func() (rdma.DMABuf, error) { return rdma.DMABuf{}, nil }}, nil},
		"it cannot today":    {rdma.Memory{Base: gpu.Base, Len: size, Opaque: true, DMABuf: func() (rdma.DMABuf, error) { return rdma.DMABuf{}, fs.ErrPermission }}, fs.ErrPermission},
		"too short":          {rdma.Memory{Base: gpu.Base, Len: 2 * size, Opaque: true, DMABuf: gpu.DMABuf}, unix.EINVAL},
	} {
		if _, err := e.da.Register(c.m, 0, nil); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	bare := connected(t, fakeOf(t, "-DBARE"), rdma.Config{})
	if _, err := bare.da.Register(gpu, 0, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a device that takes no dma-buf: %v, want %v", err, errors.ErrUnsupported)
	}
}

// TestOnDemand registers memory on demand, where the device can, and refuses to open the device where it cannot.
func TestOnDemand(t *testing.T) {
	p := fake(t)
	e := connected(t, p, rdma.Config{OnDemand: true})
	own, far := mapped(t, 4096), mapped(t, 4096)
	before := demanded(t, p)
	l, err := e.da.Register(memory(own, "own"), 0, nil)
	ok(t, err)
	k, err := e.db.Register(memory(far, "far"), iregion.Write|iregion.Read, nil)
	ok(t, err)
	if n := demanded(t, p) - before; n != 2 {
		t.Errorf("%d of 2 regions were registered on demand", n)
	}
	copy(own, "on demand")
	if c := end(t, e.a, write(own, l, k)); c.Err != nil || !bytes.Equal(own, far) {
		t.Errorf("a write ended with %v", c.Err)
	}
	var refused *OnDemandError
	if _, err := e.db.Register(memory(far, "far"), anyRight, nil); !errors.As(err, &refused) || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "atomic") {
		t.Errorf("with atomics, which the device cannot on demand: %v", err)
	}
	_, err = fakeOf(t, "-DBARE").Open(t.Context(), "", &rdma.Config{OnDemand: true})
	if !errors.As(err, &refused) || refused.Device != "fake0" || !strings.Contains(err.Error(), "Config.OnDemand") {
		t.Errorf("a device that cannot: %v", err)
	}
	for want, o := range map[string]onDemand{
		"does not say":   {},
		"no on-demand":   {known: true, rc: abi.ODPSend | abi.ODPRecv | abi.ODPWrite | abi.ODPRead},
		"to receive":     {known: true, can: true, rc: abi.ODPSend | abi.ODPWrite | abi.ODPRead},
		"write and read": {known: true, can: true, rc: abi.ODPSend | abi.ODPRecv},
	} {
		if why := o.lacks(); !strings.Contains(why, want) {
			t.Errorf("%+v lacks %q, want %q", o, why, want)
		}
	}
}

// demanded is how many registrations the stand-in has made on demand.
func demanded(t testing.TB, p *Provider) uint32 {
	t.Helper()
	return abi.At(symbol(t, p, "fake_demanded")).U32(0)
}

// TestSolicited has a receiver sleep that wants the events of those messages only that ask for it.
func TestSolicited(t *testing.T) {
	e := connected(t, fake(t), rdma.Config{})
	mem := mapped(t, 4096)
	ka, err := e.da.Register(memory(mem, "both's"), 0, nil)
	ok(t, err)
	kb, err := e.db.Register(memory(mem, "both's"), 0, nil)
	ok(t, err)
	solicitedEvent(t, e.a, e.b, mem, ka, kb)
}

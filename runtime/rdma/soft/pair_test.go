package soft

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

const everyRight = region.Read | region.Write | region.Atomic

// end is one side of a connection with memory of its own, registered with every right.
type end struct {
	t    testing.TB
	dom  rdma.ProtectionDomain
	q    rdma.Queue
	mem  []byte
	keys rdma.Keys
}

// connect makes two ends on a fabric, each on an adapter of its own.
func connect(t testing.TB, f *Fabric, bytes int) (a, b *end) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	a, b = newEnd(t, f, bytes), newEnd(t, f, bytes)
	l, err := b.dom.Listen(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan error, 1)
	go func() {
		var err error
		b.q, err = l.Accept(ctx, func([]byte) ([]byte, error) { return []byte("b"), nil })
		accepted <- err
	}()
	if a.q, err = a.dom.Dial(ctx, l.Addr(), []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	return a, b
}

func newEnd(t testing.TB, f *Fabric, bytes int) *end {
	t.Helper()
	ad, err := f.Open(context.Background(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ad.Close() })
	e := &end{t: t, mem: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, bytes/8)))), bytes)}
	if e.dom, err = ad.NewDomain(); err != nil {
		t.Fatal(err)
	}
	m := rdma.Memory{Base: unsafe.Pointer(unsafe.SliceData(e.mem)), Len: bytes, Name: "test memory"}
	if e.keys, err = e.dom.Register(m, everyRight, nil); err != nil {
		t.Fatal(err)
	}
	return e
}

// seg is n bytes of e's memory.
func (e *end) seg(off, n int) rdma.Segment {
	return rdma.Segment{Ptr: unsafe.Pointer(&e.mem[off]), Len: n, Key: e.keys.L}
}

// to is a request from n bytes of e to the same number at off of p.
func (e *end) to(p *end, v rdma.Verb, id uint64, own, n, off int) rdma.WorkRequest {
	wr := rdma.WorkRequest{ID: id, Verb: v, Key: p.keys.R, Epoch: p.keys.Epoch, Addr: p.keys.Addr + uint64(off), Segs: 1}
	wr.Local[0] = e.seg(own, n)
	return wr
}

// post posts requests that must be taken.
func (e *end) post(wrs ...rdma.WorkRequest) {
	e.t.Helper()
	if n, err := e.q.Post(wrs); err != nil || n != len(wrs) {
		e.t.Fatalf("posted %d of %d: %v", n, len(wrs), err)
	}
}

// next is the next completion.
func (e *end) next() rdma.Completion {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var out [1]rdma.Completion
	for e.q.Poll(out[:]) == 0 {
		if err := e.q.Wait(ctx); err != nil {
			e.t.Fatalf("no completion: %v", err)
		}
	}
	return out[0]
}

// want polls the next completion, which must be of a request that was done.
func (e *end) want(id uint64) rdma.Completion {
	e.t.Helper()
	c := e.next()
	if c.ID != id || c.Err != nil {
		e.t.Fatalf("completion %+v, want %d", c, id)
	}
	return c
}

package soft

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// FuzzRequest posts any request at all. Nothing may crash, nothing outside the registered
// memory of either side may change, and the request completes once.
func FuzzRequest(f *testing.F) {
	f.Add(uint8(1), uint8(1), int64(0), int64(8), uint64(0), uint8(0), uint32(0), false)
	f.Add(uint8(3), uint8(4), int64(-1), int64(9), uint64(1<<63), uint8(1), uint32(1), true)
	f.Add(uint8(5), uint8(0), int64(1<<40), int64(-8), uint64(1<<64-8), uint8(2), uint32(0), false)
	f.Add(uint8(4), uint8(255), int64(512), int64(1<<62), uint64(504), uint8(3), uint32(0), true)
	f.Fuzz(func(t *testing.T, verb, segs uint8, off, n int64, at uint64, rights uint8, epoch uint32, reorder bool) {
		// Each side registers the middle of its memory only.
		const size, margin = 512, 256
		a, b := connect(t, New(Config{Seed: 1, Reorder: reorder, NotReady: 1}), size+2*margin)
		for i := range a.mem {
			a.mem[i], b.mem[i] = byte(i), byte(^i)
		}
		beforeA, beforeB := bytes.Clone(a.mem), bytes.Clone(b.mem)
		middle := func(e *end, rights region.Rights) rdma.Keys {
			k, err := e.dom.Register(rdma.Memory{Base: unsafe.Pointer(&e.mem[margin]), Len: size, Name: "the middle"}, rights, nil)
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		own, far := middle(a, 0), middle(b, region.Rights(rights)&everyRight)
		wr := rdma.WorkRequest{
			ID: 1, Verb: rdma.Verb(verb), Segs: segs, Key: far.R, Epoch: far.Epoch + epoch,
			Addr: far.Addr + at, Operand: at, Compare: binary.LittleEndian.Uint64(b.mem[margin:]),
		}
		for i := range wr.Local {
			p := unsafe.Pointer(&a.mem[0])
			if o := off + int64(i)*n; o >= 0 && o < int64(len(a.mem)) { // a pointer elsewhere is nobody's to make
				p = unsafe.Add(p, o)
			}
			wr.Local[i] = rdma.Segment{Ptr: p, Len: int(n), Key: own.L}
		}
		a.post(wr, rdma.WorkRequest{ID: 2, Verb: rdma.VerbFlush})
		if c := a.next(); c.ID != 1 {
			t.Fatalf("completed %+v", c)
		}
		if c := a.next(); c.ID != 2 {
			t.Fatalf("completed %+v", c)
		}
		for _, e := range []struct{ now, before []byte }{{a.mem, beforeA}, {b.mem, beforeB}} {
			if !bytes.Equal(e.now[:margin], e.before[:margin]) || !bytes.Equal(e.now[margin+size:], e.before[margin+size:]) {
				t.Fatal("memory that is not registered changed")
			}
		}
		if region.Rights(rights)&(region.Write|region.Atomic) == 0 && !bytes.Equal(b.mem, beforeB) {
			t.Fatal("memory that may not be changed was")
		}
	})
}

//go:build !lab && (amd64 || arm64)

package verbs

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// TestCallErrors calls a function that fails in each way that the library's do. Source: notes in ibv_modify_qp(3), ibv_destroy_qp(3):
// errno is returned; ibv_get_async_event(3): -1, and errno is set.
func TestCallErrors(t *testing.T) {
	p := fake(t)
	fn := symbol(t, p, "fake_fails")
	lib, err := load(p.opts.Library)
	ok(t, err)
	for how, want := range []error{nil, syscall.EINVAL, syscall.ENOSPC, syscall.EAGAIN, syscall.EPERM} {
		err := lib.do("fails", fn, uintptr(how))
		if how == 4 { // -1, and errno is 0: the number is all there is
			want = syscall.EPERM
		}
		if !errors.Is(err, want) {
			t.Errorf("way %d: %v, want %v", how, err, want)
		}
	}
	if _, err := lib.make("makes", fn, 0); err == nil || !strings.Contains(err.Error(), "no reason") {
		t.Errorf("an object that is not made, without errno: %v", err)
	}
}

// TestBatched posts 32 requests and polls their ends: one call of the device's posts them all, and two poll them.
func TestBatched(t *testing.T) {
	p := fake(t)
	x := connect(t, p)
	x.run(t, 32)
	posts, polls := abi.At(symbol(t, p, "fake_posts")), abi.At(symbol(t, p, "fake_polls"))
	before, looked := posts.U32(0), polls.U32(0)
	x.run(t, 32)
	if n, k := posts.U32(0)-before, polls.U32(0)-looked; n != 1 || k > 2 {
		t.Errorf("32 requests took %d calls that post and %d that poll, want 1 and at most 2", n, k)
	}
}

// TestPath connects two ends that want different things of the way between them, and looks at what the queue pair was told.
func TestPath(t *testing.T) {
	p := fake(t)
	rtr, rts := abi.At(symbol(t, p, "fake_rtr")), abi.At(symbol(t, p, "fake_rts"))
	for _, c := range []struct {
		cfg   rdma.Config
		mtu   uint32
		class uint8
	}{
		{rdma.Config{}, 5, 26 << 2},
		{rdma.Config{MTU: 1024}, 3, 26 << 2},
		{rdma.Config{MTU: 1500, DSCP: 46}, 3, 46 << 2},
		{rdma.Config{DSCP: rdma.BestEffort}, 5, 0},
		{rdma.Config{Transport: rdma.RoCEv2{}, MTU: 4096, DSCP: 8}, 5, 8 << 2},
	} {
		connected(t, p, c.cfg)
		if got := rtr.U32(abi.QPAttrPathMTU); got != c.mtu {
			t.Errorf("%+v: path MTU %d (enum ibv_mtu), want %d", c.cfg, got, c.mtu)
		}
		if got := rtr.U8(abi.QPAttrTrafficClass); got != c.class {
			t.Errorf("%+v: traffic class %#x, want %#x", c.cfg, got, c.class)
		}
	}
	if i, hops := rtr.U8(abi.QPAttrGIDIndex), rtr.U8(abi.QPAttrHopLimit); i != 1 || hops < 2 || rtr.U8(abi.QPAttrIsGlobal) != 1 {
		t.Errorf("by the GID %d, %d hops", i, hops)
	}
	// None may stand for "for ever": 7 of rnr_retry does by the specification, 7 of retry_cnt to rdma_rxe, 0 of the timers everywhere.
	if timeout, retry, rnr := rts.U8(abi.QPAttrTimeout), rts.U8(abi.QPAttrRetry), rts.U8(abi.QPAttrRNRRetry); timeout == 0 || timeout > 18 || retry == 0 || retry > 6 || rnr == 0 || rnr > 6 {
		t.Errorf("timeout %d, retries %d, retries without a receive %d", timeout, retry, rnr)
	}
	if r, a := rtr.U8(abi.QPAttrMaxDest), rts.U8(abi.QPAttrMaxRdAtomic); r != 16 || a != 16 {
		t.Errorf("reads and atomics at a time: %d and %d, want 16", r, a)
	}
}

// TestForkSafe: where the kernel copies pinned pages nothing is asked for; else the library is told, once.
func TestForkSafe(t *testing.T) {
	for variant, want := range map[string]uint32{"": 0, "-DBARE": 1} {
		p := fakeOf(t, variant)
		for range 2 {
			a, err := p.Open(t.Context(), "", nil)
			ok(t, err)
			ok(t, a.Close())
		}
		if n := abi.At(symbol(t, p, "fake_forks")).U32(0); n != want {
			t.Errorf("variant %q: ibv_fork_init was called %d times, want %d", variant, n, want)
		}
	}
}

// TestShortCQ has a device make completion queues that are too short: no queue is made, since completions would be lost.
func TestShortCQ(t *testing.T) {
	p := fake(t)
	e := connected(t, p, rdma.Config{})
	short := abi.At(symbol(t, p, "fake_short"))
	short.Put32(0, 1)
	defer short.Put32(0, 0)
	if _, err := newQueue(e.da, "nobody"); err == nil || !strings.Contains(err.Error(), "completions would be lost") {
		t.Errorf("a completion queue that is too short: %v", err)
	}
}

// TestAddresses: the addresses of keys are none of the process, where the library can; else they are.
func TestAddresses(t *testing.T) {
	for variant, private := range map[string]bool{"": true, "-DBARE": false} {
		e := connected(t, fakeOf(t, variant), rdma.Config{})
		b := mapped(t, 3*4096)
		m := rdma.Memory{Base: unsafe.Pointer(&b[4096+64]), Len: 4096, Name: "within a page"}
		k, err := e.db.Register(m, iregion.Read, nil)
		ok(t, err)
		at := uint64(uintptr(m.Base))
		if (k.Addr == at) == private || k.Addr&(1<<21-1) != at&(1<<21-1) {
			t.Errorf("variant %q: the memory at %#x has the address %#x for peers", variant, at, k.Addr)
		}
		own := mapped(t, 4096)
		l, err := e.da.Register(memory(own, "own"), iregion.Write, nil)
		ok(t, err)
		copy(b[4096+64:], "what a peer reads")
		wr := write(own[:64], l, k)
		wr.Verb = rdma.VerbRead
		if c := end(t, e.a, wr); c.Err != nil || string(own[:17]) != "what a peer reads" {
			t.Errorf("variant %q: a read ended with %v", variant, c.Err)
		}
	}
}

// TestOrderOfEnd closes a device with everything open below it: the stand-in refuses, as kernels do, to destroy what others hang on.
func TestOrderOfEnd(t *testing.T) {
	e := connected(t, fake(t), rdma.Config{})
	outstanding(t, e, e.a)
	_, err := e.db.Register(memory(mapped(t, 4096), "scoped"), iregion.Write, e.b)
	ok(t, err)
	ok(t, e.da.adapter.Close())
	ok(t, e.db.adapter.Close())
}

// TestDepthOfAll asks for as many requests as there may be: what completion queues have no room for is lowered, and both requests and receives have a
// good part of what there is. Limits are those of rdma_rxe (drivers/infiniband/sw/rxe/rxe_param.h), and smaller.
func TestDepthOfAll(t *testing.T) {
	for _, c := range []struct{ maxWR, maxCQE, depth, credits, atLeast int }{
		{1 << 20, 32767, 65544, 64, 16000}, {16384, 32767, 65544, 64, 16000}, {1 << 20, 32767, 128, 4096, 128}, {1024, 1024, 65544, 64, 400}, {1 << 20, 300, 136, 64, 100},
	} {
		a := &adapter{port: port{kind: kindRoCEv2, maxWR: c.maxWR, maxCQE: c.maxCQE, maxMsg: 1 << 31, maxSGE: 4, mtu: 5}}
		a.configure(&rdma.Config{Depth: c.depth, Credits: c.credits})
		if a.depth < c.atLeast || a.receives < 2*c.credits || a.width()*a.depth+a.receives+bindRoom+cqSpare > c.maxCQE {
			t.Errorf("%+v: %d requests and %d receives", c, a.depth, a.receives)
		}
	}
}

//go:build amd64 || arm64

package verbs

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
	"unsafe"

	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// What follows is checked on the stand-in for the library and on a device. Its peers obey nobody: they use a key that they were told has
// ended, and what refuses it is the device.

// between is two sides: queues from a's domain to b's, and memory of each.
type between struct {
	da, db     *domain
	own, far   []byte
	ownK, farK rdma.Keys
}

// newBetween registers the memory: what b has grants everything.
func newBetween(t testing.TB, da, db *domain, own, far []byte) *between {
	t.Helper()
	x := &between{da: da, db: db, own: own, far: far}
	var err error
	if x.ownK, err = da.Register(rdma.Memory{Base: unsafe.Pointer(&own[0]), Len: len(own), Name: "own"}, iregion.Read|iregion.Write, nil); err != nil {
		t.Fatal(err)
	}
	x.farK = x.grant(t)
	return x
}

// grant registers b's memory.
func (x *between) grant(t testing.TB) rdma.Keys {
	t.Helper()
	k, err := x.db.Register(rdma.Memory{Base: unsafe.Pointer(&x.far[0]), Len: len(x.far), Name: "far"}, anyRight, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// disobey has a queue post whatever it is given.
func disobey(q *queue) {
	q.postMu.Lock()
	defer q.postMu.Unlock()
	q.keys.open = true
}

// do posts a request on a queue and gives its end.
func do(ctx context.Context, q *queue, wr rdma.WorkRequest) error {
	if n, err := q.Post([]rdma.WorkRequest{wr}); n != 1 {
		return err
	}
	var out [1]rdma.Completion
	for q.Poll(out[:]) == 0 {
		if err := q.Wait(ctx); err != nil {
			return err
		}
	}
	return out[0].Err
}

// asked moves n bytes between own memory and the peer's.
func asked(v rdma.Verb, own []byte, l, r rdma.Keys, n int) rdma.WorkRequest {
	wr := rdma.WorkRequest{Verb: v, Key: r.R, Epoch: r.Epoch, Addr: r.Addr}
	if v == rdma.VerbFetchAdd {
		wr.Operand = 1
		return wr
	}
	wr.Segs = 1
	wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&own[0]), Len: n, Key: l.L}
	return wr
}

// checkRevoke revokes what a region grants, and uses the key that it had with each verb, each on a connection of its own, since the refusal
// ends that. The region is used from its own side meanwhile, as before; and it is granted again, under another key.
func checkRevoke(t *testing.T, x *between, join func() (a, b *queue)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	verbs := []rdma.Verb{rdma.VerbWrite, rdma.VerbRead, rdma.VerbFetchAdd}
	var as []*queue
	for range verbs {
		a, _ := join()
		disobey(a)
		as = append(as, a)
	}
	for i, v := range verbs {
		if err := do(ctx, as[i], asked(v, x.own, x.ownK, x.farK, 2048)); err != nil {
			t.Fatalf("%v before: %v", v, err)
		}
	}
	k, err := x.db.Revoke(ctx, x.farK)
	if err != nil {
		t.Fatal(err)
	}
	if k.R != 0 || k.L != x.farK.L || k.Addr != x.farK.Addr {
		t.Errorf("the keys were %+v, and are %+v", x.farK, k)
	}
	copy(x.far, "kept")
	for i, v := range verbs {
		err := do(ctx, as[i], asked(v, x.own, x.ownK, x.farK, 2048))
		if err == nil || ctx.Err() != nil {
			t.Errorf("%v by a key that was revoked: %v", v, err)
		}
		t.Logf("%v: %v", v, err)
	}
	if string(x.far[:4]) != "kept" {
		t.Errorf("the memory has %q", x.far[:4])
	}
	// The registration is whole: the local key is as good as before.
	a, b := join()
	if err := do(ctx, b, asked(rdma.VerbWrite, x.far, k, x.ownK, 64)); err != nil {
		t.Errorf("the own side, after it revoked: %v", err)
	}
	if string(x.own[:4]) != "kept" {
		t.Errorf("the own side wrote %q", x.own[:4])
	}
	if _, err := x.db.Revoke(ctx, x.farK); err == nil {
		t.Error("the same was revoked twice")
	}
	again := x.grant(t)
	if again.R == x.farK.R || again.R == 0 {
		t.Errorf("granted again, it has the key %#x", uint32(again.R))
	}
	copy(x.own, "anew")
	if err := do(ctx, a, asked(rdma.VerbWrite, x.own, x.ownK, again, 2048)); err != nil || string(x.far[:4]) != "anew" {
		t.Errorf("granted again: %v, and the memory has %q", err, x.far[:4])
	}
	for _, k := range []rdma.Keys{k, again} {
		if err := x.db.Deregister(ctx, k); err != nil {
			t.Error(err)
		}
	}
}

// checkRevokeUnderTraffic revokes while peers write as fast as they can, by as many connections: when it returns the memory is as it stays.
func checkRevokeUnderTraffic(t *testing.T, x *between, rounds int, join func() (a, b *queue)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	const conns = 2
	for round := range rounds {
		k := x.farK
		if round > 0 {
			k = x.grant(t)
		}
		ends := make(chan error, conns)
		var as [conns]*queue
		for i := range as { // before there is traffic, which may keep all processors
			as[i], _ = join()
			disobey(as[i])
		}
		var begun sync.WaitGroup
		for i := range as {
			begun.Add(1)
			go func() {
				for n := 0; ; n++ {
					if err := do(ctx, as[i], asked(rdma.VerbWrite, x.own, x.ownK, k, len(x.own))); err != nil {
						ends <- err
						if n == 0 {
							begun.Done()
						}
						return
					}
					if n == 0 {
						begun.Done()
					}
				}
			}()
		}
		begun.Wait()
		left, err := x.db.Revoke(ctx, k)
		if err != nil {
			t.Fatal(err)
		}
		// Nothing of the peers' changes it from here on.
		clear(x.far)
		for range as {
			if err := <-ends; errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("traffic ended with %v", err)
			}
		}
		for i, c := range x.far {
			if c != 0 {
				t.Errorf("round %d: the octet %d was written after the key was revoked", round, i)
				break
			}
		}
		if err := x.db.Deregister(ctx, left); err != nil {
			t.Error(err)
		}
	}
}

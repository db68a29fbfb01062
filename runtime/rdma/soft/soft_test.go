package soft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

func TestVerbs(t *testing.T) {
	for _, cfg := range []Config{{}, {Seed: 7, Reorder: true}} {
		a, b := connect(t, New(cfg), 4096)
		copy(a.mem, "written by a")
		a.post(a.to(b, rdma.VerbWrite, 1, 0, 16, 64), rdma.WorkRequest{ID: 2, Verb: rdma.VerbFlush})
		a.want(1)
		a.want(2)
		if !bytes.Equal(b.mem[64:80], a.mem[:16]) {
			t.Fatalf("the write placed %q", b.mem[64:80])
		}
		a.post(a.to(b, rdma.VerbRead, 3, 128, 16, 64))
		a.want(3)
		if !bytes.Equal(a.mem[128:144], a.mem[:16]) {
			t.Fatalf("the read fetched %q", a.mem[128:144])
		}
		add := a.to(b, rdma.VerbFetchAdd, 4, 0, 0, 256)
		add.Operand = 5
		cas := a.to(b, rdma.VerbCompareSwap, 5, 0, 0, 256)
		cas.Compare, cas.Operand = 5, 9
		miss := cas
		miss.ID = 6
		a.post(add, cas, miss)
		if got := []uint64{a.want(4).Result, a.want(5).Result, a.want(6).Result}; fmt.Sprint(got) != "[0 5 9]" {
			t.Fatalf("atomics found %d", got)
		}
		if err := b.q.PostReceive([]rdma.ReceiveRequest{{ID: 70, Buf: b.seg(512, 32)}, {ID: 71, Buf: b.seg(600, 32)}}); err != nil {
			t.Fatal(err)
		}
		note := a.to(b, rdma.VerbWriteNotify, 8, 0, 8, 1024)
		note.Imm = 42
		a.post(a.to(b, rdma.VerbSend, 7, 0, 12, 0), note)
		a.want(7)
		a.want(8)
		if c := b.want(70); c.Bytes != 12 || c.Verb != rdma.VerbReceive || string(b.mem[512:524]) != "written by a" {
			t.Fatalf("received %+v %q", c, b.mem[512:524])
		}
		if c := b.want(71); c.Bytes != 8 || c.Verb != rdma.VerbNotify || c.Imm != 42 || string(b.mem[1024:1032]) != "written " {
			t.Fatalf("notified %+v", c)
		}
	}
}

// TestReorderKeepsTheRules runs random requests in loose order. Flushes, notifications, sends and atomics must
// find the writes before them placed, reads too.
func TestReorderKeepsTheRules(t *testing.T) {
	for seed := range uint64(20) {
		a, b := connect(t, New(Config{Seed: seed + 1, Reorder: true}), 4096)
		rnd := rand.New(rand.NewPCG(seed, 0))
		want := make([]byte, 2048)
		for i := range 300 {
			id := uint64(i) + 1
			for j := range 3 {
				at := rnd.IntN(85)*24 + j*8 // no two writes of a round to one word: they have no order
				for k := range 8 {
					a.mem[2048+j*8+k] = byte(rnd.Uint32())
				}
				copy(want[at:], a.mem[2048+j*8:2048+j*8+8])
				a.post(a.to(b, rdma.VerbWrite, id*10+uint64(j), 2048+j*8, 8, at))
			}
			a.post(a.to(b, rdma.VerbRead, id*10+5, 0, 2048, 0))
			for {
				if c := a.next(); c.Err != nil {
					t.Fatal(c.Err)
				} else if c.ID == id*10+5 {
					break
				}
			}
			if !bytes.Equal(a.mem[:2048], want) {
				t.Fatalf("seed %d, round %d: the read overtook a write", seed, i)
			}
		}
	}
}

// TestReorderShows wants a program caught that takes one write to be placed before the next.
func TestReorderShows(t *testing.T) {
	for seed := range uint64(50) {
		a, b := connect(t, New(Config{Seed: seed + 1, Reorder: true}), 4096)
		a.mem[0], a.mem[8] = 1, 1
		a.post(a.to(b, rdma.VerbWrite, 1, 0, 8, 0), a.to(b, rdma.VerbWrite, 2, 8, 8, 512))
		for range 4 {
			if b.mem[512] == 1 && b.mem[0] == 0 {
				return
			}
			a.q.Poll(make([]rdma.Completion, 1))
		}
	}
	t.Fatal("in 50 seeds no write overtook another")
}

// TestDeterministic wants the same placements for the same seed.
func TestDeterministic(t *testing.T) {
	trace := func(seed uint64) (s string) {
		a, b := connect(t, New(Config{Seed: seed, Reorder: true}), 4096)
		for i := range 100 {
			a.mem[0] = byte(i + 1)
			a.post(a.to(b, rdma.VerbWrite, uint64(i), 0, 8, i*8))
			a.q.Poll(make([]rdma.Completion, 2))
			for j := range 100 {
				s += fmt.Sprint(b.mem[j*8] & 1)
			}
		}
		return fmt.Sprint(a.keys, s)
	}
	first, again, other := trace(3), trace(3), trace(4)
	if first != again {
		t.Error("the same seed gave different orders")
	}
	if first == other {
		t.Error("different seeds gave the same order")
	}
}

func TestFaults(t *testing.T) {
	fault := func(do Action) (*Fabric, *Rule, *end, *end) {
		f := New(Config{NotReady: 50 * time.Millisecond})
		a, b := connect(t, f, 4096)
		r := f.Inject(Fault{When{Verb: rdma.VerbWrite, Queue: a.q, Nth: 2}, do})
		a.post(a.to(b, rdma.VerbWrite, 1, 0, 8, 0), a.to(b, rdma.VerbWrite, 2, 0, 8, 0))
		a.want(1)
		return f, r, a, b
	}
	fails := func(e *end, id uint64, s rdma.Status) {
		t.Helper()
		c := e.next()
		if se := (*rdma.StatusError)(nil); c.ID != id || !errors.As(c.Err, &se) || se.Status != s {
			t.Errorf("completion %+v, want %d to fail with %v", c, id, s)
		}
	}
	var out [1]rdma.Completion

	start := time.Now()
	_, _, a, _ := fault(Delay(30 * time.Millisecond))
	if a.want(2); time.Since(start) < 30*time.Millisecond {
		t.Error("the delay did not delay")
	}
	_, r, a, _ := fault(Stall())
	if a.q.Poll(out[:]) != 0 {
		t.Error("a stalled request completed")
	}
	r.Release()
	a.want(2)
	if r.Hits() != 1 {
		t.Errorf("%d hits, want 1", r.Hits())
	}
	_, _, a, _ = fault(Drop())
	if a.q.Poll(out[:]) != 0 {
		t.Error("a dropped request completed")
	}
	a.q.Abort(errors.New("enough"))
	fails(a, 2, rdma.StatusFlushed)
	_, _, a, b := fault(Fail(rdma.StatusTimeout))
	fails(a, 2, rdma.StatusTimeout)
	a.post(a.to(b, rdma.VerbWrite, 3, 0, 8, 0))
	fails(a, 3, rdma.StatusFlushed)
	_, _, a, _ = fault(NotReady(time.Second))
	fails(a, 2, rdma.StatusNotReady)
	_, _, a, b = fault(Kill())
	fails(a, 2, rdma.StatusPeerLost)
	b.post(b.to(a, rdma.VerbWrite, 4, 0, 8, 0))
	fails(b, 4, rdma.StatusPeerLost)
	if _, err := b.dom.Listen(t.Context(), "x"); err == nil {
		t.Error("a killed adapter listens")
	}
	f := New(Config{Faults: []Fault{
		{When{At: AtDial, Peer: "x"}, Refuse("no")},
		{When{At: AtRegister, Nth: 3}, Refuse("no")},
		{When{At: AtPrepare}, Refuse("no")},
	}})
	a, b = connect(t, f, 64)
	if _, err := a.dom.Dial(t.Context(), "x", nil); err == nil || err.Error() != `soft: dial "x": refused: no` {
		t.Errorf("dial: %v", err)
	}
	if _, err := a.dom.Register(rdma.Memory{Base: a.seg(0, 8).Ptr, Len: 8}, 0, nil); err == nil {
		t.Error("the registration was not refused")
	}
	if err := a.q.Prepare(t.Context(), b.keys.R, b.keys.Epoch); err == nil {
		t.Error("the key was not refused")
	}
}

// TestSeveralWait wants all woken who wait, and when there is nothing to poll too, if the queue ends.
func TestSeveralWait(t *testing.T) {
	for name, wake := range map[string]func(a, b *end){
		"message":    func(a, b *end) { a.post(a.to(b, rdma.VerbSend, 1, 0, 8, 0)) },
		"abort":      func(a, b *end) { b.q.Abort(nil) },
		"peer-abort": func(a, b *end) { a.q.Abort(nil) },
	} {
		a, b := connect(t, New(Config{}), 4096)
		if name == "message" {
			if err := b.q.PostReceive([]rdma.ReceiveRequest{{ID: 1, Buf: b.seg(0, 64)}}); err != nil {
				t.Fatal(err)
			}
		}
		woken := make(chan error)
		for range 4 {
			go func() { woken <- b.q.Wait(context.Background()) }()
		}
		for b.q.(*queue).waiters.Load() < 4 {
			time.Sleep(time.Millisecond)
		}
		wake(a, b)
		for range 4 {
			select {
			case err := <-woken:
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: somebody who waited was not woken", name)
			}
		}
	}
}

// TestNoAllocations does the same over and over: nothing is allocated for it on either side.
func TestNoAllocations(t *testing.T) {
	a, b := connect(t, New(Config{}), 4096)
	receive := []rdma.ReceiveRequest{{ID: 2, Buf: b.seg(0, 64)}}
	var out [1]rdma.Completion
	for _, verb := range []rdma.Verb{rdma.VerbWrite, rdma.VerbRead, rdma.VerbSend, rdma.VerbWriteNotify} {
		wrs := []rdma.WorkRequest{a.to(b, verb, 1, 0, 64, 128)}
		message := verb == rdma.VerbSend || verb == rdma.VerbWriteNotify
		if n := testing.AllocsPerRun(200, func() {
			if message {
				if err := b.q.PostReceive(receive); err != nil {
					t.Fatal(err)
				}
			}
			a.post(wrs...)
			if a.q.Poll(out[:]) != 1 || out[0].Err != nil {
				t.Fatalf("%v: completed %+v", verb, out[0])
			}
			if message && (b.q.Poll(out[:]) != 1 || out[0].ID != 2) {
				t.Fatalf("%v: the peer has %+v", verb, out[0])
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations, want none", verb, n)
		}
	}
}

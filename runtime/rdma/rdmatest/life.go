package rdmatest

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var lifeChecks = []check{
	{"keys", checkKeys},
	{"conn-grants", checkConnGrants},
	{"deregister-in-traffic", checkDeregister},
	{"close-in-traffic", checkCloseQuiet},
	{"leaves-nothing", checkLeavesNothing},
}

// checkKeys registers the same memory many times, and wants all keys different.
func checkKeys(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	m := b.allocate(4096)
	type name struct {
		key   rdma.RKey
		epoch uint32
	}
	local, remote := map[rdma.LKey]bool{}, map[name]bool{}
	var all []memory
	for range 50 {
		k, err := b.dom.Register(m, f.grantable(every), nil)
		must(t, err)
		if local[k.L] || remote[name{k.R, k.Epoch}] || k.L == 0 || k.R == 0 {
			t.Fatalf("the keys %+v are not new", k)
		}
		local[k.L], remote[name{k.R, k.Epoch}] = true, true
		all = append(all, memory{m: m, keys: k})
		if len(all)%3 == 0 { // keys that were given back must not come again with the same epoch
			must(t, b.dom.Deregister(ctx(t), k))
			delete(local, k.L)
			all = all[:len(all)-1]
		}
	}
	for i := range all { // each of them names the memory
		putLittle(a.mem[64:], uint64(i+1))
		a.do(f.or(word(rdma.VerbFetchAdd, 1, &all[i], 8, 0, 1), op(rdma.VerbWrite, 1, &a.memory, 64, 8, &all[i], 8)))
	}
	p := make([]byte, 8)
	a.do(op(rdma.VerbRead, 1, &a.memory, 0, 8, &all[0], 8))
	putLittle(p, uint64(len(all)))
	if !bytes.Equal(a.mem[:8], p) {
		t.Errorf("%d additions through as many keys left %d", len(all), little(a.mem))
	}
}

// checkConnGrants uses a key that is for one connection over that connection. The others are among the refusals.
func checkConnGrants(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	if !a.ad.Limits().ConnGrants {
		if _, err := b.dom.Register(b.m, every, b.q); err == nil {
			t.Error("a device without such keys gave one")
		}
		return
	}
	m := b.registerFor(4096, every, b.q)
	must(t, a.q.Prepare(ctx(t), m.keys.R, m.keys.Epoch))
	a.do(op(rdma.VerbWrite, 1, &a.memory, 0, 64, &m, 0), flush(2))
	must(t, b.dom.Deregister(ctx(t), m.keys))
}

// checkDeregister deregisters memory that a peer is writing to and adding to. Once Deregister has returned, nothing
// may change, and the peer must be refused.
func checkDeregister(t *testing.T, f *Factory) {
	for round := range 20 {
		a, b := connect(t, f)
		m := b.register(256<<10, every)
		size := []int{8, 4096, 128 << 10}[round%3]
		src := a.register(size, nobody)
		fill(src.mem, round)
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			writeUntilRefused(t, a, &src, &m)
		}()
		time.Sleep(time.Duration(round) * 100 * time.Microsecond)
		if err := b.dom.Deregister(ctx(t), m.keys); err != nil {
			t.Fatal(err)
		}
		clear(m.mem) // a race, for the race detector too, if anybody still writes
		time.Sleep(2 * time.Millisecond)
		if !bytes.Equal(m.mem, make([]byte, len(m.mem))) {
			t.Fatal("the memory changed after it was deregistered")
		}
		wg.Wait()
	}
}

// checkCloseQuiet closes one end of a queue, while large writes and reads run over it in both
// directions. Once Close has returned nothing may be accessed, on either side.
func checkCloseQuiet(t *testing.T, f *Factory) {
	const size = 2 << 20
	rounds := 10
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		a, b := connect(t, f)
		bigA, bigB := a.register(size, every), b.register(size, every)
		fill(bigA.mem, 1)
		var wg sync.WaitGroup
		for _, w := range []struct {
			s         *side
			own, peer *memory
		}{{a, &bigA, &bigB}, {b, &bigB, &bigA}} {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for id := uint64(0); ; id++ {
					verb := []rdma.Verb{rdma.VerbWrite, rdma.VerbRead}[id%2]
					if n, _ := w.s.q.Post([]rdma.WorkRequest{op(verb, id, w.own, 0, size/2, w.peer, size/2)}); n != 1 {
						return // closed
					}
					if c, err := take(w.s.q, patience); err != nil || c.Err != nil {
						return
					}
				}
			}()
		}
		time.Sleep(time.Duration(round) * 300 * time.Microsecond)
		must(t, a.q.Close())
		clear(bigA.mem)
		if f.Eager { // what is under way ends with the other end's queue
			wg.Wait()
			must(t, b.q.Close())
		}
		clear(bigB.mem)
		time.Sleep(2 * time.Millisecond)
		for _, mem := range [][]byte{bigA.mem, bigB.mem} {
			if !bytes.Equal(mem, make([]byte, size)) {
				t.Fatal("memory changed after the queue was closed")
			}
		}
		wg.Wait()
	}
}

// writeUntilRefused writes and adds until the peer refuses it.
func writeUntilRefused(t *testing.T, a *side, src, m *memory) {
	out := make([]rdma.Completion, 8)
	for posted, polled := 0, 0; ; {
		wrs := []rdma.WorkRequest{
			op(rdma.VerbWrite, 0, src, 0, len(src.mem), m, posted%2*64<<10),
			a.f.or(word(rdma.VerbFetchAdd, 0, m, 8, 0, 1), flush(0)), flush(0),
		}
		if posted-polled < 32 {
			n, err := a.q.Post(wrs)
			if n != len(wrs) {
				t.Errorf("took %d: %v", n, err)
				return
			}
			posted += n
		}
		n := a.q.Poll(out)
		polled += n
		for _, c := range out[:n] {
			if c.Err != nil {
				if statusOf(c.Err) != rdma.StatusRemoteKey {
					t.Errorf("completed %s, want the key refused", text(c))
				}
				return
			}
		}
	}
}

// checkLeavesNothing connects and ends in several ways, many times. What is left is counted by Run.
func checkLeavesNothing(t *testing.T, f *Factory) {
	before := count()
	for i := range 12 {
		t.Run("", func(t *testing.T) {
			a, b := connect(t, f)
			m := b.register(4096, every)
			a.do(op(rdma.VerbWrite, 1, &a.memory, 0, 8, &m, 0))
			switch i % 6 {
			case 0:
				must(t, a.q.Close())
			case 1:
				a.outstanding(b)
				must(t, b.q.Close())
			case 2:
				a.outstanding(b)
				a.q.Abort(errors.New("enough"))
			case 3:
				must(t, b.ad.Close())
			case 4:
				must(t, b.dom.Deregister(ctx(t), m.keys))
			}
		})
	}
	before.check(t)
}

package iwarp

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// openDomain makes a domain on an adapter of its own. Both are closed when the test ends.
func openDomain(t testing.TB, opts Options, cfg *rdma.Config) *domain {
	t.Helper()
	ad, err := New(opts).Open(context.Background(), deviceName, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ad.Close(); err != nil {
			t.Errorf("closing the adapter: %v", err)
		}
	})
	d, err := ad.NewDomain()
	if err != nil {
		t.Fatal(err)
	}
	return d.(*domain)
}

// memoryOf is n bytes of the heap, as memory to register.
func memoryOf(n int) rdma.Memory {
	words := make([]uint64, (n+7)/8)
	return rdma.Memory{Base: unsafe.Pointer(&words[0]), Len: n, Name: "test memory"}
}

func register(t testing.TB, d *domain, n int, rights barewire.Rights, q *queue) (*registration, rdma.Keys) {
	t.Helper()
	var scope rdma.Queue
	if q != nil {
		scope = q
	}
	k, err := d.Register(memoryOf(n), rights, scope)
	if err != nil {
		t.Fatal(err)
	}
	return d.byLocal(k.L), k
}

// bareQueue is a queue that is nothing but one of the domain's, until the test ends.
func bareQueue(t testing.TB, d *domain) *queue {
	q := &queue{dom: d}
	if err := d.admit(q); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.forget(q) })
	return q
}

func causeOf(f *fpdu.Fault) fpdu.Cause {
	if f == nil {
		return 0
	}
	return f.Cause
}

// TestReach has the bounds of a key: each access that is just inside, and each that is just outside, and why.
func TestReach(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	q, other := bareQueue(t, d), bareQueue(t, d)
	r, k := register(t, d, 4096, anyRight, nil)
	end := k.Addr + 4096
	for _, c := range []struct {
		name  string
		to    uint64
		n     int
		write fpdu.Cause // 0: it is allowed
		read  fpdu.Cause
	}{
		{"all", k.Addr, 4096, 0, 0},
		{"the last byte", end - 1, 1, 0, 0},
		{"nothing, at the end", end, 0, 0, 0},
		{"nothing, past the end", end + 1, 0, fpdu.TaggedBounds, fpdu.OutOfBounds},
		{"a byte too many", k.Addr, 4097, fpdu.TaggedBounds, fpdu.OutOfBounds},
		{"past the end", end, 1, fpdu.TaggedBounds, fpdu.OutOfBounds},
		{"before the start", k.Addr - 1, 1, fpdu.TaggedBounds, fpdu.OutOfBounds},
		{"around the start", k.Addr - 1, 2, fpdu.TaggedBounds, fpdu.OutOfBounds},
		{"at zero", 0, 1, fpdu.TaggedBounds, fpdu.OutOfBounds},
		{"around zero", math.MaxUint64, 2, fpdu.TaggedWrap, fpdu.WrappedTO},
		{"as long as can be", k.Addr + 8, math.MaxInt32, fpdu.TaggedBounds, fpdu.OutOfBounds},
		{"less than nothing", k.Addr, -1, fpdu.TaggedWrap, fpdu.WrappedTO},
	} {
		off, fault := r.reach(q, c.to, c.n, region.Write)
		if causeOf(fault) != c.write || fault == nil && off != int(c.to-k.Addr) {
			t.Errorf("%s: a write of %d at %#x: offset %d, %v; want %v", c.name, c.n, c.to, off, fault, c.write)
		}
		if _, fault = r.reach(q, c.to, c.n, region.Read); causeOf(fault) != c.read {
			t.Errorf("%s: a read: %v, want %v", c.name, fault, c.read)
		}
	}
	own, k := register(t, d, 64, anyRight, q)
	for _, c := range []struct {
		name  string
		r     *registration
		q     *queue
		write fpdu.Cause
		read  fpdu.Cause
	}{
		{"over the connection that the key is for", own, q, 0, 0},
		{"over another connection", own, other, fpdu.TaggedForeign, fpdu.ForeignSTag},
		{"by a key that nobody has", nil, q, fpdu.TaggedSTag, fpdu.InvalidSTag},
	} {
		for need, want := range map[barewire.Rights]fpdu.Cause{region.Write: c.write, region.Read: c.read, region.Atomic: c.read} {
			if _, f := c.r.reach(c.q, k.Addr, 8, need); causeOf(f) != want {
				t.Errorf("access %d %s: %v, want %v", need, c.name, f, want)
			}
		}
	}
}

// TestRights wants each right for what needs it, and no other.
func TestRights(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	for have := barewire.Rights(1); have <= anyRight; have++ {
		r, k := register(t, d, 64, have, nil)
		for _, need := range []barewire.Rights{region.Read, region.Write, region.Atomic} {
			_, f := r.reach(nil, k.Addr, 8, need)
			if want := have&need == need; want != (f == nil) || f != nil && f.Cause != fpdu.NoRight {
				t.Errorf("rights %b, and %b is needed: %v", have, need, f)
			}
		}
	}
	if _, k := register(t, d, 64, 0, nil); k.R != 0 || k.L == 0 {
		t.Errorf("a registration without rights has the keys %+v", k)
	}
	if _, err := d.Register(memoryOf(8), 1<<9, nil); err == nil {
		t.Error("a right that there is not was granted")
	}
}

// TestNewKeys looks at many keys: their epochs count, the low 8 bits of a remote key are of the epoch, and addresses
// are pages that leave room at both ends.
func TestNewKeys(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	const room = 1 << 28 // 2^16 pages
	some, every := uint64(0), uint64(math.MaxUint64)
	for i := range 2000 {
		_, k := register(t, d, 8, anyRight, nil)
		if k.Epoch != uint32(i+1) || uint32(k.R)&0xff != k.Epoch&0xff {
			t.Fatalf("registration %d has the keys %+v", i, k)
		}
		if k.Addr%4096 != 0 || k.Addr < room || k.Addr > math.MaxUint64-room {
			t.Fatalf("an address of %#x", k.Addr)
		}
		some, every = some|k.Addr, every&k.Addr
	}
	if some != ^uint64(0xfff) || every != 0 {
		t.Errorf("bits %#x of addresses are never set, and %#x always", ^some, every)
	}
	for range 100 {
		if a, size := randomBase(math.MaxInt), uint64(math.MaxInt); a < room || a+size < a || a+size > math.MaxUint64-room/2 {
			t.Fatalf("the largest region would be at %#x", a)
		}
	}
	d.mu.Lock()
	d.epoch = math.MaxUint32
	d.mu.Unlock()
	if _, k := register(t, d, 8, anyRight, nil); k.Epoch != 1 {
		t.Errorf("after the last epoch came %d", k.Epoch)
	}
}

// TestDeregisterWaits wants Deregister to wait for accesses that are in progress, no longer than its context, and to
// finish what it began when it is called again.
func TestDeregisterWaits(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	r, k := register(t, d, 64, anyRight, nil)
	if !r.enter() || !r.enterLocal() {
		t.Fatal("a new registration cannot be used")
	}
	short, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := d.Deregister(short, k); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 accesses") {
		t.Fatalf("deregistered under an access: %v", err)
	}
	if r.enter() || r.enterLocal() || d.byRemote(uint32(k.R)) != nil || d.byLocal(k.L) != nil {
		t.Fatal("the keys are good after Deregister has begun")
	}
	if _, f := r.reach(nil, k.Addr, 8, region.Write); causeOf(f) != fpdu.TaggedSTag {
		t.Errorf("a write after Deregister has begun: %v", f)
	}
	done := make(chan error, 1)
	go func() { done <- d.Deregister(context.Background(), k) }()
	r.leave()
	select {
	case err := <-done:
		t.Fatalf("deregistered under the second access: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	r.leave()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := d.Deregister(context.Background(), k); err == nil {
		t.Error("deregistered twice")
	}
}

// TestCloseWaits wants a domain that closes to wait for accesses, and keys to be deregistered after it.
func TestCloseWaits(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	r, k := register(t, d, 64, anyRight, nil)
	if !r.enter() {
		t.Fatal("a new registration cannot be used")
	}
	done := make(chan error, 1)
	go func() { done <- d.Close() }()
	select {
	case err := <-done:
		t.Fatalf("closed under an access: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	r.leave()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if r.enter() || d.byLocal(k.L) != nil {
		t.Error("the key of a closed domain is good")
	}
	if _, err := d.Register(memoryOf(8), anyRight, nil); !errors.Is(err, errClosed) {
		t.Errorf("a closed domain registers: %v", err)
	}
	if err := d.Deregister(context.Background(), k); err != nil {
		t.Errorf("the key of a closed domain cannot be deregistered: %v", err)
	}
}

// TestEnterRaces ends registrations that many goroutines use. When Deregister has returned nobody is in the memory.
func TestEnterRaces(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	for range 200 {
		m := memoryOf(8)
		k, err := d.Register(m, anyRight, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := d.byRemote(uint32(k.R))
		var wg sync.WaitGroup
		var mu sync.Mutex
		word := (*uint64)(m.Base)
		for range 4 {
			wg.Go(func() {
				for r.enter() {
					mu.Lock()
					*word++
					mu.Unlock()
					r.leave()
				}
			})
		}
		if err := d.Deregister(context.Background(), k); err != nil {
			t.Fatal(err)
		}
		*word = 0 // a race if anybody is there still
		wg.Wait()
	}
}

// TestInvalidate ends keys as a peer's message does: only those that are for its connection alone.
func TestInvalidate(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	q, other := bareQueue(t, d), bareQueue(t, d)
	r, own := register(t, d, 64, anyRight, q)
	wide, shared := register(t, d, 64, anyRight, nil)
	for name, c := range map[string]struct {
		q    *queue
		stag rdma.RKey
		want fpdu.Cause
	}{
		"the domain's":         {q, shared.R, fpdu.NotInvalidated},
		"another connection's": {other, own.R, fpdu.InvalidSTag},
		"nobody's":             {q, own.R ^ 0x5a5a5a00, fpdu.InvalidSTag},
		"none":                 {q, 0, fpdu.InvalidSTag},
	} {
		if f := d.invalidate(c.q, uint32(c.stag)); causeOf(f) != c.want {
			t.Errorf("invalidating a key that is %s: %v", name, f)
		}
	}
	if !r.enter() || !wide.enter() {
		t.Fatal("a key that was not invalidated is not good")
	}
	wide.leave()
	if f := d.invalidate(q, uint32(own.R)); f != nil {
		t.Fatal(f)
	}
	if r.enter() || d.byRemote(uint32(own.R)) != nil || !r.gone() {
		t.Error("a peer can use a key after it was invalidated")
	}
	if !r.enterLocal() || d.byLocal(own.L) != r {
		t.Fatal("the owner cannot use the memory after the peer has ended its key")
	}
	r.leave()
	if f := d.invalidate(q, uint32(own.R)); causeOf(f) != fpdu.InvalidSTag {
		t.Errorf("invalidated twice: %v", f)
	}
	short, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if err := d.Deregister(short, own); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deregistered under an access that began before: %v", err)
	}
	r.leave()
	if err := d.Deregister(context.Background(), own); err != nil {
		t.Error(err)
	}
}

// TestScopeOfOthers refuses keys for queues that are not the domain's, or no longer.
func TestScopeOfOthers(t *testing.T) {
	d, other := openDomain(t, Options{}, &rdma.Config{}), openDomain(t, Options{}, &rdma.Config{})
	for name, q := range map[string]rdma.Queue{"another domain's": bareQueue(t, other), "a closed one": &queue{dom: d}, "none": (*queue)(nil)} {
		if _, err := d.Register(memoryOf(8), anyRight, q); err == nil {
			t.Errorf("a key for a queue that is %s", name)
		}
	}
}

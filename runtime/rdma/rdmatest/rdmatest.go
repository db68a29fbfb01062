// Package rdmatest has the tests that every provider of package rdma must pass. A
// provider's own tests call [Run] with a [Factory] for it:
//
//	func TestConformance(t *testing.T) {
//		rdmatest.Run(t, rdmatest.Factory{Provider: myProvider, Device: "my0"})
//	}
//
// It is for tests only, as net/http/httptest is. The random traffic runs 10,000 operations; with
// RDMATEST_OPS=N in the environment it runs N, with RDMATEST_SEED=N from another seed.
//
//barewire:trust the tests make zero values, and misuse what they have, to see the errors
package rdmatest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// Factory says what provider is tested, and how to use it.
type Factory struct {
	Provider rdma.Provider
	Device   string // that Open is given

	// Address gives an address to listen at that nobody else has. Nil: the
	// provider makes one up when it is given none.
	Address func(t testing.TB) string
	// Memory gives n zeroed bytes that the provider can register, until the
	// test ends. Nil: as the runtime allocates, with a file where Limits.FileMemory is set.
	Memory func(t testing.TB, n int) rdma.Memory

	// Loose says that a refused write may complete without an error; then what follows fails, and
	// says which it was: StatusError.Late and ID.
	Loose bool
	// Eager says that the provider is on a network, where a write, a message or a notification may complete when it is
	// handed over: what the peer refuses, or has no receive for, is told as for Loose. Then too
	// a key may be prepared that the peer turns out not to know, and what was handed over before a queue was closed
	// may arrive after.
	Eager bool
	// AtOnce says that the queues are [rdma.Immediate], and do what nothing holds at once.
	AtOnce bool
	// Unheard says that the receiver is not told which messages asked for its event: its device wakes it, and no more.
	Unheard bool
	// NoAtomics is why the device has no atomic operations, empty where it has. The checks of these want them refused then, and in
	// all others something else is done in their place.
	NoAtomics string
	// NotReady is how long a message waits for a receive before it fails. Zero:
	// it is not tested that it does.
	NotReady time.Duration
}

// Rights that tests register with.
const (
	read   = region.Read
	write  = region.Write
	atom   = region.Atomic
	every  = read | write | atom
	nobody = barewire.Rights(0)
)

// patience is how long anything may take on a machine that is busy with other things.
const patience = 30 * time.Second

// Run runs the tests as subtests of t. They run one after the other, because they count what
// is left behind.
func Run(t *testing.T, f Factory) {
	count() // what Go opens for the first file that is read is no leak
	for _, group := range [][]check{
		connectChecks, verbChecks, errorChecks, orderChecks, receiveChecks, queueChecks, nowChecks, lifeChecks, waitChecks, trafficChecks, typedChecks, invalidateChecks,
	} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				before := count()
				t.Run("run", func(t *testing.T) { c.run(t, &f) })
				before.check(t)
			})
		}
	}
}

// check is one test of the suite.
type check struct {
	name string
	run  func(*testing.T, *Factory)
}

// config is what adapters are opened with unless a test wants otherwise.
func config() *rdma.Config {
	return &rdma.Config{Depth: 64, MaxMessage: 8192, MTU: 4096, Credits: 64, MaxOffers: 64,
		OpTimeout: patience, HandshakeTimeout: patience}
}

// side is one end of a connection, with a domain and memory of its own.
type side struct {
	t    testing.TB
	f    *Factory
	ad   rdma.Adapter
	dom  rdma.ProtectionDomain
	q    rdma.Queue
	name string
	memory
}

// memory is registered memory.
type memory struct {
	mem  []byte
	m    rdma.Memory
	keys rdma.Keys
}

// sideBytes is how much memory a side has from the start, registered with every right.
const sideBytes = 64 << 10

// connect makes two connected sides, each on an adapter of its own. They are closed when the test ends.
func connect(t testing.TB, f *Factory) (a, b *side) {
	t.Helper()
	return connectWith(t, f, config())
}

func connectWith(t testing.TB, f *Factory, cfg *rdma.Config) (a, b *side) {
	t.Helper()
	a, b = newSide(t, f, cfg, "a"), newSide(t, f, cfg, "b")
	a.q, b.q = join(t, a, b)
	a.memory, b.memory = a.register(sideBytes, every), b.register(sideBytes, every)
	return a, b
}

func newSide(t testing.TB, f *Factory, cfg *rdma.Config, name string) *side {
	t.Helper()
	ad, err := f.Provider.Open(ctx(t), f.Device, cfg)
	must(t, err)
	t.Cleanup(func() {
		if err := ad.Close(); err != nil {
			t.Errorf("adapter %s: close: %v", name, err)
		}
	})
	s := &side{t: t, f: f, ad: ad, name: name}
	s.dom, err = ad.NewDomain()
	must(t, err)
	return s
}

// join connects a queue more between two sides' domains: a dials.
func join(t testing.TB, a, b *side) (qa, qb rdma.Queue) {
	t.Helper()
	l, err := b.dom.Listen(ctx(t), b.f.address(t))
	must(t, err)
	accepted := make(chan error, 1)
	go func() {
		var err error
		qb, err = l.Accept(ctx(t), func([]byte) ([]byte, error) { return []byte("hello of b"), nil })
		accepted <- err
	}()
	qa, err = a.dom.Dial(ctx(t), l.Addr(), []byte("hello of a"))
	must(t, err)
	must(t, <-accepted)
	must(t, l.Close())
	return qa, qb
}

func (f *Factory) address(t testing.TB) string {
	if f.Address == nil {
		return ""
	}
	return f.Address(t)
}

// byteType is what the runtime is told that test memory holds.
var byteType = region.Type{Name: "rdmatest.Bytes", Size: 1, Align: 64}

var regions atomic.Int64

// allocate makes memory. It is released after the adapters were closed, if it was made before them,
// and then or not: closing an adapter ends all access.
func (s *side) allocate(n int) rdma.Memory {
	s.t.Helper()
	if s.f.Memory != nil {
		return s.f.Memory(s.t, n)
	}
	h, err := region.New(region.Spec{Type: &byteType, Count: n, Name: fmt.Sprintf("test region %d", regions.Add(1))})
	must(s.t, err)
	if s.ad.Limits().FileMemory {
		must(s.t, h.Share())
	}
	gen := h.Gen()
	s.t.Cleanup(func() {
		must(s.t, s.dom.Close()) // keys go before memory does
		must(s.t, h.Close(gen))
	})
	base, _, file := h.Memory()
	return rdma.Memory{Base: base, Len: n, File: file, Name: h.Name()}
}

// register makes n bytes known with some rights.
func (s *side) register(n int, rights barewire.Rights) memory {
	s.t.Helper()
	return s.registerFor(n, rights, nil)
}

func (s *side) registerFor(n int, rights barewire.Rights, q rdma.Queue) memory {
	s.t.Helper()
	m := memory{m: s.allocate(n)}
	m.mem = unsafe.Slice((*byte)(m.m.Base), n)
	var err error
	m.keys, err = s.dom.Register(m.m, s.f.grantable(rights), q)
	must(s.t, err)
	return m
}

// seg is n bytes of registered memory.
func (m *memory) seg(off, n int) rdma.Segment {
	return rdma.Segment{Ptr: unsafe.Add(m.m.Base, off), Len: n, Key: m.keys.L}
}

// op is a request between n bytes of own memory and a peer's memory.
func op(verb rdma.Verb, id uint64, own *memory, off, n int, peers *memory, at int) rdma.WorkRequest {
	wr := rdma.WorkRequest{ID: id, Verb: verb, Segs: 1, Key: peers.keys.R, Epoch: peers.keys.Epoch, Addr: peers.keys.Addr + uint64(at)}
	wr.Local[0] = own.seg(off, n)
	return wr
}

// word is an atomic on a peer's memory.
func word(verb rdma.Verb, id uint64, peers *memory, at int, compare, operand uint64) rdma.WorkRequest {
	return rdma.WorkRequest{ID: id, Verb: verb, Key: peers.keys.R, Epoch: peers.keys.Epoch,
		Addr: peers.keys.Addr + uint64(at), Compare: compare, Operand: operand}
}

func flush(id uint64) rdma.WorkRequest { return rdma.WorkRequest{ID: id, Verb: rdma.VerbFlush} }

// post posts requests that must be taken.
func (s *side) post(wrs ...rdma.WorkRequest) {
	s.t.Helper()
	if n, err := s.q.Post(wrs); err != nil || n != len(wrs) {
		s.t.Fatalf("%s: posted %d of %d: %v", s.name, n, len(wrs), err)
	}
}

// receive posts a buffer of n bytes of the side's memory.
func (s *side) receive(id uint64, off, n int) {
	s.t.Helper()
	must(s.t, s.q.PostReceive([]rdma.ReceiveRequest{{ID: id, Buf: s.seg(off, n)}}))
}

// next is the next completion of the side's queue.
func (s *side) next() rdma.Completion {
	s.t.Helper()
	c, err := take(s.q, patience)
	if err != nil {
		s.t.Fatalf("%s: no completion: %v", s.name, err)
	}
	return c
}

// take polls a queue until there is a completion.
func take(q rdma.Queue, d time.Duration) (rdma.Completion, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var out [1]rdma.Completion
	for q.Poll(out[:]) == 0 {
		if err := q.Wait(ctx); err != nil {
			return out[0], err
		}
		if ctx.Err() != nil { // it may have something now, and did not wake us
			return out[0], ctx.Err()
		}
	}
	return out[0], nil
}

// done polls the next completion, which must be of a request that was done.
func (s *side) done(id uint64) rdma.Completion {
	s.t.Helper()
	c := s.next()
	if c.ID != id || c.Err != nil {
		s.t.Fatalf("%s: completed %s, want %d done", s.name, text(c), id)
	}
	return c
}

// do posts requests and waits until they are done. Their IDs are in c's order.
func (s *side) do(wrs ...rdma.WorkRequest) {
	s.t.Helper()
	s.post(wrs...)
	for _, wr := range wrs {
		s.done(wr.ID)
	}
}

func text(c rdma.Completion) string {
	return fmt.Sprintf("%v with ID %d: %d bytes, imm %#x, result %d, error %v", c.Verb, c.ID, c.Bytes, c.Imm, c.Result, c.Err)
}

func ctx(t testing.TB) context.Context {
	c, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// setting is a number from the environment.
func setting(t testing.TB, name string, otherwise int) int {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s=%s is no number", name, v)
	}
	return n
}

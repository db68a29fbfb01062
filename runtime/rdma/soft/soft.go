// Package soft is a provider of RDMA within one process: queues connect by
// name, and an operation on a peer's memory is a copy. It has the semantics of a
// reliable connection in full, needs nothing, and is made for tests and for peers that
// share a process.
//
// By default an operation is done when Post returns. A [Fabric] of its own, made with [New],
// can do less: with [Config.Reorder] it places writes, and does reads and
// atomics, as late and in as odd an order as the rules allow, the same way for
// the same seed; with a [Fault] it delays, drops, fails or refuses.
//
// # The race detector
//
// It cannot see memory that is not Go's own. On memory of the Go heap it sees
// the operations: those on the memory of the side that posts are plain accesses, those on
// the memory of the peer are atomic accesses, word by word, so that a plain
// access beside them is reported, and an atomic one, as in a snapshot, is not.
// Bytes at the ends that do not fill four aligned bytes are accessed plainly.
// What orders: posting before the operation, the operation before its completion is polled,
// what a sender did before its message or notification is polled, and atomics with
// each other. An atomic load that sees a written word counts as order after that write and
// what its side did before; [Config.Reorder] shows programs that rely on that for other words.
package soft

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Config is how a [Fabric] behaves. The zero value is the default one's.
type Config struct {
	// Seed makes keys, orders and chances the same each time, as long as the
	// program makes its domains and queues in the same order. Zero: they differ.
	Seed uint64
	// Reorder delays and reorders as far as the rules of order allow.
	Reorder bool
	// NotReady is how long a message waits for a receive of the peer. Zero: 2 s.
	NotReady time.Duration
	// Faults are there from the start. See [Fabric.Inject].
	Faults []Fault
}

// Limits of every adapter.
const (
	maxTransfer     = 1 << 30
	defaultDepth    = 128
	defaultMessage  = 1 << 20
	defaultNotReady = 2 * time.Second
)

// Fabric is a network within the process, and the provider of its only device,
// "soft0". Adapters of one fabric reach each other. It may be used from several
// goroutines.
type Fabric struct {
	cfg   Config
	rules atomic.Pointer[[]*Rule] // nil while there are none

	mu        sync.Mutex
	listening map[string]*acceptor
	names     int // given to listeners and dialers without one
	rnd       *rand.Rand
}

var _ rdma.Provider = (*Fabric)(nil)

var standard = New(Config{})

func init() { rdma.Use(standard) }

// Provider is the fabric that importing this package puts in use.
func Provider() *Fabric { return standard }

// New makes a fabric of its own, for tests: nothing else reaches it.
func New(cfg Config) *Fabric {
	if cfg.NotReady <= 0 {
		cfg.NotReady = defaultNotReady
	}
	f := &Fabric{cfg: cfg, listening: map[string]*acceptor{}}
	f.rnd = rand.New(rand.NewPCG(cfg.Seed, 1))
	if cfg.Seed == 0 {
		f.rnd = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	for _, fault := range cfg.Faults {
		f.Inject(fault)
	}
	return f
}

// Name is "soft".
func (f *Fabric) Name() string { return "soft" }

// Devices is one, which is always there.
func (f *Fabric) Devices(context.Context) ([]rdma.DeviceInfo, error) {
	return []rdma.DeviceInfo{device}, nil
}

var device = rdma.DeviceInfo{
	Provider: "soft", Name: "soft0", Transport: "SoftRDMA", State: "active",
	Detail: "copies within this process",
}

// Open makes an adapter. Each call gives another one: closing it ends what was
// made from it, and no more.
func (f *Fabric) Open(ctx context.Context, name string, cfg *rdma.Config) (rdma.Adapter, error) {
	if f == nil || f.listening == nil {
		return nil, errors.New("soft: a zero Fabric: New makes them")
	}
	if name != "" && name != device.Name {
		return nil, fmt.Errorf("soft: there is no device %q: its only one is %q", name, device.Name)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("soft: open: %w", err)
	}
	if cfg != nil && cfg.TLS != nil {
		return nil, fmt.Errorf("soft: open: %w: there is no network here for Config.TLS to protect", rdma.ErrConfig)
	}
	a := &adapter{fabric: f, depth: defaultDepth, message: defaultMessage}
	if cfg != nil {
		if cfg.Depth > 0 {
			a.depth = cfg.Depth
		}
		if cfg.MaxMessage > 0 {
			a.message = cfg.MaxMessage
		}
		a.receives = 2 * cfg.Credits
	}
	a.receives = max(a.receives, a.depth)
	return a, nil
}

// random makes a source of its own for a domain or a queue.
func (f *Fabric) random() *rand.Rand {
	f.mu.Lock()
	defer f.mu.Unlock()
	return rand.New(rand.NewPCG(f.rnd.Uint64(), f.rnd.Uint64()))
}

// nextName is for those that gave none.
func (f *Fabric) nextName(kind string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names++
	return fmt.Sprintf("%s-%d", kind, f.names)
}

// adapter is an opened device, and what is killed by [Kill].
type adapter struct {
	fabric   *Fabric
	depth    int
	message  int
	receives int

	mu      sync.Mutex
	ended   error // why nothing can be made from it any more
	domains map[*domain]bool
}

func (a *adapter) Info() rdma.DeviceInfo { return device }

func (a *adapter) Limits() rdma.Limits {
	return rdma.Limits{
		Depth: a.depth, Segments: rdma.MaxSegments, MaxMessage: a.message,
		MaxTransfer: maxTransfer, AtomicGlobal: true, ConnGrants: true, Solicited: true, Invalidate: true,
	}
}

func (a *adapter) NewDomain() (rdma.ProtectionDomain, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended != nil {
		return nil, fmt.Errorf("soft: new domain: %w", a.ended)
	}
	d := newDomain(a)
	if a.domains == nil {
		a.domains = map[*domain]bool{}
	}
	a.domains[d] = true
	return d, nil
}

func (a *adapter) forget(d *domain) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.domains, d)
}

// Close ends the adapter and everything made from it.
func (a *adapter) Close() error {
	for _, d := range a.end(errClosed) {
		_ = d.Close() // never fails
	}
	return nil
}

// kill ends the adapter as if its process had died: its queues fail, and so do those of its peers.
func (a *adapter) kill() {
	for _, d := range a.end(errKilled) {
		d.kill()
	}
}

func (a *adapter) end(why error) (domains []*domain) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended == nil {
		a.ended = why
	}
	for d := range a.domains {
		domains = append(domains, d)
	}
	return domains
}

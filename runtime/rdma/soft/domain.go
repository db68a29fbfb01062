package soft

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// domain is a protection domain: its keys are good for its queues, and for the queues
// of others that are connected to them.
type domain struct {
	adapter *adapter
	fabric  *Fabric

	mu        sync.RWMutex
	ended     error // why nothing can be made in it any more
	rnd       *rand.Rand
	epoch     uint32
	local     map[rdma.LKey]*registration
	remote    map[rdma.RKey]*registration
	queues    map[*queue]bool
	listeners map[*acceptor]bool
}

// registration is memory that a domain knows. Queues keep pointers to it, so
// dead is what says whether it is still one.
type registration struct {
	keys   rdma.Keys
	base   unsafe.Pointer
	len    uint64
	rights barewire.Rights
	scope  *queue // the only queue that may be asked for it, if not nil
	name   string
	dead   atomic.Bool
	given  atomic.Bool // the peer that it is for has ended its remote key
}

func newDomain(a *adapter) *domain {
	return &domain{
		adapter: a, fabric: a.fabric, rnd: a.fabric.random(),
		local: map[rdma.LKey]*registration{}, remote: map[rdma.RKey]*registration{},
		queues: map[*queue]bool{}, listeners: map[*acceptor]bool{},
	}
}

// anyRight is what makes a remote key necessary.
const anyRight = region.Read | region.Write | region.Atomic

// Register takes any memory that this process may write, aligned to 8 bytes.
func (d *domain) Register(m rdma.Memory, rights barewire.Rights, conn rdma.Queue) (rdma.Keys, error) {
	fail := func(format string, args ...any) (rdma.Keys, error) {
		return rdma.Keys{}, fmt.Errorf("soft: register %s: %w", m.Name, fmt.Errorf(format, args...))
	}
	switch {
	case m.Base == nil:
		return fail("it has no address in this process")
	case m.Len <= 0:
		return fail("it has a length of %d bytes", m.Len)
	case uintptr(m.Base)&7 != 0:
		return fail("it begins at an address that is no multiple of 8")
	case rights&^anyRight != 0:
		return fail("there are no rights %#x", rights&^anyRight)
	}
	var scope *queue
	if conn != nil {
		q, ok := conn.(*queue)
		if !ok || q.dom != d {
			return fail("the queue that its key is for belongs to another domain")
		}
		scope = q
	}
	if err := d.fabric.refused(AtRegister, nil, ""); err != nil {
		return fail("%w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended != nil {
		return fail("the domain cannot take it: %w", d.ended)
	}
	r := &registration{base: m.Base, len: uint64(m.Len), rights: rights, scope: scope, name: m.Name}
	r.keys = d.newKeys(rights != 0)
	d.local[r.keys.L] = r
	if r.keys.R != 0 {
		d.remote[r.keys.R] = r
	}
	return r.keys, nil
}

// newKeys draws keys that are not in use. Addresses are random pages, so a
// program that takes them for offsets or pointers is found out. d.mu is held.
func (d *domain) newKeys(remote bool) (k rdma.Keys) {
	for k.L == 0 || d.local[k.L] != nil {
		k.L = rdma.LKey(d.rnd.Uint32())
	}
	for remote && (k.R == 0 || d.remote[k.R] != nil) {
		k.R = rdma.RKey(d.rnd.Uint32())
	}
	if d.epoch++; d.epoch == 0 {
		d.epoch = 1
	}
	k.Epoch = d.epoch
	k.Addr = 1<<20 + d.rnd.Uint64N(1<<28)<<12
	return k
}

// Deregister waits for the copies that are being made, and for no more, so it needs no ctx.
func (d *domain) Deregister(_ context.Context, k rdma.Keys) error {
	d.mu.Lock()
	r := d.local[k.L]
	if r == nil || r.keys != k {
		d.mu.Unlock()
		return fmt.Errorf("soft: deregister: the keys %#x/%#x of epoch %d are not, or no longer, registered", k.L, k.R, k.Epoch)
	}
	d.drop(r)
	queues := d.queuesLocked()
	d.mu.Unlock()
	settle(queues)
	return nil
}

// drop makes a registration's keys invalid. d.mu is held. Accesses that have begun are not waited for: see settle.
func (d *domain) drop(r *registration) {
	r.dead.Store(true)
	delete(d.local, r.keys.L)
	if r.keys.R != 0 {
		delete(d.remote, r.keys.R)
	}
}

// settle waits until accesses that queues have begun, and their peers have
// begun through them, have ended.
func settle(queues []*queue) {
	for _, q := range queues {
		q.settle()
		q.peer.settle()
	}
}

func (d *domain) queuesLocked() (queues []*queue) {
	for q := range d.queues {
		queues = append(queues, q)
	}
	return queues
}

func (d *domain) byLocal(k rdma.LKey) *registration {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.local[k]
}

func (d *domain) byRemote(k rdma.RKey) *registration {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.remote[k]
}

func (d *domain) forget(q *queue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.queues, q)
}

// end makes the domain take nothing more, and its keys invalid.
func (d *domain) end(why error) (queues []*queue) {
	d.mu.Lock()
	if d.ended == nil {
		d.ended = why
	}
	queues = d.queuesLocked()
	var listeners []*acceptor
	for l := range d.listeners {
		listeners = append(listeners, l)
	}
	for _, r := range d.local {
		r.dead.Store(true) // it can be deregistered still
	}
	d.mu.Unlock()
	for _, l := range listeners {
		_ = l.Close() // never fails
	}
	return queues
}

// Close ends queues, listeners and keys. When it returns, no access is in progress.
func (d *domain) Close() error {
	for _, q := range d.end(errClosed) {
		_ = q.Close() // never fails
	}
	d.adapter.forget(d)
	return nil
}

// kill is Close for a process that died: its queues are there still, and fail.
func (d *domain) kill() {
	for _, q := range d.end(errKilled) {
		q.lost("this end was killed")
		q.peer.lost("the peer was killed")
	}
}

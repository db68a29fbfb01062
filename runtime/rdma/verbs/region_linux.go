//go:build amd64 || arm64

package verbs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// region is memory that a domain knows.
type region struct {
	keys   rdma.Keys
	mr     uintptr // struct ibv_mr; 0 when it is deregistered
	mw     uintptr // struct ibv_mw of its remote key; 0: none, or no longer
	back   uintptr // struct ibv_mr behind mw alone; 0: that is mr
	only   *queue  // the queue that the remote key is for; nil: for all
	why    string  // there is no mw, and the remote key is that of mr
	opaque bool    // this processor cannot reach it
	base   uintptr
	len    uint64
	addr   uint64 // where the device has it, by mr
	rights barewire.Rights
	name   string
	dead   atomic.Bool     // it must not be used any more
	told   map[*queue]bool // queues whose peers were told that the key is good; guarded by the domain
	mu     sync.Mutex      // guards mr, mw and back from here on
}

// retired is a key that was deregistered, and that some peers may not know of yet.
type retired struct {
	epoch uint32
	peers map[*queue]bool
}

const anyRight = iregion.Read | iregion.Write | iregion.Atomic

// access is the rights as the device takes them. The own device may always write.
func access(rights barewire.Rights) (a uintptr) {
	a = abi.AccessLocalWrite
	if rights&iregion.Read != 0 {
		a |= abi.AccessRemoteRead
	}
	if rights&iregion.Write != 0 {
		a |= abi.AccessRemoteWrite
	}
	if rights&iregion.Atomic != 0 {
		a |= abi.AccessRemoteAtomic
	}
	return a
}

// randomAddress is an address for memory in the space of its key, with the same place within a huge page as
// the memory has, so that the device can use large pages.
func randomAddress(base uintptr) uint64 {
	const huge = 2 << 20
	return rand.Uint64N(1<<45)&^(huge-1) + huge + uint64(base)&(huge-1)
}

// Register pins memory of this process, unless the configuration wants it on demand. It may be of any kind that the kernel pins for
// long: anonymous, memfds, device-dax. Files of a file system in persistent memory are not (EOPNOTSUPP). Memory of another
// device, as a GPU's, is registered by its dma-buf.
func (d *domain) Register(m rdma.Memory, rights barewire.Rights, conn rdma.Queue) (rdma.Keys, error) {
	fail := func(format string, args ...any) (rdma.Keys, error) {
		return rdma.Keys{}, fmt.Errorf("verbs: register %s: %w", m.Name, fmt.Errorf(format, args...))
	}
	switch {
	case m.Base == nil:
		return fail("%w: it has no address", errors.ErrUnsupported)
	case m.Opaque && !d.adapter.buffers:
		return fail("%w: this processor cannot reach it, and the device takes no memory by a dma-buf", errors.ErrUnsupported)
	case m.Len <= 0:
		return fail("it has a length of %d bytes", m.Len)
	case uintptr(m.Base)&7 != 0:
		return fail("it begins at an address that is no multiple of 8")
	case uint64(m.Len) > d.adapter.port.maxMR:
		return fail("it has %d bytes, and the device registers at most %d at once", m.Len, d.adapter.port.maxMR)
	case rights&^anyRight != 0:
		return fail("there are no rights %#x", rights&^anyRight)
	case rights&iregion.Atomic != 0 && d.adapter.port.atomic == abi.AtomicNone:
		return fail("%w: the device does no atomic operations", errors.ErrUnsupported)
	case conn != nil && !d.adapter.port.windows():
		return fail("%w: the device has no memory windows of type 2, and its keys are for all connections of a domain", errors.ErrUnsupported)
	}
	only, ours := conn.(*queue)
	if conn != nil && (!ours || only.dom != d) {
		return fail("the connection is of another domain")
	}
	if err := d.adapter.mayOnDemand(rights); err != nil {
		return fail("%w", err)
	}
	if err := d.begin(); err != nil {
		return fail("the domain: %w", err)
	}
	defer d.making.Done()
	r, err := d.enroll(m, rights, only)
	if err != nil {
		return fail("%w", err)
	}
	return r.keys, nil
}

// begin counts a registration or a queue that is being made, unless the domain is closed: Close waits for it.
func (d *domain) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended == nil {
		d.making.Add(1)
	}
	return d.ended
}

// maxReplaced bounds how many registrations are tried for a key that no peer takes for another.
const maxReplaced = 256

// enroll registers memory, verifies that it stayed where it was, and gives it keys. No lock is held while it is pinned.
func (d *domain) enroll(m rdma.Memory, rights barewire.Rights, only *queue) (*region, error) {
	var before *places
	if !m.Opaque {
		before = whereIs(m.Base, m.Len)
	}
	var spare []*region
	defer func() {
		for _, r := range spare {
			_ = d.release(r)
		}
	}()
	if rights == 0 {
		only = nil // there is no key that could be for one
	}
	for {
		r, err := d.admitted(m, rights, only)
		if err != nil {
			return nil, explain(err, uint64(m.Len))
		}
		if lost := before.moved(); lost != nil {
			err := d.release(r)
			lost.restore()
			return nil, errors.Join(lost, err)
		}
		if only != nil {
			if err := d.openWindow(r); err != nil {
				return nil, errors.Join(err, d.release(r))
			}
		}
		if len(spare) == maxReplaced || d.keep(r) {
			return r, nil
		}
		spare = append(spare, r)
	}
}

// admitted registers memory with the device, and gives it its keys. The remote one is a window's where that can be, and else that of the
// registration, which then has the rights.
func (d *domain) admitted(m rdma.Memory, rights barewire.Rights, only *queue) (*region, error) {
	a := d.adapter
	if rights == 0 {
		return d.pinned(&m, 0, abi.AccessLocalWrite|a.sinkAccess())
	}
	why := a.noWindows()
	if only != nil || why == "" {
		r, err := d.windowed(&m, rights, only)
		if err == nil || only != nil || !errors.Is(err, errNoWindow) {
			return r, err
		}
		why = err.Error()
	}
	r, err := d.pinned(&m, rights, access(rights)|a.sinkAccess())
	if err != nil {
		return nil, err
	}
	r.why, r.keys.R = why, rdma.RKey(abi.At(r.mr).U32(abi.MRRKey))
	if a.noWindows() == "" {
		level := slog.LevelInfo
		if a.windowless.Swap(true) {
			level = slog.LevelDebug
		}
		a.logger.Log(context.Background(), level, "verbs: a region has no memory window: revoking what it grants will register it anew", "device", a.port.name(), "region", m.Name, "reason", why)
	}
	return r, nil
}

// errNoWindow is what the device could not give memory a window for, though it has them.
var errNoWindow = errors.New("a memory window cannot be had")

// windowed registers memory that is reached by a window.
func (d *domain) windowed(m *rdma.Memory, rights barewire.Rights, only *queue) (*region, error) {
	acc := uintptr(abi.AccessLocalWrite)
	if only != nil || d.adapter.settles {
		acc |= abi.AccessBindWindow
	}
	r, err := d.pinned(m, rights, acc)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoWindow, err)
	}
	if r.only = only; only != nil {
		return r, nil
	}
	if err := d.shareWindow(r, m); err != nil {
		if left := d.release(r); left != nil {
			return nil, errors.Join(err, left)
		}
		return nil, fmt.Errorf("%w: %w", errNoWindow, err)
	}
	return r, nil
}

// pinned registers memory with the device.
func (d *domain) pinned(m *rdma.Memory, rights barewire.Rights, acc uintptr) (*region, error) {
	mr, addr, err := d.take(m, acc)
	if err != nil {
		return nil, err
	}
	r := &region{mr: mr, opaque: m.Opaque, base: uintptr(m.Base), len: uint64(m.Len), addr: addr, rights: rights, name: m.Name}
	r.keys = rdma.Keys{L: rdma.LKey(abi.At(mr).U32(abi.MRLKey)), Addr: addr}
	if rights != 0 {
		r.told = map[*queue]bool{}
	}
	return r, nil
}

// take registers memory in the way that it takes.
func (d *domain) take(m *rdma.Memory, acc uintptr) (mr uintptr, addr uint64, err error) {
	switch {
	case m.Opaque:
		return d.pinBuffer(m, acc)
	case d.adapter.demand:
		acc |= abi.AccessOnDemand
	}
	return d.pin(m.Base, m.Len, acc)
}

// release takes memory back from the device: its window, then the registration behind it.
func (d *domain) release(r *region) error {
	if err := d.closeWindow(r); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mr == 0 {
		return nil
	}
	if err := d.unpin(r.mr); err != nil {
		return err
	}
	r.mr = 0
	return nil
}

// keep makes a region one of the domain's, unless its key is one that some peer takes for what it was before: that would let
// the peer in.
func (d *domain) keep(r *region) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held[r.keys.R] != nil {
		return false
	}
	d.epoch++
	r.keys.Epoch = d.epoch
	d.local[r.keys.L] = r
	if r.told != nil {
		d.remote[r.keys.R] = r
	}
	return true
}

// Deregister makes keys invalid and unpins the memory. When the device has deregistered, it lets nobody in any more.
func (d *domain) Deregister(_ context.Context, k rdma.Keys) error {
	d.mu.RLock()
	r := d.local[k.L]
	known := r != nil && r.keys == k
	d.mu.RUnlock()
	if !known {
		return fmt.Errorf("verbs: deregister: the keys %#x and %#x are not registered here", uint32(k.L), uint32(k.R))
	}
	if err := d.end(r); err != nil {
		return fmt.Errorf("verbs: deregister %s: %w", r.name, err)
	}
	d.mu.Lock()
	if d.local[k.L] == r {
		delete(d.local, k.L)
	}
	d.mu.Unlock()
	return nil
}

// end deregisters memory and tells the peers who know its key. Its keys stay known to Deregister.
func (d *domain) end(r *region) error {
	d.mu.Lock()
	r.dead.Store(true)
	told := slices.Collect(maps.Keys(r.told))
	d.tellEnded(r)
	d.mu.Unlock()
	if err := d.release(r); err != nil {
		return err
	}
	for _, q := range told {
		q.settle()
	}
	return nil
}

// tellEnded tells the peers who know a region's key that it has ended. The domain is locked.
func (d *domain) tellEnded(r *region) {
	if d.remote[r.keys.R] == r {
		delete(d.remote, r.keys.R)
	}
	if len(r.told) > 0 {
		for q := range r.told {
			q.ctl.tellEnded(r.keys.R, r.keys.Epoch)
		}
		d.held[r.keys.R] = &retired{epoch: r.keys.Epoch, peers: r.told}
	}
	r.told = nil
}

// invalidated notes that the peer has ended a key of its own by a send, which the device has done, and reports whether there was
// such a key.
func (d *domain) invalidated(q *queue, key rdma.RKey) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.remote[key]
	if r == nil || r.only != q {
		return false
	}
	delete(d.remote, key)
	r.told = map[*queue]bool{}
	return true
}

// forgotten notes that a peer knows that a key has ended.
func (d *domain) forgotten(q *queue, key rdma.RKey, epoch uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x := d.held[key]; x != nil && x.epoch == epoch {
		if delete(x.peers, q); len(x.peers) == 0 {
			delete(d.held, key)
		}
	}
}

// find is a registration by its local key, nil where there is none that is good.
func (d *domain) find(key rdma.LKey) *region {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if r := d.local[key]; r != nil && !r.dead.Load() {
		return r
	}
	return nil
}

// asked is what a peer is told of a key: the memory, or why not.
func (d *domain) asked(q *queue, key rdma.RKey, epoch uint32) (r *region, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r = d.remote[key]
	switch {
	case r == nil || r.dead.Load() || key == 0:
		return nil, "there is no such key, or no longer"
	case r.keys.Epoch != epoch:
		return nil, fmt.Sprintf("the key is of the registration %d now, not of %d", r.keys.Epoch, epoch)
	case r.only != nil && r.only != q:
		return nil, "the key is for another connection"
	}
	r.told[q] = true
	return r, ""
}

// explain adds what a person can do about an error of registering.
func explain(err error, need uint64) error {
	switch {
	case errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EPERM): // EPERM where the limit is 0
		if m := memlock(need); m != nil {
			return errors.Join(m, err)
		}
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("the kernel does not pin such memory for long, as files of a DAX file system are: use device-dax: %w", err)
	case errors.Is(err, unix.EFAULT):
		return fmt.Errorf("part of it is not mapped, or not for writing: %w", err)
	}
	return err
}

package shm

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var (
	errClosed  = errors.New("shm: it is closed")
	errNoKey   = errors.New("shm: there is no such key in the domain")
	errTooMany = errors.New("shm: too many keys: 65535 are registered")
)

// domain is memory and queues that may be used together.
type domain struct {
	a *adapter

	// keys is read without a lock, for each operation. A key's low 16 bits say
	// where it is, the rest is random.
	keys atomic.Pointer[[]atomic.Pointer[registration]]

	mu        sync.Mutex
	closed    bool
	free      []uint16 // places in keys that nobody has
	epoch     uint32
	queues    map[*queue]struct{}
	listeners map[*listener]struct{}
}

const (
	indexBits = 16
	indexMask = 1<<indexBits - 1
)

// registration is memory that is registered.
type registration struct {
	name   string
	base   unsafe.Pointer
	length int
	rights barewire.Rights
	lkey   uint32
	rkey   uint32 // 0: nothing remote
	epoch  uint32
	addr   uint64 // where the memory begins in the key's space
	scope  *queue // who may use the key, nil: all of the domain
	fd     int    // to pass to peers, -1: none
	offset uint64 // in the file
	// exposed is told before a peer gets the descriptor that is not trusted; may be nil.
	exposed func()

	ended  atomic.Bool // no longer good; what follows is what is left to take back
	mu     sync.Mutex
	grants []*grant // to queues
}

func newDomain(a *adapter) *domain {
	d := &domain{a: a, queues: map[*queue]struct{}{}, listeners: map[*listener]struct{}{}, epoch: uint32(random())}
	keys := make([]atomic.Pointer[registration], 1) // place 0 is nobody's, so no key is 0
	d.keys.Store(&keys)
	return d
}

// random is 64 bits that nobody can guess.
func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it cannot fail (crypto/rand)
	return binary.NativeEndian.Uint64(b[:])
}

// at is the registration in the place of a key, which may have another key by now.
func (d *domain) at(key uint32) *registration {
	keys := *d.keys.Load()
	if i := key & indexMask; int(i) < len(keys) {
		return keys[i].Load()
	}
	return nil
}

// local checks a segment: that its memory is registered in this domain.
func (d *domain) local(s *rdma.Segment) bool {
	r := d.at(uint32(s.Key))
	if r == nil || r.lkey != uint32(s.Key) || r.ended.Load() {
		return false
	}
	off := uintptr(s.Ptr) - uintptr(r.base)
	return s.Len >= 0 && off <= uintptr(r.length) && uintptr(s.Len) <= uintptr(r.length)-off
}

// Register makes memory known. With remote rights it needs a file: the memory
// must be a shared mapping of it.
func (d *domain) Register(m rdma.Memory, rights barewire.Rights, conn rdma.Queue) (rdma.Keys, error) {
	if m.Base == nil || m.Len <= 0 {
		return rdma.Keys{}, fmt.Errorf("shm: %s has no memory that this processor can reach", m.Name)
	}
	if uintptr(m.Base)%entrySize != 0 {
		return rdma.Keys{}, fmt.Errorf("shm: %s begins at %p, which is not aligned", m.Name, m.Base)
	}
	r := &registration{name: m.Name, base: m.Base, length: m.Len, rights: rights, fd: -1, exposed: m.Exposed}
	if conn != nil {
		q, ok := conn.(*queue)
		if !ok || q.dom != d {
			return rdma.Keys{}, errors.New("shm: a key can be scoped to a connection of its own domain only")
		}
		r.scope = q
	}
	if rights != 0 {
		if err := r.takeFile(m); err != nil {
			return rdma.Keys{}, fmt.Errorf("shm: registering %s: %w", m.Name, err)
		}
	}
	if err := d.add(r); err != nil {
		r.closeFile()
		return rdma.Keys{}, err
	}
	return rdma.Keys{L: rdma.LKey(r.lkey), R: rdma.RKey(r.rkey), Addr: r.addr, Epoch: r.epoch}, nil
}

// writable reports whether a peer needs a mapping that it can store to.
func writable(rights barewire.Rights) bool { return rights&(region.Write|region.Atomic) != 0 }

// takeFile keeps a descriptor of the memory's file, as weak as the rights allow.
func (r *registration) takeFile(m rdma.Memory) error {
	if m.File == nil {
		return errors.New("peers map the memory, but it has no file")
	}
	f, offset, err := m.File()
	if err != nil {
		return fmt.Errorf("peers map the memory, but it has no file: %w", err)
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	cerr := raw.Control(func(fd uintptr) {
		if offset < 0 {
			err = fmt.Errorf("it begins at %d in its file", offset)
		} else if err = checkFile(int(fd), uint64(offset)+uint64(m.Len), writable(r.rights)); err != nil {
			return
		}
		if writable(r.rights) {
			r.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
			err = os.NewSyscallError("fcntl(F_DUPFD_CLOEXEC)", err)
		} else {
			r.fd, err = readOnly(int(fd))
		}
	})
	r.offset = uint64(offset)
	return errors.Join(cerr, err)
}

func (r *registration) closeFile() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fd >= 0 {
		unix.Close(r.fd)
		r.fd = -1
	}
}

// add gives a registration its keys and its place.
func (d *domain) add(r *registration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errClosed
	}
	keys := *d.keys.Load()
	var place int
	if n := len(d.free); n > 0 {
		place, d.free = int(d.free[n-1]), d.free[:n-1]
	} else {
		place = len(keys)
		if place > indexMask {
			return errTooMany
		}
		// Places that have an owner keep it: the slice grows in a copy.
		grown := make([]atomic.Pointer[registration], 2*len(keys))
		for i := range keys {
			grown[i].Store(keys[i].Load())
		}
		for i := len(grown) - 1; i > place; i-- {
			d.free = append(d.free, uint16(i))
		}
		keys = grown
		d.keys.Store(&grown)
	}
	d.epoch++
	for r.lkey>>indexBits == r.rkey>>indexBits {
		r.lkey, r.rkey = uint32(random())&^indexMask|uint32(place), uint32(random())&^indexMask|uint32(place)
	}
	r.epoch = d.epoch
	// Page-aligned, never the address of anything, and low enough that no sum overflows.
	r.addr = random() >> 17 &^ 0xffff
	if r.rights == 0 {
		r.rkey, r.addr, r.epoch = 0, 0, 0
	}
	keys[place].Store(r)
	return nil
}

// Deregister makes keys invalid and waits until no peer is in the memory. If one
// stays there, its connection is ended and the error says which: the memory
// must be kept, and Deregister may be called again.
func (d *domain) Deregister(ctx context.Context, k rdma.Keys) error {
	r := d.at(uint32(k.L))
	if r == nil || r.lkey != uint32(k.L) {
		return errNoKey
	}
	if err := d.retire(ctx, r); err != nil {
		return err
	}
	d.remove(r)
	return nil
}

// retire ends all access through a registration's keys, and waits for what is in progress.
func (d *domain) retire(ctx context.Context, r *registration) error {
	r.ended.Store(true)
	d.settle()
	r.mu.Lock()
	grants := slices.Clone(r.grants)
	r.mu.Unlock()
	for _, g := range grants {
		g.withdraw()
	}
	end := deadline(ctx, d.a.letGo)
	var errs []error
	for _, g := range grants {
		if err := g.wait(ctx, end); err != nil {
			errs = append(errs, fmt.Errorf("shm: deregistering %s: %w", r.name, err))
		}
	}
	r.closeFile()
	return errors.Join(errs...)
}

// settle waits until no queue of the domain is inside a copy that it began
// before now.
func (d *domain) settle() {
	d.mu.Lock()
	queues := make([]*queue, 0, len(d.queues))
	for q := range d.queues {
		queues = append(queues, q)
	}
	d.mu.Unlock()
	for _, q := range queues {
		q.settle()
	}
}

// remove gives the place of a registration free. Once only, whoever calls it.
func (d *domain) remove(r *registration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	place := r.lkey & indexMask
	if (*d.keys.Load())[place].CompareAndSwap(r, nil) {
		d.free = append(d.free, uint16(place))
	}
}

// enter makes a queue one of the domain's.
func (d *domain) enter(q *queue) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errClosed
	}
	d.queues[q] = struct{}{}
	return nil
}

func (d *domain) leave(q *queue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.queues, q)
}

// Close ends what is left: listeners, queues, keys. Keys can still be
// deregistered, by those who own the memory. If a peer stays in the memory of one the
// error says which, and Close may be called again.
func (d *domain) Close() error {
	d.mu.Lock()
	d.closed = true
	listeners, queues := d.listeners, d.queues
	d.listeners, d.queues = map[*listener]struct{}{}, map[*queue]struct{}{}
	d.mu.Unlock()
	for l := range listeners {
		_ = l.Close()
	}
	var closing sync.WaitGroup
	for q := range queues {
		closing.Go(func() { _ = q.Close() })
	}
	closing.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), d.a.letGo+time.Second)
	defer cancel()
	keys := *d.keys.Load()
	var errs []error
	for i := range keys {
		if r := keys[i].Load(); r != nil {
			errs = append(errs, d.retire(ctx, r))
		}
	}
	err := errors.Join(errs...)
	if err == nil {
		d.a.forget(d)
	}
	return err
}

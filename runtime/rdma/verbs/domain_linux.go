//go:build amd64 || arm64

package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// domain is a protection domain. What follows the mutex is guarded by it.
type domain struct {
	adapter *adapter
	pd      uintptr // struct ibv_pd
	word    flushWord
	binder  binder
	life    context.Context // ends when Close begins
	die     context.CancelFunc
	making  sync.WaitGroup // registrations and queues that are being made
	closing sync.Mutex
	gone    bool // all is given back to the device; guarded by closing

	mu        sync.RWMutex
	ended     error
	epoch     uint32
	local     map[rdma.LKey]*region
	remote    map[rdma.RKey]*region
	held      map[rdma.RKey]*retired // keys that peers may still take for good
	queues    map[*queue]bool
	listeners map[io.Closer]bool
}

// flushWord is a page that peers may read: who reads it knows that what it wrote before is placed.
type flushWord struct {
	block abi.Block
	mr    uintptr
	addr  uint64
	key   uint32
}

func newDomain(a *adapter) (*domain, error) {
	pd, err := a.lib.make("ibv_alloc_pd", a.lib.allocPD, a.ctx)
	if err != nil {
		return nil, err
	}
	d := &domain{
		adapter: a, pd: pd, local: map[rdma.LKey]*region{}, remote: map[rdma.RKey]*region{}, held: map[rdma.RKey]*retired{},
		queues: map[*queue]bool{}, listeners: map[io.Closer]bool{},
	}
	d.life, d.die = context.WithCancel(context.Background())
	if err := d.makeWord(); err != nil {
		return nil, errors.Join(err, a.lib.do("ibv_dealloc_pd", a.lib.deallocPD, pd))
	}
	return d, nil
}

func (d *domain) makeWord() (err error) {
	w := &d.word
	if w.block, err = abi.NewBlock(4096); err != nil {
		return err
	}
	if w.mr, w.addr, err = d.pin(w.block.Ptr(0), 4096, abi.AccessRemoteRead); err != nil {
		w.block.Free()
		return explain(err, 4096)
	}
	w.key = abi.At(w.mr).U32(abi.MRRKey)
	return nil
}

func (d *domain) endWord() error {
	if d.word.mr == 0 {
		return nil
	}
	if err := d.unpin(d.word.mr); err != nil {
		return err
	}
	d.word.block.Free()
	d.word.mr = 0
	return nil
}

// pin registers memory with the device, at an address that is not the process' where the library can.
func (d *domain) pin(base unsafe.Pointer, n int, access uintptr) (mr uintptr, addr uint64, err error) {
	lib := d.adapter.lib
	addr = uint64(uintptr(base))
	if lib.regMRIova != 0 && !d.adapter.iwarp() {
		addr = randomAddress(uintptr(base))
		mr, err = lib.make("ibv_reg_mr_iova", lib.regMRIova, d.pd, uintptr(base), uintptr(n), uintptr(addr), access)
	} else {
		mr, err = lib.make("ibv_reg_mr", lib.regMR, d.pd, uintptr(base), uintptr(n), access)
	}
	return mr, addr, err
}

func (d *domain) unpin(mr uintptr) error {
	return d.adapter.undo("ibv_dereg_mr", d.adapter.lib.deregMR, mr)
}

// admit makes a queue one of the domain's, until forget.
func (d *domain) admit(q *queue) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended != nil {
		return fmt.Errorf("the domain: %w", d.ended)
	}
	d.queues[q] = true
	return nil
}

// forget takes a queue out that is closed: what it was told of keys counts no longer.
func (d *domain) forget(q *queue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.queues, q)
	for _, r := range d.remote {
		delete(r.told, q)
	}
	for key, x := range d.held {
		if delete(x.peers, q); len(x.peers) == 0 {
			delete(d.held, key)
		}
	}
}

// Close ends listeners, queues and keys, and what dials. After an error it may be called again.
func (d *domain) Close() error {
	d.mu.Lock()
	if d.ended == nil {
		d.ended = errClosed
	}
	var listeners []io.Closer
	for l := range d.listeners {
		listeners = append(listeners, l)
	}
	var queues []*queue
	for q := range d.queues {
		queues = append(queues, q)
	}
	d.mu.Unlock()
	d.die()
	var errs []error
	for _, l := range listeners {
		errs = append(errs, l.Close())
	}
	for _, q := range queues {
		errs = append(errs, q.Close())
	}
	d.making.Wait()
	d.closing.Lock()
	defer d.closing.Unlock()
	if d.gone {
		return errors.Join(errs...)
	}
	for _, r := range d.regions() {
		errs = append(errs, d.end(r))
	}
	errs = append(errs, d.binder.close(d), d.endWord())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("verbs: close the domain: %w", err)
	}
	if err := d.adapter.undo("ibv_dealloc_pd", d.adapter.lib.deallocPD, d.pd); err != nil {
		return fmt.Errorf("verbs: close the domain: %w", err)
	}
	d.gone = true
	d.adapter.forget(d)
	return nil
}

// regions is what is registered, and what is to be deregistered still.
func (d *domain) regions() (rs []*region) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, r := range d.local {
		rs = append(rs, r)
	}
	return rs
}

package iwarp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// domain is a protection domain: its keys are good for the peers of its queues.
type domain struct {
	adapter *adapter
	guard   *guard
	log     seldom
	life    context.Context // ends when Close begins
	die     context.CancelFunc

	mu        sync.RWMutex
	ended     error // why nothing can be made in it any more
	epoch     uint32
	local     map[rdma.LKey]*registration // ended ones too, until they are deregistered
	remote    map[uint32]*registration
	endings   endedKeys
	admitted  uint64                // queues, ever
	queues    map[*queue]netip.Addr // and where from, for those that were accepted
	listeners map[*listener]bool
}

func newDomain(a *adapter) *domain {
	d := &domain{
		adapter: a, guard: newGuard(a.conns),
		local: map[rdma.LKey]*registration{}, remote: map[uint32]*registration{},
		queues: map[*queue]netip.Addr{}, listeners: map[*listener]bool{},
	}
	d.log.logger = a.logger
	d.life, d.die = context.WithCancel(context.Background())
	return d
}

// admit makes a queue one of the domain's, until forget.
func (d *domain) admit(q *queue) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended != nil {
		return fmt.Errorf("the domain: %w", d.ended)
	}
	d.queues[q] = netip.Addr{}
	d.admitted++
	q.number, q.since = d.admitted, d.endings.count
	return nil
}

// came notes where an accepted queue's connection is from. It reports false where the queue is closed already.
func (d *domain) came(q *queue, from netip.Addr) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.queues[q]; !ok {
		return false
	}
	d.queues[q] = from
	return true
}

// forget takes out a queue that is closed.
func (d *domain) forget(q *queue) {
	d.mu.Lock()
	from := d.queues[q]
	delete(d.queues, q)
	d.mu.Unlock()
	d.guard.leave(from)
}

// settleTimeout bounds how long Close waits for accesses in progress.
const settleTimeout = 2 * time.Second

// Close ends listeners, queues and keys, and what dials. When it returns nil no access is in progress. After an error it may be
// called again.
func (d *domain) Close() error {
	d.mu.Lock()
	if d.ended == nil {
		d.ended = errClosed
	}
	var listeners []*listener
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
	if err := errors.Join(append(errs, d.endKeys())...); err != nil {
		return err
	}
	d.adapter.forget(d)
	return nil
}

// endKeys makes all keys invalid and waits for accesses in progress.
func (d *domain) endKeys() error {
	d.mu.Lock()
	var rs []*registration
	for _, r := range d.local {
		d.drop(r)
		rs = append(rs, r)
	}
	d.mu.Unlock()
	late := time.NewTimer(settleTimeout)
	defer late.Stop()
	for _, r := range rs {
		select {
		case <-r.idle:
		case <-late.C:
			return fmt.Errorf("iwarp: close: an access to %s is in progress since %v", r.name, settleTimeout)
		}
	}
	return nil
}

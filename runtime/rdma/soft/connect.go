package soft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// acceptor is a name that can be dialed.
type acceptor struct {
	dom   *domain
	addr  string
	calls chan *call

	once sync.Once
	done chan struct{} // closed by Close
}

// call is a peer that dials. Either the acceptor answers it or the dialer
// gives it up: whoever sets taken first.
type call struct {
	dom   *domain
	hello []byte
	taken atomic.Bool
	reply chan reply // has room for one
}

type reply struct {
	q   *queue
	err error
}

// Listen takes any name that is free. An empty one stands for one that is made up.
func (d *domain) Listen(ctx context.Context, addr string) (rdma.Acceptor, error) {
	f := d.fabric
	if addr == "" {
		addr = f.nextName("listener")
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("soft: listen at %q: %w", addr, err)
	}
	l := &acceptor{dom: d, addr: addr, calls: make(chan *call), done: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended != nil {
		return nil, fmt.Errorf("soft: listen at %q: the domain cannot: %w", addr, d.ended)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listening[addr] != nil {
		return nil, fmt.Errorf("soft: listen at %q: somebody listens there already", addr)
	}
	f.listening[addr] = l
	d.listeners[l] = true
	return l, nil
}

func (l *acceptor) Addr() string { return l.addr }

// Close frees the name. Peers that wait to be accepted are refused.
func (l *acceptor) Close() error {
	l.once.Do(func() {
		d, f := l.dom, l.dom.fabric
		d.mu.Lock()
		delete(d.listeners, l)
		f.mu.Lock()
		delete(f.listening, l.addr)
		f.mu.Unlock()
		d.mu.Unlock()
		close(l.done)
	})
	return nil
}

// Accept waits for a peer that answer does not refuse.
func (l *acceptor) Accept(ctx context.Context, answer func(hello []byte) ([]byte, error)) (rdma.Queue, error) {
	return l.AcceptFrom(ctx, func(_ rdma.Request, hello []byte) ([]byte, error) { return answer(hello) })
}

// AcceptFrom is Accept, and answer is told who the peer is.
func (l *acceptor) AcceptFrom(ctx context.Context, answer func(who rdma.Request, hello []byte) ([]byte, error)) (rdma.Queue, error) {
	for {
		var c *call
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("soft: accept at %q: %w", l.addr, ctx.Err())
		case <-l.done:
			return nil, fmt.Errorf("soft: accept at %q: %w", l.addr, errClosed)
		case c = <-l.calls:
		}
		if q, err := l.meet(c, answer); q != nil || err != nil {
			return q, err
		}
	}
}

// meet answers one peer. It returns nothing where the peer was refused or gave up.
func (l *acceptor) meet(c *call, answer func(rdma.Request, []byte) ([]byte, error)) (rdma.Queue, error) {
	name := l.dom.fabric.nextName("dialer")
	hello, err := answer(rdma.Request{Peer: name, Process: self()}, slices.Clone(c.hello))
	if err == nil {
		err = l.dom.fabric.refused(AtAccept, nil, l.addr)
	}
	if !c.taken.CompareAndSwap(false, true) {
		return nil, nil
	}
	if err != nil {
		c.reply <- reply{err: err}
		return nil, nil
	}
	own, theirs := newPair(l.dom, c.dom, name, l.addr)
	own.hello, theirs.hello = slices.Clone(c.hello), slices.Clone(hello)
	own.plain, theirs.plain = len(hello) == 0, len(hello) == 0
	if err := l.dom.admit(own); err != nil {
		c.reply <- reply{err: errors.New("the peer is closing")}
		return nil, fmt.Errorf("soft: accept at %q: %w", l.addr, err)
	}
	if err := c.dom.admit(theirs); err != nil {
		c.reply <- reply{err: err}
		l.dom.forget(own)
		return nil, nil
	}
	c.reply <- reply{q: theirs}
	return own, nil
}

// admit makes a queue one of the domain's.
func (d *domain) admit(q *queue) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended == nil {
		d.queues[q] = true
	}
	return d.ended
}

// Dial waits to be accepted at a name that somebody listens at.
func (d *domain) Dial(ctx context.Context, addr string, hello []byte) (rdma.Queue, error) {
	fail := func(err error) (rdma.Queue, error) { return nil, fmt.Errorf("soft: dial %q: %w", addr, err) }
	d.mu.RLock()
	ended := d.ended
	d.mu.RUnlock()
	if ended != nil {
		return fail(fmt.Errorf("the domain cannot: %w", ended))
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	f := d.fabric
	if err := f.refused(AtDial, nil, addr); err != nil {
		return fail(err)
	}
	f.mu.Lock()
	l := f.listening[addr]
	f.mu.Unlock()
	if l == nil {
		return fail(errors.New("nobody listens there"))
	}
	c := &call{dom: d, hello: slices.Clone(hello), reply: make(chan reply, 1)}
	select {
	case <-ctx.Done():
		return fail(ctx.Err())
	case <-l.done:
		return fail(errors.New("nobody listens there any more"))
	case l.calls <- c:
	}
	var r reply
	select {
	case r = <-c.reply:
	case <-ctx.Done():
		if c.taken.CompareAndSwap(false, true) {
			return fail(ctx.Err())
		}
		r = <-c.reply // it is on its way
	}
	if r.err != nil {
		return fail(fmt.Errorf("%w: %w", rdma.ErrRefused, r.err))
	}
	return r.q, nil
}

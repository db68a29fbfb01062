//go:build amd64 || arm64

package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// Connections to other programs, with rdma.Config.Plain, are made by rdma_cm: nothing is exchanged beside it, and nothing
// is known of the peer's keys. Between programs of ours see gate_linux.go.

// noDeadline takes a deadline away.
var noDeadline time.Time

// maxPrivate is the bytes of private data that every transport has room for. Source: rdma_connect(3).
const maxPrivate = 56

// backlog is how many peers wait for Accept.
const backlog = 64

func interfaceByName(zone string) (int, error) {
	i, err := net.InterfaceByName(zone)
	if err != nil {
		return 0, err
	}
	return i.Index, nil
}

// resolve is the IP address and port of a host:port.
func resolve(ctx context.Context, addr string) (netip.AddrPort, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return netip.AddrPort{}, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if host == "" {
		return netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(port)), nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.AddrPortFrom(ips[0].Unmap(), uint16(port)), nil
}

// dialCM connects by rdma_cm.
func (d *domain) dialCM(ctx context.Context, addr string, hello []byte) (*queue, error) {
	if len(hello) > maxPrivate {
		return nil, fmt.Errorf("a greeting of %d bytes, and there is room for %d", len(hello), maxPrivate)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.life, func() { cancel(fmt.Errorf("the domain: %w", errClosed)) })()
	ctx, stop := context.WithTimeout(ctx, d.adapter.handshake)
	defer stop()
	to, err := resolve(ctx, addr)
	if err != nil {
		return nil, err
	}
	m, err := newMeeting(d.adapter.lib, 0)
	if err != nil {
		return nil, err
	}
	q, err := d.meet(ctx, m, to, to.String(), hello)
	if err != nil {
		if q != nil {
			err = errors.Join(err, q.release())
		}
		m.close()
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return q, d.adopt(q, m)
}

// meet finds the way, and connects a new queue pair, to a peer that is called so. What it made is returned with an error, too.
func (d *domain) meet(ctx context.Context, m *meeting, to netip.AddrPort, peer string, hello []byte) (*queue, error) {
	a := d.adapter
	patience := uintptr(a.handshake.Milliseconds())
	err := m.classify(a)
	if err == nil {
		err = m.call("rdma_resolve_addr", m.cm.resolveAddr, 0, m.address(to), patience)
	}
	if err == nil {
		_, err = m.expect(ctx, abi.CMAddrResolved)
	}
	if err == nil {
		err = m.on(&a.port)
	}
	if err == nil {
		err = m.call("rdma_resolve_route", m.cm.resolveRoute, patience)
	}
	if err == nil {
		_, err = m.expect(ctx, abi.CMRouteResolved)
	}
	if err != nil {
		return nil, err
	}
	q, err := newQueue(d, peer)
	if err != nil {
		return nil, err
	}
	if err := m.prepare(q); err != nil {
		return q, err
	}
	if err := m.call("rdma_connect", m.cm.connect, m.parameters(q.hw.qpn(), hello, a.port.serves, a.port.asks)); err != nil {
		return q, err
	}
	e, err := m.expect(ctx, abi.CMConnectResponse, abi.CMEstablished)
	if err != nil {
		return q, err
	}
	q.hello = e.data
	if a.iwarp() {
		return q, nil // the kernel has moved the queue pair
	}
	if err := m.connectQP(q, min(a.port.serves, e.serves), min(a.port.asks, e.asks)); err != nil {
		return q, err
	}
	return q, m.call("rdma_establish", m.cm.establish)
}

// adopt makes a connected queue the domain's, of a peer that is another program.
func (d *domain) adopt(q *queue, m *meeting) error {
	q.plain, q.keys.open, q.cm = true, true, m
	if err := d.admit(q); err != nil {
		return errors.Join(err, q.Close())
	}
	q.watchEnd(m)
	return nil
}

// watchEnd hears from now on that the peer leaves.
func (q *queue) watchEnd(m *meeting) {
	q.cm = m
	q.watching.Add(1)
	go func() {
		defer q.watching.Done()
		m.watch(q)
	}()
}

// cmListener takes peers in that come by rdma_cm.
type cmListener struct {
	dom  *domain
	m    *meeting
	addr string
	life context.Context
	die  context.CancelFunc
	once sync.Once
	mu   sync.Mutex // of who accepts
}

// listenCM listens by rdma_cm.
func (d *domain) listenCM(ctx context.Context, addr string) (rdma.Acceptor, error) {
	at, err := resolve(ctx, addr)
	if err != nil {
		return nil, err
	}
	m, err := newMeeting(d.adapter.lib, 0)
	if err != nil {
		return nil, err
	}
	err = m.classify(d.adapter)
	if err == nil {
		err = m.call("rdma_bind_addr", m.cm.bindAddr, m.address(at))
	}
	if err == nil && !at.Addr().IsUnspecified() {
		err = m.on(&d.adapter.port)
	}
	if err == nil {
		err = m.call("rdma_listen", m.cm.listen, backlog)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	l := &cmListener{dom: d, m: m, addr: netip.AddrPortFrom(at.Addr(), m.port()).String()}
	l.life, l.die = context.WithCancel(d.life)
	return l, nil
}

// Addr is where it listens.
func (l *cmListener) Addr() string { return l.addr }

// Accept takes the next peer that is not refused.
func (l *cmListener) Accept(ctx context.Context, answer func([]byte) ([]byte, error)) (rdma.Queue, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		e, err := l.m.next(ctx)
		if err != nil {
			if l.life.Err() != nil {
				err = fmt.Errorf("the listener: %w", errClosed)
			}
			return nil, fmt.Errorf("verbs: accept at %s: %w", l.addr, err)
		}
		if e.kind != abi.CMConnectRequest {
			continue
		}
		m, err := newMeeting(l.dom.adapter.lib, e.id)
		if err != nil {
			l.dom.adapter.logger.Warn("verbs: a peer could not be taken in", "listener", l.addr, "reason", err)
			continue
		}
		q, err := l.take(ctx, m, &e, answer)
		if err == nil {
			return q, nil
		}
		m.close()
		l.dom.adapter.logger.Debug("verbs: a peer was not taken in", "listener", l.addr, "reason", err)
	}
}

// take answers a peer and connects it.
func (l *cmListener) take(ctx context.Context, m *meeting, e *cmEvent, answer func([]byte) ([]byte, error)) (*queue, error) {
	d := l.dom
	ctx, cancel := context.WithTimeout(ctx, d.adapter.handshake/2)
	defer cancel()
	ours, err := answer(e.data)
	if err == nil && len(ours) > maxPrivate {
		err = fmt.Errorf("a greeting of %d bytes, and there is room for %d", len(ours), maxPrivate)
	}
	if err == nil {
		err = m.on(&d.adapter.port)
	}
	if err == nil {
		if err = d.begin(); err == nil {
			defer d.making.Done()
		}
	}
	var q *queue
	if err == nil {
		q, err = newQueue(d, "a peer of "+l.addr)
	}
	if err != nil {
		why := []byte(cut(err.Error()))
		why = why[:min(len(why), maxPrivate)]
		m.parameters(0, why, 0, 0)
		_ = m.call("rdma_reject", m.cm.reject, m.block.Addr(dataAt), uintptr(len(why)))
		return nil, err
	}
	serves, asks := min(d.adapter.port.serves, e.serves), min(d.adapter.port.asks, e.asks)
	err = m.prepare(q)
	if err == nil {
		err = m.classify(d.adapter)
	}
	if d.adapter.iwarp() {
		if err != nil {
			return nil, errors.Join(err, q.release())
		}
		q.hello = e.data
		if err := d.adopt(q, m); err != nil {
			return nil, err
		}
		q.putOff(func() error {
			return m.call("rdma_accept", m.cm.accept, m.parameters(q.hw.qpn(), ours, serves, asks))
		})
		return q, nil
	}
	if err == nil {
		err = m.connectQP(q, serves, asks)
	}
	if err == nil {
		err = m.call("rdma_accept", m.cm.accept, m.parameters(q.hw.qpn(), ours, serves, asks))
	}
	if err == nil {
		_, err = m.expect(ctx, abi.CMEstablished)
	}
	if err != nil {
		return nil, errors.Join(err, q.release())
	}
	q.hello = e.data
	return q, d.adopt(q, m)
}

// Close stops listening.
func (l *cmListener) Close() error {
	l.once.Do(func() {
		l.die()
		l.mu.Lock()
		l.m.close()
		l.mu.Unlock()
		l.dom.mu.Lock()
		delete(l.dom.listeners, l)
		l.dom.mu.Unlock()
	})
	return nil
}

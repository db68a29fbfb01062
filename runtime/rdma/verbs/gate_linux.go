//go:build amd64 || arm64

package verbs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/exchange"
)

// Between programs of ours over iWARP: they tell each other over TCP what they are, as over other networks. Then the side that was dialed
// waits by rdma_cm for one peer, at an address and port that it tells with a token, and the one that dials connects its queue pair
// there and says the token. When the other side says over TCP that it is ready, it reads a word of the peer's, so that it is the first to send (RFC 5044,
// section 7.1), and says that it is ready, too: from then on either may. siw does not look at what comes before it has told of the connection
// (drivers/infiniband/sw/siw/siw_cm.c, siw_accept: the answer is sent, and then the socket becomes the queue pair's).

// gate is where a peer's queue pair is waited for.
type gate struct {
	m     *meeting
	at    netip.AddrPort
	token [16]byte
}

// openGate listens at the address of the conversation if the device has that, else at the first address of this host's that it has.
func (d *domain) openGate(local netip.Addr) (*gate, error) {
	addrs := []netip.Addr{local.Unmap()}
	hosts, err := net.InterfaceAddrs()
	for _, a := range hosts {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok && !ip.IsLoopback() && !ip.IsLinkLocalUnicast() && ip.Unmap() != addrs[0] {
				addrs = append(addrs, ip.Unmap())
			}
		}
	}
	for _, a := range addrs {
		var g *gate
		if g, err = d.openGateAt(a); err == nil {
			return g, nil
		}
	}
	return nil, fmt.Errorf("%s has none of this host's addresses: %w", d.adapter.port.name(), err)
}

func (d *domain) openGateAt(a netip.Addr) (*gate, error) {
	m, err := newMeeting(d.adapter.lib, 0)
	if err != nil {
		return nil, err
	}
	if err = m.classify(d.adapter); err == nil {
		err = m.call("rdma_bind_addr", m.cm.bindAddr, m.address(netip.AddrPortFrom(a, 0)))
	}
	if err == nil {
		err = m.on(&d.adapter.port)
	}
	if err == nil {
		err = m.call("rdma_listen", m.cm.listen, backlog)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	g := &gate{m: m, at: netip.AddrPortFrom(a, m.port())}
	_, _ = rand.Read(g.token[:])
	return g, nil
}

// wait waits for the peer that says the token; others are refused.
func (g *gate) wait(ctx context.Context, lib *library) (*meeting, cmEvent, error) {
	for {
		e, err := g.m.next(ctx)
		if err != nil {
			return nil, e, err
		}
		if e.kind != abi.CMConnectRequest {
			continue
		}
		m, err := newMeeting(lib, e.id)
		if err != nil {
			return nil, e, err
		}
		if len(e.data) >= len(g.token) && [16]byte(e.data) == g.token { // transports may pad it
			return m, e, nil
		}
		m.parameters(0, nil, 0, 0)
		_ = m.call("rdma_reject", m.cm.reject, 0, 0)
		m.close()
	}
}

// takeGate connects a peer of iWARP.
func (l *listener) takeGate(ctx context.Context, s *stranger, ours []byte) (*queue, error) {
	d := l.dom
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g, err := d.openGate(addrOf(s.conn.LocalAddr()))
	if err != nil {
		return nil, err
	}
	defer g.m.close()
	q, err := newQueue(d, s.conn.RemoteAddr().String())
	if err != nil {
		return nil, err
	}
	q.keys.flushAddr, q.keys.flushKey = s.setup.FlushAddr, s.setup.FlushKey
	m, err := g.admit(ctx, cancel, s, q, ours)
	if err != nil {
		err = errors.Join(cmp.Or(context.Cause(ctx), err), q.release())
		m.close()
		return nil, err
	}
	q.met(s.conn, s.setup, len(ours) == 0)
	q.watchEnd(m)
	if err := d.admit(q); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	q.ctl.start()
	return q, nil
}

// admit tells the peer of the gate, connects its queue pair, and hears that it is ready. A meeting that it made is returned with an error, too.
func (g *gate) admit(ctx context.Context, cancel context.CancelCauseFunc, s *stranger, q *queue, ours []byte) (*meeting, error) {
	err := say(s.conn, q.dom.setup(ours))
	if err == nil {
		err = say(s.conn, &exchange.Gate{Address: g.at.Addr().As16(), Port: g.at.Port(), Token: g.token})
	}
	if err != nil {
		return nil, err
	}
	ready := make(chan error, 1)
	go func() { // a peer that goes away is not waited for
		err := hearReady(s.conn)
		if err != nil {
			cancel(err)
		}
		ready <- err
	}()
	m, err := g.connect(ctx, q)
	if err == nil {
		err = say(s.conn, &exchange.Ready{})
	}
	if err != nil {
		_ = s.conn.SetReadDeadline(past)
		<-ready
		return m, err
	}
	return m, <-ready
}

// connect connects the peer's queue pair.
func (g *gate) connect(ctx context.Context, q *queue) (*meeting, error) {
	a := q.dom.adapter
	m, e, err := g.wait(ctx, a.lib)
	if err != nil {
		return m, err
	}
	if err = m.on(&a.port); err == nil {
		err = m.prepare(q)
	}
	if err == nil {
		err = m.classify(a)
	}
	if err == nil {
		err = m.call("rdma_accept", m.cm.accept, m.parameters(q.hw.qpn(), nil, min(a.port.serves, e.serves), min(a.port.asks, e.asks)))
	}
	if err == nil {
		_, err = m.expect(ctx, abi.CMEstablished)
	}
	return m, err
}

// converseGate tells a peer of a queue pair of iWARP, hears of its gate, and connects there.
func (d *domain) converseGate(ctx context.Context, conn net.Conn, hello []byte) (*queue, error) {
	theirs, g, err := d.proposeGate(conn, hello)
	if err != nil {
		return nil, err
	}
	ip := netip.AddrFrom16(g.Address).Unmap()
	if ip.Is6() && ip.IsLinkLocalUnicast() {
		ip = ip.WithZone(addrOf(conn.LocalAddr()).Zone())
	}
	for try := 0; ; try++ {
		q, err := d.enter(ctx, conn, theirs, netip.AddrPortFrom(ip, g.Port), g.Token[:])
		if err == nil {
			return q, nil
		}
		if errors.Is(err, rdma.ErrRefused) {
			return nil, err
		}
		_ = conn.SetReadDeadline(time.Now().Add(partPatience))
		if why := hearReady(conn); errors.Is(why, rdma.ErrRefused) {
			return nil, why // the peer's own word
		}
		// rdma_cm chooses the port that a connection comes from, and TCP may find it taken.
		again := errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EADDRINUSE)
		if !again || try == 2 || ctx.Err() != nil {
			return nil, err
		}
		_ = conn.SetReadDeadline(time.Now().Add(d.adapter.handshake))
		d.adapter.logger.Debug("verbs: no way in at the gate, as siw has it now and then; tried again", "peer", conn.RemoteAddr(), "reason", err)
	}
}

// enter connects a queue pair at a gate.
func (d *domain) enter(ctx context.Context, conn net.Conn, theirs *exchange.Setup, gate netip.AddrPort, token []byte) (*queue, error) {
	m, err := newMeeting(d.adapter.lib, 0)
	if err != nil {
		return nil, err
	}
	q, err := d.meet(ctx, m, gate, conn.RemoteAddr().String(), token)
	if err == nil {
		q.keys.flushAddr, q.keys.flushKey = theirs.FlushAddr, theirs.FlushKey
		err = hearReady(conn)
	}
	if err == nil {
		err = q.first(ctx)
	}
	if err == nil {
		err = say(conn, &exchange.Ready{})
	}
	if err != nil {
		if q != nil {
			err = errors.Join(err, q.release())
		}
		m.close()
		return nil, err
	}
	q.met(conn, theirs, len(theirs.Hello) == 0)
	q.watchEnd(m)
	return q, nil
}

// proposeGate says what this side has, and hears the answer and the gate.
func (d *domain) proposeGate(conn net.Conn, hello []byte) (*exchange.Setup, *exchange.Gate, error) {
	theirs, err := d.propose(conn, d.setup(hello))
	if err != nil {
		return nil, nil, err
	}
	m, err := readFrame(conn)
	if err != nil {
		return nil, nil, fmt.Errorf("it did not say where it waits: %w", err)
	}
	if g, ok := m.(*exchange.Gate); ok {
		return theirs, g, nil
	}
	return nil, nil, fmt.Errorf("%w: it said %T, and not where it waits", rdma.ErrProtocol, m)
}

// first reads a word of the peer's, before anybody else has the queue: the side that connects must be the first to send.
func (q *queue) first(ctx context.Context) error {
	n, err := q.Post([]rdma.WorkRequest{{Verb: rdma.VerbFlush}})
	if n != 1 {
		return err
	}
	var c [1]rdma.Completion
	for q.Poll(c[:]) == 0 {
		if err := q.Wait(ctx); err != nil {
			return err
		}
	}
	if c[0].Err != nil {
		return fmt.Errorf("the first read: %w", c[0].Err)
	}
	return nil
}

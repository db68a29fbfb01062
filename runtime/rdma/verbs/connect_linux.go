//go:build amd64 || arm64

package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/exchange"
)

// magic begins the set-up; its last byte is the version.
var magic = [4]byte{'B', 'W', 'V', 2}

func toValid(s string) string { return strings.ToValidUTF8(s, "?") }

// Dial connects to a listener of this package at host:port of TCP or, for plain peers, to another program's of rdma_cm.
func (d *domain) Dial(ctx context.Context, addr string, hello []byte) (rdma.Queue, error) {
	if err := d.begin(); err != nil {
		return nil, fmt.Errorf("verbs: dial %s: the domain: %w", addr, err)
	}
	defer d.making.Done()
	dial := d.dial
	if d.adapter.byCM {
		dial = d.dialCM
	}
	q, err := dial(ctx, addr, hello)
	if err != nil {
		return nil, fmt.Errorf("verbs: dial %s: %w", addr, err)
	}
	return q, nil
}

func (d *domain) dial(ctx context.Context, addr string, hello []byte) (*queue, error) {
	if len(hello) > maxHello {
		return nil, fmt.Errorf("a greeting of %d bytes, and there is room for %d", len(hello), maxHello)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.life, func() { cancel(fmt.Errorf("the domain: %w", errClosed)) })()
	ctx, stop := context.WithTimeoutCause(ctx, d.adapter.handshake, fmt.Errorf("%w: %v", rdma.ErrTimeout, d.adapter.handshake))
	defer stop()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	// Nothing of this conversation outlasts the context.
	_ = conn.SetDeadline(time.Now().Add(d.adapter.handshake))
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(past) })()
	converse := d.converse
	if d.adapter.iwarp() {
		converse = d.converseGate
	}
	q, err := converse(ctx, conn, hello)
	if err != nil {
		return nil, errors.Join(cmp.Or(context.Cause(ctx), err), conn.Close())
	}
	q.ctl.start()
	if err := d.admit(q); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

// converse tells the peer of a queue pair, hears of its, and connects the two.
func (d *domain) converse(_ context.Context, conn net.Conn, hello []byte) (*queue, error) {
	own, err := choose(d.adapter.port.gids, d.adapter.port.kind, d.adapter.index, addrOf(conn.LocalAddr()), nil)
	if err != nil {
		return nil, err
	}
	q, err := newQueue(d, conn.RemoteAddr().String())
	if err != nil {
		return nil, err
	}
	theirs, err := d.propose(conn, q.setup(&own, hello))
	if err == nil {
		err = q.join(theirs, own)
	}
	if err == nil {
		err = say(conn, &exchange.Ready{})
	}
	if err != nil {
		return nil, errors.Join(err, q.release())
	}
	q.met(conn, theirs, len(theirs.Hello) == 0)
	return q, nil
}

// met notes whom a queue pair is connected to: a plain peer says nothing of its keys.
func (q *queue) met(conn net.Conn, theirs *exchange.Setup, plain bool) {
	q.hello, q.plain = theirs.Hello, plain
	q.keys.open = plain
	q.ctl = newControl(q, conn)
}

// propose says what this side has and hears the answer.
func (d *domain) propose(conn net.Conn, ours *exchange.Setup) (*exchange.Setup, error) {
	if err := say(conn, ours); err != nil {
		return nil, err
	}
	m, err := readFrame(conn)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", err)
	}
	switch m := m.(type) {
	case *exchange.Refusal:
		return nil, fmt.Errorf("%w: %s", rdma.ErrRefused, m.Text)
	case *exchange.Setup:
		return m, d.adapter.agrees(m)
	}
	return nil, fmt.Errorf("%w: the answer is %T", rdma.ErrProtocol, m)
}

func say(conn net.Conn, m exchange.MessageMember) error {
	b, err := frame(m)
	if err != nil {
		return err
	}
	_, err = conn.Write(b)
	return err
}

// setup is what this side says of itself, and of its queue pair.
func (d *domain) setup(hello []byte) *exchange.Setup {
	a := d.adapter
	return &exchange.Setup{
		Magic: magic, Link: uint8(a.port.kind), Lid: a.port.lid, Mtu: a.mtu,
		Serves: a.port.serves, Asks: a.port.asks, FlushAddr: d.word.addr, FlushKey: d.word.key, Hello: hello,
	}
}

func (q *queue) setup(own *gid, hello []byte) *exchange.Setup {
	s := q.dom.setup(hello)
	s.GID, s.Qpn, s.Psn = own.raw, q.hw.qpn(), q.hw.psn
	return s
}

// agrees reports why a peer's set-up will not do.
func (a *adapter) agrees(m *exchange.Setup) error {
	switch {
	case [3]byte(m.Magic[:3]) != [3]byte(magic[:3]):
		return fmt.Errorf("%w: it is no program with this package", rdma.ErrProtocol)
	case m.Magic[3] != magic[3]:
		return fmt.Errorf("%w: it speaks version %d of this exchange, and this program version %d", rdma.ErrProtocol, m.Magic[3], magic[3])
	case m.Link != uint8(a.port.kind):
		return fmt.Errorf("the networks differ: the peer's device is on %s, and %s on %s", kind(m.Link), a.port.name(), a.port.kind)
	case m.Mtu < 1 || m.Mtu > 5 || m.Qpn > 0xffffff || m.Psn > 0xffffff:
		return fmt.Errorf("%w: a set-up with MTU %d, queue pair %#x, sequence %#x", rdma.ErrProtocol, m.Mtu, m.Qpn, m.Psn)
	}
	return nil
}

// join connects the queue pair to the peer's.
func (q *queue) join(m *exchange.Setup, own gid) error {
	q.keys.flushAddr, q.keys.flushKey = m.FlushAddr, m.FlushKey
	return q.hw.connect(q.dom, &far{
		gid: m.GID, lid: m.Lid, qpn: m.Qpn, psn: m.Psn, mtu: m.Mtu, serves: m.Serves, asks: m.Asks, own: own,
	})
}

// addrOf is the IP address of one of TCP.
func addrOf(a net.Addr) netip.Addr {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.AddrPort().Addr()
	}
	return netip.Addr{}
}

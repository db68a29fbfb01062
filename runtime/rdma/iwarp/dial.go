package iwarp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// Dial connects to host:port, and waits until the peer has accepted. That takes Config.HandshakeTimeout at most. A peer that
// knows revision 1 of MPA only is dialled again, as it wants it; nothing can be read from it then. Who ends the connection without
// a word is dialled again, too, for about 3 s: it may have no place at the moment (see redial.go).
func (d *domain) Dial(ctx context.Context, addr string, hello []byte) (rdma.Queue, error) {
	fail := func(err error) (rdma.Queue, error) { return nil, fmt.Errorf("iwarp: %w", err) }
	if d.life.Err() != nil {
		return fail(fmt.Errorf("the domain: %w", errClosed))
	}
	ctx, cancel := context.WithTimeout(ctx, d.adapter.handshake)
	defer cancel()
	stop := context.AfterFunc(d.life, cancel)
	defer stop()
	q, err := d.dialAgain(ctx, addr, hello)
	if errors.Is(err, errOlder) || d.adapter.plain && errors.Is(err, errSilent) {
		// A peer that knows revision 1 only may also end the connection: RFC 6581, section 10.
		q, err = d.dialAs(ctx, addr, fpdu.Revision1, nil)
	}
	if err != nil && d.life.Err() != nil {
		err = fmt.Errorf("the domain: %w", errClosed)
	}
	if err != nil {
		return fail(err)
	}
	return q, nil
}

// past is a deadline that is over.
var past = time.Unix(1, 0)

// dialAs connects with a revision of MPA.
func (d *domain) dialAs(ctx context.Context, addr string, revision uint8, hello []byte) (*queue, error) {
	req, err := side{inbound: d.adapter.inbound, plain: d.adapter.plain}.request(revision, hello)
	if err != nil {
		return nil, err
	}
	conn, err := d.adapter.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	conn, err = d.adapter.dialTLS(ctx, conn, addr)
	if err != nil {
		return nil, err
	}
	own := d.adapter.side(conn)
	req.CRC = own.crc
	var q *queue
	ses, err := own.initiateWithin(ctx, conn, req, addr)
	if err == nil {
		d.adapter.complete(ses, conn)
		q, err = d.newQueue(ses)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return q, nil
}

// initiateWithin is initiate, until ctx ends.
func (s side) initiateWithin(ctx context.Context, conn net.Conn, req *fpdu.Startup, addr string) (*session, error) {
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("a connection without deadlines cannot be used: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(past) })
	ses, err := s.initiate(conn, req, addr)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("the peer has not accepted: %w", ctx.Err())
	}
	return ses, err
}

// initiate is the handshake of the side that dials.
func (s side) initiate(conn net.Conn, req *fpdu.Startup, addr string) (*session, error) {
	b, err := req.Append(nil)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(b); err != nil {
		return nil, fmt.Errorf("sending the request: %w", err)
	}
	rep, err := readFrame(conn, true)
	if errors.Is(err, errSilent) {
		return nil, fmt.Errorf("%w: it does not speak iWARP, speaks it under TLS only, is closing, or wants no more connections of ours for now", errSilent)
	}
	if err != nil {
		return nil, fmt.Errorf("the answer: %w", err)
	}
	return s.replied(req, rep, addr)
}

package iwarp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// replyGrace bounds how long a reply waits for a peer that does not read. On TCP it never waits: nothing was sent before.
const replyGrace = time.Second

// stage is how far a guest has come. It is the listener's mu's.
type stage uint8

const (
	hearing stage = iota // it has asked for nothing yet
	waiting              // for Accept
	claimed              // by Accept
	dropped
)

// guest is a peer that has connected to a listener and is not accepted yet. Its goroutine, run, has the connection until
// Accept has taken it.
type guest struct {
	ln     *listener
	raw    net.Conn
	conn   net.Conn // raw, or TLS over it; set by run
	peer   string
	came   time.Time
	host   netip.Addr
	source netip.Addr // whose share of the places it takes

	stage stage
	once  sync.Once
	cut   chan struct{} // closed by drop

	asked   *asked
	quiet   chan struct{} // closed when run reads no more
	spoilt  error         // what it read
	verdict chan error    // of Accept: nil, the connection is the queue's; else why the guest is refused
}

// Reasons that are no refusals.
var (
	errGone = errors.New("the peer has gone")
	errPeer = errors.New("the peer cannot be answered")
)

func newGuest(ln *listener, conn net.Conn) *guest {
	g := &guest{
		ln: ln, raw: conn, conn: conn, came: time.Now(), host: hostOf(conn.RemoteAddr()), asked: &asked{frame: &fpdu.Startup{}},
		cut: make(chan struct{}), quiet: make(chan struct{}), verdict: make(chan error, 1),
	}
	if a := conn.RemoteAddr(); a != nil {
		g.peer = a.String()
	}
	g.source = g.host
	if src := ln.d.guard.source(g.host); src.IsValid() {
		g.source = src
	}
	return g
}

// drop ends the connection, and with it run.
func (g *guest) drop() {
	g.once.Do(func() { close(g.cut) })
	_ = g.raw.Close()
}

// run brings a guest to where Accept can take it, and waits for that.
func (g *guest) run() {
	if err := g.hear(); err != nil {
		g.failed(err)
		return
	}
	if !g.ln.ready(g) {
		g.drop()
		return
	}
	g.watch()
	if g.ln.leave(g) {
		if errors.Is(g.spoilt, os.ErrDeadlineExceeded) {
			g.refuse(fmt.Errorf("nobody has accepted within %v", g.ln.d.adapter.handshake))
		}
		g.drop()
		return
	}
	close(g.quiet)
	if err := <-g.verdict; err != nil {
		if !errors.Is(err, errGone) && !errors.Is(err, errPeer) {
			g.refuse(err)
		}
		g.drop()
	}
}

// hear does the peer's half of the handshake, once its source may come in again.
func (g *guest) hear() error {
	a := g.ln.d.adapter
	if wait := g.ln.d.guard.delay(g.host); wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-g.cut:
			return net.ErrClosed
		}
	}
	if err := a.settle(g.raw); err != nil {
		return err
	}
	until := time.Now().Add(a.handshake)
	if err := g.raw.SetDeadline(until); err != nil {
		return fmt.Errorf("a connection without deadlines cannot be used: %w", err)
	}
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	conn, err := a.serveTLS(ctx, g.raw)
	if err != nil {
		return &violation{err}
	}
	g.conn = conn
	frame, err := readFrame(conn, false)
	if g.asked.frame = frame; err != nil {
		return err
	}
	if g.asked, err = a.side(conn).consider(frame); err != nil {
		return err
	}
	// Now it waits for Accept, with time of its own.
	return conn.SetDeadline(time.Now().Add(a.handshake))
}

// violation is an error of a handshake that its peer is blamed for.
type violation struct{ err error }

func (v *violation) Error() string { return v.err.Error() }
func (v *violation) Unwrap() error { return v.err }

// failed ends a guest whose handshake failed. It is told so where it speaks our language, and its source
// is blamed unless it only went away.
func (g *guest) failed(err error) {
	defer g.drop()
	if !g.ln.leave(g) || g.isCut() || errors.Is(err, errSilent) {
		return
	}
	var fault *fpdu.Fault
	var v *violation
	late := errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
	if errors.As(err, &fault) || errors.As(err, &v) || late {
		g.ln.d.guard.strike(g.host)
	}
	if g.asked.frame.Revision != 0 {
		g.refuse(err)
	}
	g.ln.log.warn("iwarp: a peer did not connect as it should", "peer", g.peer, "reason", err)
}

func (g *guest) isCut() bool {
	select {
	case <-g.cut:
		return true
	default:
		return false
	}
}

// watch waits until something comes from the peer, which is to wait itself, or until Accept has taken it.
func (g *guest) watch() {
	var b [1]byte
	n, err := g.conn.Read(b[:])
	g.spoilt = spoils(n, err)
}

// spoils is what a read means for a peer that has asked and is not answered.
func spoils(n int, err error) error {
	switch {
	case n > 0:
		return &fpdu.Fault{Cause: fpdu.BadStartup, Detail: "the peer sends before it has an answer"}
	case err == nil:
		return errGone
	}
	return err
}

// stopWatch makes the goroutine leave the connection to Accept. It reports false where the peer has gone.
func (g *guest) stopWatch() bool {
	_ = g.conn.SetReadDeadline(past)
	<-g.quiet
	if !errors.Is(g.spoilt, os.ErrDeadlineExceeded) {
		return false
	}
	if tcp, ok := g.raw.(*net.TCPConn); !ok || !pending(tcp) {
		return true
	}
	// Something has come, and was not read because of the deadline.
	_ = g.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	var b [1]byte
	n, err := g.conn.Read(b[:])
	return errors.Is(spoils(n, err), os.ErrDeadlineExceeded)
}

// accept sends the reply and makes the queue. The error wraps errPeer where the peer is the reason.
func (g *guest) accept(hello []byte) (*queue, error) {
	d := g.ln.d
	frame, ses, err := d.adapter.side(g.conn).reply(g.asked, hello, g.peer)
	if err != nil {
		return nil, err
	}
	if err := g.send(frame); err != nil {
		return nil, fmt.Errorf("%w: %w", errPeer, err)
	}
	if err := g.conn.SetDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("%w: %w", errPeer, err)
	}
	d.adapter.complete(ses, g.conn)
	return d.newQueue(ses)
}

// refuse tells the peer that it is not wanted, if that can be done now.
func (g *guest) refuse(why error) {
	_ = g.send(g.ln.d.adapter.side(g.conn).reject(g.asked, why))
}

func (g *guest) send(f *fpdu.Startup) error {
	b, err := f.Append(nil)
	if err != nil {
		return err
	}
	if err := g.conn.SetWriteDeadline(time.Now().Add(replyGrace)); err != nil {
		return err
	}
	_, err = g.conn.Write(b)
	return err
}

// outOfDescriptors reports whether a process or its host has no room for another descriptor.
func outOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

package rdma_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// TestImportBeforeOffer has names that are asked for before they are there.
func TestImportBeforeOffer(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	ctx := limit(t)
	const n = 20
	got := make(chan error, n)
	for i := range n {
		go func() {
			rem, err := rdma.Import(ctx, p.b.conn, fmt.Sprint("name ", i), sample.TickRemoteRead())
			if err == nil && rem.Len() != i+1 {
				err = fmt.Errorf("name %d has %d elements", i, rem.Len())
			}
			got <- err
		}()
	}
	time.Sleep(5 * time.Millisecond)
	for i := range n {
		ok(t, rdma.Offer(ctx, p.a.conn, fmt.Sprint("name ", i), ticks(t, p.a.dom, i+1, sample.TickRemoteRead())))
	}
	for range n {
		ok(t, <-got)
	}
}

func TestImportEndsEarly(t *testing.T) {
	p := connect(t, rdma.Config{MaxOffers: 2}, soft.Config{})
	for range 20 { // more than may wait: each takes its question back
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Millisecond)
		_, err := rdma.Import(ctx, p.b.conn, "never", sample.TickRemoteRead())
		cancel()
		switch {
		case errors.Is(err, rdma.ErrTooMany):
		case !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `"never" as sample.Tick: the peer has not offered it`):
			t.Fatal(err)
		}
	}
	ctx := limit(t)
	ok(t, rdma.Offer(ctx, p.a.conn, "never", ticks(t, p.a.dom, 1, sample.TickRemoteRead())))
	must(rdma.Import(ctx, p.b.conn, "never", sample.TickRemoteRead()))(t)
}

func TestNames(t *testing.T) {
	p := connect(t, rdma.Config{MaxOffers: 2}, soft.Config{})
	ctx := limit(t)
	r := ticks(t, p.a.dom, 1, sample.TickRemoteRead())
	for _, name := range []string{"", strings.Repeat("x", 121), "a\nb", "\xff", "\x1b[31m"} {
		is(t, rdma.Offer(ctx, p.a.conn, name, r), rdma.ErrName)
		_, err := rdma.Import(ctx, p.a.conn, name, sample.TickRemoteRead())
		is(t, err, rdma.ErrName)
	}
	ok(t, rdma.Offer(ctx, p.a.conn, strings.Repeat("ä", 60), r))
	ok(t, rdma.Offer(ctx, p.a.conn, "two", r))
	err := rdma.Offer(ctx, p.a.conn, "two", r)
	is(t, err, rdma.ErrOffered)
	if !strings.Contains(err.Error(), "sample.Tick") {
		t.Error(err)
	}
	is(t, rdma.Offer(ctx, p.a.conn, "three", r), rdma.ErrTooMany)
	if !rdma.Withdraw(p.a.conn, "two") || rdma.Withdraw(p.a.conn, "two") {
		t.Error("an offer can be withdrawn once")
	}
	ok(t, rdma.Offer(ctx, p.a.conn, "three", r))
	must(rdma.Import(ctx, p.b.conn, "three", sample.TickRemoteRead()))(t)
	over, cancel := context.WithCancel(ctx)
	cancel()
	is(t, rdma.Offer(over, p.a.conn, "four", r), context.Canceled)
}

// TestAuthorize decides on connections and on imports.
func TestAuthorize(t *testing.T) {
	var asked []rdma.Request
	secret := errors.New("not for you")
	p := connect(t, rdma.Config{Authorize: func(r rdma.Request) error {
		if me := (rdma.Process{PID: os.Getpid(), UID: os.Getuid(), GID: os.Getgid()}); r.Process == nil || *r.Process != me {
			t.Errorf("asked for %+v, and it is %+v", r.Process, me)
		}
		r.Process = nil
		asked = append(asked, r)
		if r.Name == "secret" {
			return secret
		}
		return nil
	}}, soft.Config{})
	ctx := limit(t)
	r := ticks(t, p.a.dom, 1, sample.TickRemoteReadWrite())
	ok(t, rdma.Offer(ctx, p.a.conn, "open", r))
	ok(t, rdma.Offer(ctx, p.a.conn, "secret", r))
	must(rdma.Import(ctx, p.b.conn, "open", sample.TickRemoteRead()))(t)
	_, err := rdma.Import(ctx, p.b.conn, "secret", sample.TickRemoteRead())
	is(t, err, rdma.ErrRefused)
	if !strings.Contains(err.Error(), "not for you") {
		t.Error(err)
	}
	want := rdma.Request{Peer: p.a.conn.Peer(), Name: "open", Type: "sample.Tick", Rights: "remote_read"}
	if len(asked) != 3 || asked[0] != (rdma.Request{Peer: want.Peer}) || asked[1] != want {
		t.Errorf("asked: %+v", asked)
	}
}

// TestOfferIsGone imports what is registered no longer.
func TestOfferIsGone(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	ctx := limit(t)
	r := ticks(t, p.a.dom, 1, sample.TickRemoteRead())
	ok(t, rdma.Offer(ctx, p.a.conn, "x", r))
	ok(t, r.Close())
	_, err := rdma.Import(ctx, p.b.conn, "x", sample.TickRemoteRead())
	is(t, err, rdma.ErrRefused)
	is(t, err, rdma.ErrRevoked)
	is(t, rdma.Offer(ctx, p.a.conn, "y", r), barewire.ErrReleased)
}

// TestRefInMessage has a reference travel in a message instead of by name.
func TestRefInMessage(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	ctx := limit(t)
	r := ticks(t, p.a.dom, 3, sample.TickRemoteRead())
	prices(t, r, func(i int) float64 { return float64(i) })
	rem := must(rdma.RemoteOf(r))(t)
	ok(t, p.a.conn.SendBytes(ctx, must(barewire.AppendRemote(nil, rem))(t)))
	var b [barewire.RefSize]byte
	if n := must(p.b.conn.Receive(ctx, b[:]))(t); n != len(b) {
		t.Fatal(n)
	}
	got := must(barewire.RemoteFrom(b[:], sample.TickRemoteRead()))(t)
	local := ticks(t, p.b.dom, 3, sample.TickLocal())
	ok(t, must(rdma.Read(p.b.conn, local.Span(0, 3), got))(t).Wait(ctx))
	if price(t, local, 2) != 2 {
		t.Error("read something else")
	}
}

func TestMaxConns(t *testing.T) {
	p := connect(t, rdma.Config{MaxConns: 1, Logger: quiet}, soft.Config{})
	ctx := limit(t)
	ln := must(p.a.dom.Listen(ctx, "full"))(t)
	accepted := make(chan error, 1)
	go func() { accepted <- second(ln.Accept(ctx)) }()
	other := must(must(rdma.Open(ctx, rdma.Config{Provider: p.fabric}))(t).Domain())(t)
	defer other.Device().Close()
	_, err := other.Dial(ctx, "full")
	if err == nil || !strings.Contains(err.Error(), "MaxConns") {
		t.Fatalf("the peer is not told why: %v", err)
	}
	ok(t, p.a.conn.Close())
	must(other.Dial(ctx, "full"))(t)
	ok(t, <-accepted)
}

// TestAuthorizeMayHang: what is not decided is refused in time, closing does not wait
// for it, and it may close the connection itself.
func TestAuthorizeMayHang(t *testing.T) {
	forever := make(chan struct{})
	defer close(forever)
	dev := make(chan *rdma.Device, 1)
	p := connect(t, rdma.Config{HandshakeTimeout: time.Second, Authorize: func(r rdma.Request) error {
		switch r.Name {
		case "slow":
			<-forever
		case "closing":
			return (<-dev).Close()
		}
		return nil
	}}, soft.Config{})
	ctx := limit(t)
	r := ticks(t, p.a.dom, 1, sample.TickRemoteRead())
	ok(t, rdma.Offer(ctx, p.a.conn, "slow", r))
	ok(t, rdma.Offer(ctx, p.a.conn, "closing", r))
	_, err := rdma.Import(ctx, p.b.conn, "slow", sample.TickRemoteRead())
	is(t, err, rdma.ErrRefused)
	if !strings.Contains(err.Error(), "Authorize did not decide within 1s") {
		t.Error(err)
	}
	dev <- p.a.dev
	_, err = rdma.Import(ctx, p.b.conn, "closing", sample.TickRemoteRead())
	if !errors.Is(err, rdma.ErrPeerLost) && !errors.Is(err, rdma.ErrRefused) {
		t.Error(err)
	}
	ok(t, p.a.dev.Close())
}

// TestRefusalsAreLoggedSparingly: a peer that asks over and over does not fill the log, and the
// observer sees each.
func TestRefusalsAreLoggedSparingly(t *testing.T) {
	var log syncBuffer
	var seen atomic.Int32
	cfg := rdma.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	cfg.Observer = func(e rdma.Event) {
		if e.Kind == rdma.EventRefused {
			seen.Add(1)
		}
	}
	p := connect(t, cfg, soft.Config{})
	ctx := limit(t)
	ok(t, rdma.Offer(ctx, p.a.conn, "x", ticks(t, p.a.dom, 1, sample.TickRemoteRead())))
	const n = 100
	for range n {
		_, err := rdma.Import(ctx, p.b.conn, "x", sample.TickRemoteWrite())
		is(t, err, rdma.ErrRights)
	}
	if got := seen.Load(); got != n {
		t.Errorf("the observer saw %d refusals, want %d", got, n)
	}
	if got := strings.Count(log.String(), "an import was refused"); got < 1 || got > n/4 {
		t.Errorf("%d of %d refusals are in the log", got, n)
	}
}

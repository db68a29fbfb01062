package rdma_test

import (
	"context"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestTry looks for notifications and messages without waiting.
func TestTry(t *testing.T) {
	s := newScene(t, rdma.Config{Mode: rdma.Busy, OpTimeout: 2 * time.Second}) // which looks four times in it
	ctx := limit(t)
	a, b := s.a.conn, s.b.conn
	buf := make([]byte, 8)
	if _, there, err := a.TryNotification(); there || err != nil {
		t.Errorf("nothing was sent, and there is %v, %v", there, err)
	}
	if _, there, err := a.TryReceive(buf); there || err != nil {
		t.Errorf("nothing was sent, and there is %v, %v", there, err)
	}
	ok(t, must(rdma.WriteNotify(b, s.rem.Slice(0, 1), s.local.Span(0, 1), 9))(t).Wait(ctx))
	ok(t, b.SendBytes(ctx, []byte("hello")))
	ok(t, b.Flush(ctx))
	if n, there, err := a.TryNotification(); !there || err != nil || n.Imm != 9 {
		t.Errorf("got %v, %v, %v", n, there, err)
	}
	n, there, err := a.TryReceive(buf[:2])
	if is(t, err, rdma.ErrTooLong); !there || n != 5 {
		t.Errorf("got %d, %v for a short buffer", n, there)
	}
	if n, there, err := a.TryReceive(buf); !there || err != nil || string(buf[:n]) != "hello" {
		t.Errorf("got %q, %v, %v", buf[:n], there, err)
	}
	ok(t, b.Close())
	for a.Err() == nil && ctx.Err() == nil {
		a.Poll()
	}
	_, there, err = a.TryNotification()
	if is(t, err, rdma.ErrPeerLost); there {
		t.Error("there is a notification")
	}
	_, there, err = a.TryReceive(buf)
	if is(t, err, rdma.ErrPeerLost); there {
		t.Error("there is a message")
	}
}

// TestWaitCredit sends notifications until the peer has no room, and waits for it.
func TestWaitCredit(t *testing.T) {
	s := newScene(t, rdma.Config{Credits: 32})
	ctx := limit(t)
	a, b := s.a.conn, s.b.conn
	ok(t, b.WaitCredit(ctx))
	post := func() error { return second(rdma.WriteNotify(b, s.rem.Slice(0, 1), s.local.Span(0, 1), 9)) }
	sent := 0
	for post() == nil {
		ok(t, b.Flush(ctx))
		sent++
	}
	is(t, post(), rdma.ErrNoCredit)
	short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	is(t, b.WaitCredit(short), context.DeadlineExceeded)
	go func() {
		for range sent {
			if _, err := a.NextNotification(ctx); err != nil {
				t.Error(err)
			}
		}
	}()
	ok(t, b.WaitCredit(ctx))
	ok(t, post())
	ok(t, a.Close())
	for b.WaitCredit(ctx) == nil {
		time.Sleep(time.Millisecond)
	}
	is(t, b.WaitCredit(ctx), rdma.ErrPeerLost)
}

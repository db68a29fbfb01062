package rdma_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestTry looks for notifications and messages without waiting.
func TestTry(t *testing.T) { everyWorld(t, tryAll) }

func tryAll(w *world) {
	s := w.stage(rdma.Config{})
	a, b := s.a.conn, s.b.conn
	buf := make([]byte, 8)
	if _, there, err := a.TryNotification(); there || err != nil {
		w.Errorf("nothing was sent, and there is %v, %v", there, err)
	}
	if _, there, err := a.TryReceive(buf); there || err != nil {
		w.Errorf("nothing was sent, and there is %v, %v", there, err)
	}
	ok(w, must(rdma.WriteNotify(b, s.rem.Slice(0, 1), s.local.Span(0, 1), 9))(w).Wait(s.ctx))
	ok(w, b.SendBytes(s.ctx, []byte("hello")))
	var note rdma.Notification
	w.until(func() (there bool) { note, there, _ = a.TryNotification(); return there })
	if note.Imm != 9 {
		w.Errorf("got %v", note)
	}
	var err error
	n := 0
	w.until(func() (there bool) { n, there, err = a.TryReceive(buf[:2]); return there })
	if is(w, err, rdma.ErrTooLong); n != 5 {
		w.Errorf("it needs %d bytes, want 5", n)
	}
	if n, there, err := a.TryReceive(buf); !there || err != nil || string(buf[:n]) != "hello" {
		w.Errorf("got %q, %v, %v", buf[:n], there, err)
	}
	ok(w, b.Close())
	w.until(func() bool { a.Poll(); return a.Err() != nil })
	_, there, err := a.TryNotification()
	if is(w, err, rdma.ErrPeerLost); there {
		w.Error("there is a notification")
	}
	_, there, err = a.TryReceive(buf)
	if is(w, err, rdma.ErrPeerLost); there {
		w.Error("there is a message")
	}
}

// until waits for something that comes soon.
func (w *world) until(there func() bool) {
	w.Helper()
	for end := time.Now().Add(10 * time.Second); !there(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			w.Fatal("it does not come")
		}
	}
}

// TestWaitCredit sends notifications until the peer has no room, and waits for it.
func TestWaitCredit(t *testing.T) { everyWorld(t, waitCredit) }

func waitCredit(w *world) {
	s := w.stage(rdma.Config{Credits: 32})
	a, b, ctx := s.a.conn, s.b.conn, s.ctx
	ok(w, b.WaitCredit(ctx))
	post := func() error { return second(rdma.WriteNotify(b, s.rem.Slice(0, 1), s.local.Span(0, 1), 9)) }
	sent := 0
	for post() == nil {
		ok(w, b.Flush(ctx))
		sent++
	}
	is(w, post(), rdma.ErrNoCredit)
	short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	is(w, b.WaitCredit(short), context.DeadlineExceeded)
	var g sync.WaitGroup
	g.Go(func() {
		for range sent {
			if _, err := a.NextNotification(ctx); err != nil {
				w.Error(err)
			}
		}
	})
	ok(w, b.WaitCredit(ctx))
	ok(w, post())
	g.Wait()
	ok(w, a.Close())
	w.until(func() bool { return b.WaitCredit(ctx) != nil })
	is(w, b.WaitCredit(ctx), rdma.ErrPeerLost)
}

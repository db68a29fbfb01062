package rdma_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// TestMessages sends more messages, both ways at once, than there are receives.
func TestMessages(t *testing.T) {
	for _, mode := range []rdma.Mode{rdma.ByEvent, rdma.Adaptive, rdma.Busy} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			p := connect(t, rdma.Config{Mode: mode, Credits: 32, MaxMessage: 512}, soft.Config{})
			ctx := limit(t)
			const n = 3000
			var g sync.WaitGroup
			errs := make(chan error, 4)
			for _, s := range []*side{&p.a, &p.b} {
				g.Go(func() { errs <- sendNumbers(ctx, s.conn, n) })
				g.Go(func() { errs <- receiveNumbers(ctx, s.conn, n) })
			}
			g.Wait()
			for range 4 {
				ok(t, <-errs)
			}
			st := p.a.conn.Stats()
			if st.Messages != n || st.Control == 0 || st.Violations != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// sendNumbers sends messages that count up, of changing lengths.
func sendNumbers(ctx context.Context, c *rdma.Conn, n int) error {
	var b [512]byte
	for i := range n {
		binary.LittleEndian.PutUint32(b[:], uint32(i))
		if err := c.SendBytes(ctx, b[:4+i%509]); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return nil
}

func receiveNumbers(ctx context.Context, c *rdma.Conn, n int) error {
	var b [512]byte
	for i := range n {
		m, err := c.Receive(ctx, b[:])
		if err != nil {
			return fmt.Errorf("receive %d: %w", i, err)
		}
		if m != 4+i%509 || binary.LittleEndian.Uint32(b[:]) != uint32(i) {
			return fmt.Errorf("message %d has %d bytes and says %d", i, m, binary.LittleEndian.Uint32(b[:]))
		}
	}
	return nil
}

func TestMessageLengths(t *testing.T) {
	p := connect(t, rdma.Config{MaxMessage: 600}, soft.Config{})
	ctx := limit(t)
	is(t, p.a.conn.SendBytes(ctx, nil), rdma.ErrEmpty)
	is(t, p.a.conn.SendBytes(ctx, make([]byte, 601)), rdma.ErrTooLong)
	long := bytes.Repeat([]byte{7}, 600)
	ok(t, p.a.conn.SendBytes(ctx, long))
	b := make([]byte, 600)
	n, err := p.b.conn.Receive(ctx, b[:599])
	is(t, err, rdma.ErrTooLong)
	if n != 600 {
		t.Errorf("it needs %d", n)
	}
	if n := must(p.b.conn.Receive(ctx, b))(t); !bytes.Equal(b[:n], long) {
		t.Error("another message")
	}
	big := ticks(t, p.a.dom, 10, sample.TickLocal())
	_, err = rdma.Send(p.a.conn, big.Span(0, 10))
	refused(t, err, rdma.ErrTooLong, "640 bytes", "at most 600 bytes")
	ok(t, must(rdma.Send(p.a.conn, big.Span(0, 9)))(t).Wait(ctx))
	if n := must(p.b.conn.Receive(ctx, b))(t); n != 9*64 {
		t.Errorf("%d bytes", n)
	}
}

// TestCredits sends to a peer that does not read.
func TestCredits(t *testing.T) {
	p := connect(t, rdma.Config{Credits: 32}, soft.Config{})
	r := ticks(t, p.b.dom, 1, sample.TickLocal())
	posted := 0
	var err error
	for err == nil && posted < 100 {
		var op rdma.Op
		if op, err = rdma.Send(p.b.conn, r.Span(0, 1)); err == nil {
			ok(t, op.Wait(limit(t)))
			posted++
		}
	}
	refused(t, err, rdma.ErrNoCredit, fmt.Sprint(posted, " messages and notifications wait"))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	is(t, p.b.conn.SendBytes(ctx, []byte("x")), context.DeadlineExceeded)
	// What the connections say to each other still gets through, both ways.
	share(t, &p.b, &p.a, "b", ticks(t, p.b.dom, 1, sample.TickRemoteRead()), sample.TickRemoteRead())
	share(t, &p.a, &p.b, "a", ticks(t, p.a.dom, 1, sample.TickRemoteRead()), sample.TickRemoteRead())
	b := make([]byte, 64)
	for range posted {
		must(p.a.conn.Receive(limit(t), b))(t)
	}
	ok(t, p.b.conn.SendBytes(limit(t), []byte("x")))
	if n := must(p.a.conn.Receive(limit(t), b))(t); n != 1 {
		t.Error(n)
	}
}

// TestNotifications writes elements and tells, many times, and the peer reads each.
func TestNotifications(t *testing.T) {
	p := connect(t, rdma.Config{Credits: 32}, soft.Config{})
	ctx := limit(t)
	const n = 2000
	target := ticks(t, p.a.dom, 8, sample.TickRemoteReadWrite())
	rem := share(t, &p.a, &p.b, "x", target, sample.TickRemoteReadWrite())
	sent := make(chan error, 1)
	local := ticks(t, p.b.dom, 8, sample.TickLocal())
	go func() { sent <- notifyAll(ctx, p.b.conn, rem, local, n) }()
	w := must(barewire.Open(target))(t)
	i := 0
	for note, err := range p.a.conn.Notifications(ctx) {
		ok(t, err)
		if note.Imm != uint32(i) || note.Bytes != 64 {
			t.Fatalf("notification %d is %+v", i, note)
		}
		s := must(rdma.Received(note, w, i%8, 1))(t)
		if got := s[0].Seq; got != uint64(i) {
			t.Fatalf("notification %d came before what it tells: %d", i, got)
		}
		ok(t, p.a.conn.SendBytes(ctx, []byte{1})) // read
		if i++; i == n {
			break
		}
	}
	ok(t, w.Close())
	ok(t, <-sent)
}

func notifyAll(ctx context.Context, c *rdma.Conn, rem barewire.Remote[sample.Tick, barewire.RemoteReadWrite], local *barewire.Region[sample.Tick, barewire.CPU, barewire.Local], n int) error {
	var b [1]byte
	for i := range n {
		if err := barewire.With(local, func(w barewire.Window[sample.Tick, barewire.Local]) error {
			sample.TickAt(w, i%8).SetSeq(uint64(i))
			return nil
		}); err != nil {
			return err
		}
		op, err := rdma.WriteNotify(c, rem.Slice(i%8, 1), local.Span(i%8, 1), uint32(i))
		if err != nil {
			return err
		}
		if err := errors.Join(op.Wait(ctx), second(c.Receive(ctx, b[:]))); err != nil {
			return err
		}
	}
	return nil
}

func TestNotificationWaitEndsEarly(t *testing.T) {
	s := newScene(t, rdma.Config{})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	_, err := s.a.conn.NextNotification(ctx)
	is(t, err, context.DeadlineExceeded)
	says(t, err, "no notification has come from "+s.a.conn.Peer())
	must(rdma.WriteNotify(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1), 9))(t)
	ok(t, s.b.conn.Flush(limit(t)))
	ok(t, s.b.conn.Close())
	// What had arrived is still given, and then the reason.
	if n := must(s.a.conn.NextNotification(limit(t)))(t); n.Imm != 9 {
		t.Error(n)
	}
	_, err = s.a.conn.NextNotification(limit(t))
	is(t, err, rdma.ErrPeerLost)
	var zero rdma.Notification
	w := must(barewire.Open(s.target))(t)
	_, err = rdma.Received(zero, w, 0, 1)
	is(t, err, rdma.ErrOp)
	ok(t, w.Close())
}

// TestReceivedChecks what it is asked for: a closed window, elements that are not there, and
// regions that nobody behind the connection could write to.
func TestReceivedChecks(t *testing.T) { everyWorld(t, receivedChecks) }

func receivedChecks(w *world) {
	s := w.stage(rdma.Config{})
	must(rdma.WriteNotify(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1), 9))(w)
	note := must(s.a.conn.NextNotification(s.ctx))(w)
	window := must(barewire.Open(s.target))(w)
	for _, r := range [][2]int{{0, stageLen + 1}, {stageLen, 1}, {-1, 1}, {1, -1}, {stageLen + 1, 0}, {1 << 30, 1 << 30}} {
		is(w, second(rdma.Received(note, window, r[0], r[1])), barewire.ErrRange)
	}
	if part := must(rdma.Received(note, window, 3, 2))(w); len(part) != 2 || cap(part) != 2 {
		w.Errorf("%d elements with room for %d, want 2", len(part), cap(part))
	}
	ok(w, window.Close())
	is(w, second(rdma.Received(note, window, 0, 1)), barewire.ErrWindowClosed)
	other := must(barewire.Open(ticks(w, s.b.dom, 8, sample.TickRemoteReadWriteAtomic())))(w)
	is(w, second(rdma.Received(note, other, 0, 1)), rdma.ErrDomain)
	ok(w, other.Close())
}

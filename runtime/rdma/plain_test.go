package rdma_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// plainPair is a connection with a program that uses a provider by itself: ours with its domain, and the other's
// with its own.
func plainPair(t *testing.T, cfg rdma.Config, hello []byte) (*rdma.Domain, *rdma.Conn, rdma.ProtectionDomain, rdma.Queue) {
	t.Helper()
	ctx := limit(t)
	f := soft.New(soft.Config{})
	cfg.Provider, cfg.Logger = f, quiet
	dev := must(rdma.Open(ctx, cfg))(t)
	t.Cleanup(func() { dev.Close() })
	dom := must(dev.Domain())(t)
	ln := must(dom.Listen(ctx, "plain"))(t)
	got := make(chan *rdma.Conn, 1)
	go func() {
		c, _ := ln.Accept(ctx)
		got <- c
	}()
	raw := must(f.Open(ctx, "soft0", &rdma.Config{Depth: 16}))(t)
	t.Cleanup(func() { raw.Close() })
	pd := must(raw.NewDomain())(t)
	q := must(pd.Dial(ctx, "plain", hello))(t)
	return dom, <-got, pd, q
}

// TestPlainPeer has a peer that speaks no barewire: it says nothing of ours when it connects.
func TestPlainPeer(t *testing.T) {
	ctx := limit(t)
	dom, c, pd, q := plainPair(t, rdma.Config{}, []byte("hello, world"))
	if c == nil || !c.Plain() {
		t.Fatal("it is not plain")
	}
	if b := q.Hello(); len(b) != 0 {
		t.Errorf("the other program was told %q, and it had said nothing of ours", b)
	}
	r := ticks(t, dom, 1, sample.TickRemoteRead())
	is(t, rdma.Offer(ctx, c, "x", r), rdma.ErrPlain)
	is(t, second(rdma.Import(ctx, c, "x", sample.TickRemoteRead())), rdma.ErrPlain)

	// Messages are messages, whatever number comes with them.
	mem := make([]byte, 4096)
	keys := must(pd.Register(rdma.Memory{Base: unsafe.Pointer(&mem[0]), Len: len(mem)}, 0, nil))(t)
	copy(mem, "ping")
	seg := rdma.Segment{Ptr: unsafe.Pointer(&mem[0]), Len: 4, Key: keys.L}
	wr := rdma.WorkRequest{Verb: rdma.VerbSend, Segs: 1, Imm: 0x42575201}
	wr.Local[0] = seg
	must(q.Post([]rdma.WorkRequest{wr}))(t)
	var b [16]byte
	if n := must(c.Receive(ctx, b[:]))(t); string(b[:n]) != "ping" {
		t.Errorf("got %q", b[:n])
	}
	ok(t, q.PostReceive([]rdma.ReceiveRequest{{ID: 5, Buf: rdma.Segment{Ptr: unsafe.Pointer(&mem[2048]), Len: 64, Key: keys.L}}}))
	ok(t, c.SendBytes(ctx, []byte("pong")))
	var comps [4]rdma.Completion
	for n := 0; ; {
		n = q.Poll(comps[:])
		if n > 0 && comps[n-1].Verb == rdma.VerbReceive {
			break
		}
		ok(t, q.Wait(ctx))
	}
	if string(mem[2048:2052]) != "pong" {
		t.Errorf("the peer got %q", mem[2048:2052])
	}
	ok(t, c.Close())
}

// TestPlainTooMuch has another program send more than there is room for: no buffer of the caller's would help.
func TestPlainTooMuch(t *testing.T) {
	ctx := limit(t)
	_, c, pd, q := plainPair(t, rdma.Config{MaxMessage: 512}, nil)
	mem := make([]uint64, 128)
	keys := must(pd.Register(rdma.Memory{Base: unsafe.Pointer(&mem[0]), Len: 1024}, 0, nil))(t)
	wr := rdma.WorkRequest{Verb: rdma.VerbSend, Segs: 1}
	wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&mem[0]), Len: 1024, Key: keys.L}
	must(q.Post([]rdma.WorkRequest{wr}))(t)
	_, err := c.Receive(ctx, make([]byte, 16))
	if is(t, err, rdma.ErrProtocol); errors.Is(err, rdma.ErrTooLong) {
		t.Errorf("%v: it looks as if a longer buffer would help", err)
	}
}

// TestManyPosters has goroutines that share a connection in all ways.
func TestManyPosters(t *testing.T) {
	for _, mode := range []rdma.Mode{rdma.ByEvent, rdma.Adaptive, rdma.Busy} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			s := &scene{pair: connect(t, rdma.Config{Mode: mode, Depth: 16, Logger: quiet}, soft.Config{})}
			if mode == rdma.Busy {
				pollUntilDone(t, s.a.conn)
			}
			s.target = ticks(t, s.a.dom, 64, sample.TickRemoteReadWriteAtomic())
			s.local = ticks(t, s.b.dom, 64, sample.TickLocal())
			s.rem = share(t, &s.a, &s.b, "ticks", s.target, sample.TickRemoteReadWriteAtomic())
			const posters, each = 8, 300
			errs := make(chan error, posters)
			var g sync.WaitGroup
			for i := range posters {
				g.Go(func() { errs <- s.poster(t, i, each) })
			}
			g.Wait()
			for range posters {
				ok(t, <-errs)
			}
			ctx := limit(t)
			last := must(rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 0), 0))(t)
			if got := must(last.Wait(ctx))(t); got != posters*each {
				t.Errorf("counted %d, want %d", got, posters*each)
			}
			if st := s.b.conn.Stats(); st.Violations != 0 || st.Failed != 0 || st.InFlight != 0 {
				t.Errorf("%+v", st)
			}
			ok(t, s.local.Close())
		})
	}
}

// poster counts, writes and reads with elements of its own.
func (s *scene) poster(t *testing.T, i, n int) error {
	ctx := limit(t)
	c := s.b.conn
	f := sample.TickSeqOf(s.rem, 0)
	for range n {
		if err := c.WaitRoom(ctx); err != nil {
			return err
		}
		add, err := retry(c, t, func() (rdma.AtomicOp[uint64], error) { return rdma.FetchAdd(c, f, 1) })
		if err != nil {
			return err
		}
		w, err := retry(c, t, func() (rdma.Op, error) {
			return rdma.Write(c.Batch(), s.rem.Slice(8+i, 1), s.local.Span(8+2*i, 1))
		})
		if err != nil {
			return err
		}
		r, err := retry(c, t, func() (rdma.Op, error) { return rdma.Read(c, s.local.Span(9+2*i, 1), s.rem.Slice(8+i, 1)) })
		if err != nil {
			return err
		}
		if err := r.Wait(ctx); err != nil {
			return err
		}
		if !w.Done() {
			return fmt.Errorf("the read has ended, and the write before it has not")
		}
		if _, err := add.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// retry posts until there is room.
func retry[O any](c *rdma.Conn, t *testing.T, post func() (O, error)) (O, error) {
	for {
		op, err := post()
		if !errors.Is(err, rdma.ErrQueueFull) {
			return op, err
		}
		if err := c.WaitRoom(limit(t)); err != nil {
			return op, err
		}
	}
}

package shm

import (
	"context"
	"errors"
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// outstanding gives a side work that cannot end by itself: a message without a receive, with something behind it,
// and receives. It returns how many completions there are to be.
func (e *end) outstanding(t *testing.T) int {
	t.Helper()
	fatal(t, e.q.PostReceive([]rdma.ReceiveRequest{{ID: 10, Buf: e.seg(0, 4096)}, {ID: 11, Buf: e.seg(4096, 4096)}}))
	wrs := []rdma.WorkRequest{e.wr(rdma.VerbSend, 1, 0, 100, 0), e.wr(rdma.VerbWrite, 2, 0, 64, 512), {ID: 3, Verb: rdma.VerbFlush}}
	n, err := e.q.Post(wrs)
	fatal(t, err)
	return n + 2
}

// allEnd wants so many completions, and the work among them to have failed because the
// peer is gone, unless it was done before.
func (e *end) allEnd(t *testing.T, n int) {
	t.Helper()
	ctx := within(t, patience)
	for range n {
		c, err := e.next(ctx)
		if err != nil {
			t.Fatalf("%d completions are missing: %v", n, err)
		}
		if c.Err != nil && !errors.Is(c.Err, rdma.ErrPeerLost) {
			t.Errorf("completion %d: %v", c.ID, c.Err)
		}
		n--
	}
}

// TestKilled kills the peer in each state. Everything ends with an error, memory
// can be had back, the peer's memory can be read, and nothing is left.
func TestKilled(t *testing.T) {
	t.Run("first", func(t *testing.T) { // what a process opens once is no leak
		_, h := withHelper(t, "connected")
		h.ready(t)
	})
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		t.Run(role, func(t *testing.T) {
			before := count(t)
			t.Run("", func(t *testing.T) {
				e, h := withHelper(t, role)
				h.ready(t)
				if role != "inside" {
					fatal(t, e.q.Prepare(within(t, patience), e.peer.R, e.peer.Epoch))
				}
				n := 2
				if role == "waiting" { // has a receive
					fatal(t, e.q.PostReceive([]rdma.ReceiveRequest{{ID: 10, Buf: e.seg(0, 64)}, {ID: 11, Buf: e.seg(64, 64)}}))
				} else {
					n = e.outstanding(t)
				}
				woken := make(chan error, 1)
				go func() {
					time.Sleep(10 * time.Millisecond)
					h.signal(t, syscall.SIGKILL)
				}()
				go func() { woken <- e.q.Wait(within(t, patience)) }()
				if err := <-woken; err != nil {
					t.Errorf("Wait: %v", err)
				}
				e.allEnd(t, n)
				if _, err := e.q.Post([]rdma.WorkRequest{e.wr(rdma.VerbRead, 20, 0, 64, 0)}); err != nil {
					t.Fatal(err)
				}
				e.allEnd(t, 1)
				if role != "inside" {
					e.salvage(t)
				}
				fatal(t, e.dom.Deregister(within(t, patience), e.k)) // who is dead is not waited for: that would be an error
				fatal(t, e.q.Close())
			})
			before.noMore(t)
		})
	}
}

// salvage reads the memory of the peer that was killed.
func (e *end) salvage(t *testing.T) {
	t.Helper()
	v, err := View(e.q, e.peer.R, e.peer.Epoch)
	fatal(t, err)
	if got := string(v.Bytes()[:20]); got != "memory of the helper" {
		t.Errorf("the memory of the dead process holds %q", got)
	}
	fatal(t, e.q.Close())
	_ = v.Bytes()[endBytes-1] // is there as long as it is held
	fatal(t, v.Close())
	if v.Bytes() != nil {
		t.Error("a closed view has bytes")
	}
}

// TestStopped stops the peer in each state: one-sided operations go on, and what needs the
// peer ends in time.
func TestStopped(t *testing.T) {
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		if role == "inside" {
			continue // see TestStoppedInside
		}
		t.Run(role, func(t *testing.T) {
			e, h := withHelper(t, role)
			h.ready(t)
			fatal(t, e.q.Prepare(within(t, patience), e.peer.R, e.peer.Epoch))
			h.signal(t, syscall.SIGSTOP)
			h.stopped(t)
			_, err := e.q.Post([]rdma.WorkRequest{e.wr(rdma.VerbWrite, 1, 0, 64, 512), e.wr(rdma.VerbFetchAdd, 2, 0, 8, 4096)})
			fatal(t, err)
			for id := range uint64(2) {
				if c, err := e.next(within(t, patience)); err != nil || c.Err != nil || c.ID != id+1 {
					t.Fatalf("%+v, %v", c, err)
				}
			}
			if err := e.q.Prepare(within(t, 50*time.Millisecond), e.peer.R, e.peer.Epoch+1); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Prepare: %v", err)
			}
			// It may have been stopped in the middle of an access, or not.
			if err := e.dom.Deregister(within(t, patience), e.k); err != nil {
				if !errors.Is(err, rdma.ErrTimeout) {
					t.Errorf("Deregister: %v", err)
				}
				h.signal(t, syscall.SIGCONT)
				fatal(t, e.again(t))
			}
		})
	}
}

// again deregisters once more, for as long as it takes.
func (e *end) again(t *testing.T) (err error) {
	for range 20 {
		if err = e.dom.Deregister(within(t, patience), e.k); err == nil {
			return nil
		}
	}
	return err
}

// TestStoppedInside stops the peer in the middle of an access. Deregister does not hang, and
// does not say that the memory is free before it is.
func TestStoppedInside(t *testing.T) {
	for name, release := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "continued": syscall.SIGCONT} {
		t.Run(name, func(t *testing.T) {
			e, h := withHelper(t, "inside")
			h.ready(t)
			h.stopped(t)
			start := time.Now()
			err := e.dom.Deregister(within(t, patience), e.k)
			if !errors.Is(err, rdma.ErrTimeout) || time.Since(start) > patience/2 {
				t.Fatalf("Deregister: %v after %v", err, time.Since(start))
			}
			if _, err := e.q.Post([]rdma.WorkRequest{{ID: 1, Verb: rdma.VerbFlush}}); err != nil {
				t.Fatal(err)
			}
			if c, err := e.next(within(t, patience)); err != nil || c.Err == nil {
				t.Errorf("the connection goes on: %+v, %v", c, err)
			}
			if err := e.dom.Deregister(within(t, patience), e.k); err == nil {
				t.Error("the peer is still inside, and Deregister says that it is not")
			}
			fatal(t, e.q.Close()) // does not hang either
			h.signal(t, release)
			fatal(t, e.again(t))
		})
	}
}

// TestHandshakeLeftUndone has peers that connect and say nothing, or say hello and go away. Others are served.
func TestHandshakeLeftUndone(t *testing.T) {
	before := count(t)
	t.Run("", func(t *testing.T) {
		a, b := newSide(t, nil, 4096, all), newSide(t, nil, 4096, all)
		a.dom.a.handshake = time.Second
		ln, err := a.dom.Listen(within(t, patience), address())
		fatal(t, err)
		for _, role := range []string{"silent", "greeter"} {
			h := startHelper(t, role, ln.Addr())
			h.ready(t)
			h.signal(t, syscall.SIGKILL)
			_ = h.cmd.Wait()
		}
		stopped := startHelper(t, "silent", ln.Addr())
		stopped.ready(t)
		stopped.signal(t, syscall.SIGSTOP)
		served := make(chan error, 1)
		go func() {
			for {
				q, err := ln.Accept(within(t, patience), func(hello []byte) ([]byte, error) { return nil, nil })
				if err != nil || string(q.Hello()) == "me" {
					served <- err
					return
				}
				_ = q.Close() // of the one that said hello before it was killed
			}
		}()
		q, err := b.dom.Dial(within(t, patience), ln.Addr(), []byte("me"))
		fatal(t, err)
		fatal(t, <-served)
		fatal(t, q.Close())
		fatal(t, ln.Close())
	})
	before.noMore(t)
}

// TestDialStopped dials a process that does not answer.
func TestDialStopped(t *testing.T) {
	a, b := newSide(t, nil, 4096, all), newSide(t, nil, 4096, all)
	ln, err := a.dom.Listen(within(t, patience), address())
	fatal(t, err)
	if _, err := b.dom.Dial(within(t, 100*time.Millisecond), ln.Addr(), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Dial: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := b.dom.Dial(ctx, ln.Addr(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial: %v", err)
	}
	fatal(t, ln.Close())
}

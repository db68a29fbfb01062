package rdma_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// The entries of the catalogue that are about memory, its rights and its life.

func beyondRegion(w *world) error {
	s := w.stage(rdma.Config{})
	return second(rdma.Write(s.b.conn, s.rem.Slice(0, 2), s.local.Span(stageLen-1, 2)))
}

func useDeregistered(w *world) error {
	s := w.stage(rdma.Config{})
	span := s.local.Span(0, 1)
	plain := must(rdma.Deregister(s.ctx, s.local))(w)
	defer plain.Close()
	_, open := barewire.Open(s.local)
	is(w, open, barewire.ErrMoved)
	return second(rdma.Write(s.b.conn, s.rem.Slice(0, 1), span))
}

func staleKey(w *world) error {
	s := w.stage(rdma.Config{})
	old := passed(s, s.target, nil, sample.TickRemoteWrite())
	plain := must(rdma.Deregister(s.ctx, s.target))(w)
	again := must(rdma.Register(s.a.dom, plain, sample.TickRemoteWrite()))(w) // a new key, and not the old one's
	defer again.Close()
	s.told()
	return s.ended(rdma.Write(s.b.conn, old.Slice(0, 1), s.local.Span(0, 1)))
}

// told returns when b knows of all keys that a has ended: a sends a message, which arrives after that.
func (s *stage) told() {
	ok(s.w, s.a.conn.SendBytes(s.ctx, []byte("gone")))
	must(s.b.conn.Receive(s.ctx, make([]byte, 16)))(s.w)
}

func otherDomain(w *world) error {
	s := w.stage(rdma.Config{})
	dom := must(s.b.dev.Domain())(w)
	other := ticks(w.T, dom, 1, sample.TickLocal())
	here := second(rdma.Write(s.b.conn, s.rem.Slice(0, 1), other.Span(0, 1)))
	// And a key of another domain of the peer's.
	dom = must(s.a.dev.Domain())(w)
	there := passed(s, ticks(w.T, dom, 1, sample.TickRemoteWrite()), nil, sample.TickRemoteWrite())
	is(w, s.ended(rdma.Write(s.b.conn, there, s.local.Span(0, 1))), rdma.ErrRevoked)
	return here
}

// everyGrantReceives reads into regions of each grant.
func everyGrantReceives(w *world) error {
	s := w.stage(rdma.Config{})
	return errors.Join(
		receives(s, sample.TickLocal()), receives(s, sample.TickRemoteRead()), receives(s, sample.TickRemoteWrite()),
		receives(s, sample.TickRemoteReadWrite()), receives(s, sample.TickRemoteAtomic()), receives(s, sample.TickRemoteReadAtomic()),
		receives(s, sample.TickRemoteWriteAtomic()), receives(s, sample.TickRemoteReadWriteAtomic()))
}

func receives[A barewire.Registered](s *stage, g barewire.Grant[sample.Tick, A]) error {
	r := ticks(s.w.T, s.b.dom, 1, g)
	if err := s.ended(rdma.Read(s.b.conn, r.Span(0, 1), s.rem.Slice(3, 1))); err != nil {
		return err
	}
	return r.Close()
}

// forged is a reference that says that it grants all.
func forged[A, B barewire.RemoteAccess](s *stage, mr *barewire.Region[sample.Tick, barewire.CPU, A], g barewire.Grant[sample.Tick, B]) barewire.Remote[sample.Tick, B] {
	return passed(s, mr, func(ref *barewire.Ref) {
		ref.Rights = barewire.ReadRight | barewire.WriteRight | barewire.AtomicRight
	}, g)
}

func writeReadOnly(w *world) error {
	s := w.stage(rdma.Config{})
	r := ticks(w.T, s.a.dom, 1, sample.TickRemoteRead())
	ok(w, rdma.Offer(s.ctx, s.a.conn, "readable", r))
	_, asked := rdma.Import(s.ctx, s.b.conn, "readable", sample.TickRemoteWrite())
	is(w, asked, rdma.ErrRights)
	is(w, asked, rdma.ErrRefused)
	err := s.ended(rdma.Write(s.b.conn, forged(s, r, sample.TickRemoteWrite()), s.local.Span(0, 1)))
	return err
}

func atomicWithoutRight(w *world) error {
	s := w.stage(rdma.Config{})
	r := ticks(w.T, s.a.dom, 1, sample.TickRemoteReadWrite())
	op, err := rdma.FetchAdd(s.b.conn, sample.TickSeqOf(forged(s, r, sample.TickRemoteAtomic()), 0), 1)
	if err == nil {
		_, err = op.Wait(s.ctx)
	}
	return err
}

func connectionNeedsNoFlags(w *world) error {
	s := w.stage(rdma.Config{})
	op, err := rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 0), 1)
	if err == nil {
		_, err = op.Wait(s.ctx)
	}
	return errors.Join(err,
		s.ended(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))),
		s.ended(rdma.Read(s.b.conn, s.local.Span(0, 1), s.rem.Slice(0, 1))))
}

func deregisterInFlight(w *world) error {
	s := w.stage(rdma.Config{})
	release := s.hold(rdma.VerbWrite)
	op := must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))(w)
	_, err := rdma.Deregister(s.ctx, s.local)
	release()
	ok(w, op.Wait(s.ctx))
	must(rdma.Deregister(s.ctx, s.local))(w)
	return err
}

func closeInFlight(w *world) error {
	s := w.stage(rdma.Config{})
	defer s.hold(rdma.VerbRead)()
	op := must(rdma.Read(s.b.conn, s.local.Span(0, 1), s.rem.Slice(0, 1)))(w)
	err := s.local.Close()
	ok(w, s.b.conn.Close())
	is(w, op.Wait(s.ctx), rdma.ErrClosed)
	ok(w, s.local.Close())
	return err
}

func reuseAfterTimeout(w *world) error {
	s := w.stage(rdma.Config{})
	defer s.hold(rdma.VerbRead)()
	op := must(rdma.Read(s.b.conn, s.local.Span(0, 1), s.rem.Slice(0, 1)))(w)
	ctx, cancel := context.WithTimeout(s.ctx, 5*time.Millisecond)
	defer cancel()
	is(w, op.Wait(ctx), context.DeadlineExceeded)
	err := s.local.Close()
	s.b.conn.Abort(errors.New("it takes too long"))
	ok(w, s.b.conn.Drain(s.ctx))
	ok(w, s.local.Close())
	return err
}

func lateRead(w *world) error {
	s := w.stage(rdma.Config{})
	client := ticks(w.T, s.a.dom, 1, sample.TickRemoteRead())
	atServer := passed(s, client, nil, sample.TickRemoteRead())
	ok(w, rdma.Revoke(s.ctx, client))
	s.told()
	ok(w, barewire.With(client, func(v sample.TickWindow[barewire.RemoteRead]) error {
		sample.TickAt(v, 0).SetPrice(42) // something else now
		return nil
	}))
	err := s.ended(rdma.Read(s.b.conn, s.local.Span(0, 1), atServer))
	ok(w, barewire.With(s.local, func(v sample.TickWindow[barewire.Local]) error {
		if p := sample.TickAt(v, 0).Price(); p != 0 {
			w.Errorf("the server read %v", p)
		}
		return nil
	}))
	return err
}

func reuseSendBuffer(w *world) error {
	s := w.stage(rdma.Config{})
	release := s.hold(rdma.VerbSend)
	op := must(rdma.Send(s.b.conn, s.local.Span(0, 1)))(w)
	err := s.local.Close()
	text := []byte("the first")
	ok(w, s.b.conn.SendBytes(s.ctx, text))
	copy(text, "the other")
	release()
	ok(w, op.Wait(s.ctx))
	got := make([]byte, 100)
	must(s.a.conn.Receive(s.ctx, got))(w)
	if n := must(s.a.conn.Receive(s.ctx, got))(w); string(got[:n]) != "the first" {
		w.Errorf("received %q", got[:n])
	}
	return err
}

func wrongLength(w *world) error {
	s := w.stage(rdma.Config{})
	return second(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, stageLen)))
}

// collectInFlight forgets a region that an operation reads, and makes garbage.
func collectInFlight(w *world) error {
	s := w.stage(rdma.Config{})
	release := func() {}
	if s.fabric != nil {
		release = s.hold(rdma.VerbWrite)
	}
	op := func() rdma.Op {
		mr := must(rdma.Register(s.b.dom, must(barewire.New(sample.TickInCPU(), 1))(w), sample.TickLocal()))(w)
		ok(w, barewire.With(mr, func(v sample.TickWindow[barewire.Local]) error {
			sample.TickAt(v, 0).SetPrice(42)
			return nil
		}))
		return must(rdma.Write(s.b.conn, s.rem.Slice(1, 1), mr.Span(0, 1)))(w)
	}()
	for range 3 {
		runtime.GC()
		_ = make([]byte, 1<<20)
	}
	release()
	return errors.Join(op.Wait(s.ctx), s.b.conn.Flush(s.ctx), s.hasPrice(1, 42))
}

// hasPrice reads an element of the target as b does.
func (s *stage) hasPrice(i int, want float64) error {
	if err := s.ended(rdma.Read(s.b.conn, s.local.Span(0, 1), s.rem.Slice(i, 1))); err != nil {
		return err
	}
	return barewire.With(s.local, func(v sample.TickWindow[barewire.Local]) error {
		if got := sample.TickAt(v, 0).Price(); got != want {
			return fmt.Errorf("element %d has the price %v, want %v", i, got, want)
		}
		return nil
	})
}

func useClosedRemote(w *world) error {
	s := w.stage(rdma.Config{})
	old := passed(s, s.target, nil, sample.TickRemoteWrite())
	ok(w, s.target.Close())
	s.told()
	return s.ended(rdma.Write(s.b.conn, old.Slice(0, 1), s.local.Span(0, 1)))
}

func misalignedAtomic(w *world) error {
	s := w.stage(rdma.Config{})
	rem := passed(s, s.target, func(ref *barewire.Ref) { ref.Addr += 4; ref.Count-- }, sample.TickRemoteAtomic())
	return second(rdma.FetchAdd(s.b.conn, sample.TickSeqOf(rem, 0), 1))
}

// forkInBetween starts another process, which has no part in the memory.
func forkInBetween(w *world) error {
	s := w.stage(rdma.Config{})
	ok(w, barewire.With(s.local, func(v sample.TickWindow[barewire.Local]) error {
		sample.TickAt(v, 0).SetPrice(1)
		return nil
	}))
	child := exec.CommandContext(s.ctx, os.Args[0], "-test.run=^$")
	ok(w, child.Start())
	ok(w, barewire.With(s.local, func(v sample.TickWindow[barewire.Local]) error {
		sample.TickAt(v, 0).SetPrice(2) // a copied page would be this process's only
		return nil
	}))
	err := s.ended(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))
	return errors.Join(err, child.Wait(), s.hasPrice(0, 2))
}

func nothing(w *world) error {
	s := w.stage(rdma.Config{})
	_, read := rdma.Read(s.b.conn, s.local.Span(0, 0), s.rem.Slice(stageLen, 0))
	is(w, read, rdma.ErrEmpty)
	return second(rdma.Write(s.b.conn, s.rem.Slice(0, 0), s.local.Span(0, 0)))
}

func registerTwice(w *world) error {
	s := w.stage(rdma.Config{})
	r := must(barewire.New(sample.TickInCPU(), 1))(w)
	mr := must(rdma.Register(s.b.dom, r, sample.TickLocal()))(w)
	_, err := rdma.Register(s.b.dom, r, sample.TickLocal())
	ok(w, must(rdma.Also(s.b.dom, mr, sample.TickLocal()))(w).Close())
	ok(w, mr.Close())
	return err
}

// neverWhole reads an element whose writer ended in the midst of it.
func neverWhole(w *world) error {
	s := w.stage(rdma.Config{})
	one := ticks(w, s.b.dom, 1, sample.TickLocal())
	ok(w, barewire.With(one, func(v sample.TickWindow[barewire.Local]) error {
		sample.TickAt(v, 0).SetSeq(1)
		return nil
	}))
	ok(w, must(rdma.WriteField(s.b.conn, sample.TickSeqOf(s.rem, 3), sample.TickSeqIn(one.Span(0, 1), 0)))(w).Wait(s.ctx))
	ok(w, s.b.conn.Flush(s.ctx))
	return unstable(w, func(ctx context.Context) error {
		return rdma.ReadWhole(ctx, s.b.conn, s.local.Span(0, stageLen), s.rem)
	})
}

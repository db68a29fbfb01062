package shm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// withoutDescriptors runs f while this process may open nothing more.
func withoutDescriptors(f func()) error {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: was.Max}); err != nil {
		return err
	}
	f()
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &was)
}

// wantsDescriptors holds an error to what it must say of a want of descriptors, and of whose.
func wantsDescriptors(err error, whose string) error {
	if err == nil {
		return errors.New("it succeeds without a descriptor")
	}
	if text := err.Error(); !strings.Contains(text, "RLIMIT_NOFILE") || !strings.Contains(text, whose) || errors.Is(err, rdma.ErrFailed) {
		return fmt.Errorf("not that %s lacks descriptors: %w", whose, err)
	}
	return nil
}

// TestNoDescriptorForImport has no room for the descriptor that an import needs, here or at the owner: that import
// fails, and says who lacks what; another succeeds on the same connection.
func TestNoDescriptorForImport(t *testing.T) {
	t.Run("importer", func(t *testing.T) {
		a, s, own, _ := rogueQueue(t)
		own.slot(3).Store(7)
		fd := memfd(t, 1<<16, sealed)
		prepare := func() error {
			asked := make(chan error, 1)
			go func() { asked <- a.q.Prepare(within(t, patience), 0x1234, 1) }()
			m, _, err := s.receive()
			if err == nil {
				answer := message{kind: kindGrant, id: m.id, slot: 3, nonce: 7, rights: uint16(all), addr: 1 << 20, length: 1 << 16}
				err = s.send(answer, fd, patience)
			}
			return errors.Join(err, <-asked)
		}
		var err error
		fatal(t, withoutDescriptors(func() { err = prepare() }))
		fatal(t, wantsDescriptors(err, "this process"))
		fatal(t, prepare())
	})
	t.Run("owner", func(t *testing.T) {
		a, s, _, _ := rogueQueue(t)
		ask := message{kind: kindAsk, id: 1, key: uint32(a.k.R), epoch: a.k.Epoch}
		fatal(t, withoutDescriptors(func() {
			fatal(t, s.send(ask, -1, patience))
			m, _, err := s.receive()
			fatal(t, err)
			if text := string(m.body); m.kind != kindDeny || m.status != rdma.StatusProvider || !strings.Contains(text, "RLIMIT_NOFILE") {
				t.Errorf("answered %+v: %s", m, text)
			}
		}))
		ask.id++
		fatal(t, s.send(ask, -1, patience))
		m, fd, err := s.receive()
		fatal(t, err)
		if m.kind != kindGrant {
			t.Fatalf("answered %+v: %s", m, m.body)
		}
		fatal(t, unix.Close(fd))
	})
}

// lacking is the second process: it imports "it" without room for a descriptor and with it, while
// the connection has other things to do.
func lacking(addr string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	dom, conn, err := dialled(ctx, addr, rdma.Config{})
	if err != nil {
		return err
	}
	for range 3 {
		var refused error
		err := withoutDescriptors(func() { _, refused = rdma.Import(ctx, conn, "it", sample.TickRemoteWrite()) })
		if err := errors.Join(err, wantsDescriptors(refused, "this process")); err != nil {
			return err
		}
		if err := conn.SendBytes(ctx, []byte("still here")); err != nil {
			return err
		}
	}
	rem, err := rdma.Import(ctx, conn, "it", sample.TickRemoteWrite())
	if err != nil {
		return err
	}
	local, err := oneLocal(dom, 1)
	if err != nil {
		return err
	}
	defer local.Close()
	op, err := rdma.Write(conn, rem.Slice(0, 1), local.Span(0, 1))
	if err != nil {
		return err
	}
	return errors.Join(op.Wait(ctx), conn.SendBytes(ctx, []byte("done")), conn.Flush(ctx))
}

// TestConnectionOutlivesWant has a process lack descriptors for an import, and go on.
func TestConnectionOutlivesWant(t *testing.T) {
	ctx := within(t, 30*time.Second)
	dev, err := rdma.Open(ctx, rdma.Config{Provider: provider{}, HandshakeTimeout: 20 * time.Second})
	fatal(t, err)
	defer dev.Close()
	dom, err := dev.Domain()
	fatal(t, err)
	ln, err := dom.Listen(ctx, "")
	fatal(t, err)
	h := startHelper(t, "lacking", ln.Addr())
	conn, err := ln.Accept(ctx)
	fatal(t, err)
	r, err := barewire.New(sample.TickInCPU(), 1)
	fatal(t, err)
	mr, err := rdma.Register(dom, r, sample.TickRemoteWrite())
	fatal(t, err)
	defer mr.Close()
	fatal(t, rdma.Offer(ctx, conn, "it", mr))
	var buf [100]byte
	for _, want := range []string{"still here", "still here", "still here", "done"} {
		n, err := conn.Receive(ctx, buf[:])
		fatal(t, err)
		if string(buf[:n]) != want {
			t.Errorf("the helper says %q, not %q", buf[:n], want)
		}
	}
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("the helper: %v", err)
	}
}

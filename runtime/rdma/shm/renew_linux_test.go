package shm

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// wary is the provider, for whom each peer is of the same user, or none is.
type wary struct {
	provider
	trusts bool
}

func (w wary) Open(_ context.Context, _ string, cfg *rdma.Config) (rdma.Adapter, error) {
	a := newAdapter(cfg)
	a.trusts = func(unix.Ucred) bool { return w.trusts }
	return a, nil
}

// typedPair is two connected sides of package rdma.
func typedPair(t *testing.T, cfg rdma.Config) (a, b *rdma.Domain, ac, bc *rdma.Conn) {
	t.Helper()
	ctx := within(t, 10*time.Second)
	open := func() *rdma.Domain {
		dev, err := rdma.Open(ctx, cfg)
		fatal(t, err)
		t.Cleanup(func() { _ = dev.Close() })
		dom, err := dev.Domain()
		fatal(t, err)
		return dom
	}
	a, b = open(), open()
	ln, err := a.Listen(ctx, "")
	fatal(t, err)
	defer ln.Close()
	accepted := make(chan error, 1)
	go func() {
		var err error
		ac, err = ln.Accept(ctx)
		accepted <- err
	}()
	bc, err = b.Dial(ctx, ln.Addr())
	fatal(t, err)
	fatal(t, <-accepted)
	return a, b, ac, bc
}

// keepMapping maps memory that has a name once more, as a peer can that has a descriptor of it.
func keepMapping(t *testing.T, name string, n int) []byte {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	fatal(t, err)
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		from, _, _ := strings.Cut(lines.Text(), "-")
		if !strings.Contains(lines.Text(), "memfd:barewire:"+name+" ") {
			continue
		}
		at, err := strconv.ParseUint(from, 16, 64)
		fatal(t, err)
		mem, err := unix.MremapPtr(*(*unsafe.Pointer)(unsafe.Pointer(&at)), 0, nil, uintptr(n), unix.MREMAP_MAYMOVE)
		fatal(t, err)
		t.Cleanup(func() { _ = unix.MunmapPtr(mem, uintptr(n)) })
		return unsafe.Slice((*byte)(mem), n)
	}
	t.Fatalf("no mapping is called %q in\n%s", name, maps)
	return nil
}

// TestMappingKept has a peer that had write, and does not unmap what was taken back. If it is another
// user's, it reaches nothing that is in the region after Deregister.
func TestMappingKept(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		t.Run("trusted="+strconv.FormatBool(trusted), func(t *testing.T) {
			ctx := within(t, 10*time.Second)
			a, b, ac, bc := typedPair(t, rdma.Config{Provider: wary{trusts: trusted}})
			name := "kept-" + strconv.FormatBool(trusted)
			r, err := barewire.New(sample.TickInCPU(), 8, barewire.Named(name))
			fatal(t, err)
			mr, err := rdma.Register(a, r, sample.TickRemoteWrite())
			fatal(t, err)
			fatal(t, rdma.Offer(ctx, ac, "it", mr))
			rem, err := rdma.Import(ctx, bc, "it", sample.TickRemoteWrite())
			fatal(t, err)
			l, err := barewire.New(sample.TickInCPU(), 8)
			fatal(t, err)
			local, err := rdma.Register(b, l, sample.TickLocal())
			fatal(t, err)
			defer local.Close()
			op, err := rdma.Write(bc, rem, local.Span(0, 8))
			fatal(t, err)
			fatal(t, op.Wait(ctx))
			peer := keepMapping(t, name, os.Getpagesize())
			peer[0] = 7 // it still may

			r, err = rdma.Deregister(ctx, mr)
			fatal(t, err)
			defer r.Close()
			w, err := barewire.Open(r)
			fatal(t, err)
			defer w.Close()
			own := &sample.TickAt(w, 0).Bytes()[0]
			if *own != 7 {
				t.Errorf("what was in the region is %d now", *own)
			}
			if peer[0] = 66; (*own == 66) != trusted {
				t.Errorf("the peer writes 66 to what it has kept; the region has %d", *own)
			}
			if *own = 99; (peer[0] == 99) != trusted {
				t.Errorf("the region has 99; the peer reads %d", peer[0])
			}
		})
	}
}

// TestSameUser looks at who is trusted: the kernel says whom a socket belongs to.
func TestSameUser(t *testing.T) {
	me := uint32(os.Geteuid())
	for _, test := range []struct {
		uid  uint32
		want bool
	}{{me, me != unknownUser}, {me + 1, false}, {unknownUser, false}} {
		if got := sameUser(unix.Ucred{Uid: test.uid}); got != test.want {
			t.Errorf("user %d, I am %d: %v", test.uid, me, got)
		}
	}
	a, b := pair(t, nil, 4096)
	if want := me != unknownUser; a.q.trusted != want || b.q.trusted != want {
		t.Errorf("a peer of this process is trusted: %v, %v", a.q.trusted, b.q.trusted)
	}
}

// TestExposed asks for memory as another user, and as the same: the owner is told of the former,
// before the descriptor is out.
func TestExposed(t *testing.T) {
	for _, other := range []bool{false, true} {
		a := newSide(t, nil, 4096, all)
		m := memory(t, 4096)
		var exposed atomic.Int32
		m.Exposed = func() { exposed.Add(1) }
		k, err := a.dom.Register(m, all, nil)
		fatal(t, err)
		ln, err := a.dom.Listen(within(t, patience), "")
		fatal(t, err)
		defer ln.Close()
		as := func(t *testing.T, f func()) { f() }
		if other {
			as = asNobody // does nothing for who is not root
		}
		var c net.Conn
		as(t, func() { c, err = net.Dial(network, ln.Addr()) })
		fatal(t, err)
		defer c.Close()
		s, err := newSocket(c.(*net.UnixConn))
		fatal(t, err)
		own, fd, err := newOutbox(a.dom.a.layout)
		fatal(t, err)
		defer own.close()
		fatal(t, a.dom.greet(s, kindHello, own, nil, fd, rogueBell(t)))
		fatal(t, unix.Close(fd))
		q, err := ln.Accept(within(t, patience), func([]byte) ([]byte, error) { return nil, nil })
		fatal(t, err)
		g, err := a.dom.hear(s.conn, kindWelcome, time.Now().Add(patience))
		fatal(t, err)
		defer g.peer.close()
		fatal(t, g.sock.send(message{kind: kindAsk, id: 1, key: uint32(k.R), epoch: k.Epoch}, -1, patience))
		answer, fd, err := g.sock.receive()
		fatal(t, err)
		if answer.kind != kindGrant {
			t.Fatalf("answered %+v", answer)
		}
		fatal(t, unix.Close(fd))
		if want := other && os.Geteuid() == 0; exposed.Load() > 0 != want {
			t.Errorf("%s: the owner is told %d times", q.Peer(), exposed.Load())
		}
	}
}

// TestMaxConns: package rdma bounds the connections that a domain takes, and says so to the peer.
func TestMaxConns(t *testing.T) {
	ctx := within(t, 10*time.Second)
	a, b, _, _ := typedPair(t, rdma.Config{Provider: provider{}, MaxConns: 1})
	ln, err := a.Listen(ctx, "")
	fatal(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = ln.Accept(ctx)
	}()
	before := count(t)
	for range 20 {
		if _, err := b.Dial(ctx, ln.Addr()); err == nil || !strings.Contains(err.Error(), "MaxConns") {
			t.Errorf("one too many: %v", err)
		}
	}
	before.noMore(t)
	fatal(t, ln.Close())
	<-done
}

package shm

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// bulk is how many elements one write of the writer moves: so many that it is nearly always
// in the midst of one.
const bulk = 1 << 18

// writer is the second process: it imports "bulk" and writes all of it, again and again.
func writer(addr string) error {
	ctx := context.Background()
	dom, conn, err := dialled(ctx, addr, rdma.Config{Mode: rdma.Busy, OpTimeout: -1})
	if err != nil {
		return err
	}
	rem, err := rdma.Import(ctx, conn, "bulk", sample.TickRemoteWrite())
	if err != nil {
		return err
	}
	local, err := oneLocal(dom, bulk)
	if err != nil {
		return err
	}
	defer local.Close()
	ready()
	for err == nil {
		var op rdma.Op
		if op, err = rdma.Write(conn, rem, local.Span(0, bulk)); err == nil {
			err = op.Wait(ctx)
		}
	}
	forget() // what it wrote to was taken back
	return nil
}

// dialled is a connection of a process that does nothing else, and its domain.
func dialled(ctx context.Context, addr string, cfg rdma.Config) (*rdma.Domain, *rdma.Conn, error) {
	cfg.Provider = provider{}
	dev, err := rdma.Open(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	dom, err := dev.Domain()
	if err != nil {
		return nil, nil, err
	}
	conn, err := dom.Dial(ctx, addr)
	return dom, conn, err
}

// oneLocal is a region of n elements that is registered for this process alone.
func oneLocal(dom *rdma.Domain, n int) (*barewire.Region[sample.Tick, barewire.CPU, barewire.Local], error) {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return nil, err
	}
	local, err := rdma.Register(dom, r, sample.TickLocal())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return local, nil
}

// opened is the provider, and remembers the adapter that it opened.
type opened struct {
	provider
	a *adapter
}

func (o *opened) Open(_ context.Context, _ string, cfg *rdma.Config) (rdma.Adapter, error) {
	o.a = newAdapter(cfg)
	o.a.letGo = 200 * time.Millisecond
	return o.a, nil
}

// queue is the one there is.
func (o *opened) queue() *queue {
	o.a.mu.Lock()
	defer o.a.mu.Unlock()
	for d := range o.a.domains {
		d.mu.Lock()
		defer d.mu.Unlock()
		for q := range d.queues {
			return q
		}
	}
	return nil
}

type bulkRegion = barewire.Region[sample.Tick, barewire.CPU, barewire.RemoteWrite]

// invaded is a region that a process has stopped in the middle of a write to.
type invaded struct {
	t    *testing.T
	h    *helper
	dev  *rdma.Device
	dom  *rdma.Domain
	name string
	mr   *bulkRegion
}

func newInvaded(t *testing.T, name string) *invaded {
	t.Helper()
	ctx := within(t, 30*time.Second)
	p := &opened{}
	i := &invaded{t: t, name: name}
	var err error
	i.dev, err = rdma.Open(ctx, rdma.Config{Provider: p, HandshakeTimeout: 20 * time.Second})
	fatal(t, err)
	t.Cleanup(func() { _ = i.dev.Close() })
	i.dom, err = i.dev.Domain()
	fatal(t, err)
	ln, err := i.dom.Listen(ctx, "")
	fatal(t, err)
	i.h = startHelper(t, "writer", ln.Addr())
	conn, err := ln.Accept(ctx)
	fatal(t, err)
	fatal(t, ln.Close())
	r, err := barewire.New(sample.TickInCPU(), bulk, barewire.Named(name))
	fatal(t, err)
	i.mr, err = rdma.Register(i.dom, r, sample.TickRemoteWrite())
	fatal(t, err)
	fatal(t, rdma.Offer(ctx, conn, "bulk", i.mr))
	i.h.ready(t)
	q := p.queue()
	for range 1000 {
		i.h.signal(t, syscall.SIGSTOP)
		i.h.stopped(t)
		if q.peerAccess.Load()&1 == 1 {
			return i
		}
		i.h.signal(t, syscall.SIGCONT)
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the writer is never inside")
	return nil
}

// mapped reports whether the region's memory is.
func (i *invaded) mapped() bool {
	i.t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	fatal(i.t, err)
	return strings.Contains(string(maps), "memfd:barewire:"+i.name+" ")
}

// stays wants an error that says what was not closed, where it was made, and who is inside; and the
// memory to be there.
func (i *invaded) stays(err error) {
	i.t.Helper()
	if err == nil {
		i.t.Fatal("closed, and the peer is inside")
	}
	if !errors.Is(err, rdma.ErrTimeout) {
		i.t.Errorf("not a timeout: %v", err)
	}
	for _, want := range []string{"region " + i.name, "shm/close_linux_test.go:", "process ", "stopped in the middle of an access"} {
		if !strings.Contains(err.Error(), want) {
			i.t.Errorf("%q is not in: %v", want, err)
		}
	}
	if !i.mapped() {
		i.t.Fatal("the memory is gone, and the peer is inside")
	}
}

// atLast closes until it succeeds.
func (i *invaded) atLast(closes func() error) {
	i.t.Helper()
	var err error
	for range 50 {
		if err = closes(); err == nil {
			return
		}
	}
	i.t.Fatalf("it never closes: %v", err)
}

// gone wants the memory given back, and said so.
func (i *invaded) gone() {
	i.t.Helper()
	if i.mapped() {
		i.t.Error("the memory stays")
	}
	if err := i.mr.Close(); !errors.Is(err, barewire.ErrReleased) {
		i.t.Errorf("closed once more: %v", err)
	}
}

// TestCloseWhilePeerStopped closes while a process has stopped in the middle of a write. That fails, and can be done
// again; when the peer has gone on or ended, all is given back.
func TestCloseWhilePeerStopped(t *testing.T) {
	t.Run("first", func(t *testing.T) { // what a process opens once is no leak
		_, h := withHelper(t, "connected")
		h.ready(t)
	})
	for name, release := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "continued": syscall.SIGCONT} {
		for what, closes := range map[string]func(i *invaded, release func()){
			"region": closeRegion, "siblings": closeSiblings, "device": closeDevice, "region, then device": closeRegionThenDevice,
		} {
			t.Run(what+", "+name, func(t *testing.T) {
				before := count(t)
				t.Run("", func(t *testing.T) {
					i := newInvaded(t, "invaded-"+strings.Fields(what)[0]+name)
					closes(i, func() { i.h.signal(t, release) })
				})
				before.noMore(t)
			})
		}
	}
}

func closeRegion(i *invaded, release func()) {
	i.stays(i.mr.Close())
	err := i.mr.Close()
	i.stays(err)
	if !errors.Is(err, barewire.ErrRegistered) || errors.Is(err, barewire.ErrReleased) {
		i.t.Errorf("closed again: %v", err)
	}
	fatal(i.t, barewire.With(i.mr, func(barewire.Window[sample.Tick, barewire.RemoteWrite]) error { return nil }))
	release()
	i.atLast(i.mr.Close)
	i.gone()
}

func closeSiblings(i *invaded, release func()) {
	other, err := i.dev.Domain()
	fatal(i.t, err)
	here, err := rdma.Also(i.dom, i.mr, sample.TickRemoteRead())
	fatal(i.t, err)
	there, err := rdma.Also(other, i.mr, sample.TickRemoteWrite())
	fatal(i.t, err)
	i.stays(i.mr.Close())
	fatal(i.t, here.Close())
	if err := here.Close(); !errors.Is(err, barewire.ErrReleased) {
		i.t.Errorf("a sibling, closed once more: %v", err)
	}
	i.stays(i.mr.Close())
	release()
	i.atLast(i.mr.Close)
	if !i.mapped() {
		i.t.Error("the memory is gone, and a sibling is not closed")
	}
	fatal(i.t, there.Close())
	i.gone()
}

func closeDevice(i *invaded, release func()) {
	i.stays(i.dev.Close())
	i.stays(i.dev.Close())
	release()
	i.atLast(i.dev.Close)
	fatal(i.t, i.dev.Close())
	if !i.mapped() {
		i.t.Error("the memory is gone, and the region was not closed")
	}
	fatal(i.t, i.mr.Close())
	i.gone() //barewire:ignore BW5102 it closes once more, and looks at the error
}

// closeRegionThenDevice does not close the region again: its domain does.
func closeRegionThenDevice(i *invaded, release func()) {
	i.stays(i.mr.Close())
	i.stays(i.dom.Close())
	release()
	i.atLast(i.dev.Close)
	i.gone()
}

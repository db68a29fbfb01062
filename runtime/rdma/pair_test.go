package rdma_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// pair is two connected sides, on a fabric of their own where it is soft's.
type pair struct {
	fabric *soft.Fabric // nil over another provider
	a, b   side
}

// side is a device with one domain and one connection.
type side struct {
	dev  *rdma.Device
	dom  *rdma.Domain
	conn *rdma.Conn
}

// limit ends a test that hangs with an error of its own.
func limit(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// must gives v, and ends the test on an error.
func must[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// is fails the test unless err is the wanted reason.
func is(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
}

// connect makes a pair. What it makes is closed with the test.
func connect(t testing.TB, cfg rdma.Config, fcfg soft.Config) *pair {
	t.Helper()
	fabric := soft.New(fcfg)
	cfg.Provider = fabric
	p := meet(t, cfg, "")
	p.fabric = fabric
	return p
}

// meet makes a pair of any provider's, at an address of its form.
func meet(t testing.TB, cfg rdma.Config, addr string) *pair {
	t.Helper()
	p := &pair{}
	ctx := limit(t)
	for _, s := range []*side{&p.a, &p.b} {
		s.dev = must(rdma.Open(ctx, cfg))(t)
		s.dom = must(s.dev.Domain())(t)
		t.Cleanup(func() { _ = s.dev.Close() })
	}
	ln := must(p.a.dom.Listen(ctx, addr))(t)
	defer ln.Close()
	type accepted struct {
		c   *rdma.Conn
		err error
	}
	got := make(chan accepted)
	go func() {
		c, err := ln.Accept(ctx)
		got <- accepted{c, err}
	}()
	p.b.conn = must(p.b.dom.Dial(ctx, ln.Addr()))(t)
	acc := <-got
	p.a.conn = must(acc.c, acc.err)(t)
	return p
}

// ticks makes a registered region that closes with the test.
func ticks[A barewire.Registered](t testing.TB, dom *rdma.Domain, n int, g barewire.Grant[sample.Tick, A]) *barewire.Region[sample.Tick, barewire.CPU, A] {
	t.Helper()
	r := must(barewire.New(sample.TickInCPU(), n))(t)
	mr := must(rdma.Register(dom, r, g))(t)
	t.Cleanup(func() { _ = mr.Close() })
	return mr
}

// share offers a region of one side and imports it on the other.
func share[A barewire.RemoteAccess](t testing.TB, from, to *side, name string, mr *barewire.Region[sample.Tick, barewire.CPU, A], g barewire.Grant[sample.Tick, A]) barewire.Remote[sample.Tick, A] {
	t.Helper()
	ctx := limit(t)
	ok(t, rdma.Offer(ctx, from.conn, name, mr))
	return must(rdma.Import(ctx, to.conn, name, g))(t)
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

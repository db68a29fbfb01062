package rdma_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func TestConfig(t *testing.T) {
	f := soft.New(soft.Config{})
	for _, c := range []struct {
		cfg  rdma.Config
		says string // empty: it is good
	}{
		{rdma.Config{}, ""},
		{rdma.Config{Transport: rdma.SoftRDMA{}}, ""},
		{rdma.Config{Transport: rdma.SoftRDMA{Depth: 7, MaxMessage: 1000}}, ""},
		{rdma.Config{Transport: rdma.SoftRDMA{Depth: 7}, Depth: 7}, ""},
		{rdma.Config{Transport: rdma.SoftRDMA{Depth: 7}, Depth: 8}, "Config.Depth is 8 and SoftRDMA.Depth is 7"},
		{rdma.Config{Depth: -1}, "Depth is -1, want 1 to 65536"},
		{rdma.Config{MaxMessage: 100}, "MaxMessage is 100, want 512 to 16777216"},
		{rdma.Config{Credits: 8}, "Credits is 8, want 32 to 4096"},
		{rdma.Config{Credits: 4096, MaxMessage: 1 << 20}, "1 GiB"},
		{rdma.Config{DSCP: 64}, "DSCP is 64, want -1 to 63"},
		{rdma.Config{Transport: rdma.SoftRDMA{}, DSCP: 5}, "SoftRDMA has no DSCP"},
		{rdma.Config{Transport: rdma.InfiniBand{MTU: 1500}}, "InfiniBand has no MTU of 1500"},
		{rdma.Config{Transport: rdma.InfiniBand{ServiceLevel: 16}}, "ServiceLevel is 16, want 0 to 15"},
		{rdma.Config{Transport: rdma.RoCEv1{Priority: 8}}, "Priority is 8, want 0 to 7"},
		{rdma.Config{Transport: rdma.RoCEv2{MTU: 9000}}, "RoCEv2 has no MTU of 9000"},
		{rdma.Config{Transport: rdma.RoCEv2{DSCP: 99}}, "DSCP is 99"},
		{rdma.Config{Transport: rdma.IWARP{MTU: 100}}, "iWARP.MTU is 100, want 576 to 9000"},
		{rdma.Config{HandshakeTimeout: -1}, "HandshakeTimeout"},
		{rdma.Config{Mode: 9}, "Mode is 9"},
	} {
		c.cfg.Provider = f
		dev, err := rdma.Open(t.Context(), c.cfg)
		if c.says == "" {
			ok(t, err)
			ok(t, dev.Close())
			continue
		}
		is(t, err, rdma.ErrConfig)
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("the message lacks %q: %v", c.says, err)
		}
	}
}

func TestTransportDefaults(t *testing.T) {
	for _, c := range []struct {
		t    rdma.Transport
		name string
	}{{rdma.InfiniBand{}, "InfiniBand"}, {rdma.RoCEv1{}, "RoCEv1"}, {rdma.RoCEv2{}, "RoCEv2"}, {rdma.IWARP{}, "iWARP"}} {
		// They are valid, and no device of this fabric has them: the error says both.
		_, err := rdma.Open(t.Context(), rdma.Config{Transport: c.t, Provider: soft.New(soft.Config{})})
		is(t, err, rdma.ErrNoDevice)
		if !strings.Contains(err.Error(), "it is SoftRDMA, and "+c.name+" is wanted") {
			t.Error(err)
		}
	}
	if got := rdma.DSCP(26).TrafficClass(); got != 104 {
		t.Errorf("DSCP 26 is traffic class %d, want 104", got)
	}
	if got := rdma.BestEffort.Wire(); got != 0 {
		t.Errorf("best effort is %d, want 0", got)
	}
}

func TestDevicesAndWhy(t *testing.T) {
	infos, err := rdma.Devices(t.Context())
	ok(t, err)
	found := false
	for _, d := range infos {
		found = found || d.Provider == "soft" && d.State == rdma.StateActive
	}
	if !found {
		t.Errorf("soft is imported, and not among %+v", infos)
	}
	dev := must(rdma.Open(t.Context(), rdma.Config{Device: "soft"}))(t)
	if !strings.Contains(dev.Why(), "soft/soft0 (SoftRDMA) is the best") {
		t.Error(dev.Why())
	}
	ok(t, dev.Close())
	_, err = rdma.Open(t.Context(), rdma.Config{Device: "mlx5_0"})
	is(t, err, rdma.ErrNoDevice)
	if !strings.Contains(err.Error(), `"mlx5_0"`) || !strings.Contains(err.Error(), "soft/soft0") {
		t.Error(err)
	}
}

// TestObserver sees what happens, and the log has what failed.
func TestObserver(t *testing.T) {
	events := make(chan rdma.Event, 100)
	var log syncBuffer
	s := newScene(t, rdma.Config{Observer: func(e rdma.Event) { events <- e }, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx := limit(t)
	s.fabric.Inject(soft.Fault{When: soft.When{Verb: rdma.VerbWrite}, Do: soft.Fail(rdma.StatusRemoteRange)})
	if err := s.write(t).Wait(ctx); err == nil {
		t.Fatal("it was to fail")
	}
	seen := map[rdma.EventKind]rdma.Event{}
	for len(events) > 0 {
		e := <-events
		if e.Kind != rdma.EventFailed || e.Peer == s.b.conn.Peer() {
			seen[e.Kind] = e
		}
	}
	for _, k := range []rdma.EventKind{rdma.EventConnected, rdma.EventRegistered, rdma.EventOffered, rdma.EventGranted, rdma.EventFailed} {
		if seen[k].Kind == 0 {
			t.Errorf("%s was not seen: %+v", k, seen)
		}
	}
	if s := fmt.Sprint(rdma.EventNotConnected, rdma.EventKind(0), rdma.EventKind(200)); s != "not connected event 0 event 200" {
		t.Errorf("events print as %q", s)
	}
	var oe *rdma.OpError
	if !errors.As(seen[rdma.EventFailed].Err, &oe) || oe.Op != "write" {
		t.Errorf("%v", seen[rdma.EventFailed].Err)
	}
	if text := log.String(); !strings.Contains(text, "a connection failed") || !strings.Contains(text, "posted at rdma/fail_test.go:") {
		t.Error(text)
	}
	st := s.b.conn.Stats()
	if st.Failed != 1 || st.Posted[rdma.VerbWrite] != 1 || st.Bytes[rdma.VerbWrite] != 64 || st.InFlight != 0 {
		t.Errorf("%+v", st)
	}
}

// TestPeerHasGone closes a connection on which nothing is going on: the other side is told, and
// its log does not call that a failure.
func TestPeerHasGone(t *testing.T) {
	gone := make(chan rdma.Event, 100)
	var log syncBuffer
	p := connect(t, rdma.Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), Observer: func(e rdma.Event) {
		if e.Kind == rdma.EventFailed {
			gone <- e
		}
	}}, soft.Config{})
	ok(t, p.a.conn.Close())
	is(t, (<-gone).Err, rdma.ErrPeerLost)
	if text := log.String(); !strings.Contains(text, "a peer has gone") || strings.Contains(text, "a connection failed") || strings.Contains(text, "WARN") {
		t.Error(text)
	}
}

// TestNegotiated has sides that differ.
func TestNegotiated(t *testing.T) {
	f := soft.New(soft.Config{})
	ctx := limit(t)
	open := func(cfg rdma.Config) *rdma.Domain {
		cfg.Provider = f
		dev := must(rdma.Open(ctx, cfg))(t)
		t.Cleanup(func() { ok(t, dev.Close()) })
		return must(dev.Domain())(t)
	}
	small, large := open(rdma.Config{MaxMessage: 512, MTU: 1024}), open(rdma.Config{MaxMessage: 8192, MTU: 4096})
	ln := must(small.Listen(ctx, "x"))(t)
	got := make(chan *rdma.Conn)
	go func() {
		c, _ := ln.Accept(ctx)
		got <- c
	}()
	b := must(large.Dial(ctx, "x"))(t)
	a := <-got
	if a.MTU() != 1024 || b.MTU() != 1024 {
		t.Errorf("MTU %d and %d, want 1024", a.MTU(), b.MTU())
	}
	if b.MaxMessage() != 512 || a.MaxMessage() != 8192 {
		t.Errorf("messages of %d to the small side, and of %d to the large", b.MaxMessage(), a.MaxMessage())
	}
	r := ticks(t, large, 9, sample.TickLocal())
	_, err := rdma.Send(b, r.Span(0, 9))
	is(t, err, rdma.ErrTooLong)
	is(t, a.SendBytes(ctx, make([]byte, 513)), rdma.ErrTooLong) // no more than its own buffers have
	if a.Plain() || a.Domain() != small || a.Err() != nil {
		t.Error("it is what it is not")
	}
}

func TestHandshakeTimeout(t *testing.T) {
	f := soft.New(soft.Config{})
	ctx := limit(t)
	dev := must(rdma.Open(ctx, rdma.Config{Provider: f, HandshakeTimeout: 20 * time.Millisecond}))(t)
	defer dev.Close()
	dom := must(dev.Domain())(t)
	ln := must(dom.Listen(ctx, "x"))(t)
	defer ln.Close() // and nobody accepts
	_, err := dom.Dial(ctx, "x")
	is(t, err, rdma.ErrTimeout)
	if got, want := err.Error(), "rdma: dial x: no completion in time: nobody accepted within 20ms, see Config.HandshakeTimeout"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	patient := must(rdma.Open(ctx, rdma.Config{Provider: f}))(t)
	defer patient.Close()
	short, stop := context.WithTimeout(ctx, time.Millisecond)
	_, err = must(patient.Domain())(t).Dial(short, "x")
	stop()
	if got, want := fmt.Sprint(err), "rdma: dial x: context deadline exceeded"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	_, err = ln.Accept(over)
	is(t, err, context.Canceled)
}

// TestMaxConnsAtOnce has more peers come at the same time than may.
func TestMaxConnsAtOnce(t *testing.T) {
	const most, peers = 2, 5
	var asked atomic.Int32
	fabric := soft.New(soft.Config{})
	cfg := rdma.Config{Provider: fabric, MaxConns: most, Authorize: func(rdma.Request) error {
		asked.Add(1) // the others come meanwhile
		for i := 0; i < 100 && asked.Load() < peers; i++ {
			time.Sleep(time.Millisecond)
		}
		return nil
	}}
	ctx := limit(t)
	dev := must(rdma.Open(ctx, cfg))(t)
	defer dev.Close()
	dom := must(dev.Domain())(t)
	ln := must(dom.Listen(ctx, ""))(t)
	got := make(chan bool, peers)
	var g sync.WaitGroup
	for range peers {
		g.Go(func() {
			if _, err := ln.Accept(ctx); err == nil {
				got <- true
			}
		})
	}
	out := must(rdma.Open(ctx, rdma.Config{Provider: fabric}))(t)
	defer out.Close()
	outDom := must(out.Domain())(t)
	refusals := make(chan error, peers)
	for range peers {
		go func() {
			_, err := outDom.Dial(ctx, ln.Addr())
			refusals <- err
		}()
	}
	refused := 0
	for range peers {
		if err := <-refusals; err != nil {
			refused++
		}
	}
	ok(t, ln.Close())
	g.Wait()
	if refused != peers-most || len(got) != most {
		t.Errorf("%d connections, %d refusals, want %d and %d", len(got), refused, most, peers-most)
	}
}

// TestMaxConnsRefused: peers that are refused use up no place.
func TestMaxConnsRefused(t *testing.T) {
	const refusals = 3
	fabric := soft.New(soft.Config{})
	left := refusals
	ctx := limit(t)
	dev := must(rdma.Open(ctx, rdma.Config{Provider: fabric, MaxConns: 1, Logger: quiet, Authorize: func(rdma.Request) error {
		if left--; left >= 0 {
			return errors.New("not yet")
		}
		return nil
	}}))(t)
	defer dev.Close()
	dom := must(dev.Domain())(t)
	ln := must(dom.Listen(ctx, ""))(t)
	got := make(chan error, 1)
	go func() {
		_, err := ln.Accept(ctx)
		got <- err
	}()
	out := must(rdma.Open(ctx, rdma.Config{Provider: fabric, Logger: quiet}))(t)
	defer out.Close()
	outDom := must(out.Domain())(t)
	for range refusals {
		is(t, second(outDom.Dial(ctx, ln.Addr())), rdma.ErrRefused)
	}
	must(outDom.Dial(ctx, ln.Addr()))(t)
	ok(t, <-got)
}

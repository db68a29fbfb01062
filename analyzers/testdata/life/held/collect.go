package held

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type (
	board   = sample.SensorCPU[barewire.RemoteRead]
	mirror  = sample.SensorCPU[barewire.Local]
	sensors = sample.SensorWindow[barewire.Local]
)

// collector reads the boards of many devices, each into its mirror.
type collector struct {
	dom     *rdma.Domain
	every   time.Duration
	clock   func() time.Time
	onError func(string, error)

	mu       sync.Mutex
	sessions map[string]*session
	wg       sync.WaitGroup
	quit     chan struct{}
}

type session struct {
	name string
	conn *rdma.Conn
	src  sample.SensorRemote[barewire.RemoteRead]
	dst  *mirror
}

type collectorOption func(*collector) error

func every(d time.Duration) collectorOption {
	return func(c *collector) error {
		if d <= 0 {
			return errors.New("collector: no interval")
		}
		c.every = d
		return nil
	}
}

func GoodCollector(dom *rdma.Domain, opts ...collectorOption) (*collector, error) {
	c := &collector{dom: dom, every: time.Second, clock: time.Now, sessions: map[string]*session{}, quit: make(chan struct{})}
	for _, o := range append([]collectorOption{every(time.Second)}, opts...) {
		if err := o(c); err != nil {
			return nil, err
		}
	}
	if c.onError == nil {
		c.onError = func(name string, err error) { log.Printf("%s: %v", name, err) }
	}
	return c, nil
}

// connect makes a session: what it has made so far is closed if a later step fails.
func (c *collector) connect(ctx context.Context, name, addr string) (s *session, err error) {
	var undo []func() error
	defer func() {
		if err == nil {
			return
		}
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	conn, err := c.dom.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	undo = append(undo, conn.Close)
	src, err := rdma.Import(ctx, conn, "board", sample.SensorRemoteRead())
	if err != nil {
		return nil, err
	}
	raw, err := barewire.New(sample.SensorInCPU(), src.Len())
	if err != nil {
		return nil, err
	}
	dst, err := rdma.Register(c.dom, raw, sample.SensorLocal())
	if err != nil {
		undo = append(undo, raw.Close)
		return nil, err
	}
	undo = append(undo, dst.Close)
	return &session{name: name, conn: conn, src: src, dst: dst}, nil
}

func (c *collector) GoodAdd(ctx context.Context, name, addr string) error {
	s, err := c.connect(ctx, name, addr)
	if err != nil {
		return fmt.Errorf("collector: %s: %w", name, err)
	}
	c.mu.Lock()
	if _, taken := c.sessions[name]; taken {
		c.mu.Unlock()
		return errors.Join(fmt.Errorf("collector: %s is there already", name), s.Close())
	}
	c.sessions[name] = s
	c.mu.Unlock()
	c.wg.Add(1)
	go c.run(ctx, s)
	return nil
}

func (s *session) Close() error { return errors.Join(s.conn.Close(), s.dst.Close()) }

func (c *collector) run(ctx context.Context, s *session) {
	defer c.wg.Done()
	defer func() {
		c.mu.Lock()
		delete(c.sessions, s.name)
		c.mu.Unlock()
		if err := s.Close(); err != nil {
			c.onError(s.name, err)
		}
	}()
	t := time.NewTicker(c.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.quit:
			return
		case <-t.C:
			if err := s.GoodPoll(ctx); err != nil {
				c.onError(s.name, err)
				return
			}
		}
	}
}

// GoodPoll reads all there is, with one doorbell.
func (s *session) GoodPoll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	b := s.conn.Batch()
	ops := make([]rdma.Op, 0, 4)
	for i := 0; i < s.dst.Len(); i += 64 {
		n := min(64, s.dst.Len()-i)
		op, err := rdma.Read(b, s.dst.Span(i, n), s.src.Slice(i, n))
		if err != nil {
			return errors.Join(err, b.Post(), s.conn.Drain(ctx))
		}
		ops = append(ops, op)
	}
	if err := b.Post(); err != nil {
		return err
	}
	for i := range ops {
		if err := ops[i].Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) GoodStop() {
	close(c.quit)
	c.wg.Wait()
}

// GoodHandler answers with what a mirror has.
func GoodHandler(m *mirror) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		i, err := strconv.Atoi(req.PathValue("i"))
		if err != nil || i < 0 || i >= m.Len() {
			http.Error(rw, "no such sensor", http.StatusNotFound)
			return
		}
		w, err := barewire.Open(m)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer w.Close()
		x := sample.SensorAt(w, i)
		fmt.Fprintf(rw, "%d %g %v\n", x.Seq(), x.Temp(), x.Kind())
	})
}

// GoodEncode copies before it closes.
func GoodEncode(m *mirror) (_ []byte, err error) {
	w, err := barewire.Open(m)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := w.Close(); err == nil {
			err = cerr
		}
	}()
	var buf bytes.Buffer
	for i, x := range sample.SensorAll(w) {
		if x.Seq() == 0 {
			continue
		}
		buf.Write(binary.LittleEndian.AppendUint32(nil, uint32(i)))
		buf.Write(x.Bytes())
	}
	return buf.Bytes(), nil
}

// reporter is somebody who takes sensors one by one, until it has seen enough.
type reporter interface {
	Report(sample.Sensor) (more bool)
}

func GoodReport(m *mirror, to reporter) error {
	return barewire.With(m, func(w sensors) error {
		for _, v := range sample.SensorAll(w) {
			var x sample.Sensor
			if err := v.Load(&x); err != nil {
				return err
			}
			if !to.Report(x) {
				break
			}
		}
		return nil
	})
}

// GoodBoard is a program of its own: it publishes until it is told to stop.
func GoodBoard(ctx context.Context, addr string, read func(i int) float32) (err error) {
	dev, err := rdma.Open(ctx, rdma.Config{Depth: 16})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	dom, err := dev.Domain()
	if err != nil {
		return err
	}
	raw, err := barewire.New(sample.SensorInCPU(), 32)
	if err != nil {
		return err
	}
	m, err := rdma.Register(dom, raw, sample.SensorRemoteRead())
	if err != nil {
		return errors.Join(err, raw.Close())
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	ln, err := dom.Listen(ctx, addr)
	if err != nil {
		return err
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept(ctx)
			if err != nil {
				return
			}
			if err := rdma.Offer(ctx, c, "board", m); err != nil {
				c.Abort(err)
			}
		}
	}()
	for n := uint64(1); ; n++ {
		for i := range w.Len() {
			v := sample.SensorAt(w, i)
			v.SetTemp(read(i))
			v.SetSeq(n)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

func mustDomain(t testing.TB) *rdma.Domain {
	t.Helper()
	dev, err := rdma.Open(t.Context(), rdma.Config{Device: "soft"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	dom, err := dev.Domain()
	if err != nil {
		t.Fatal(err)
	}
	return dom
}

func mustMirror(t testing.TB, dom *rdma.Domain, n int) *mirror {
	t.Helper()
	raw, err := barewire.New(sample.SensorInCPU(), n)
	if err != nil {
		t.Fatal(err)
	}
	m, err := rdma.Register(dom, raw, sample.SensorLocal())
	if err != nil {
		raw.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return m
}

func GoodTestOfMirror(t *testing.T) {
	dom := mustDomain(t)
	for _, n := range []int{1, 7, 4096} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			m := mustMirror(t, dom, n)
			w, err := barewire.Open(m)
			if err != nil {
				t.Fatal(err)
			}
			if w.Len() != n {
				t.Errorf("%d sensors, want %d", w.Len(), n)
			}
			if err := m.Close(); !errors.Is(err, barewire.ErrBorrowed) {
				t.Errorf("a borrowed region closes: %v", err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// GoodMain opens, works and exits by the error it had.
func GoodMain(dom *rdma.Domain, out io.Writer) {
	raw, err := barewire.New(sample.SensorInCPU(), 1)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m, err := rdma.Register(dom, raw, sample.SensorLocal())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	b, err := GoodEncode(m)
	if cerr := m.Close(); cerr != nil {
		log.Fatalf("closing: %v", cerr)
	}
	if err != nil {
		log.Fatal(err)
	}
	if _, err := out.Write(b); err != nil {
		log.Panicln(err)
	}
}

// ---- wrong

// BadConnect undoes the connection only.
func (c *collector) BadConnect(ctx context.Context, name, addr string) (s *session, err error) {
	conn, err := c.dom.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	raw, err := barewire.New(sample.SensorInCPU(), 16)
	if err != nil {
		return nil, err
	}
	dst, err := rdma.Register(c.dom, raw, sample.SensorLocal()) // want "BW5104"
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	src, err := rdma.Import(ctx, conn, "board", sample.SensorRemoteRead())
	if err != nil {
		return nil, err
	}
	return &session{name: name, conn: conn, src: src, dst: dst}, nil
}

// BadSessionClose closes a session and polls it once more.
func BadSessionClose(ctx context.Context, s *session) error {
	if err := s.Close(); err != nil {
		return err
	}
	op, err := rdma.Read(s.conn, s.dst.Span(0, 1), s.src.Slice(0, 1)) // want "BW5101"
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// BadStop closes in the loop and again where it is deferred.
func BadStop(s *session) (err error) {
	defer func() { err = errors.Join(err, s.dst.Close()) }() // want "BW5102"
	if err := s.conn.Close(); err != nil {
		return err
	}
	if err := s.dst.Close(); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// BadHandler has an early answer that leaves the window open.
func BadHandler(m *mirror) http.HandlerFunc {
	return func(rw http.ResponseWriter, req *http.Request) {
		w, err := barewire.Open(m) // want "BW5105"
		if err != nil {
			http.Error(rw, err.Error(), http.StatusServiceUnavailable)
			return
		}
		i, err := strconv.Atoi(req.FormValue("i"))
		if err != nil {
			http.Error(rw, "what?", http.StatusBadRequest)
			return
		}
		fmt.Fprintln(rw, sample.SensorAt(w, i).Temp())
		w.Close()
	}
}

// BadEncode keeps the bytes of an element and not a copy of them.
func BadEncode(m *mirror, i int) (b []byte) {
	err := barewire.With(m, func(w sensors) error {
		b = sample.SensorAt(w, i).Bytes()
		return nil
	})
	if err != nil {
		return nil
	}
	return append([]byte("sensor "), b...) // want "BW5111"
}

// BadPoll reads what has been asked for, and does not look whether it came.
func (s *session) BadPoll(ctx context.Context) (float32, error) {
	op, err := rdma.Read(s.conn, s.dst.Span(0, 1), s.src.Slice(0, 1))
	if err != nil {
		return 0, err
	}
	op.Wait(ctx) // want "BW5110"
	var t float32
	err = barewire.With(s.dst, func(w sensors) error {
		t = sample.SensorAt(w, 0).Temp()
		return nil
	})
	return t, err
}

// BadAdd stores a session where it is free, and loses it where it is not.
func (c *collector) BadAdd(ctx context.Context, name string, conn *rdma.Conn) error {
	raw, err := barewire.New(sample.SensorInCPU(), 1) // want "BW5104"
	if err != nil {
		return err
	}
	src, err := rdma.Import(ctx, conn, "board", sample.SensorRemoteRead())
	if err != nil {
		return fmt.Errorf("%s: %w", name, errors.Join(err, raw.Close()))
	}
	dst, err := rdma.Register(c.dom, raw, sample.SensorLocal())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[name] = &session{name: name, conn: conn, src: src, dst: dst}
	return nil
}

// BadTest forgets the region in a test that goes well.
func BadTest(t *testing.T) {
	raw, err := barewire.New(sample.SensorInCPU(), 4) // want "BW5104"
	if err != nil {
		t.Fatal(err)
	}
	if got := raw.Len(); got != 4 {
		t.Fatalf("%d sensors", got)
	}
}

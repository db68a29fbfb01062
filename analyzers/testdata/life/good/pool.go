// Package good has correct functions of many kinds: nothing is to be found in them.
package good

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"os"
	"sync"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// What most functions here are about.
type (
	M  = help.M
	U  = sample.TickCPU[barewire.Unregistered]
	UW = sample.TickWindow[barewire.Unregistered]
)

// pool keeps regions that are not in use.
type pool struct {
	mu   sync.Mutex
	dom  *rdma.Domain
	free []*M
	all  map[string]*M
	ch   chan *M
}

func (p *pool) get() (*M, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		m := p.free[n-1]
		p.free = p.free[:n-1]
		return m, nil
	}
	return help.Open(p.dom)
}

func (p *pool) put(m *M) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < 16 {
		p.free = append(p.free, m)
		return
	}
	if err := m.Close(); err != nil {
		log.Print(err)
	}
}

func GoodPoolUse(p *pool, c *rdma.Conn, rem help.Rem) error {
	m, err := p.get()
	if err != nil {
		return err
	}
	defer p.put(m)
	op, err := help.Start(c, m, rem)
	if err != nil {
		return err
	}
	return op.Wait(context.Background())
}

func (p *pool) GoodDrain() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.free {
		err = errors.Join(err, m.Close())
	}
	p.free = nil
	for name, m := range p.all {
		if cerr := m.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("%s: %w", name, cerr)
		}
		delete(p.all, name)
	}
	return err
}

func (p *pool) GoodFill(n int) error {
	for range n {
		m, err := help.Open(p.dom)
		if err != nil {
			return err
		}
		p.free = append(p.free, m)
	}
	return nil
}

func (p *pool) GoodNamed(name string) (*M, error) {
	if m, ok := p.all[name]; ok {
		return m, nil
	}
	m, err := help.Open(p.dom)
	if err != nil {
		return nil, err
	}
	p.all[name] = m
	return m, nil
}

func (p *pool) GoodOverChannel() error {
	m, err := help.Open(p.dom)
	if err != nil {
		return err
	}
	select {
	case p.ch <- m:
		return nil
	default:
		return m.Close()
	}
}

func (p *pool) GoodOverChannelOrTimeout(ctx context.Context) error {
	m, err := help.Open(p.dom)
	if err != nil {
		return err
	}
	select {
	case p.ch <- m:
	case <-ctx.Done():
		return errors.Join(ctx.Err(), m.Close())
	case <-time.After(time.Second):
		m.Close()
	}
	return nil
}

// server owns what it was made with.
type server struct {
	*M
	scratch *U
	conn    *rdma.Conn
	win     UW
	stop    []func() error
}

func GoodServer(dom *rdma.Domain, conn *rdma.Conn) (*server, error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	u, err := barewire.New(sample.TickInCPU(), 4)
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	w, err := barewire.Open(u)
	if err != nil {
		u.Close()
		m.Close()
		return nil, err
	}
	return &server{M: m, scratch: u, conn: conn, win: w}, nil
}

func (s *server) GoodCloseAll() error {
	return errors.Join(s.win.Close(), s.scratch.Close(), s.M.Close())
}

func (s *server) GoodCloseEmbedded() error {
	if s == nil || s.M == nil {
		return nil
	}
	err := s.Close()
	s.M = nil
	return err
}

func (s *server) GoodReplace(dom *rdma.Domain) error {
	if s.M != nil {
		if err := s.M.Close(); err != nil {
			return err
		}
		s.M = nil
	}
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	s.M = m
	return nil
}

func (s *server) GoodStopStack(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	s.stop = append(s.stop, m.Close)
	_, err = rdma.RemoteOf(m)
	return err
}

func (s *server) GoodServe(ctx context.Context) error {
	for {
		n, err := s.conn.NextNotification(ctx)
		if err != nil {
			return err
		}
		sample.TickAt(s.win, int(n.Imm)).SetLive(1)
	}
}

type option func(*server) error

func withScratch(n int) option {
	return func(s *server) error {
		u, err := barewire.New(sample.TickInCPU(), n)
		if err != nil {
			return err
		}
		s.scratch = u
		return nil
	}
}

func GoodOptions(dom *rdma.Domain, opts ...option) (s *server, err error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	s = &server{M: m}
	defer func() {
		if err != nil {
			s.Close()
			s = nil
		}
	}()
	for _, o := range opts {
		if err := o(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func GoodRetry(dom *rdma.Domain) (*M, error) {
	var last error
	for try := range 5 {
		m, err := help.Open(dom)
		if err == nil {
			return m, nil
		}
		last = err
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
	return nil, last
}

func GoodRetryClose(m *M) error {
	for {
		err := m.Close()
		if !errors.Is(err, barewire.ErrRegistered) {
			return err
		}
		time.Sleep(time.Second)
	}
}

func GoodCloseTwiceAfterFailure(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if err := m.Close(); err != nil {
		time.Sleep(time.Second)
		return m.Close()
	}
	return nil
}

func GoodMain(dom *rdma.Domain) {
	m, err := help.Open(dom)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if m.Len() == 0 {
		log.Fatal("empty")
	}
	if err := m.Close(); err != nil {
		log.Fatal(err)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func GoodCheck(ctx context.Context, dom *rdma.Domain, conn *rdma.Conn, rem help.Rem) {
	r, err := barewire.New(sample.TickInCPU(), 64)
	check(err)
	m, err := rdma.Register(dom, r, sample.TickLocal())
	check(err)
	defer m.Close()
	op, err := rdma.Read(conn, m.Span(0, 1), rem)
	check(err)
	check(op.Wait(ctx))
	check(barewire.With(m, func(w sample.TickWindow[barewire.Local]) error {
		fmt.Println(sample.TickAt(w, 0).Price())
		return nil
	}))
}

func require(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func GoodTestCleanup(t *testing.T, dom *rdma.Domain) *M {
	r, err := barewire.New(sample.TickInCPU(), 64)
	require(t, err)
	m, err := rdma.Register(dom, r, sample.TickRemoteRead())
	require(t, err)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func GoodTestDefer(t *testing.T, dom *rdma.Domain) {
	r, err := barewire.New(sample.TickInCPU(), 64)
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	m, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		r.Close()
		t.Fatalf("register: %v", err)
	}
	defer func() { require(t, m.Close()) }()
	if m.Len() != 64 {
		t.Errorf("%d elements", m.Len())
	}
}

func GoodTable(t *testing.T, dom *rdma.Domain) {
	for _, n := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r, err := barewire.New(sample.TickInCPU(), n)
			require(t, err)
			defer r.Close()
			w, err := barewire.Open(r)
			require(t, err)
			defer w.Close()
			for i := range w.Len() {
				sample.TickAt(w, i).SetPrice(float64(i))
			}
		})
	}
}

func GoodExpectedError(t *testing.T, r *U) {
	if _, err := barewire.New(sample.TickInCPU(), 0); !errors.Is(err, barewire.ErrRange) {
		t.Errorf("got %v", err)
	}
	if _, err := barewire.Open[sample.Tick, barewire.CPU, barewire.Unregistered](nil); err == nil {
		t.Error("nil was opened")
	}
	require(t, r.Close())
}

func all(ms []*M) iter.Seq2[int, *M] {
	return func(yield func(int, *M) bool) {
		for i, m := range ms {
			if !yield(i, m) {
				return
			}
		}
	}
}

func GoodIterator(ms []*M) (n int) {
	for _, m := range all(ms) {
		n += m.Len()
	}
	for _, m := range all(ms) {
		m.Close()
	}
	return n
}

func GoodIteratorOpens(dom *rdma.Domain) iter.Seq2[*M, error] {
	return func(yield func(*M, error) bool) {
		for {
			m, err := help.Open(dom)
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Package traps2 has what analyzers of lifetimes get wrong, the second part.
package traps2

import (
	"context"
	"fmt"
	"io"
	"log"
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type M = help.M

var (
	ctx  context.Context
	dom  *rdma.Domain
	conn *rdma.Conn
	rem  help.Rem
)

type closer struct{ m *M }

func (c closer) Close() error { return c.m.Close() }

// ----- good
func Good4() io.Closer {
	m, err := help.Open(dom)
	if err != nil {
		return nil
	}
	return closer{m}
}
func Good5() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	var once sync.Once
	stop := func() { once.Do(func() { m.Close() }) }
	defer stop()
	m.Span(0, 1)
	stop()
}

type tb interface {
	Cleanup(func())
	Fatal(...any)
}

func Good6(t tb) {
	m, err := help.Open(dom)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	m.Span(0, 1)
}
func Good7() error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		go func() { defer wg.Done(); fmt.Println(i, m.Span(0, 1)) }()
	}
	wg.Wait()
	return m.Close()
}
func Good8(keys []string) {
	ms := map[string]*M{}
	for _, k := range keys {
		m, err := help.Open(dom)
		if err != nil {
			break
		}
		ms[k] = m
	}
	for k, m := range ms {
		m.Close()
		delete(ms, k)
	}
}
func Good9() error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer m.Close()
	var ops []rdma.Op
	for i := 0; i < 4; i++ {
		op, err := rdma.Read(conn, m.Span(i, 1), rem)
		if err != nil {
			break
		}
		ops = append(ops, op)
	}
	for _, op := range ops {
		op.Wait(ctx)
	}
	return nil
}
func Good10() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	op, err := help.Start(conn, m, rem)
	if err != nil {
		m.Close()
		return
	}
	ch := make(chan struct{})
	go func() { op.Wait(ctx); close(ch) }()
	<-ch
	m.Close()
}
func Good12() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	f := m.Close
	m.Span(0, 1)
	f()
}
func useAny[H interface {
	Len() int
	Close() error
}](h H) {
	h.Len()
	h.Close()
}
func Good13() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	useAny(m)
}
func closeIt(c interface{ Close() error }) { c.Close() }
func Good13b() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	closeIt(m)
}
func Good13c() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	var x any = m
	if d, ok := x.(interface{ Close() error }); ok {
		d.Close()
	}
}
func dropAll(ms ...*M) {
	for _, m := range ms {
		m.Close()
	}
}
func Good14() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	dropAll(m)
}
func Good15() {
	for i := 0; i < 3; i++ {
		m, err := help.Open(dom)
		if err != nil {
			continue
		}
		defer m.Close()
		m.Span(0, 1)
	}
}
func Good16(bad bool) {
	m, err := help.Open(dom)
	if err != nil {
		log.Fatal(err)
	}
	if bad {
		m.Close()
		log.Fatal("x")
	}
	m.Span(0, 1)
	m.Close()
}
func must(err error) {
	if err != nil {
		panic(err)
	}
}
func Good17() { m, err := help.Open(dom); must(err); defer m.Close(); m.Span(0, 1) }
func Good18(a, b bool) {
	var m *M
	var err error
	if a || b {
		m, err = help.Open(dom)
		if err != nil {
			return
		}
	}
	if b {
		m.Span(0, 1)
	}
	if a || b {
		m.Close()
	}
}
func Good19() {
	a, e1 := help.Open(dom)
	if e1 != nil {
		return
	}
	b, e2 := help.Open(dom)
	if e2 != nil {
		a.Close()
		return
	}
	a, b = b, a
	a.Close()
	b.Span(0, 1)
	b.Close()
}
func Good20() (err error) { // retry loop
	var m *M
	for i := 0; i < 3; i++ {
		m, err = help.Open(dom)
		if err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return m.Close()
}
func Good21(n int) error { // cleanup stack
	var cleanup []func()
	defer func() {
		for i := len(cleanup) - 1; i >= 0; i-- {
			cleanup[i]()
		}
	}()
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	cleanup = append(cleanup, func() { m.Close() })
	m.Span(0, 1)
	return nil
}
func Good22() { // goto / labelled loop
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	i := 0
again:
	m.Span(0, 1)
	if i++; i < 3 {
		goto again
	}
	m.Close()
}
func Good23() { // switch on err
	m, err := help.Open(dom)
	switch {
	case err == io.EOF:
		return
	case err != nil:
		panic(err)
	default:
		m.Span(0, 1)
	}
	m.Close()
}

type pool struct {
	mu   sync.Mutex
	free []*M
}

func (p *pool) get() (*M, error) {
	if n := len(p.free); n > 0 {
		m := p.free[n-1]
		p.free = p.free[:n-1]
		return m, nil
	}
	return help.Open(dom)
}
func (p *pool) put(m *M) { p.free = append(p.free, m) }
func Good24(p *pool) {
	m, err := p.get()
	if err != nil {
		return
	}
	defer p.put(m)
	m.Span(0, 1)
}

// ----- bad
func Bad1() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	defer m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by Close before"
	m.Close()
}
func Bad2() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	defer m.Close() // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
	op, err := help.Start(conn, m, rem)
	if err != nil {
		return
	}
	_ = op
}
func Bad3() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	defer help.Peek(m) // want "BW5101 .m. .* is used after Close"
	defer m.Close()
}
func Bad4() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	f := m.Close
	f()
	m.Span(0, 1) // want "BW5101 .m. .* is used after Close"
}
func Bad5() {
	for i := 0; i < 3; i++ {
		m, err := help.Open(dom) // want "BW5104 .m. .* is not released on every path"
		if err != nil {
			return
		}
		m.Span(0, 1)
	}
}
func Bad7() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	var x any = m
	x.(*M).Close()
	m.Span(0, 1) // want "BW5101 .m. .* is used after Close"
}
func Bad8(s *closer) { s.m.Close(); s.m.Span(0, 1) } // want "BW5101 .s.m. .* is used after Close"
func Bad9() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	rdma.Read(conn, m.Span(0, 1), rem) // want "BW5109 .what Read gives. .* is not waited for on every path"
	m.Close()                          // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
}
func Bad10() []sample.Tick {
	m, err := help.Open(dom)
	if err != nil {
		return nil
	}
	w, err := barewire.Open(m)
	if err != nil {
		m.Close()
		return nil
	}
	defer w.Close()
	defer m.Close() // want "BW5107 .m. .* is ended by Close while a window on it is open"
	s, _ := barewire.Slice(w)
	return s // want "BW5111 .w. .* has ended by Close, and a view of it .* is returned"
}
func Bad11() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	c := closer{m}
	c.Close()
	m.Span(0, 1) // want "BW5101 .m. .* is used after Close"
}
func Bad12() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	done := make(chan bool)
	go func() { m.Span(0, 1); done <- true }()
	m.Close() // joins "BW5115 .m. .* is ended by Close while a goroutine may use it"
	<-done
}

// Package traps1 has what analyzers of lifetimes get wrong, by public trackers.
package traps1

import (
	"context"
	"errors"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
)

type M = help.M

var (
	ctx  context.Context
	dom  *rdma.Domain
	conn *rdma.Conn
	rem  help.Rem
)
var cond bool

// ---------- bad
func Bad1() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	help.Drop(m)
	m.Span(0, 1) // want "BW5101 .m. .* is used after Drop"
}
func Bad2() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	help.DropDeep(m)
	help.Peek(m) // want "BW5101 .m. .* is used after DropDeep"
}
func Bad3() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	help.DropGen(m)
	m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by DropGen before"
}
func Bad4() {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	op, err := help.Start(conn, m, rem)
	if err != nil {
		m.Close()
		return
	}
	m.Close()            // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
	help.Finish(ctx, op) // want "BW5110 .op. .* may have failed"
}
func Bad5() { // leak on the second error path
	m, err := help.Open(dom) // want "BW5104 .m. .* is not released on every path"
	if err != nil {
		return
	}
	op, err := help.Start(conn, m, rem)
	if err != nil {
		return
	}
	op.Wait(ctx) // want "BW5110 .op. .* may have failed"
	m.Close()
}
func Bad6() int { // view outlives
	m, err := help.Open(dom)
	if err != nil {
		return 0
	}
	v := m.Span(0, 1)
	help.Same(m).Close()
	op, err := rdma.Read(conn, v, rem) // want "BW5111 .m. .* has ended by Close, and a view of it .* is used"
	if err != nil {
		return 1
	}
	return btoi(help.Finish(ctx, op) == nil)
}
func Bad7() { // loop: use on second iteration
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	for i := 0; i < 3; i++ {
		m.Span(0, 1) // want "BW5101 .m. .* is used after Close"
		m.Close()
	}
}
func Bad8() { // closure deregisters, then use
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	drop := func() { m.Close() }
	drop()
	m.Span(0, 1) // want "BW5101 .m. .* is used after Close"
}
func Bad9(x int) { // conditional dereg, uncorrelated later use
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	if help.TryDrop(m, x) {
		println("dropped")
	}
	m.Span(0, 1) // want "BW5101 .m. .* is used after TryDrop"
	help.Release(m, true)
}
func Bad10() { // DropDefer then use; release with constant arg
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	help.Release(m, true)
	help.DropDefer(m) // want "BW5102 .m. .* is ended by DropDefer, and was ended by Release before"
}

type S struct {
	mr *M
	n  int
}

func Bad11() { // alias through a local struct field
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	var s S
	s.mr = m
	s.mr.Close()
	m.Span(0, 1) // want "BW5101 .m. .* is used after Close"
}

// ---------- good (false-positive traps)
func Good1() error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer m.Close()
	op, err := help.Start(conn, m, rem)
	if err != nil {
		return err
	}
	return help.Finish(ctx, op)
}
func Good2() error { // defer closure capturing m and named err
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer func() {
		if e := m.Close(); e != nil {
			err = errors.Join(err, e)
		}
	}()
	op, err2 := rdma.Read(conn, m.Span(1, 1), rem)
	if err2 != nil {
		return err2
	}
	err = op.Wait(ctx)
	return err
}
func Good3(x int) { // correlated through helper's bool result
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	if help.TryDrop(m, x) {
		return
	}
	m.Span(0, 1)
	m.Close()
}
func Good4(c bool) { // correlated through a local flag
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	done := false
	if c {
		m.Close()
		done = true
	}
	println("x")
	if !done {
		m.Span(0, 1)
		m.Close()
	}
}
func Good5() { // conditional registration, nil check
	var m *M
	if cond {
		m, _ = help.Open(dom)
	}
	println("y")
	if m != nil {
		m.Span(0, 1)
		m.Close()
	}
}
func Good6() { help.Release(open(), true) }
func open() *M {
	m, err := help.Open(dom)
	if err != nil {
		panic(err)
	}
	return m
}
func Good7() (*M, error) { // ownership returned
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	if m.Len() == 0 {
		m.Close()
		return nil, errors.New("bad")
	}
	return m, nil
}
func Good8() *S { // ownership moved into a struct that is returned
	m, err := help.Open(dom)
	if err != nil {
		return nil
	}
	return &S{mr: m}
}
func (s *S) Close() error { return s.mr.Close() }
func Good9() { // loop with fresh handle each turn
	for i := 0; i < 3; i++ {
		m, err := help.Open(dom)
		if err != nil {
			continue
		}
		m.Span(0, 1)
		m.Close()
	}
}
func Good10() { // reassign after deregister
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	m.Close()
	m, err = help.Open(dom)
	if err != nil {
		return
	}
	m.Span(0, 1)
	m.Close()
}
func Good11(ch chan *M) {
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	ch <- m
} // sent away
func Good12() { // goroutine owns it
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	go func() { m.Span(0, 1); m.Close() }()
}
func Good13() { // slice of handles
	var all []*M
	for i := 0; i < 4; i++ {
		m, err := help.Open(dom)
		if err != nil {
			break
		}
		all = append(all, m)
	}
	for _, m := range all {
		m.Close()
	}
}
func Good14() { // callback-style helper: unknown effects
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	help.With(m, func(m *M) { m.Span(0, 1) })
	m.Close()
}
func Good15() { // release, constant false, then proper
	m, err := help.Open(dom)
	if err != nil {
		return
	}
	help.Release(m, false)
	m.Span(0, 1)
	help.Release(m, true)
}
func Good16() (err error) { // named result err + defer reading it
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			println("failed")
		}
		m.Close()
	}()
	if m.Len() == 0 {
		return errors.New("zero")
	}
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Package traps3 has what analyzers of lifetimes get wrong, by public trackers.
package traps3

import (
	"context"
	"errors"
	"sync"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
)

var (
	ctx  context.Context
	dom  *rdma.Domain
	conn *rdma.Conn
	rem  help.Rem
)

func localClose(r *help.M) { r.Close() }

// ---- good: any report inside a G function is a false positive
func Good01() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	defer r.Close()
	r.Span(0, 1)
}
func Good02() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	defer func() { _ = r.Close() }()
	r.Span(0, 1)
}
func Good03() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	localClose(r)
}
func Good04() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	help.Close(r)
}
func Good05() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	defer help.CloseC(r)
}
func Good06() (*help.M, error) {
	r, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	return r, nil
}

type S struct{ r *help.M }

func Good07() *S {
	r, err := help.Open(dom)
	if err != nil {
		return nil
	}
	return &S{r}
}
func Good08(ch chan *help.M) {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	ch <- r
}
func Good09() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	go func() { r.Span(0, 1); r.Close() }()
}
func Good10() {
	var all []*help.M
	for i := 0; i < 3; i++ {
		r, err := help.Open(dom)
		if err != nil {
			break
		}
		all = append(all, r)
	}
	for _, r := range all {
		r.Close()
	}
}
func Good11(t interface{ Cleanup(func()) }) {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	t.Cleanup(func() { r.Close() })
}
func Good12() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	f := r.Close
	defer f()
}
func Good13() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	help.CloseG(r)
}
func Good14(b bool) {
	var r *help.M
	if b {
		r, _ = help.Open(dom)
	}
	if r != nil {
		r.Close()
	}
}
func Good15(c bool) {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	done := false
	if c {
		r.Close()
		done = true
	}
	if !done {
		r.Close()
	}
}
func Good16() (err error) {
	r, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return nil
}
func Good17() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	var o sync.Once
	stop := func() { o.Do(func() { r.Close() }) }
	defer stop()
}
func Good18() {
	var cl []func()
	defer func() {
		for _, f := range cl {
			f()
		}
	}()
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	cl = append(cl, func() { r.Close() })
}
func Good19() (err error) {
	var r *help.M
	for i := 0; i < 3; i++ {
		r, err = help.Open(dom)
		if err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return r.Close()
}

type pool struct{ f []*help.M }

func (p *pool) put(r *help.M) { p.f = append(p.f, r) }
func Good20(p *pool) {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	defer p.put(r)
}
func Good21() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	help.Release(r, true)
}

// ---- bad: a B function without a report is a false negative
func Bad01() {
	r, err := help.Open(dom) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return
	}
	r.Span(0, 1)
}
func Bad02(c bool) {
	r, err := help.Open(dom) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return
	}
	if c {
		r.Close()
	}
}
func Bad03() error {
	r, err := help.Open(dom) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return err
	}
	if r.Len() == 200 {
		return errors.New("x")
	}
	defer r.Close()
	return nil
}
func Bad04() {
	r, err := help.Open(dom)
	if err != nil {
		return
	}
	r.Close()
	r.Span(0, 1) // want "BW5101 .r. .* is used after Close"
} // use after close
func Bad05(c bool) {
	r, err := help.Open(dom) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return
	}
	help.Release(r, c)
}
func Bad06() {
	for i := 0; i < 3; i++ {
		r, err := help.Open(dom) // want "BW5104 .r. .* is not released on every path"
		if err != nil {
			return
		}
		r.Span(0, 1)
	}
}
func Bad07() {
	r, err := help.Open(dom) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return
	}
	r.Span(0, 1)
}
func Bad08() {
	r, err := help.Open(dom) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return
	}
	help.Release(r, false)
}

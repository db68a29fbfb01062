package blind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// BadRegisterError leaves the memory where it could not be registered.
func BadRegisterError(dom *rdma.Domain, n int) (*table, error) {
	r, err := barewire.New(sample.TickInCPU(), n) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return nil, err
	}
	t, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	return t, nil
}

// BadSecondFails leaves the first where the second cannot be made.
func BadSecondFails(dom *rdma.Domain) (a, b *table, err error) {
	if a, err = newTable(dom, 1); err != nil { // want "BW5104 .a. .* is not released"
		return nil, nil, err
	}
	if b, err = newTable(dom, 1); err != nil {
		return nil, nil, err
	}
	return a, b, nil
}

// BadTimeout closes the buffer after it has given up waiting.
func BadTimeout(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote) error {
	buf, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	op, err := rdma.Read(c, buf.Span(0, 1), rem)
	if err != nil {
		return errors.Join(err, buf.Close())
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if err := op.Wait(short); errors.Is(err, context.DeadlineExceeded) {
		log.Print("slow")
		return buf.Close() // want "BW5108"
	} else if err != nil {
		return errors.Join(err, buf.Close())
	}
	return buf.Close()
}

// BadRetryLeaks makes a new one at each attempt, and forgets the old.
func BadRetryLeaks(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote) error {
	var last error
	for range 3 {
		buf, err := newTable(dom, 1) // want "BW5104 .buf. .* is not released on every path"
		if err != nil {
			return err
		}
		op, err := rdma.Read(c, buf.Span(0, 1), rem)
		if err != nil {
			last = err
			continue
		}
		if last = op.Wait(ctx); last == nil {
			return buf.Close()
		}
	}
	return last
}

// BadDeferTooEarly closes what the function returns.
func BadDeferTooEarly(dom *rdma.Domain) (*table, error) {
	t, err := newTable(dom, 1)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if err := fillTable(t); err != nil {
		return nil, err
	}
	return t, nil // want "BW5101 .t. .* is returned, and has ended by Close before that"
}

// BadDeferAndClose closes it twice.
func BadDeferAndClose(dom *rdma.Domain) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	defer t.Close() // want "BW5102"
	if err := fillTable(t); err != nil {
		return err
	}
	return t.Close()
}

// BadOldTable is used after it was replaced and closed.
func BadOldTable(dom *rdma.Domain, old *table) (*table, error) {
	next, err := newTable(dom, old.Len())
	if err != nil {
		return nil, err
	}
	if err := old.Close(); err != nil {
		return nil, errors.Join(err, next.Close())
	}
	w, err := barewire.Open(old) // want "BW5101"
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	defer w.Close()
	return next, nil
}

// BadUnregistered uses the memory by its old name.
func BadUnregistered(dom *rdma.Domain) (*table, error) {
	r, err := barewire.New(sample.TickInCPU(), 4)
	if err != nil {
		return nil, err
	}
	t, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	err = barewire.With(r, func(w sample.TickWindow[barewire.Unregistered]) error { // want "BW5103"
		sample.TickAt(w, 0).SetPrice(1)
		return nil
	})
	return t, err
}

// BadWindowAfterClose keeps a view of a window.
func BadWindowAfterClose(t *table) (float64, error) {
	w, err := barewire.Open(t)
	if err != nil {
		return 0, err
	}
	v := sample.TickAt(w, 0)
	if err := w.Close(); err != nil {
		return 0, err
	}
	return v.Price(), nil // want "BW5111"
}

// BadReturnsSlice returns what the window showed.
func BadReturnsSlice(t *table) ([]sample.Tick, error) {
	w, err := barewire.Open(t)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return barewire.Slice(w) // want "BW5111"
}

// BadEarlyReturn forgets the window on one way.
func BadEarlyReturn(t *table, i int) (float64, error) {
	w, err := barewire.Open(t) // want "BW5105 .w. .* is not closed"
	if err != nil {
		return 0, err
	}
	if i >= w.Len() {
		return 0, io.ErrUnexpectedEOF
	}
	p := sample.TickAt(w, i).Price()
	return p, w.Close()
}

// BadNobodyWaits starts it, and goes.
func BadNobodyWaits(c *rdma.Conn, t *table, rem remote) error {
	_, err := rdma.Read(c, t.Span(0, 1), rem) // miss who calls has the connection, and may flush it
	return err
}

// BadReadTooEarly looks at what a read fills before it has.
func BadReadTooEarly(ctx context.Context, c *rdma.Conn, t *table, rem remote) (float64, error) {
	w, err := barewire.Open(t)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	op, err := rdma.Read(c, t.Span(0, 1), rem)
	if err != nil {
		return 0, err
	}
	p := sample.TickAt(w, 0).Price() // want "BW5114"
	return p, op.Wait(ctx)
}

// BadIgnoresWait does not ask how it went.
func BadIgnoresWait(ctx context.Context, c *rdma.Conn, t *table, rem remote) error {
	op, err := rdma.Read(c, t.Span(0, 1), rem)
	if err != nil {
		return err
	}
	op.Wait(ctx) // want "BW5110"
	return nil
}

// BadServerClose closes the table besides the server.
func BadServerClose(dom *rdma.Domain, c *rdma.Conn) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	s := &session{tbl: t, owned: true}
	if err := s.Close(); err != nil {
		return err
	}
	return t.Close() // want "BW5102"
}

// BadInGoroutine closes it while the goroutine reads into it.
func BadInGoroutine(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	go func() {
		op, err := rdma.Read(c, t.Span(0, 1), rem)
		if err != nil {
			return
		}
		_ = op.Wait(ctx)
	}()
	return t.Close() // joins "BW5115"
}

// BadWaitGroup closes it before the group has ended.
func BadWaitGroup(dom *rdma.Domain, work func(*table)) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		_ = t.Span(0, 1)
	}()
	err = t.Close() // joins "BW5115"
	wg.Wait()
	return err
}

// BadErrgroupShared reads into what is closed when the function returns, and does not wait.
func BadErrgroupShared(ctx context.Context, dom *rdma.Domain, g *errgroup.Group, c *rdma.Conn, rem remote) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	g.Go(func() error {
		op, err := rdma.Read(c, t.Span(0, 1), rem)
		if err != nil {
			return err
		}
		return op.Wait(ctx)
	})
	return t.Close() // joins "BW5115"
}

// BadLoopVariable keeps the last only.
func BadLoopVariable(dom *rdma.Domain, sizes []int) (last *table, err error) {
	for _, n := range sizes {
		last, err = newTable(dom, n) // want "BW5104"
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// BadCleanupAndClose closes what its helper closes.
func BadCleanupAndClose(t *testing.T, dom *rdma.Domain) {
	tbl := tempTable(t, dom)
	if err := tbl.Close(); err != nil { // want "BW5102 .tbl. .* is ended by Close, and its cleanup ends it again"
		t.Fatal(err)
	}
}

// BadErrHandle uses what was not made.
func BadErrHandle(dom *rdma.Domain) (int, error) {
	t, err := newTable(dom, 1)
	if err != nil {
		log.Printf("table of %d: %v", t.Len(), err)
		w, werr := barewire.Open(t) // want "BW5112"
		if werr == nil {
			defer w.Close()
		}
		return 0, err
	}
	defer t.Close()
	return t.Len(), nil
}

// BadOptionsFail leaves it where the options fail.
func BadOptionsFail(dom *rdma.Domain) (*table, error) {
	t, err := newTable(dom, 1) // want "BW5104 .t. .* is not released"
	if err != nil {
		return nil, err
	}
	if err := fillTable(t); err != nil {
		return nil, err
	}
	return t, nil
}

// BadAllOrSome leaves the first ones where a later one fails.
func BadAllOrSome(dom *rdma.Domain) (err error) {
	a, err := newTable(dom, 1) // want "BW5104 .a. .* is not released"
	if err != nil {
		return err
	}
	b, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	return errors.Join(a.Close(), b.Close())
}

// BadStackTwice closes by the stack and by hand.
func BadStackTwice(dom *rdma.Domain) (err error) {
	var undo []func() error
	defer func() {
		for _, f := range undo {
			err = errors.Join(err, f())
		}
	}()
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	undo = append(undo, t.Close)
	return t.Close() // miss a function in a slice
}

// BadSwitch closes in one case, and after it.
func BadSwitch(dom *rdma.Domain, mode string) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	switch mode {
	case "dry":
		if err := t.Close(); err != nil {
			return err
		}
	case "fill":
		if err := fillTable(t); err != nil {
			return errors.Join(err, t.Close())
		}
	}
	return t.Close() // want "BW5102"
}

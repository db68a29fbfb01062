package good

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

var current atomic.Pointer[M]

func GoodAtomicPointer(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if old := current.Swap(m); old != nil {
		return old.Close()
	}
	return nil
}

func GoodSyncMap(dom *rdma.Domain, all *sync.Map) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	all.Store("m", m)
	slog.Info("made", "region", m)
	return nil
}

func GoodList(dom *rdma.Domain, l *list.List) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	l.PushBack(m)
	return nil
}

func GoodListClose(l *list.List) (err error) {
	for e := l.Front(); e != nil; e = e.Next() {
		err = errors.Join(err, e.Value.(*M).Close())
	}
	return err
}

var global *M

func GoodGlobal(dom *rdma.Domain) (err error) {
	if global != nil {
		return nil
	}
	global, err = help.Open(dom)
	return err
}

func GoodGlobalClose() error {
	if global == nil {
		return nil
	}
	err := global.Close()
	global = nil
	return err
}

func GoodArray(dom *rdma.Domain) (err error) {
	var ms [2]*M
	for i := range ms {
		if ms[i], err = help.Open(dom); err != nil {
			break
		}
	}
	for _, m := range ms {
		if m != nil {
			err = errors.Join(err, m.Close())
		}
	}
	return err
}

func GoodArrayByHand(dom *rdma.Domain) error {
	var ms [2]*M
	var err error
	if ms[0], err = help.Open(dom); err != nil {
		return err
	}
	if ms[1], err = help.Open(dom); err != nil {
		return errors.Join(err, ms[0].Close())
	}
	for i := range ms {
		err = errors.Join(err, ms[i].Close())
	}
	return err
}

func GoodSliceLiteral(dom *rdma.Domain) error {
	a, err := help.Open(dom)
	if err != nil {
		return err
	}
	b, err := help.Open(dom)
	if err != nil {
		a.Close()
		return err
	}
	for _, m := range []*M{a, b} {
		if err := m.Close(); err != nil {
			return err
		}
	}
	return nil
}

func GoodPairs(dom *rdma.Domain, n int) (err error) {
	type pair struct {
		name string
		m    *M
	}
	var pairs []pair
	for i := range n {
		m, err := help.Open(dom)
		if err != nil {
			break
		}
		pairs = append(pairs, pair{fmt.Sprint(i), m})
	}
	for _, p := range pairs {
		err = errors.Join(err, p.m.Close())
	}
	return err
}

func GoodPairLiteral(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		c    io.Closer
	}{{"m", m}} {
		if err := c.c.Close(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func GoodConditionalDefer(dom *rdma.Domain, m *M) (n int, err error) {
	own := m == nil
	if own {
		if m, err = help.Open(dom); err != nil {
			return 0, err
		}
		defer m.Close()
	}
	return m.Span(0, 1).Len(), nil
}

func GoodWithCleanup(dom *rdma.Domain) (*M, func(), error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, nil, err
	}
	return m, func() { m.Close() }, nil
}

type group struct {
	wg  sync.WaitGroup
	mu  sync.Mutex
	err error
}

func (g *group) Go(f func() error) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		if err := f(); err != nil {
			g.mu.Lock()
			g.err = errors.Join(g.err, err)
			g.mu.Unlock()
		}
	}()
}

func (g *group) Wait() error {
	g.wg.Wait()
	return g.err
}

func GoodGroup(ctx context.Context, c *rdma.Conn, dom *rdma.Domain, rem help.Rem) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	var g group
	for i := range 4 {
		g.Go(func() error {
			op, err := rdma.Read(c, m.Span(i, 1), rem)
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		})
	}
	return errors.Join(g.Wait(), m.Close())
}

func closeIf(m *M) {
	if m != nil {
		m.Close()
	}
}

func GoodCloseIf(dom *rdma.Domain, want bool) error {
	var m *M
	defer func() { closeIf(m) }()
	if want {
		var err error
		if m, err = help.Open(dom); err != nil {
			return err
		}
	}
	fmt.Println(m)
	return nil
}

func closeAnd(m *M, err error) error { return errors.Join(err, m.Close()) }

func GoodCloseAnd(dom *rdma.Domain) (*M, error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	if m.Len() == 0 {
		return nil, closeAnd(m, errors.New("empty"))
	}
	return m, nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func GoodMustGeneric(dom *rdma.Domain) int {
	m := must(help.Open(dom))
	defer m.Close()
	return m.Len()
}

func GoodMethodExpression(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	return (*M).Close(m)
}

func GoodTypeSwitch(c io.Closer) error {
	switch c := c.(type) {
	case *M:
		fmt.Println(c.Len())
		return c.Close()
	case *U:
		return c.Close()
	}
	return c.Close()
}

func GoodBareReturn(dom *rdma.Domain) (m *M, err error) {
	if m, err = help.Open(dom); err != nil {
		return
	}
	if m.Len() == 0 {
		err = m.Close()
		m = nil
		return
	}
	return
}

func GoodShadowed(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if _, err := rdma.RemoteOf(m); err != nil {
		fmt.Println(err)
	}
	return m.Close()
}

func GoodReopened(dom *rdma.Domain, n int) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	for range n {
		if err := m.Close(); err != nil {
			return err
		}
		if m, err = help.Open(dom); err != nil {
			return err
		}
	}
	return m.Close()
}

func GoodCloseOrLog(t *testing.T, m *M) {
	if err := m.Close(); err != nil {
		t.Logf("%v: %v", m, err)
	}
}

type state int

const (
	idle state = iota
	open
	shut
)

type machine struct {
	at  state
	m   *M
	dom *rdma.Domain
}

func (x *machine) GoodStep() (err error) {
	switch x.at {
	case idle:
		if x.m, err = help.Open(x.dom); err == nil {
			x.at = open
		}
	case open:
		if err = x.m.Close(); err == nil {
			x.m, x.at = nil, shut
		}
	}
	return err
}

type wrapper struct{ inner struct{ m *M } }

func (w *wrapper) Close() error { return w.inner.m.Close() }

func GoodDeepWrapper(dom *rdma.Domain) error {
	var w wrapper
	var err error
	if w.inner.m, err = help.Open(dom); err != nil {
		return err
	}
	defer w.Close()
	fmt.Println(w.inner.m.Span(0, 1))
	return nil
}

func GoodLazily(dom *rdma.Domain) func() (*M, error) {
	return sync.OnceValues(func() (*M, error) { return help.Open(dom) })
}

func GoodContext(ctx context.Context, dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { m.Close() })
	return nil
}

func GoodUnifiedOrCPU(dom *rdma.Domain) (io.Closer, error) {
	u, err := barewire.New(sample.TickInCPUOrUnified(), 4)
	if err == nil {
		return u, nil
	}
	r, err := barewire.New(sample.TickInCPU(), 4)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func GoodWaitThenClose(ctx context.Context, c *rdma.Conn, m *L, rem Rem) (err error) {
	var op rdma.Op
	posted := false
	defer func() {
		if posted {
			err = errors.Join(err, op.Wait(ctx))
		}
		err = errors.Join(err, m.Close())
	}()
	if op, err = rdma.Read(c, m.Span(0, 1), rem); err != nil {
		return err
	}
	posted = true
	if m.Len() > 3 {
		return errors.New("too long")
	}
	return nil
}

// Closing nil gives an error and does no harm, so that it is not reported where there is nothing to close.
func GoodCloseWhereItFailed(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	defer m.Close()
	if err != nil {
		m.Close()
		return err
	}
	println(m.Len())
	return nil
}

package blind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// server has a table, and closes it once.
type server struct {
	tbl    *table
	conn   *rdma.Conn
	once   sync.Once
	closed atomic.Bool
	err    error
}

func GoodNewServer(dom *rdma.Domain, c *rdma.Conn) (*server, error) {
	s := &server{conn: c}
	var err error
	if s.tbl, err = newTable(dom, 128); err != nil {
		return nil, err
	}
	if err := s.warm(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *server) warm() error {
	w, err := barewire.Open(s.tbl)
	if err != nil {
		return err
	}
	defer w.Close()
	for _, v := range sample.TickAll(w) {
		v.SetVenue(1)
	}
	return nil
}

func (s *server) Close() error {
	s.once.Do(func() {
		s.closed.Store(true)
		s.err = s.tbl.Close()
	})
	return s.err
}

// GoodServerTwice may close it twice, since the second does nothing.
func GoodServerTwice(dom *rdma.Domain, c *rdma.Conn) error {
	s, err := GoodNewServer(dom, c)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.warm(); err != nil {
		return err
	}
	return s.Close()
}

// session remembers whether it owns what it has.
type session struct {
	tbl   *table
	owned bool
}

func (s *session) own() bool { return s != nil && s.owned && s.tbl != nil }

func (s *session) release() { s.owned = false }

func (s *session) Close() error {
	if !s.own() {
		return nil
	}
	s.release()
	return s.tbl.Close()
}

// GoodSessionFlag asks a method whether there is anything to close.
func GoodSessionFlag(dom *rdma.Domain, keep bool) (*table, error) {
	t, err := newTable(dom, 1)
	if err != nil {
		return nil, err
	}
	s := &session{tbl: t, owned: true}
	defer func() {
		if s.own() {
			_ = s.tbl.Close()
		}
	}()
	if keep {
		s.release()
		return t, nil
	}
	return nil, nil
}

// state is a helper that decides by its fields.
type state struct{ failed int }

func (s *state) bad() bool { return s.failed > 0 }

func (s *state) check(err error) {
	if err != nil {
		s.failed++
	}
}

// GoodDecidedByReceiver closes it on the way on which it is not returned.
func GoodDecidedByReceiver(dom *rdma.Domain, steps []func(*table) error) (*table, error) {
	t, err := newTable(dom, 1)
	if err != nil {
		return nil, err
	}
	var st state
	for _, step := range steps {
		st.check(step(t))
	}
	if st.bad() {
		return nil, errors.Join(errors.New("a step failed"), t.Close())
	}
	return t, nil
}

// GoodDecidedByReceiverTwice asks twice, and gets the same answer.
func GoodDecidedByReceiverTwice(dom *rdma.Domain, st *state) error {
	var t *table
	if st.bad() {
		var err error
		if t, err = newTable(dom, 1); err != nil {
			return err
		}
	}
	if st.bad() {
		return t.Close()
	}
	return nil
}

// GoodDecidedByLoop looks for something, and then knows.
func GoodDecidedByLoop(dom *rdma.Domain, names []string) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	found := false
	for _, n := range names {
		if n == "keep" {
			found = true
			break
		}
	}
	closed := false
	if !found {
		if err := t.Close(); err != nil {
			return err
		}
		closed = true
	}
	fmt.Println(len(names))
	if !closed {
		return t.Close()
	}
	return nil
}

// any reports whether one of them is so.
func anyOf(names []string, want string) bool {
	for _, n := range names {
		if n == want {
			return true
		}
	}
	return false
}

// GoodDecidedByLoopHelper asks a helper with a loop, twice.
func GoodDecidedByLoopHelper(dom *rdma.Domain, names []string) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	if anyOf(names, "early") {
		if err := t.Close(); err != nil {
			return err
		}
	}
	if !anyOf(names, "early") {
		return t.Close()
	}
	return nil
}

// GoodContains does so by the standard library.
func GoodContains(dom *rdma.Domain, names []string) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	early := slices.Contains(names, "early")
	if early {
		if err := t.Close(); err != nil {
			return err
		}
	}
	if len(names) > 3 {
		fmt.Println("many")
	}
	if early {
		return nil
	}
	return t.Close()
}

// GoodCount closes what is left over.
func GoodCountdown(dom *rdma.Domain, users int) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	left := users
	for left > 0 {
		_ = t.Span(0, 1)
		left--
	}
	return t.Close()
}

// tables are several by name.
type tables struct {
	mu  sync.RWMutex
	all map[string]*table
}

func (ts *tables) add(dom *rdma.Domain, name string, n int) (*table, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t, ok := ts.all[name]; ok {
		return t, nil
	}
	t, err := newTable(dom, n)
	if err != nil {
		return nil, err
	}
	if ts.all == nil {
		ts.all = map[string]*table{}
	}
	ts.all[name] = t
	return t, nil
}

func (ts *tables) drop(name string) error {
	ts.mu.Lock()
	t := ts.all[name]
	delete(ts.all, name)
	ts.mu.Unlock()
	if t == nil {
		return os.ErrNotExist
	}
	return t.Close()
}

func (ts *tables) Close() (err error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for name, t := range ts.all {
		if cerr := t.Close(); cerr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, cerr))
		}
		delete(ts.all, name)
	}
	return err
}

// GoodTables adds, uses, drops.
func GoodTables(dom *rdma.Domain) (err error) {
	var ts tables
	defer func() { err = errors.Join(err, ts.Close()) }()
	t, err := ts.add(dom, "a", 4)
	if err != nil {
		return err
	}
	_ = t.Span(0, 1)
	return ts.drop("a")
}

// GoodAllOrNone makes several, or none.
func GoodAllOrNone(dom *rdma.Domain, n int) (_ []*table, err error) {
	var all []*table
	defer func() {
		if err != nil {
			for _, t := range all {
				t.Close()
			}
		}
	}()
	for i := range n {
		t, err := newTable(dom, i+1)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// GoodDeferInLoop keeps all until the end.
func GoodDeferInLoop(dom *rdma.Domain, sizes []int) (total int, err error) {
	for _, n := range sizes {
		t, err := newTable(dom, n)
		if err != nil {
			return 0, err
		}
		defer t.Close()
		total += t.Len()
	}
	return total, nil
}

// GoodDeferInLiteral closes each at the end of its turn.
func GoodDeferInLiteral(dom *rdma.Domain, sizes []int) error {
	for _, n := range sizes {
		err := func() error {
			t, err := newTable(dom, n)
			if err != nil {
				return err
			}
			defer t.Close()
			w, err := barewire.Open(t)
			if err != nil {
				return err
			}
			defer w.Close()
			sample.TickAt(w, 0).SetPrice(1)
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// base is embedded.
type base struct {
	*table
	log *slog.Logger
}

func (b *base) Close() error {
	b.log.Info("closing", "table", b.table)
	return b.table.Close()
}

type index struct {
	base
	slots int
}

// GoodEmbedded is closed by what it embeds.
func GoodEmbedded(dom *rdma.Domain, log *slog.Logger) (int, error) {
	t, err := newTable(dom, 4)
	if err != nil {
		return 0, err
	}
	ix := &index{base: base{t, log}, slots: 4}
	defer ix.Close()
	return ix.Len() + ix.slots, nil
}

// holder is generic.
type holder[T io.Closer] struct {
	v  T
	ok bool
}

func (h *holder[T]) Set(v T) { h.v, h.ok = v, true }

func (h *holder[T]) Close() error {
	if !h.ok {
		return nil
	}
	h.ok = false
	return h.v.Close()
}

// GoodGenericHolder has it closed by type parameter.
func GoodGenericHolder(dom *rdma.Domain) (err error) {
	var h holder[*table]
	defer func() { err = errors.Join(err, h.Close()) }()
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	h.Set(t)
	return nil
}

// each runs f for a table that it makes, of any access.
func each[A barewire.Registered](dom *rdma.Domain, g barewire.Grant[sample.Tick, A], f func(*sample.TickCPU[A]) error) (err error) {
	r, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return err
	}
	mr, err := rdma.Register(dom, r, g)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	defer func() { err = errors.Join(err, mr.Close()) }()
	return f(mr)
}

// GoodEach uses it.
func GoodEach(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote) error {
	return each(dom, sample.TickLocal(), func(m *local) error {
		op, err := rdma.Read(c, m.Span(0, 1), rem)
		if err != nil {
			return err
		}
		return op.Wait(ctx)
	})
}

// all yields tables that live for one turn each.
func allTables(dom *rdma.Domain, n int) iter.Seq2[*table, error] {
	return func(yield func(*table, error) bool) {
		for i := range n {
			t, err := newTable(dom, i+1)
			if err != nil {
				yield(nil, err)
				return
			}
			more := yield(t, nil)
			if err := t.Close(); err != nil || !more {
				return
			}
		}
	}
}

// GoodIterator uses them in a loop.
func GoodIterator(dom *rdma.Domain) (n int, err error) {
	for t, err := range allTables(dom, 3) {
		if err != nil {
			return 0, err
		}
		n += t.Len()
	}
	return n, nil
}

// GoodCleanup is a test's.
func GoodCleanup(t *testing.T, dom *rdma.Domain) {
	tbl, err := newTable(dom, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tbl.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("window", func(t *testing.T) {
		w, err := barewire.Open(tbl)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if w.Len() != 1 {
			t.Errorf("%d elements", w.Len())
		}
	})
}

// tempTable is a test's helper.
func tempTable(t testing.TB, dom *rdma.Domain) *table {
	t.Helper()
	tbl, err := newTable(dom, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tbl.Close() })
	return tbl
}

// GoodTempTable need not close it.
func GoodTempTable(t *testing.T, dom *rdma.Domain) {
	tbl := tempTable(t, dom)
	if tbl.Len() == 0 {
		t.Error("empty")
	}
}

// GoodStack closes in the opposite order, and only what there is.
func GoodStack(dom *rdma.Domain) (err error) {
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	for range 3 {
		t, err := newTable(dom, 1)
		if err != nil {
			return err
		}
		undo = append(undo, t.Close)
	}
	return nil
}

// config is built by options.
type config struct {
	tbl  *table
	size int
}

type option func(*config) error

func withTable(t *table) option {
	return func(c *config) error { c.tbl = t; return nil }
}

func build(opts ...option) (*config, error) {
	c := &config{size: 1}
	for _, o := range opts {
		if err := o(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// GoodOptions hands it to an option.
func GoodOptions(dom *rdma.Domain) (*config, error) {
	t, err := newTable(dom, 1)
	if err != nil {
		return nil, err
	}
	c, err := build(withTable(t))
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return c, nil
}

// GoodSwap replaces it under a lock, and closes the old one.
func GoodSwap(dom *rdma.Domain, s *server, mu *sync.Mutex) error {
	next, err := newTable(dom, 256)
	if err != nil {
		return err
	}
	mu.Lock()
	old := s.tbl
	s.tbl = next
	mu.Unlock()
	return old.Close()
}

// GoodAtomicPointer does it without one.
func GoodAtomicPointer(dom *rdma.Domain, p *atomic.Pointer[table]) error {
	next, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	if old := p.Swap(next); old != nil {
		return old.Close()
	}
	return nil
}

// GoodPrint prints one that may be nil.
func GoodPrint(dom *rdma.Domain, want bool) error {
	var t *table
	if want {
		var err error
		if t, err = newTable(dom, 1); err != nil {
			return err
		}
	}
	fmt.Println("table:", t)
	if t == nil {
		return nil
	}
	return t.Close()
}

// GoodDoubleDefer closes it early, to see the error, and again where it may have failed.
func GoodCloseForError(dom *rdma.Domain) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	ok := false
	defer func() {
		if !ok {
			t.Close()
		}
	}()
	if err := fillTable(t); err != nil {
		return err
	}
	ok = true
	return t.Close()
}

func fillTable(t *table) error {
	return barewire.With(t, func(w window) error {
		for i := range w.Len() {
			sample.TickAt(w, i).SetVenue(uint32(i))
		}
		return nil
	})
}

// GoodFailingStep closes by a label at the end, as C programs do.
func GoodFailingStep(dom *rdma.Domain) (err error) {
	a, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	b, err := newTable(dom, 2)
	if err != nil {
		goto closeA
	}
	if err = fillTable(b); err != nil {
		goto closeB
	}
	err = fillTable(a)
closeB:
	err = errors.Join(err, b.Close())
closeA:
	return errors.Join(err, a.Close())
}

// GoodBatch waits for all by the slice.
func GoodBatch(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote) (err error) {
	t, err := newTable(dom, 16)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	ops := make([]rdma.Op, 0, 16)
	defer func() {
		for _, op := range ops {
			err = errors.Join(err, op.Wait(ctx))
		}
	}()
	for i := range 16 {
		op, err := rdma.Read(c, t.Span(i, 1), rem.Slice(i, 1))
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	return nil
}

// GoodPanic closes it, and goes on panicking.
func GoodPanic(dom *rdma.Domain, f func(*table)) error {
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			t.Close()
			panic(p)
		}
	}()
	f(t)
	return t.Close()
}

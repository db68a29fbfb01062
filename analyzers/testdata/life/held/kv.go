// Package held has functions that were written by somebody who had not read the analyzer, in the manner of programs: a
// key-value cache, a parameter server, a telemetry collector, pools. What the analyzer made of them at first is in docs/vet.md.
package held

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type (
	store = sample.TickCPU[barewire.RemoteReadWrite]
	bare  = sample.TickCPU[barewire.Unregistered]
	inbox = sample.TickCPU[barewire.Local]
	view  = sample.TickWindow[barewire.RemoteReadWrite]
	far   = sample.TickRemote[barewire.RemoteReadWrite]
)

// shard is a part of a cache: memory that clients read, and an index of what is where.
type shard struct {
	mu    sync.Mutex
	id    int
	mem   *store
	win   view
	index map[string]int
	free  []int
	log   *slog.Logger
}

type kv struct {
	dom    *rdma.Domain
	seed   maphash.Seed
	shards []*shard
	closed atomic.Bool
}

var errFull = errors.New("full")

func newShard(dom *rdma.Domain, id, slots int) (*shard, error) {
	fail := func(err error) (*shard, error) { return nil, fmt.Errorf("shard %d: %w", id, err) }
	raw, err := barewire.New(sample.TickInCPU(), slots, barewire.Named(fmt.Sprint("shard", id)))
	if err != nil {
		return fail(err)
	}
	mem, err := rdma.Register(dom, raw, sample.TickRemoteReadWrite())
	if err != nil {
		raw.Close()
		return fail(err)
	}
	win, err := barewire.Open(mem)
	if err != nil {
		mem.Close()
		return fail(err)
	}
	s := &shard{id: id, mem: mem, win: win, index: make(map[string]int, slots), log: slog.Default()}
	for i := range slots {
		s.free = append(s.free, slots-1-i)
	}
	return s, nil
}

func (s *shard) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mem == nil {
		return nil
	}
	werr := s.win.Close()
	merr := s.mem.Close()
	s.mem = nil
	return errors.Join(werr, merr)
}

// GoodNewKV builds all shards or none.
func GoodNewKV(dom *rdma.Domain, shards, slots int) (*kv, error) {
	k := &kv{dom: dom, seed: maphash.MakeSeed()}
	for id := range shards {
		s, err := newShard(dom, id, slots)
		if err != nil {
			for _, s := range k.shards {
				if cerr := s.close(); cerr != nil {
					slog.Error("closing", "shard", s.id, "err", cerr)
				}
			}
			return nil, err
		}
		k.shards = append(k.shards, s)
	}
	return k, nil
}

func (k *kv) shard(key string) *shard {
	return k.shards[maphash.String(k.seed, key)%uint64(len(k.shards))]
}

func (k *kv) GoodPut(key string, x *sample.Tick) error {
	s := k.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index[key]
	if !ok {
		if len(s.free) == 0 {
			return errFull
		}
		i = s.free[len(s.free)-1]
		s.free = s.free[:len(s.free)-1]
		s.index[key] = i
	}
	return sample.TickPublish(s.win, i, x)
}

func (k *kv) GoodGet(key string) (x sample.Tick, ok bool, err error) {
	s := k.shard(key)
	s.mu.Lock()
	i, ok := s.index[key]
	s.mu.Unlock()
	if !ok {
		return x, false, nil
	}
	_, err = sample.TickSnapshot(s.win, i, &x)
	return x, err == nil, err
}

// GoodShutdown closes once, whoever calls it.
func (k *kv) GoodShutdown() (err error) {
	if !k.closed.CompareAndSwap(false, true) {
		return nil
	}
	for s := range slices.Values(k.shards) {
		err = errors.Join(err, s.close())
	}
	k.shards = nil
	return err
}

// GoodResize moves a shard to memory of another size; the old stays when that fails.
func (k *kv) GoodResize(ctx context.Context, at, slots int) (err error) {
	old := k.shards[at]
	next, err := newShard(k.dom, at, slots)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, next.close())
			return
		}
		k.shards[at] = next
		if cerr := old.close(); cerr != nil {
			old.log.WarnContext(ctx, "old shard", "err", cerr)
		}
	}()
	old.mu.Lock()
	defer old.mu.Unlock()
	var x sample.Tick
	for key, i := range old.index {
		if len(next.free) == 0 {
			return errFull
		}
		if err := sample.TickAt(old.win, i).Load(&x); err != nil {
			return err
		}
		j := next.free[len(next.free)-1]
		next.free = next.free[:len(next.free)-1]
		if err := sample.TickAt(next.win, j).Store(&x); err != nil {
			return err
		}
		next.index[key] = j
	}
	return nil
}

// GoodServe offers the shards to a client, as long as it is there.
func (k *kv) GoodServe(ctx context.Context, ln *rdma.Listener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		conn, err := ln.Accept(ctx)
		switch {
		case errors.Is(err, rdma.ErrClosed), ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		wg.Go(func() {
			defer conn.Close()
			for _, s := range k.shards {
				name := fmt.Sprintf("shard/%d", s.id)
				if err := rdma.Offer(ctx, conn, name, s.mem); err != nil {
					slog.Warn("offer", "name", name, "err", err)
					return
				}
			}
			var b [512]byte
			for {
				if _, err := conn.Receive(ctx, b[:]); err != nil {
					return
				}
			}
		})
	}
}

// client reads a cache's elements into memory of its own.
type client struct {
	conn   *rdma.Conn
	shards map[int]far
	buf    *inbox
	win    sample.TickWindow[barewire.Local]
}

func GoodDialKV(ctx context.Context, dom *rdma.Domain, addr string, shards int) (c *client, err error) {
	c = &client{shards: map[int]far{}}
	defer func() {
		if err != nil {
			c.GoodClose()
			c = nil
		}
	}()
	if c.conn, err = dom.Dial(ctx, addr); err != nil {
		return c, err
	}
	for i := range shards {
		rem, err := rdma.Import(ctx, c.conn, fmt.Sprintf("shard/%d", i), sample.TickRemoteReadWrite())
		if err != nil {
			return c, err
		}
		c.shards[i] = rem
	}
	raw, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return c, err
	}
	if c.buf, err = rdma.Register(dom, raw, sample.TickLocal()); err != nil {
		return c, errors.Join(err, raw.Close())
	}
	if c.win, err = barewire.Open(c.buf); err != nil {
		return c, err
	}
	return c, nil
}

func (c *client) GoodClose() (err error) {
	if c.win.Len() > 0 {
		err = c.win.Close()
	}
	if c.buf != nil {
		err = errors.Join(err, c.buf.Close())
	}
	if c.conn != nil {
		err = errors.Join(err, c.conn.Close())
	}
	return err
}

func (c *client) GoodFetch(ctx context.Context, shard, i int) (*sample.Tick, error) {
	rem, ok := c.shards[shard]
	if !ok {
		return nil, fmt.Errorf("no shard %d", shard)
	}
	op, err := rdma.Read(c.conn, c.buf.Span(0, 1), rem.Slice(i, 1))
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	if err = op.Wait(ctx); err != nil {
		c.conn.Abort(err)
		return nil, fmt.Errorf("fetch: %w", err)
	}
	x := new(sample.Tick)
	if err := sample.TickAt(c.win, 0).Load(x); err != nil {
		return nil, err
	}
	return x, nil
}

// GoodDump writes what is in a map of regions, in order of keys.
func GoodDump(all map[string]*store, emit func(string, *sample.Tick) error) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		err := barewire.With(all[name], func(w view) error {
			for i := range w.Len() {
				var x sample.Tick
				if _, err := sample.TickSnapshot(w, i, &x); err != nil {
					return fmt.Errorf("%s[%d]: %w", name, i, err)
				}
				if err := emit(name, &x); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// GoodEvict closes what nobody has asked for, and keeps the rest.
func GoodEvict(all map[string]*store, used func(string) bool) (err error) {
	maps.DeleteFunc(all, func(name string, m *store) bool {
		if used(name) {
			return false
		}
		if cerr := m.Close(); cerr != nil {
			err = errors.Join(err, cerr)
			return false
		}
		return true
	})
	return err
}

// ---- wrong

// BadNewShard forgets the registered region where the window cannot be opened.
func BadNewShard(dom *rdma.Domain, id, slots int) (*shard, error) {
	raw, err := barewire.New(sample.TickInCPU(), slots)
	if err != nil {
		return nil, err
	}
	mem, err := rdma.Register(dom, raw, sample.TickRemoteReadWrite()) // want "BW5104"
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	win, err := barewire.Open(mem)
	if err != nil {
		return nil, fmt.Errorf("shard %d: %w", id, err)
	}
	return &shard{id: id, mem: mem, win: win}, nil
}

// BadShardClose closes the memory under its window.
func (s *shard) BadShardClose() error {
	win, err := barewire.Open(s.mem)
	if err != nil {
		return err
	}
	sample.TickAt(win, 0).SetLive(0)
	if err := s.mem.Close(); err != nil { // want "BW5107"
		return errors.Join(err, win.Close())
	}
	return win.Close()
}

// BadReplace closes the old memory, and then copies from it.
func (s *shard) BadReplace(next *store) (err error) {
	old := s.mem
	s.mem = next
	if err := old.Close(); err != nil {
		return err
	}
	return barewire.With(next, func(to view) error {
		return barewire.With(old, func(from view) error { // want "BW5101"
			for i := range from.Len() {
				sample.TickAt(to, i).SetPrice(sample.TickAt(from, i).Price())
			}
			return nil
		})
	})
}

// BadFetchAll posts reads into one buffer and waits for the first one only, before it closes the buffer.
func BadFetchAll(ctx context.Context, c *rdma.Conn, buf *inbox, rem far) error {
	first, err := rdma.Read(c, buf.Span(0, 1), rem.Slice(0, 1))
	if err != nil {
		return err
	}
	rest, err := rdma.Read(c, buf.Span(1, buf.Len()-1), rem.Slice(1, buf.Len()-1))
	if err != nil {
		return errors.Join(err, first.Wait(ctx))
	}
	if err := first.Wait(ctx); err != nil {
		return err
	}
	err = buf.Close() // want "BW5108"
	return errors.Join(err, rest.Wait(ctx))
}

// BadPeek gives an element out of the window that it has closed.
func BadPeek(m *store, i int) (t sample.TickView, err error) {
	w, err := barewire.Open(m)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if i >= w.Len() {
		return t, errFull
	}
	return sample.TickAt(w, i), nil // want "BW5111"
}

// BadEvict closes what is over the limit, and the first of it twice.
func BadEvict(all []*store, limit int) (err error) {
	if len(all) <= limit {
		return nil
	}
	victim := all[limit]
	err = victim.Close()
	if err == nil {
		slog.Info("evicted", "region", victim.String())
	}
	return errors.Join(err, victim.Close()) // want "BW5102"
}

// BadWarm leaves the window open where a load fails.
func BadWarm(m *store, load func(int) (*sample.Tick, error)) error {
	w, err := barewire.Open(m) // want "BW5105"
	if err != nil {
		return err
	}
	for i := range w.Len() {
		x, err := load(i)
		if err != nil {
			return fmt.Errorf("warm %d: %w", i, err)
		}
		if err := sample.TickPublish(w, i, x); err != nil {
			w.Close()
			return err
		}
	}
	return w.Close()
}

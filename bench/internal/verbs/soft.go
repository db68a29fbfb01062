package verbs

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
	"github.com/fidelityframework/barewire-gen/bench/regions"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

const (
	words = 1024
	batch = 32
)

var errLost = errors.New("an operation did not end as it should")

// wordPair is two connected sides in this process, with words on both.
type wordPair struct {
	conn *rdma.Conn
	from *barewire.Region[regions.Word, barewire.CPU, barewire.Local]
	to   barewire.Remote[regions.Word, barewire.RemoteWrite]
}

// connectSoft connects two sides. cfg may say how they wait and who observes.
func connectSoft(ctx context.Context, l *Loop, cfg rdma.Config) (*wordPair, error) {
	cfg.Provider, cfg.Logger = soft.New(soft.Config{}), quiet
	var doms [2]*rdma.Domain
	for i := range doms {
		dev, err := rdma.Open(ctx, cfg)
		if err != nil {
			return nil, err
		}
		l.onClose(dev.Close)
		if doms[i], err = dev.Domain(); err != nil {
			return nil, err
		}
	}
	ln, err := doms[1].Listen(ctx, "")
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	dialled := make(chan error, 1)
	var p wordPair
	go func() {
		var err error
		p.conn, err = doms[0].Dial(ctx, ln.Addr())
		dialled <- err
	}()
	peer, err := ln.Accept(ctx)
	if err := errors.Join(err, <-dialled); err != nil {
		return nil, err
	}
	target, err := registered(l, doms[1], regions.WordInCPU(), regions.WordRemoteWrite(), words)
	if err != nil {
		return nil, err
	}
	if p.from, err = registered(l, doms[0], regions.WordInCPU(), regions.WordLocal(), words); err != nil {
		return nil, err
	}
	if err := rdma.Offer(ctx, peer, "words", target); err != nil {
		return nil, err
	}
	answered := make(chan struct{})
	go func() { // in the mode Busy the peer answers while somebody polls there
		for {
			peer.Poll()
			select {
			case <-answered:
				return
			case <-time.After(50 * time.Microsecond):
			}
		}
	}()
	p.to, err = rdma.Import(ctx, p.conn, "words", regions.WordRemoteWrite())
	close(answered)
	return &p, err
}

// softWrites writes words one by one, and waits for each.
func softWrites(cfg rdma.Config) func() (*Loop, error) {
	return opener(func(l *Loop) error {
		ctx, cancel := within()
		l.onClose(func() error { cancel(); return nil })
		p, err := connectSoft(ctx, l, cfg)
		if err != nil {
			return err
		}
		l.Run = func(n int) error {
			for k := range n {
				i := k & (words - 1)
				op, err := rdma.Write(p.conn, p.to.Slice(i, 1), p.from.Span(i, 1))
				if err != nil {
					return err
				}
				if err := op.Wait(ctx); err != nil {
					return err
				}
			}
			return nil
		}
		return nil
	})
}

// softBatches hands over many at once, and waits for the last.
func softBatches(l *Loop) error {
	ctx, cancel := within()
	l.onClose(func() error { cancel(); return nil })
	p, err := connectSoft(ctx, l, rdma.Config{})
	if err != nil {
		return err
	}
	b := p.conn.Batch()
	l.Run = func(n int) error {
		for range n {
			var op rdma.Op
			for i := range batch {
				var err error
				if op, err = rdma.Write(b, p.to.Slice(i, 1), p.from.Span(i, 1)); err != nil {
					return err
				}
			}
			if err := op.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// rawPair is two connected queues of the provider, with nothing above them: no
// types, no witness.
type rawPair struct {
	q  rdma.Queue
	wr rdma.WorkRequest
}

func connectRaw(ctx context.Context, l *Loop, provider rdma.Provider) (*rawPair, error) {
	const bytes = words * 8
	var doms [2]rdma.ProtectionDomain
	var mems [2]rdma.Memory
	var keys [2]rdma.Keys
	for i := range doms {
		ad, err := provider.Open(ctx, "", &rdma.Config{})
		if err != nil {
			return nil, err
		}
		l.onClose(ad.Close)
		if doms[i], err = ad.NewDomain(); err != nil {
			return nil, err
		}
		mems[i] = rdma.Memory{Base: unsafe.Pointer(unsafe.SliceData(make([]uint64, words))), Len: bytes, Name: "words"}
		if keys[i], err = doms[i].Register(mems[i], barewire.Rights(2), nil); err != nil { // 2: remote_write
			return nil, err
		}
	}
	ln, err := doms[1].Listen(ctx, "")
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	accepted := make(chan error, 1)
	go func() {
		_, err := ln.Accept(ctx, func([]byte) ([]byte, error) { return []byte("hello"), nil })
		accepted <- err
	}()
	q, err := doms[0].Dial(ctx, ln.Addr(), []byte("hello"))
	if err := errors.Join(err, <-accepted); err != nil {
		return nil, err
	}
	if err := q.Prepare(ctx, keys[1].R, keys[1].Epoch); err != nil {
		return nil, err
	}
	p := &rawPair{q: q, wr: rdma.WorkRequest{Verb: rdma.VerbWrite, Segs: 1, Key: keys[1].R, Epoch: keys[1].Epoch, Addr: keys[1].Addr}}
	p.wr.Local[0] = rdma.Segment{Ptr: mems[0].Base, Len: 8, Key: keys[0].L}
	return p, nil
}

// rawWrites posts some at once and polls until they have ended.
func rawWrites(some int) func() (*Loop, error) {
	return rawWritesBy(func() (rdma.Provider, error) { return soft.New(soft.Config{}), nil }, some)
}

func rawWritesBy(provider func() (rdma.Provider, error), some int) func() (*Loop, error) {
	return opener(func(l *Loop) error {
		ctx, cancel := within()
		defer cancel()
		by, err := provider()
		if err != nil {
			return err
		}
		p, err := connectRaw(ctx, l, by)
		if err != nil {
			return err
		}
		wrs := make([]rdma.WorkRequest, some)
		for i := range wrs {
			wrs[i] = p.wr
		}
		out := make([]rdma.Completion, batch)
		l.Run = func(n int) error {
			for range n {
				if m, err := p.q.Post(wrs); m != len(wrs) || err != nil {
					return fmt.Errorf("%d posted: %w", m, err)
				}
				if m := p.q.Poll(out); m != len(wrs) || out[m-1].Err != nil {
					return errLost
				}
			}
			return nil
		}
		return nil
	})
}

// byHand is a loop of writes, some at once.
func byHand(some int) func() (*Loop, error) {
	return opener(func(l *Loop) error {
		h := newHand(words * 8)
		l.Run = func(n int) error {
			for k := range n {
				i := k & (words - batch - 1)
				for j := range some {
					if !h.write((i+j)*8, (i+j)*8, 8) {
						return errLost
					}
				}
				if h.poll() != some {
					return errLost
				}
			}
			return nil
		}
		return nil
	})
}

func byHandLocked(some int) func() (*Loop, error) {
	return opener(func(l *Loop) error {
		h := &locked{h: newHand(words * 8)}
		l.Run = func(n int) error {
			for k := range n {
				i := k & (words - batch - 1)
				for j := range some {
					if !h.write((i+j)*8, (i+j)*8, 8) {
						return errLost
					}
				}
				if h.poll() != some {
					return errLost
				}
			}
			return nil
		}
		return nil
	})
}

// smalls are the rows of one word.
func smalls() []Row {
	return []Row{
		{Table: Small, Name: "by hand", Class: rows.Limit, Note: "for one goroutine on each side", Open: byHand(1)},
		{Table: Small, Name: "by hand, with locks", Class: rows.Hand, Note: "for any number of goroutines, as ours", Open: byHandLocked(1)},
		{Table: Small, Name: "soft, provider", Class: rows.Variant, NoAlloc: true, Note: "no types, no witness: Post and Poll", Open: rawWrites(1)},
		{Table: Small, Name: "soft", Class: rows.Ours, NoAlloc: true, Note: "Write and Wait", Open: softWrites(rdma.Config{})},
		{Table: Small, Name: "soft, observed", Class: rows.Variant, NoAlloc: true, Note: "with an observer", Open: softWrites(rdma.Config{Observer: func(rdma.Event) {}})},
		{Table: Small, Name: "soft, busy", Class: rows.Variant, NoAlloc: true, Note: "without a goroutine that watches", Open: softWrites(rdma.Config{Mode: rdma.Busy})},
	}
}

// batches are the rows of several at once.
func batches() []Row {
	return []Row{
		{Table: Batches, Name: "by hand", Class: rows.Limit, Per: batch, Open: byHand(batch)},
		{Table: Batches, Name: "by hand, with locks", Class: rows.Hand, Per: batch, Open: byHandLocked(batch)},
		{Table: Batches, Name: "soft, provider", Class: rows.Variant, NoAlloc: true, Per: batch, Note: "one Post", Open: rawWrites(batch)},
		{Table: Batches, Name: "soft", Class: rows.Ours, NoAlloc: true, Per: batch, Note: "Batch, and Wait for the last", Open: opener(softBatches)},
	}
}

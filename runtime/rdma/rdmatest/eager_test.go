package rdmatest_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// TestEager holds the suite against a provider that completes writes, messages and notifications before the peer
// has seen them, as one over a network does.
func TestEager(t *testing.T) {
	const notReady = time.Second
	rdmatest.Run(t, rdmatest.Factory{Provider: eager{soft.New(soft.Config{NotReady: notReady})}, Device: "soft0", NotReady: notReady, Eager: true})
}

// eager makes soft complete early: it copies what is to be written or sent, and says that it was.
type eager struct{ rdma.Provider }

type eagerAdapter struct {
	rdma.Adapter
	depth int
}

type eagerDomain struct {
	rdma.ProtectionDomain
	depth int

	mu    sync.Mutex
	known map[rdma.LKey]rdma.Memory
}

type eagerAcceptor struct {
	rdma.Acceptor
	dom *eagerDomain
}

type eagerQueue struct {
	rdma.Queue
	dom *eagerDomain

	mu     sync.Mutex
	out    int      // requests taken and not polled
	line   []*early // that have not completed, in order
	posted map[uint64]*early
	next   uint64
	done   []rdma.Completion // not polled
	owed   error             // what the next that fails completes with
	dead   error             // what those after it complete with
	closed bool
	wake   context.CancelFunc // of who waits
}

// mine tells the IDs of requests from those of receives, none of which has that bit.
const mine = 1 << 63

// early is a request.
type early struct {
	comp  rdma.Completion // with the user's ID
	ready bool            // it has completed, or completes when its turn comes
	past  bool            // it has completed
	keys  rdma.Keys       // of the copy
}

func (e eager) Open(ctx context.Context, name string, cfg *rdma.Config) (rdma.Adapter, error) {
	own := *cfg
	own.Depth *= 2 // what has completed early is there still
	a, err := e.Provider.Open(ctx, name, &own)
	return eagerAdapter{a, cfg.Depth}, err
}

func (a eagerAdapter) Limits() rdma.Limits {
	l := a.Adapter.Limits()
	l.Depth = a.depth
	return l
}

func (a eagerAdapter) NewDomain() (rdma.ProtectionDomain, error) {
	d, err := a.Adapter.NewDomain()
	return &eagerDomain{ProtectionDomain: d, depth: a.depth, known: map[rdma.LKey]rdma.Memory{}}, err
}

func (d *eagerDomain) Register(m rdma.Memory, rights barewire.Rights, conn rdma.Queue) (rdma.Keys, error) {
	if q, ok := conn.(*eagerQueue); ok {
		conn = q.Queue
	}
	k, err := d.ProtectionDomain.Register(m, rights, conn)
	if err == nil {
		d.mu.Lock()
		d.known[k.L] = m
		d.mu.Unlock()
	}
	return k, err
}

func (d *eagerDomain) Deregister(ctx context.Context, k rdma.Keys) error {
	d.mu.Lock()
	delete(d.known, k.L)
	d.mu.Unlock()
	return d.ProtectionDomain.Deregister(ctx, k)
}

func (d *eagerDomain) Listen(ctx context.Context, addr string) (rdma.Acceptor, error) {
	l, err := d.ProtectionDomain.Listen(ctx, addr)
	return eagerAcceptor{l, d}, err
}

func (d *eagerDomain) Dial(ctx context.Context, addr string, hello []byte) (rdma.Queue, error) {
	q, err := d.ProtectionDomain.Dial(ctx, addr, hello)
	return d.queue(q), err
}

func (l eagerAcceptor) Accept(ctx context.Context, answer func([]byte) ([]byte, error)) (rdma.Queue, error) {
	q, err := l.Acceptor.Accept(ctx, answer)
	return l.dom.queue(q), err
}

func (d *eagerDomain) queue(q rdma.Queue) rdma.Queue {
	if q == nil {
		return nil
	}
	return &eagerQueue{Queue: q, dom: d, posted: map[uint64]*early{}}
}

// copied gives a request whose memory is a copy, if it is one that may complete early.
func (d *eagerDomain) copied(wr rdma.WorkRequest) (rdma.WorkRequest, rdma.Keys, bool) {
	if wr.Verb != rdma.VerbWrite && wr.Verb != rdma.VerbSend && wr.Verb != rdma.VerbWriteNotify || wr.Segs > rdma.MaxSegments {
		return wr, rdma.Keys{}, false
	}
	var data []byte
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range wr.Local[:wr.Segs] {
		m, ok := d.known[s.Key]
		off := uintptr(s.Ptr) - uintptr(m.Base)
		if !ok || s.Len < 0 || s.Len > 64<<10 || off > uintptr(m.Len) || uintptr(s.Len) > uintptr(m.Len)-off {
			return wr, rdma.Keys{}, false
		}
		data = append(data, unsafe.Slice((*byte)(s.Ptr), s.Len)...)
	}
	if len(data) == 0 || wr.Verb == rdma.VerbSend && len(data) > 8192 {
		return wr, rdma.Keys{}, false
	}
	mem := make([]uint64, (len(data)+7)/8)
	base := unsafe.Pointer(&mem[0])
	copy(unsafe.Slice((*byte)(base), len(data)), data)
	k, err := d.ProtectionDomain.Register(rdma.Memory{Base: base, Len: len(mem) * 8, Name: "a copy"}, 0, nil)
	if err != nil {
		return wr, k, false
	}
	wr.Segs, wr.Local[0] = 1, rdma.Segment{Ptr: base, Len: len(data), Key: k.L}
	return wr, k, true
}

func (q *eagerQueue) Post(wrs []rdma.WorkRequest) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for n := range wrs {
		if q.closed || q.out == q.dom.depth {
			return n, errors.New("the queue is full or closed")
		}
		e := &early{comp: rdma.Completion{ID: wrs[n].ID | mine, Verb: wrs[n].Verb}}
		wr := wrs[n]
		if q.dead == nil && len(q.posted) < q.dom.depth {
			wr, e.keys, e.ready = q.dom.copied(wr)
		}
		wr.ID = mine | q.next
		q.next++
		q.posted[wr.ID] = e
		if k, err := q.Queue.Post([]rdma.WorkRequest{wr}); k != 1 {
			return n, err
		}
		q.out++
		q.line = append(q.line, e)
		q.retire()
	}
	return len(wrs), nil
}

// PostNow does nothing at once.
func (q *eagerQueue) PostNow(wr *rdma.WorkRequest) (uint64, bool, error) {
	_, err := q.Post(unsafe.Slice(wr, 1))
	return 0, false, err
}

// retire completes what is ready, in order. The lock is held.
func (q *eagerQueue) retire() {
	for len(q.line) > 0 && (q.line[0].ready || q.dead != nil && q.line[0].comp.Err != nil) {
		e := q.line[0]
		q.line = q.line[1:]
		e.past = true
		if q.owed != nil {
			e.comp.Err, q.owed = q.owed, nil
		}
		q.done = append(q.done, e.comp)
		if q.wake != nil {
			q.wake()
		}
	}
}

// pump takes what soft has completed. The lock is held.
func (q *eagerQueue) pump() {
	var out [16]rdma.Completion
	for n := q.Queue.Poll(out[:]); n > 0; n = q.Queue.Poll(out[:]) {
		for _, c := range out[:n] {
			e := q.posted[c.ID]
			if e == nil { // a receive's
				if q.retire(); c.Err != nil && q.owed != nil {
					c.Err, q.owed = q.owed, nil
				}
				q.done = append(q.done, c)
				continue
			}
			q.ended(e, c)
			delete(q.posted, c.ID)
		}
	}
	q.retire()
}

// ended is for a request that soft has completed. The lock is held.
func (q *eagerQueue) ended(e *early, c rdma.Completion) {
	if e.keys.L != 0 {
		_ = q.dom.ProtectionDomain.Deregister(context.Background(), e.keys) // the domain may be closed
	}
	if !e.past {
		c.ID = e.comp.ID
		e.comp, e.ready = c, true
	}
	if s := (*rdma.StatusError)(nil); q.dead == nil && errors.As(c.Err, &s) {
		failed := e.ready
		e.ready = false
		q.retire() // what was done before
		e.ready = failed
		q.dead = &rdma.StatusError{Status: rdma.StatusFlushed, Detail: "an earlier request failed"}
		if e.past && s.Status != rdma.StatusFlushed && s.Status != rdma.StatusPeerLost {
			q.owed = &rdma.StatusError{Status: s.Status, Detail: s.Detail, Late: true, ID: e.comp.ID &^ mine}
		}
		for _, behind := range q.line { // none of them is done any more
			behind.ready = behind == e || behind.comp.Err != nil
		}
	}
}

func (q *eagerQueue) Poll(out []rdma.Completion) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0
	}
	q.pump()
	n := copy(out, q.done)
	q.done = slices.Delete(q.done, 0, n)
	for i := range out[:n] {
		if c := &out[i]; c.ID&mine != 0 {
			c.ID &^= mine
			q.out--
		}
	}
	return n
}

func (q *eagerQueue) Wait(ctx context.Context) error {
	q.mu.Lock()
	if len(q.done) > 0 && !q.closed {
		q.mu.Unlock()
		return nil
	}
	sub, cancel := context.WithCancel(ctx)
	defer cancel()
	q.wake = cancel
	q.mu.Unlock()
	if err := q.Queue.Wait(sub); sub.Err() == nil || ctx.Err() != nil {
		return err
	}
	return nil
}

func (q *eagerQueue) Close() error {
	err := q.Queue.Close()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, e := range slices.Collect(maps.Values(q.posted)) {
		if e.keys.L != 0 {
			_ = q.dom.ProtectionDomain.Deregister(context.Background(), e.keys)
		}
	}
	clear(q.posted)
	return err
}

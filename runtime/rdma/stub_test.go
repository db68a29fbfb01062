package rdma

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// stubQueue is a queue whose completions the test makes up.
type stubQueue struct {
	mu    sync.Mutex
	comps []Completion
	take  int // of each Post; 0: all; less: none
	err   error
	wrs   []WorkRequest

	onPost func([]WorkRequest)
}

func (q *stubQueue) push(c Completion) {
	q.mu.Lock()
	q.comps = append(q.comps, c)
	q.mu.Unlock()
}

// complete ends all that was posted.
func (q *stubQueue) complete() {
	q.mu.Lock()
	for _, wr := range q.wrs {
		q.comps = append(q.comps, Completion{ID: wr.ID, Verb: wr.Verb})
	}
	q.wrs = nil
	q.mu.Unlock()
}

func (q *stubQueue) Hello() []byte                               { return nil }
func (q *stubQueue) Peer() string                                { return "stub" }
func (q *stubQueue) Prepare(context.Context, RKey, uint32) error { return nil }
func (q *stubQueue) PostReceive([]ReceiveRequest) error          { return nil }
func (q *stubQueue) Abort(error)                                 {}
func (q *stubQueue) Close() error                                { return nil }

func (q *stubQueue) Post(wrs []WorkRequest) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.onPost != nil {
		q.onPost(wrs)
	}
	n, err := len(wrs), q.err
	switch {
	case q.take < 0:
		n = 0
	case q.take > 0 && n > q.take:
		n, err = q.take, errors.New("no more today")
	}
	q.wrs = append(q.wrs, wrs[:n]...)
	return n, err
}

func (q *stubQueue) Poll(out []Completion) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := copy(out, q.comps)
	q.comps = q.comps[n:]
	return n
}

func (q *stubQueue) Wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// stubDomain registers anything.
type stubDomain struct{ next uint32 }

func (d *stubDomain) Register(_ Memory, rights barewire.Rights, _ Queue) (Keys, error) {
	d.next++
	k := Keys{L: LKey(d.next)}
	if rights != 0 {
		k.R = RKey(d.next)
	}
	return k, nil
}
func (d *stubDomain) Deregister(context.Context, Keys) error           { return nil }
func (d *stubDomain) Listen(context.Context, string) (Acceptor, error) { return nil, errStub }
func (d *stubDomain) Dial(context.Context, string, []byte) (Queue, error) {
	return nil, errStub
}
func (d *stubDomain) Close() error { return nil }

var errStub = errors.New("a stub does not connect")

// stubConn is a connection in the mode Busy over a queue of the test's, with a peer of 64 credits.
func stubConn(t testing.TB, q Queue) *Conn {
	t.Helper()
	cfg, err := Config{Mode: Busy, OpTimeout: -1, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	dev := &Device{cfg: cfg, limits: Limits{Depth: 64, Segments: 4, MaxMessage: 1 << 20, MaxTransfer: 1 << 30}, domains: map[*Domain]struct{}{}}
	dom := &Domain{dev: dev, pd: &stubDomain{}, conns: map[*Conn]struct{}{}, listeners: map[*Listener]struct{}{}}
	c, err := dom.connect(q, hello{depth: 64, credits: 64, message: 4096, mtu: 4096}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func isProtocol(err error) bool { return errors.Is(err, ErrProtocol) }

//go:build amd64 || arm64

package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// queue is a connected queue pair with a completion queue of its own.
//
// Requests stand in a ring, from when they are taken until they are polled. Most are with the device; those behind one
// that was refused here, or behind a key that the peer has not been asked about, are not: see state.
type queue struct {
	dom   *domain
	calls calls
	hello []byte
	peer  string
	plain bool     // the peer is no barewire: nothing is known of its keys
	ctl   *control // nil where the peer is another program:
	cm    *meeting // then this is the connection

	depth      uint64
	transfer   uint64
	message    uint64
	segments   uint64
	inline     int
	canAtom    bool
	iwarp      bool
	mostPlaces int  // of the block that may be taken, and there is room for one request more
	framed     bool // messages have heads: see framed_linux.go
	ready      readiness
	parting    parting
	tooLong    atomic.Uint64 // the peer's message that was longer than its receive, counted from 1; 0: none was
	opening    opening
	probe      probe
	canEnd     bool // keys of the peer, by a send

	hw       hardware
	failed   atomic.Pointer[cause]
	closed   atomic.Bool
	closing  sync.Once
	closeErr error

	// Posting, guarded by postMu: work requests for the device, and what the peer's keys are.
	postMu  sync.Mutex
	tail    atomic.Uint64 // requests taken so far
	sends   []request
	mask    uint64
	out     outbox
	keys    keyring
	waiting []heldRequest // for an answer about a key; with them all that is behind
	halted  bool          // a request was refused here: what is behind it is flushed
	took    atomic.Uint64 // receives taken so far
	recvs   []receive
	rmask   uint64

	// Polling, guarded by pollMu.
	pollMu sync.Mutex
	head   atomic.Uint64 // requests polled so far
	broken bool          // one of them has failed
	rhead  atomic.Uint64 // and receives
	in     inbox

	watching sync.WaitGroup // who hears that the peer leaves

	bindMu      sync.Mutex // of who binds a window
	bindSeq     uint64     // guarded by postMu
	windowMu    sync.Mutex
	windows     map[*region]bool // bound to this queue
	windowsOver bool

	waitMu sync.Mutex // who waits; and before the completion channel goes
	events *os.File
	raw    syscall.RawConn
}

// request is a work request that has been taken.
type request struct {
	id    uint64
	verb  rdma.Verb
	state atomic.Uint32 // withDevice, held, refused, flushed
	err   error         // of one that was refused, or that failed early
	at    place         // at the peer; only for iWARP
	nth   uint64        // message or notification, where these have heads; guarded by postMu
}

// Where a request is.
const (
	withDevice uint32 = iota // its completion comes from the device
	held                     // waits for the peer's word on a key
	refused                  // by this side: completes with err
	flushed                  // behind one that failed
	early                    // the device has done it before one that was posted before
)

// receive is a buffer that the device has, or would have if the queue had not failed.
type receive struct {
	id   uint64
	mem  *region     // where it is
	here atomic.Bool // the device does not have it
}

// cause is why a queue failed.
type cause struct {
	status rdma.Status // StatusPeerLost, StatusFlushed or, where the device is why, StatusProvider: what is outstanding ends with it
	text   string
	late   atomic.Pointer[rdma.StatusError] // what the first completion with an error says instead
}

func newCause(s rdma.Status, text string) *cause { return &cause{status: s, text: text} }

func (c *cause) error() error { return &rdma.StatusError{Status: c.status, Detail: c.text} }

// lost is the cause of a queue that ends for another reason than a request.
func (*queue) lost(format string, args ...any) *cause {
	return newCause(rdma.StatusPeerLost, fmt.Sprintf(format, args...))
}

// newQueue makes the queue pair in the state INIT, and what is around it.
func newQueue(d *domain, peer string) (*queue, error) {
	a := d.adapter
	if a.going.Load() || a.fatal.Load() {
		return nil, errors.New(a.trouble())
	}
	q := &queue{
		dom: d, calls: a.calls, peer: peer, depth: uint64(a.depth), transfer: uint64(a.transfer), message: uint64(a.message),
		segments: uint64(a.segments()), canAtom: a.port.atomic != abi.AtomicNone,
		canEnd: a.port.windows(), iwarp: a.iwarp(), framed: a.framed(), mostPlaces: atOnce - a.width(),
	}
	ring := 1 << bits.Len(uint(a.depth-1))
	q.sends, q.mask = make([]request, ring), uint64(ring-1)
	ring = 1 << bits.Len(uint(a.receives-1))
	q.recvs, q.rmask = make([]receive, ring), uint64(ring-1)
	if err := q.hw.make(d); err != nil {
		return nil, errors.Join(err, q.hw.destroy(d))
	}
	q.inline = q.hw.inline
	var err error
	if q.events, err = pollable(q.hw.channelFD(), "completions of "+a.port.name()); err == nil {
		q.raw, err = q.events.SyscallConn()
	}
	if err == nil {
		err = q.out.make(q)
	}
	if err == nil {
		err = q.in.make(q)
	}
	if err != nil {
		return nil, errors.Join(err, q.release())
	}
	a.know(q, q.hw.qp)
	if a.going.Load() || a.fatal.Load() { // it was not told perhaps
		return nil, errors.Join(errors.New(a.trouble()), q.release())
	}
	return q, nil
}

// release gives back what newQueue made, and after it nothing may be called that uses it.
func (q *queue) release() error {
	if q.hw.qp != 0 {
		q.dom.adapter.unknow(q.hw.qp)
	}
	if err := q.endWindows(); err != nil {
		return err // the queue pair stays, and what the device uses of it
	}
	err := q.hw.destroy(q.dom)
	q.out.free()
	q.in.free()
	if q.events != nil {
		_ = q.events.Close()
	}
	return err
}

// Hello is what the peer said.
func (q *queue) Hello() []byte { return bytes.Clone(q.hello) }

// Peer is the peer's address.
func (q *queue) Peer() string { return q.peer }

// fail moves the queue to its error state, once, and tells the peer why. It may be called with any lock.
func (q *queue) fail(c *cause, toPeer string) {
	if !q.failed.CompareAndSwap(nil, c) {
		return
	}
	q.hw.toError(q.dom)
	if q.ctl != nil {
		q.ctl.tellFailed(toPeer, q.tooLong.Load())
	}
	if q.cm != nil {
		q.cm.leave()
	}
	q.kick()
	// A device that does not flush what it has loses the queue pair: then nothing is accessed any more either.
	time.AfterFunc(flushPatience, q.reap)
}

// flushPatience is how long a device has to flush a queue that failed.
const flushPatience = time.Second

// reap takes the queue pair away from a device that has not flushed all of it.
func (q *queue) reap() {
	q.pollMu.Lock()
	defer q.pollMu.Unlock()
	if q.closed.Load() || q.hw.gone.Load() || !q.in.owed(q) {
		return
	}
	q.in.stash(q)
	q.postMu.Lock()
	defer q.postMu.Unlock()
	q.dom.adapter.unknow(q.hw.qp)
	if err := errors.Join(q.endWindows(), q.hw.endQP(q.dom)); err != nil {
		q.dom.adapter.logger.Warn("verbs: a queue pair that failed could not be destroyed", "peer", q.peer, "reason", err)
		return
	}
	q.kick()
}

// Abort moves the queue to its error state and tells the peer.
func (q *queue) Abort(why error) {
	text := "the queue was aborted"
	if why != nil {
		text = why.Error()
	}
	q.fail(newCause(rdma.StatusFlushed, text), text)
}

// Close ends the queue: what is outstanding does not complete any more. When it returns, the device has no part of it.
func (q *queue) Close() error {
	q.closing.Do(func() { q.closeErr = q.close() })
	return q.closeErr
}

func (q *queue) close() error {
	q.closed.Store(true)
	q.fail(newCause(rdma.StatusFlushed, errClosed.Error()), "its program closed it")
	q.kick()
	q.waitMu.Lock()
	q.pollMu.Lock()
	q.postMu.Lock()
	q.in.drain(q)
	err := q.release()
	q.postMu.Unlock()
	q.pollMu.Unlock()
	q.waitMu.Unlock()
	q.ctl.close()
	q.endMeeting()
	q.dom.forget(q)
	if err != nil {
		return fmt.Errorf("verbs: close the queue to %s: %w", q.peer, err)
	}
	return nil
}

// endMeeting ends the connection to another program. Who hears of its end must be gone before it goes.
func (q *queue) endMeeting() {
	if q.cm == nil {
		return
	}
	_ = q.cm.file.Close()
	q.watching.Wait()
	q.cm.close()
}

// Lend gives the locks, so that who uses the queue needs none beside them.
func (q *queue) Lend() (post, poll *sync.Mutex, h rdma.Held) { return &q.postMu, &q.pollMu, holder{q} }

// holder is a queue for who has its locks.
type holder struct{ q *queue }

func (h holder) Post(wrs []rdma.WorkRequest) (int, error)   { return h.q.post(wrs) }
func (h holder) PostReceive(rs []rdma.ReceiveRequest) error { return h.q.postReceive(rs) }
func (h holder) Poll(out []rdma.Completion) int             { return h.q.poll(out) }

// Post hands over work requests.
func (q *queue) Post(wrs []rdma.WorkRequest) (int, error) {
	q.postMu.Lock()
	defer q.postMu.Unlock()
	return q.post(wrs)
}

// PostReceive hands over receives.
func (q *queue) PostReceive(rs []rdma.ReceiveRequest) error {
	q.postMu.Lock()
	defer q.postMu.Unlock()
	return q.postReceive(rs)
}

// Poll takes completions.
func (q *queue) Poll(out []rdma.Completion) int {
	q.pollMu.Lock()
	defer q.pollMu.Unlock()
	return q.poll(out)
}

// Prepare asks the peer about a key.
func (q *queue) Prepare(ctx context.Context, key rdma.RKey, epoch uint32) error {
	if q.plain {
		return q.usable()
	}
	k, err := q.ctl.ask(ctx, key, epoch)
	if err != nil {
		return fmt.Errorf("verbs: the key %#x of %s: %w", uint32(key), q.peer, err)
	}
	q.postMu.Lock()
	defer q.postMu.Unlock()
	k = q.keys.learn(key, epoch, k)
	if k.why != "" {
		return fmt.Errorf("verbs: the key %#x of %s: %w", uint32(key), q.peer, &rdma.StatusError{Status: rdma.StatusRemoteKey, Detail: k.why})
	}
	return q.usable()
}

// usable is why a queue can be used no more, nil while it can.
func (q *queue) usable() error {
	if q.closed.Load() {
		return fmt.Errorf("verbs: the queue to %s: %w", q.peer, errClosed)
	}
	if c := q.failed.Load(); c != nil {
		return fmt.Errorf("verbs: the queue to %s: %w", q.peer, c.error())
	}
	return nil
}

// kick makes who waits look again.
func (q *queue) kick() {
	if q.events != nil {
		_ = q.events.SetReadDeadline(past)
	}
}

var past = time.Unix(1, 0)

package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// DefaultDepth is how many operations a queue has outstanding at most where nothing else is asked for.
const DefaultDepth = 64

// maxDepth bounds what a queue may be asked for.
const maxDepth = 1 << 16

// Queue does operations in order: a stream of CUDA's, a command queue of OpenCL's. Its methods may be called by several goroutines.
//
//barewire:type handle
type Queue struct {
	dev *Device
	s   Stream

	made where.Mark // who made it, where

	mu      sync.Mutex // who waits does not wait for it: see soon
	ring    []record
	posted  atomic.Uint64         // operations
	retired atomic.Uint64         // those that have ended: all before it
	bad     atomic.Uint64         // the first that failed; noBad
	why     error                 // of bad; written before bad is
	gone    atomic.Pointer[error] // why it was given up
	closed  bool
}

// holds is how many regions an operation has for which there is room from the start.
const holds = 4

// noBad is above the number of any operation.
const noBad = ^uint64(0)

// record is an operation that was posted.
type record struct {
	seq    uint64
	op     string // "copy to host"
	code   string // of a kernel: its name
	bytes  int
	kernel bool
	gated  bool   // it is counted at the device's gate for kernels
	held   []hold // what it has; the memory is used again
	at     where.Mark
	copy   CopyWork
	launch LaunchWork
}

// hold is a region that an operation has.
type hold struct {
	h *region.Handle
	m *memory // nil where this package did not allocate it
}

// Queue makes a queue for as many operations at a time as depth says, a power of two; 0 is DefaultDepth.
//
//barewire:effect fresh=0 on ok, carves=0 of d on ok
func (d *Device) Queue(depth int) (*Queue, error) {
	if d.none() {
		return nil, wrap(ErrNoDevice, "queue")
	}
	if depth == 0 {
		depth = DefaultDepth
	}
	if depth < 1 || depth > maxDepth || depth&(depth-1) != 0 {
		return nil, wrap(ErrArgs, "queue: a depth of %d; it is a power of two, and %d at most", depth, maxDepth)
	}
	watch()
	q := &Queue{dev: d, ring: make([]record, depth), made: where.Here()}
	held := make([]hold, depth*holds) // what copies and most kernels have need not be allocated later
	for i := range q.ring {
		q.ring[i].held = held[i*holds : i*holds : (i+1)*holds]
	}
	q.bad.Store(noBad)
	if err := d.enter(func() { d.queues = append(d.queues, q) }); err != nil {
		return nil, err
	}
	ctx, cancel := d.patiently()
	defer cancel()
	s, err := bounded(ctx, func() (Stream, error) { return d.ad.Stream(depth) }, func(s Stream, err error) {
		if err == nil {
			_ = s.Close()
		}
		d.drop(q)
	})
	if err != nil {
		if !goesOn(err) {
			d.drop(q)
		}
		return nil, fmt.Errorf("gpu: queue: %s: %w", d.name, err)
	}
	q.mu.Lock()
	q.s = s
	q.mu.Unlock()
	live.add(q)
	return q, nil
}

// String is what errors call the queue: "queue of cuda/0 made at worker/main.go:31".
//
//barewire:effect looks=q
func (q *Queue) String() string {
	if q.none() {
		return "no queue"
	}
	return "queue of " + q.dev.name + " made at " + q.made.String()
}

// state is the queue, and what has not ended on it.
func (q *Queue) state() string {
	if !q.soon() {
		return q.String() + ", on which the driver has not returned from an operation's post"
	}
	defer q.mu.Unlock()
	q.poll()
	if n := q.posted.Load() - q.retired.Load(); n > 0 {
		r := q.record(q.retired.Load())
		return fmt.Sprintf("%s: %d outstanding, the oldest a %s posted at %s", q, n, r.name(), r.at)
	}
	return q.String()
}

// soon takes the lock, or reports that it is not to be had: a driver that waits for the device has it while it takes a post, as of a copy of memory
// that is not pinned.
func (q *Queue) soon() bool {
	for p := (pauses{}); p.naps < naps; p.next() {
		if q.mu.TryLock() {
			return true
		}
	}
	return false
}

// drop forgets a queue.
func (d *Device) drop(q *Queue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues = slices.DeleteFunc(d.queues, func(o *Queue) bool { return o == q })
}

// Device is where the queue's operations are done; nil for a queue that is none.
//
//barewire:effect looks=q
func (q *Queue) Device() *Device {
	if q == nil {
		return nil
	}
	return q.dev
}

// none reports whether there is no such queue.
func (q *Queue) none() bool { return q == nil || q.dev == nil }

// Close ends the queue. It is [barewire.ErrInFlight] while operations have not ended, and names the queue and the place where the oldest was posted:
// [Queue.Flush] waits for them. A queue that was given up ([Queue.Abandon]) is no exception.
//
//barewire:effect releases=q on ok
func (q *Queue) Close() error {
	if q.none() {
		return errNoQueue
	}
	if err := q.end(); err != nil {
		return err
	}
	live.remove(q)
	err := q.dev.call(q.s.Close, func(error) { q.dev.drop(q) })
	if goesOn(err) {
		return fmt.Errorf("gpu: close: %s: %w", q, err)
	}
	q.dev.drop(q)
	if err != nil && q.dev.ad.Lost() == nil {
		return fmt.Errorf("gpu: close: %s: %w", q, err)
	}
	return nil
}

// end notes that the queue is closed, unless operations are outstanding.
func (q *Queue) end() error {
	if !q.soon() {
		return wrap(barewire.ErrInFlight, "close: %s: an operation is being posted, from which the driver has not returned", q)
	}
	defer q.mu.Unlock()
	if q.closed {
		return wrap(ErrClosed, "close: %s", q)
	}
	q.poll()
	if n := q.posted.Load() - q.retired.Load(); n > 0 {
		r := q.record(q.retired.Load())
		return wrap(barewire.ErrInFlight, "close: %s: %d outstanding, the oldest a %s posted at %s; Flush waits for them", q, n, r.name(), r.at)
	}
	q.closed = true
	return nil
}

// Abandon gives up a queue whose device does not get on: who waits on it gets [ErrAbandoned] around the cause, and nothing more is posted. It stops
// nothing: no driver takes back from a device what it was given. What was posted goes on, if it does, and until it has ended its
// regions and the queue cannot be closed ([barewire.ErrInFlight]), so that memory which the device may still write is nobody else's. What then is
// left is for the process to end; the driver has it back when that has. Of several causes the first counts.
//
//barewire:effect looks=q
func (q *Queue) Abandon(cause error) {
	if q.none() {
		return
	}
	err := fmt.Errorf("gpu: %s: %w: %w", q, ErrAbandoned, cmp.Or(cause, errNoCause))
	q.gone.CompareAndSwap(nil, &err)
}

var errNoCause = errors.New("no cause was given")

var errNoQueue = errors.New("gpu: no queue: a nil pointer or a zero value; Device.Queue gives one")

// record is the slot of an operation.
func (q *Queue) record(seq uint64) *record { return &q.ring[seq&uint64(len(q.ring)-1)] }

// name is what errors call the operation.
func (r *record) name() string {
	if r.kernel {
		return "kernel " + r.code
	}
	return r.op
}

// begin gives the record of the next operation, or says why there can be none. The lock is held.
func (q *Queue) begin() (*record, error) {
	if q.closed {
		return nil, ErrClosed
	}
	if gone := q.gone.Load(); gone != nil {
		return nil, *gone
	}
	if bad := q.bad.Load(); bad != noBad {
		return nil, fmt.Errorf("%w: %w", ErrFailed, q.why)
	}
	if q.posted.Load()-q.retired.Load() >= uint64(len(q.ring)) {
		if q.poll(); q.bad.Load() != noBad {
			return nil, fmt.Errorf("%w: %w", ErrFailed, q.why)
		}
	}
	if n := q.posted.Load() - q.retired.Load(); n >= uint64(len(q.ring)) {
		old := q.record(q.retired.Load())
		return nil, fmt.Errorf("%w: %d operations are outstanding, the oldest a %s posted at %s; wait for it, or make the queue deeper", ErrQueueFull, n, old.name(), old.at)
	}
	seq := q.posted.Load()
	r := q.record(seq)
	r.seq, r.held, r.bytes, r.kernel, r.code = seq, r.held[:0], 0, false, ""
	return r, nil
}

// commit counts the operation whose record begin gave, which the stream has taken. The lock is held.
func (q *Queue) commit() Op {
	return Op{q, q.posted.Add(1) - 1}
}

// take holds a region for the operation of a record.
func (q *Queue) take(r *record, h *region.Handle, gen uint32) (*memory, error) {
	if err := h.Hold(gen); err != nil {
		return nil, err
	}
	m := memoryOf(h)
	if m != nil {
		if err := m.enter(); err != nil {
			h.Drop()
			return nil, err
		}
	}
	r.held = append(r.held, hold{h, m})
	return m, nil
}

// letGo gives up what the operation of a record has.
func (q *Queue) letGo(r *record) {
	for i, x := range r.held {
		if x.m != nil {
			x.m.use.leave()
		}
		x.h.Drop()
		r.held[i] = hold{}
	}
	r.held = r.held[:0]
	if r.gated {
		r.gated = false
		q.dev.kernels.leave()
	}
}

// poll retires what has ended. The lock is held.
func (q *Queue) poll() {
	if q.closed || q.s == nil {
		return
	}
	for seq := q.retired.Load(); seq < q.posted.Load(); seq++ {
		r := q.record(seq)
		done, err := q.s.Done(int(seq & uint64(len(q.ring)-1)))
		if !done {
			return
		}
		if err != nil && q.bad.Load() == noBad {
			q.why = q.errorOf(r, err)
			q.bad.Store(seq)
		}
		q.letGo(r)
		q.retired.Store(seq + 1)
	}
}

// errorOf is the error of an operation that was posted.
func (q *Queue) errorOf(r *record, err error) error {
	e := &OpError{Op: r.name(), Device: q.dev.name, Bytes: r.bytes, At: r.at.String(), Err: err}
	if len(r.held) > 0 {
		e.Region = r.held[0].h.Name()
	}
	return e
}

// refuse is the error of an operation that is not posted. h is the region that is in the way; nil where none is.
func (q *Queue) refuse(op string, bytes int, h *region.Handle, err error) error {
	e := &OpError{Op: op, Bytes: bytes, At: where.Here().String(), Err: err}
	if q != nil && q.dev != nil {
		e.Device = q.dev.name
	}
	if _, named := err.(*region.Error); h != nil && !named {
		e.Region = h.Name()
	}
	return e
}

// queues are those that are open, of all devices.
type queues struct {
	mu  sync.Mutex
	all []*Queue
}

var live queues

func (l *queues) add(q *Queue) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, q)
}

func (l *queues) remove(q *Queue) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, func(o *Queue) bool { return o == q })
}

func (l *queues) list() []*Queue {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// watch has regions ask here before they say that operations are in flight: nothing else polls for who does not wait.
var watch = sync.OnceFunc(func() {
	region.Inquire(region.Inquiry{Settle: settle, Posted: postedWith})
})

// settle polls all queues.
func settle() {
	for _, q := range live.list() {
		if q.soon() {
			q.poll()
			q.mu.Unlock()
		}
	}
}

// postedWith is where an operation was posted that has a region.
func postedWith(h *region.Handle) string {
	for _, q := range live.list() {
		if at := q.postedWith(h); at != "" {
			return at
		}
	}
	return ""
}

func (q *Queue) postedWith(h *region.Handle) string {
	if !q.soon() {
		return ""
	}
	defer q.mu.Unlock()
	for seq := q.retired.Load(); seq < q.posted.Load(); seq++ {
		r := q.record(seq)
		if slices.ContainsFunc(r.held, func(x hold) bool { return x.h == h }) {
			return r.at.String()
		}
	}
	return ""
}

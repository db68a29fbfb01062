package soft

import (
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/words"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// line is the requests of a queue that were not done at once: because they wait
// for a receive, or for a fault to pass, or because the queue is loose about order. It
// is under the queue's mu.
type line struct {
	todo    []*entry // taken and not completed, in the order of posting
	next    int      // of todo, the first whose turn has not come
	posted  uint64   // entries ever
	blocked block
	timer   *time.Timer // that ends the block, or the patience with it

	loose bool         // of all requests; else entries say it
	rnd   *rand.Rand   // drawn from when requests have their turn, and at no other time
	lazy  []*entry     // reads and atomics whose turn came and that are not done, in order
	late  []*placement // writes whose turn came and that are not placed
}

// entry is a request in line.
type entry struct {
	wr      rdma.WorkRequest
	at      uint64 // place in the order of posting
	judged  bool   // faults have been asked
	loose   bool
	placed  bool // the data of a WriteNotify are placed
	done    bool
	retired bool
	result  uint64
	serr    *rdma.StatusError
	doom    *rdma.StatusError // what it fails with after a delay
}

// placement is a write that waits to be placed.
type placement struct {
	e    *entry
	prio uint64 // the least is placed first
	data []byte // what was to be written when it completed early; nil: it has not completed
}

// block is what the request whose turn it is waits for.
type block uint8

const (
	free block = iota
	onReceive
	onTime
	onRelease
	forever
)

// lateWrites is how many writes may wait to be placed before one must be.
const lateWrites = 16

func (l *line) add(wr *rdma.WorkRequest) *entry {
	l.posted++
	e := &entry{wr: *wr, at: l.posted}
	l.todo = append(l.todo, e)
	return e
}

func (e *entry) finish(result uint64, serr *rdma.StatusError) {
	e.done, e.result, e.serr = true, result, serr
}

func (l *line) clear() {
	l.todo, l.next, l.lazy, l.late = nil, 0, nil, nil
	l.free()
}

func (l *line) free() {
	l.blocked = free
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// take puts a request in line and does what can be done. mu is held.
func (q *queue) take(wr *rdma.WorkRequest) {
	q.wait.add(wr)
	q.advance()
}

// advance gives requests their turn, in the order of posting, until one must wait. mu is held.
func (q *queue) advance() {
	l := &q.wait
	if q.copying {
		return // whoever copies goes on
	}
	for q.ended == nil && !q.closed && l.blocked == free && l.next < len(l.todo) {
		e := l.todo[l.next]
		if q.turn(e); l.blocked == free && q.ended == nil {
			l.next++
		}
	}
	if q.ended != nil {
		q.flush()
	}
	q.retire()
}

// turn does a request or, if it is loose, notes it. Afterwards the line is
// blocked if the request must wait, and the queue has ended if it failed. mu is held.
func (q *queue) turn(e *entry) {
	if !e.judged {
		e.judged = true
		q.suffer(e)
	}
	if q.wait.blocked != free || q.ended != nil {
		return
	}
	if e.doom != nil {
		q.failAt(e, e.doom)
		return
	}
	if e.wr.Fence {
		q.doLazy()
	}
	loose := e.loose || q.wait.loose
	switch e.wr.Verb {
	case rdma.VerbWrite:
		if loose {
			q.stage(e)
			return
		}
		q.settleEntry(e, 0, q.write(&e.wr))
	case rdma.VerbRead, rdma.VerbCompareSwap, rdma.VerbFetchAdd:
		q.wait.lazy = append(q.wait.lazy, e)
		if !loose || q.wait.rnd.IntN(2) == 0 {
			q.doLazy()
		}
	case rdma.VerbFlush:
		q.placeBefore(e.at)
		q.settleEntry(e, 0, nil)
	case rdma.VerbSend, rdma.VerbWriteNotify:
		q.placeBefore(e.at)
		q.transmit(e)
	default:
		q.failAt(e, status(rdma.StatusLocal, "there is no verb %d to post", e.wr.Verb))
	}
}

// settleEntry ends a request whose turn it is, unless the queue ended in between. mu is held.
func (q *queue) settleEntry(e *entry, result uint64, serr *rdma.StatusError) {
	switch {
	case serr != nil:
		q.failAt(e, serr)
	case !e.done:
		e.finish(result, nil)
	}
}

// transmit gives a message or a notification to the peer, or waits for its receive. mu is held.
func (q *queue) transmit(e *entry) {
	if q.ended != nil {
		return
	}
	err := q.send(&e.wr, &e.placed)
	if err == errHungry {
		q.wait.blocked = onReceive
		limit := q.dom.fabric.cfg.NotReady
		q.wait.timer = q.after(limit, func() {
			if q.wait.blocked == onReceive && q.wait.next < len(q.wait.todo) && q.wait.todo[q.wait.next] == e {
				q.failAt(e, status(rdma.StatusNotReady, "the peer posted no receive for %v", limit))
				q.advance()
			}
		})
		return
	}
	serr, _ := err.(*rdma.StatusError)
	q.settleEntry(e, 0, serr)
}

// suffer lets a fault have its way with a request. mu is held.
func (q *queue) suffer(e *entry) {
	r := q.dom.fabric.judge(AtRequest, e.wr.Verb, q, q.name)
	if r == nil {
		return
	}
	switch act := &r.fault.Do; act.kind {
	case doDelay:
		q.hold(act.d)
	case doDrop:
		q.wait.blocked = forever
	case doStall:
		q.wait.blocked = onRelease
		r.mu.Lock()
		r.stalled = append(r.stalled, q)
		r.mu.Unlock()
	case doFail:
		q.failAt(e, status(act.s, "a fault was injected"))
	case doNotReady:
		if limit := q.dom.fabric.cfg.NotReady; act.d >= limit {
			e.doom = status(rdma.StatusNotReady, "the peer posted no receive for %v", limit)
		}
		q.hold(min(act.d, q.dom.fabric.cfg.NotReady))
	case doReorder:
		e.loose = true
	case doKill:
		q.wait.blocked, q.kill = forever, true
	case doRefuse:
		q.failAt(e, status(rdma.StatusRemoteKey, "%s", act.text))
	}
}

// hold blocks the line for a time. mu is held.
func (q *queue) hold(d time.Duration) {
	q.wait.blocked = onTime
	q.wait.timer = q.after(d, func() { q.unblockLocked(onTime) })
}

// unblock lets the line go on, if it waits for what has happened.
func (q *queue) unblock(why block) {
	q.mu.Lock()
	q.unblockLocked(why)
	q.release()
}

func (q *queue) unblockLocked(why block) {
	if q.wait.blocked == why {
		q.wait.free()
		q.advance()
	}
}

// failAt fails a request, and the queue with it: but first those before it are done. mu is held.
func (q *queue) failAt(e *entry, serr *rdma.StatusError) {
	if len(q.wait.lazy) > 0 && q.wait.lazy[0].at < e.at {
		q.doLazy()
	}
	if q.ended == nil {
		e.finish(0, serr)
		q.fail(serr)
	}
}

// flush completes what is in line: in order, and as failed from the first
// failure on. mu is held.
func (q *queue) flush() {
	failed := false
	for _, e := range q.wait.todo {
		if !e.done || failed && e.serr == nil {
			e.finish(0, q.why())
		}
		failed = failed || e.serr != nil
	}
	q.wait.lazy, q.wait.late = nil, nil
	q.wait.next = len(q.wait.todo)
	q.wait.free()
	q.retire()
}

// why is what the next request fails with, once the queue has ended. mu is held.
func (q *queue) why() *rdma.StatusError {
	serr := q.ended
	if q.owed != nil {
		serr, q.owed = q.owed, nil
	}
	return serr
}

// retire completes requests that are done, in order. mu is held.
func (q *queue) retire() {
	n := 0
	for n < len(q.wait.todo) && q.wait.todo[n].done {
		e := q.wait.todo[n]
		e.retired = true
		*q.sent.Push() = sent{id: e.wr.ID, result: e.result, serr: e.serr, verb: e.wr.Verb}
		n++
	}
	if n > 0 {
		q.wait.todo = slices.Delete(q.wait.todo, 0, n)
		q.wait.next = max(0, q.wait.next-n)
		q.signal()
	}
}

// stage notes a write: it completes now, with a copy of its data kept, or when it is placed. mu is held.
func (q *queue) stage(e *entry) {
	total, serr := q.checkOwn(&e.wr)
	if serr == nil && total == 0 {
		serr = errNothing
	}
	if serr != nil {
		q.failAt(e, serr)
		return
	}
	rnd := q.wait.rnd
	p := &placement{e: e, prio: rnd.Uint64()}
	early, now := rnd.IntN(2) == 0, rnd.IntN(3)
	if early {
		p.data = make([]byte, 0, total)
		for _, s := range e.wr.Local[:e.wr.Segs] {
			p.data = append(p.data, unsafe.Slice((*byte)(s.Ptr), s.Len)...)
		}
		e.finish(0, nil)
	}
	q.wait.late = append(q.wait.late, p)
	for q.ended == nil && len(q.wait.late) > 0 && (now > 0 || len(q.wait.late) > lateWrites) {
		q.placeOne()
		now--
	}
}

// placeOne places one late write. mu is held.
func (q *queue) placeOne() {
	l := &q.wait
	best := 0
	for i, p := range l.late {
		if p.prio < l.late[best].prio {
			best = i
		}
	}
	p := l.late[best]
	l.late = slices.Delete(l.late, best, best+1)
	q.placeLate(p)
}

// placeBefore places all late writes posted before a place in the order. mu is held.
func (q *queue) placeBefore(at uint64) {
	for q.ended == nil {
		best := -1
		for i, p := range q.wait.late {
			if p.e.at < at && (best < 0 || p.prio < q.wait.late[best].prio) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		p := q.wait.late[best]
		q.wait.late = slices.Delete(q.wait.late, best, best+1)
		q.placeLate(p)
	}
}

// placeLate places a late write. If that fails after the write completed, the
// next request says so. mu is held.
func (q *queue) placeLate(p *placement) {
	e := p.e
	var serr *rdma.StatusError
	if p.data == nil {
		serr = q.write(&e.wr)
	} else if to, why := q.target(&e.wr, len(p.data), region.Write); why == nil {
		words.Place(to, unsafe.Pointer(&p.data[0]), len(p.data))
	} else {
		serr = why
	}
	switch {
	case serr == nil:
		if !e.done {
			e.finish(0, nil)
		}
	case q.ended != nil:
	case !e.retired:
		q.failAt(e, serr)
	default:
		q.owed = &rdma.StatusError{Status: serr.Status, Detail: serr.Detail, Late: true, ID: e.wr.ID}
		q.fail(serr)
	}
}

// doLazy does the reads and atomics whose turn came, in order. mu is held.
func (q *queue) doLazy() {
	for q.ended == nil && len(q.wait.lazy) > 0 {
		e := q.wait.lazy[0]
		q.wait.lazy = q.wait.lazy[1:]
		if q.placeBefore(e.at); q.ended != nil {
			return
		}
		if e.wr.Verb == rdma.VerbRead {
			q.settleEntry(e, 0, q.read(&e.wr))
		} else {
			result, serr := q.atomic(&e.wr)
			q.settleEntry(e, result, serr)
		}
	}
}

// nudge does what was put off, because somebody waits for completions: until
// there is one, or a write more is placed that completed before. mu is held.
func (q *queue) nudge() {
	l := &q.wait
	for q.sent.Len() == 0 && !q.copying && q.ended == nil && !q.closed {
		switch {
		case len(l.lazy) > 0:
			q.doLazy()
		case len(l.late) > 0:
			q.placeOne()
		default:
			return
		}
		if q.advance(); len(l.todo) == 0 {
			return
		}
	}
}

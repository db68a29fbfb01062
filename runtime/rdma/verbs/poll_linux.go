//go:build amd64 || arm64

package verbs

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/release"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// isReceive marks the work request IDs of receives.
const isReceive = 1 << 63

// inbox is the memory that completions are polled into: some of them may be left for later.
type inbox struct {
	block    abi.Block
	args     [3]uintptr
	from, to int // completions in the block that nobody has had
	room     int

	bindID     uint64 // of the last request that bound a window, and how it ended
	bindStatus uint32
}

// make has room for all that can complete, so that nothing is lost when the queue pair goes.
func (in *inbox) make(q *queue) (err error) {
	in.room = max(q.dom.adapter.width()*len(q.sends)+len(q.recvs)+bindRoom, atOnce)
	in.block, err = abi.NewBlock(in.room * abi.WCSize)
	return err
}

func (in *inbox) free() {
	in.block.Free()
	in.block = abi.Block{}
}

// look asks the device for completions, at most n, if none are left. The poll lock is held.
func (in *inbox) look(q *queue, n int) int {
	if in.from < in.to {
		return in.to - in.from
	}
	in.args = [3]uintptr{q.hw.cq, uintptr(min(n, in.room)), in.block.Addr(0)}
	got := int(int32(dl.Fast(q.calls.pollCQ, in.args[:])))
	if got < 0 {
		q.fail(q.lost("the device does not say what has completed (ibv_poll_cq: %d)", got), "its device has failed")
		got = 0
	}
	in.from, in.to = 0, min(got, n)
	return in.to
}

// stash takes all that the device has completed, before its queue pair goes. The poll lock is held.
func (in *inbox) stash(q *queue) {
	if in.from > 0 {
		copy(in.block.Bytes(0, in.room*abi.WCSize), in.block.Bytes(in.from*abi.WCSize, (in.to-in.from)*abi.WCSize))
		in.from, in.to = 0, in.to-in.from
	}
	for in.to < in.room {
		in.args = [3]uintptr{q.hw.cq, uintptr(in.room - in.to), in.block.Addr(in.to * abi.WCSize)}
		got := int(int32(dl.Fast(q.calls.pollCQ, in.args[:])))
		if got <= 0 {
			return
		}
		in.to += got
	}
}

// drain takes what the device flushes of a queue that failed, before its queue pair is destroyed: then nothing of it is in
// progress. A device that does not flush is given flushPatience, one that is gone or going nothing. The locks of posting and polling
// are held.
func (in *inbox) drain(q *queue) {
	a := q.dom.adapter
	end, pause := time.Now().Add(flushPatience), 10*time.Microsecond
	for owed := in.countOwed(q); !q.hw.gone.Load(); pause = min(2*pause, time.Millisecond) {
		in.stash(q)
		in.sift()
		if have := in.ends(); have >= owed || a.fatal.Load() || a.going.Load() {
			return
		}
		if time.Now().After(end) {
			a.logger.Debug("verbs: a queue pair is destroyed that was not flushed", "peer", q.peer, "outstanding", owed-in.ends())
			return
		}
		time.Sleep(pause)
	}
}

// ends counts the ends of requests and receives that nobody has had.
func (in *inbox) ends() (n int) {
	for i := in.from; i < in.to; i++ {
		if id := in.block.U64(i*abi.WCSize + abi.WCID); id&(isReceive|isHalf) != isHalf {
			n++
		}
	}
	return n
}

// countOwed counts the requests and receives that the device has, or that were not polled. The poll lock is held.
func (in *inbox) countOwed(q *queue) (n int) {
	for i := q.head.Load(); i < q.tail.Load(); i++ {
		if q.sends[i&q.mask].state.Load() == withDevice {
			n++
		}
	}
	for i := q.rhead.Load(); i < q.took.Load(); i++ {
		if !q.recvs[i&q.rmask].here.Load() {
			n++
		}
	}
	return n
}

// owed reports whether the device has requests or receives that have not been polled. The poll lock is held.
func (in *inbox) owed(q *queue) bool {
	for i := q.head.Load(); i < q.tail.Load(); i++ {
		if q.sends[i&q.mask].state.Load() == withDevice {
			return true
		}
	}
	i := q.rhead.Load()
	return i < q.took.Load() && !q.recvs[i&q.rmask].here.Load()
}

// poll takes completions: the device's, and of what the device does not have. The poll lock is held.
func (q *queue) poll(out []rdma.Completion) int {
	if q.closed.Load() {
		return 0
	}
	n := 0
	for n < len(out) {
		if k := q.ended(out[n:]); k > 0 {
			n += k
			continue
		}
		want := min(len(out)-n, atOnce)
		had := q.in.to - q.in.from
		got := q.in.look(q, want)
		took := min(got, want)
		for range took {
			if q.take(q.in.from*abi.WCSize, &out[n]) {
				n++
			}
			q.in.from++
		}
		if took < want && had == 0 || got == 0 {
			break
		}
	}
	if n < len(out) {
		n += q.ended(out[n:])
	}
	if q.framed {
		q.say(out[:n])
	}
	return n
}

// ended completes what the device does not have: requests that this side refused, and what is behind a failure. The poll lock is held.
func (q *queue) ended(out []rdma.Completion) (n int) {
	head := q.head.Load()
	if q.failed.Load() == nil {
		if head == q.tail.Load() {
			return 0
		}
		if s := q.sends[head&q.mask].state.Load(); s != refused && s != early {
			return 0 // as nearly always
		}
	}
	for ; n < len(out) && head < q.tail.Load(); head++ {
		r := &q.sends[head&q.mask]
		state := r.state.Load()
		switch {
		case state == refused:
			out[n] = rdma.Completion{ID: r.id, Verb: r.verb, Err: r.err}
			q.failedBy(r.verb, r.err)
			r.err = nil
		case state == early:
			out[n] = rdma.Completion{ID: r.id, Verb: r.verb, Err: r.err}
			if c := q.failed.Load(); c != nil && r.err == nil && q.broken {
				out[n].Err = c.error() // what was posted before it failed
			}
			r.err = nil
		case state == withDevice && !(q.hw.gone.Load() && q.in.from == q.in.to), q.failed.Load() == nil:
			q.head.Store(head)
			return n + q.endedReceives(out[n:])
		default: // flushed; or held, or lost with the queue pair, when the queue failed
			out[n] = rdma.Completion{ID: r.id, Verb: r.verb, Err: q.failed.Load().error()}
		}
		q.broken = q.broken || out[n].Err != nil
		n++
	}
	q.head.Store(head)
	return n + q.endedReceives(out[n:])
}

// endedReceives completes receives of a queue that failed, which the device does not have. The poll lock is held.
func (q *queue) endedReceives(out []rdma.Completion) (n int) {
	c := q.failed.Load()
	if c == nil {
		return 0
	}
	lost := q.hw.gone.Load() && q.in.from == q.in.to
	head := q.rhead.Load()
	for ; n < len(out) && head < q.took.Load(); head++ {
		r := &q.recvs[head&q.rmask]
		if !r.here.Load() && !lost {
			break
		}
		out[n] = rdma.Completion{ID: r.id, Verb: rdma.VerbReceive, Err: c.error()}
		n++
	}
	q.rhead.Store(head)
	return n
}

// failedBy fails the queue because a request did.
func (q *queue) failedBy(verb rdma.Verb, err error) {
	q.fail(newCause(rdma.StatusFlushed, fmt.Sprintf("a %s failed before: %v", verb, err)), fmt.Sprintf("its %s failed: %v", verb, err))
}

// take makes a completion of the device's at an offset of the block. It reports false for one that is none of ours.
func (q *queue) take(at int, out *rdma.Completion) bool {
	b := q.in.block
	id := b.U64(at + abi.WCID)
	if id&isReceive != 0 {
		return q.takeReceive(at, id&^isReceive, out)
	}
	if q.in.notes(at) {
		return false
	}
	if id&isHalf != 0 {
		q.takeHalf(id&^isHalf, at)
		return false
	}
	head := q.head.Load()
	if q.iwarp && id > head && id < q.tail.Load() {
		q.takeEarly(&q.sends[id&q.mask], at)
		return false
	}
	if id != head || head >= q.tail.Load() {
		q.fail(q.lost("the device completed the request %d, and %d is next", id, head), "its device has failed")
		return false
	}
	r := &q.sends[head&q.mask]
	*out = rdma.Completion{ID: r.id, Verb: r.verb}
	if status := b.U32(at + abi.WCStatus); status != abi.WCSuccess {
		out.Err = q.failure(r.verb, status, b.U32(at+abi.WCVendorErr))
		if r.err != nil { // its write is why
			out.Err, r.err = r.err, nil
		}
		q.broken = true
	} else if q.iwarp {
		q.learnDone(head, r)
	} else if r.verb == rdma.VerbCompareSwap || r.verb == rdma.VerbFetchAdd {
		out.Result = q.hw.landing.U64(resultsAt + int(head&q.mask)*8)
	}
	release.Store(&q.head, head+1)
	return true
}

// takeEarly notes that the device has done a request before one that was posted before: iWARP's do so with writes and messages behind a
// read. It completes behind that one.
func (q *queue) takeEarly(r *request, at int) {
	b := q.in.block
	if status := b.U32(at + abi.WCStatus); status != abi.WCSuccess {
		if err := q.failure(r.verb, status, b.U32(at+abi.WCVendorErr)); r.err == nil {
			r.err = err
		}
	} else if r.verb == rdma.VerbRead {
		q.probe.learn(r.at)
	}
	r.state.Store(early)
}

// learnDone notes what the end of a request says of the peer's memory. Source: RFC 5040, section 5.5: what is read is read behind the writes.
func (q *queue) learnDone(seq uint64, r *request) {
	if r.verb == rdma.VerbRead {
		q.probe.learn(r.at)
	}
	if r.verb == rdma.VerbRead || r.verb == rdma.VerbFlush {
		q.parting.placed.Store(seq + 1)
	}
}

// takeHalf notes how the write of a notification ended: its message ends behind it.
func (q *queue) takeHalf(seq uint64, at int) {
	b := q.in.block
	if status := b.U32(at + abi.WCStatus); status != abi.WCSuccess && status != abi.WCFlushed && seq >= q.head.Load() && seq < q.tail.Load() {
		q.sends[seq&q.mask].err = q.failure(rdma.VerbWriteNotify, status, b.U32(at+abi.WCVendorErr))
	}
}

// takeReceive makes the completion of a receive.
func (q *queue) takeReceive(at int, seq uint64, out *rdma.Completion) bool {
	b, head := q.in.block, q.rhead.Load()
	if seq != head || head >= q.took.Load() {
		q.fail(q.lost("the device completed the receive %d, and %d is next", seq, head), "its device has failed")
		return false
	}
	*out = rdma.Completion{ID: q.recvs[head&q.rmask].id, Verb: rdma.VerbReceive}
	if status := b.U32(at + abi.WCStatus); status != abi.WCSuccess {
		verb := rdma.VerbReceive
		if m := q.recvs[head&q.rmask].mem; m == nil || m.dead.Load() {
			verb = 0
		}
		if q.framed && status == abi.WCLocLen { // messages use receives in order
			q.tooLong.Store(head + 1)
		}
		out.Err = q.failure(verb, status, b.U32(at+abi.WCVendorErr))
	} else if q.framed {
		q.takeHead(head, int(b.U32(at+abi.WCByteLen)), out)
		if flags := b.U32(at + abi.WCFlags); flags&abi.WCWithInv != 0 {
			out.Invalidated = rdma.RKey(b.U32(at + abi.WCImm))
			q.dom.invalidated(q, out.Invalidated)
		}
	} else {
		if q.iwarp && head == 0 {
			q.unmute()
		}
		if b.U32(at+abi.WCOpcode) == abi.WCOpRecvImm {
			out.Verb = rdma.VerbNotify
		}
		out.Bytes = int(b.U32(at + abi.WCByteLen))
		if b.U32(at+abi.WCFlags)&abi.WCWithImm != 0 {
			out.Imm = bits.ReverseBytes32(b.U32(at + abi.WCImm))
		} else if flags := b.U32(at + abi.WCFlags); flags&(abi.WCWithInv|abi.WCChecked) != 0 {
			// rdma_rxe gives its user the kernel's number of the flag, which is that of another one here.
			key := rdma.RKey(b.U32(at + abi.WCImm))
			if q.dom.invalidated(q, key) || flags&abi.WCWithInv != 0 {
				out.Invalidated = key
			}
		}
	}
	release.Store(&q.rhead, head+1)
	if q.framed {
		q.announce()
	}
	return true
}

// failure is the error of a completion that the device gave a status other than success, and fails the queue, if it is not
// what made it complete so.
func (q *queue) failure(verb rdma.Verb, status, vendor uint32) error {
	if q.framed && (status == abi.WCFlushed || status == abi.WCLocQPOp) { // siw says this of what it was sending when the connection ended
		q.hear()
	}
	if status == abi.WCFlushed || status == abi.WCLocQPOp && q.framed && q.failed.Load() != nil {
		if q.failed.Load() == nil {
			c := newCause(rdma.StatusFlushed, "the device moved the queue pair to its error state")
			look := q.dom.adapter.trouble
			if verb != rdma.VerbReceive && verb != 0 { // the peer is not why, or it had said so
				look = q.dom.adapter.troubleSoon
			}
			if why := look(); why != "" {
				c = q.lost("%s", why)
			}
			q.fail(c, "its queue pair is in the error state: "+c.text)
		}
		return q.failed.Load().error()
	}
	err := q.reason(verb, status)
	if vendor != 0 {
		err.Detail += fmt.Sprintf(", vendor's %#x", vendor)
	}
	q.failedBy(verb, err)
	return err
}

//go:build amd64 || arm64

package verbs

import (
	"errors"
	"fmt"
	"math/bits"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/release"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// atOnce is how many work requests one call of the device's takes.
const atOnce = 64

// outbox is the memory outside the Go heap that work requests are written to, chained once for all, and what posting has looked up.
type outbox struct {
	block abi.Block
	args  [3]uintptr // of the call
	seen  [8]*region // by local key
	two   bool       // the request that was written last has two places
}

// Where in the block: the requests, their segments, the receives with theirs, and where the call says what it did not take.
const (
	sendsAt = 0
	segsAt  = sendsAt + atOnce*abi.SendSize
	recvsAt = segsAt + atOnce*rdma.MaxSegments*abi.SGESize
	bufsAt  = recvsAt + atOnce*abi.RecvSize
	badAt   = bufsAt + 2*atOnce*abi.SGESize
	outSize = badAt + 8
)

// make maps the block and writes what is the same in all requests: where the segments and the next request are.
func (o *outbox) make(q *queue) (err error) {
	if o.block, err = abi.NewBlock(outSize); err != nil {
		return err
	}
	for i := range atOnce {
		o.block.Put64(sendsAt+i*abi.SendSize+abi.SendSGList, uint64(o.block.Addr(segsAt+i*rdma.MaxSegments*abi.SGESize)))
		o.block.Put64(recvsAt+i*abi.RecvSize+abi.RecvSGList, uint64(o.block.Addr(bufsAt+2*i*abi.SGESize)))
		o.block.Put32(recvsAt+i*abi.RecvSize+abi.RecvNumSGE, uint32(q.dom.adapter.width()))
		if i > 0 {
			o.block.Put64(sendsAt+(i-1)*abi.SendSize+abi.SendNext, uint64(o.block.Addr(sendsAt+i*abi.SendSize)))
			o.block.Put64(recvsAt+(i-1)*abi.RecvSize+abi.RecvNext, uint64(o.block.Addr(recvsAt+i*abi.RecvSize)))
		}
	}
	return nil
}

func (o *outbox) free() {
	o.block.Free()
	o.block = abi.Block{}
}

var errFull = errors.New("verbs: the queue is full: poll completions before posting more")

// post takes requests while there is room. The post lock is held.
func (q *queue) post(wrs []rdma.WorkRequest) (int, error) {
	if q.closed.Load() {
		return 0, q.usable()
	}
	tail := q.tail.Load()
	n := min(len(wrs), int(q.depth-(tail-q.head.Load())))
	for done := 0; done < n; {
		if q.detained() {
			q.detain(wrs[done:n])
			break
		}
		done += q.hand(wrs[done:min(n, done+atOnce)])
	}
	if n < len(wrs) {
		return n, errFull
	}
	return n, nil
}

// detained reports whether what is posted now does not go to the device.
func (q *queue) detained() bool {
	return q.halted || len(q.waiting) > 0 || q.failed.Load() != nil || q.opening.mute
}

// hand gives the device the requests up to the first that it is not to have, and returns how many were taken, that one
// included. At most atOnce are given, or what has as many places.
func (q *queue) hand(wrs []rdma.WorkRequest) int {
	tail := q.tail.Load()
	n, places := 0, 0
	for n < len(wrs) && places <= q.mostPlaces {
		r := &q.sends[(tail+uint64(n))&q.mask]
		wr := &wrs[n]
		r.id, r.verb = wr.ID, wr.Verb
		if q.iwarp {
			r.at = place{wr.Key, wr.Epoch, wr.Addr}
		}
		if r.state.Load() != withDevice {
			r.state.Store(withDevice)
		}
		if v := q.write(places, tail+uint64(n), wr); v != nil {
			release.Store(&q.tail, tail+uint64(n))
			q.ring(places, tail, n)
			q.refuse(wr, v)
			return n + 1
		}
		n++
		if places++; q.out.two {
			q.out.two = false
			places++
		}
	}
	release.Store(&q.tail, tail+uint64(n))
	q.ring(places, tail, n)
	return n
}

// ring hands over what is in the first places of the block: count requests, the first of which has the number from. They are in the ring, and counted, since they
// may complete before the call returns.
func (q *queue) ring(places int, from uint64, count int) {
	if places == 0 {
		return
	}
	b := q.out.block
	last := sendsAt + (places-1)*abi.SendSize
	b.Put64(last+abi.SendNext, 0)
	q.out.args = [3]uintptr{q.hw.qp, b.Addr(sendsAt), b.Addr(badAt)}
	rc := int32(dl.Fast(q.calls.postSend, q.out.args[:]))
	if places < atOnce {
		b.Put64(last+abi.SendNext, uint64(b.Addr(sendsAt+places*abi.SendSize)))
	}
	if rc != 0 {
		q.notTaken(from, places, count, rc)
	}
}

// notTaken is for requests that the device did not take. The first of them fails, and what is behind it. Source: ibv_post_send(3).
func (q *queue) notTaken(from uint64, places, n int, rc int32) {
	b := q.out.block
	place := min(max((int(b.U64(badAt))-int(b.Addr(sendsAt)))/abi.SendSize, 0), places-1)
	took := b.U64(sendsAt+place*abi.SendSize+abi.SendID)&^isHalf - from
	why := fmt.Sprintf("the device does not take it: %v", syscall.Errno(max(rc, -rc)))
	for i := from + took; i < from+uint64(n); i++ {
		q.sends[i&q.mask].state.Store(flushed)
	}
	switch r := &q.sends[(from+took)&q.mask]; {
	case q.framed: // siw takes none when the connection has ended, which is heard of a little later, and is the reason then
		time.AfterFunc(2*partPatience, func() { q.fail(newCause(rdma.StatusProvider, why), "its device does not take a request") })
	case q.failed.Load() == nil:
		r.err = &rdma.StatusError{Status: rdma.StatusProvider, Detail: why}
		r.state.Store(refused)
	}
	q.halted = true
	q.kick()
}

// verdict is what is wrong with a request: what it completes with. Nil: nothing.
type verdict = rdma.StatusError

func bad(s rdma.Status, format string, args ...any) *verdict {
	return &verdict{Status: s, Detail: fmt.Sprintf(format, args...)}
}

// refuse takes a request that does not go to the device: it waits for the peer's word, or it fails, and what comes later
// with it. The post lock is held.
func (q *queue) refuse(wr *rdma.WorkRequest, v *verdict) {
	tail := q.tail.Load()
	r := &q.sends[tail&q.mask]
	if v == unasked || v == unready {
		r.state.Store(held)
		q.waiting = append(q.waiting, heldRequest{tail, *wr})
		q.tail.Store(tail + 1)
		q.await(v, tail, wr)
		return
	}
	r.err = v
	r.state.Store(refused)
	q.halted = true
	q.tail.Store(tail + 1)
	q.kick()
}

// await sees to it that a request which waits, the first that does, does not wait for ever. The post lock is held.
func (q *queue) await(v *verdict, seq uint64, wr *rdma.WorkRequest) {
	if v == unready {
		q.awaitReceive(seq)
		return
	}
	q.ctl.askLater(keyOf(wr), wr.Epoch)
}

// keyOf is the peer's key that a request is about.
func keyOf(wr *rdma.WorkRequest) rdma.RKey {
	if wr.Invalidate != 0 {
		return wr.Invalidate
	}
	return wr.Key
}

// detain takes requests that do not go to the device now, or ever. The post lock is held.
func (q *queue) detain(wrs []rdma.WorkRequest) {
	tail := q.tail.Load()
	state := flushed
	if !q.halted && q.failed.Load() == nil {
		state = held
	}
	for i := range wrs {
		r := &q.sends[tail&q.mask]
		r.id, r.verb = wrs[i].ID, wrs[i].Verb
		r.state.Store(state)
		if state == held {
			q.waiting = append(q.waiting, heldRequest{tail, wrs[i]})
		}
		tail++
	}
	q.tail.Store(tail)
	q.kick()
}

// heldRequest is a request that waits, with its number.
type heldRequest struct {
	seq uint64
	wr  rdma.WorkRequest
}

// resume gives the device what waited, as far as the peer's keys are known now. The post lock is held.
func (q *queue) resume() {
	for len(q.waiting) > 0 {
		if q.opening.mute && q.failed.Load() == nil {
			return
		}
		if q.failed.Load() != nil || q.halted || q.closed.Load() {
			q.flushWaiting(0)
			return
		}
		from, n, places := q.waiting[0].seq, 0, 0
		var v *verdict
		for n < len(q.waiting) && places <= q.mostPlaces {
			h := &q.waiting[n]
			if v = q.write(places, h.seq, &h.wr); v != nil {
				break
			}
			r := &q.sends[h.seq&q.mask]
			r.at = place{h.wr.Key, h.wr.Epoch, h.wr.Addr}
			r.state.Store(withDevice)
			n++
			if places++; q.out.two {
				q.out.two = false
				places++
			}
		}
		q.ring(places, from, n)
		q.waiting = q.waiting[n:]
		switch v {
		case nil:
		case unasked, unready:
			q.await(v, q.waiting[0].seq, &q.waiting[0].wr)
			return
		default:
			r := &q.sends[q.waiting[0].seq&q.mask]
			r.err = v
			r.state.Store(refused)
			q.halted = true
			q.flushWaiting(1)
			return
		}
	}
	if len(q.waiting) == 0 {
		q.waiting = nil
	}
}

// flushWaiting ends what waits, from the i-th on. The post lock is held.
func (q *queue) flushWaiting(i int) {
	for _, h := range q.waiting[i:] {
		q.sends[h.seq&q.mask].state.Store(flushed)
	}
	q.waiting = nil
	q.kick()
}

// write writes a request into the i-th place of the block, if nothing is wrong with it. seq is its number.
func (q *queue) write(i int, seq uint64, wr *rdma.WorkRequest) *verdict {
	b, at := q.out.block, sendsAt+i*abi.SendSize
	b.Put64(at+abi.SendID, seq)
	if q.framed {
		q.sends[seq&q.mask].nth = 0
	}
	flags := uint32(abi.FlagSignaled)
	if wr.Fence && !(q.iwarp && (wr.Verb == rdma.VerbRead || wr.Verb == rdma.VerbFlush)) { // siw refuses these, and they come in order there
		flags |= abi.FlagFence
	}
	switch wr.Verb {
	case rdma.VerbWrite, rdma.VerbWriteNotify, rdma.VerbRead, rdma.VerbSend:
		return q.writeTransfer(i, seq, wr, flags)
	case rdma.VerbCompareSwap, rdma.VerbFetchAdd:
		return q.writeAtomic(i, seq, wr, flags)
	case rdma.VerbFlush:
		b.Put32(at+abi.SendOpcode, abi.OpRead)
		b.Put32(at+abi.SendFlags, flags)
		b.Put64(at+abi.SendRemoteAddr, q.keys.flushAddr)
		b.Put32(at+abi.SendRKey, q.keys.flushKey)
		if q.dom.adapter.byCM { // nothing is known there to be read: a read of nothing comes behind the writes, too
			b.Put32(at+abi.SendNumSGE, 0)
			if q.iwarp {
				q.writeProbe(i)
			}
			return nil
		}
		q.land(i, 0)
		return nil
	}
	return bad(rdma.StatusLocal, "it has no verb that can be posted: %d", wr.Verb)
}

// land makes the landing page's word at an offset the segment of the i-th request.
func (q *queue) land(i, off int) {
	b, seg := q.out.block, segsAt+i*rdma.MaxSegments*abi.SGESize
	b.Put32(sendsAt+i*abi.SendSize+abi.SendNumSGE, 1)
	b.Put64(seg+abi.SGEAddr, q.hw.addr+uint64(off))
	b.Put32(seg+abi.SGELength, 8)
	b.Put32(seg+abi.SGELKey, q.hw.lkey)
}

func (q *queue) writeAtomic(i int, seq uint64, wr *rdma.WorkRequest, flags uint32) *verdict {
	if !q.canAtom {
		return bad(rdma.StatusLocal, "the device does no atomic operations")
	}
	if v := q.keys.check(wr, 8, iregion.Atomic); v != nil {
		return v
	}
	if wr.Addr%8 != 0 {
		return bad(rdma.StatusMisaligned, "the word is at %d in the space of its key", wr.Addr)
	}
	b, at := q.out.block, sendsAt+i*abi.SendSize
	op, first, second := uint32(abi.OpCompareSwap), wr.Compare, wr.Operand
	if wr.Verb == rdma.VerbFetchAdd {
		op, first, second = abi.OpFetchAdd, wr.Operand, 0
	}
	b.Put32(at+abi.SendOpcode, op)
	b.Put32(at+abi.SendFlags, flags)
	b.Put64(at+abi.SendRemoteAddr, wr.Addr)
	b.Put64(at+abi.SendCompareAdd, first)
	b.Put64(at+abi.SendSwap, second)
	b.Put32(at+abi.SendAtomicRKey, uint32(wr.Key))
	q.land(i, resultsAt+int(seq&q.mask)*8)
	return nil
}

// transfers are the opcodes and rights of the verbs that move data.
var transfers = [rdma.VerbNotify + 1]struct {
	op     uint32
	right  barewire.Rights
	inline bool
}{
	rdma.VerbWrite:       {abi.OpWrite, iregion.Write, true},
	rdma.VerbWriteNotify: {abi.OpWriteImm, iregion.Write, true},
	rdma.VerbRead:        {abi.OpRead, iregion.Read, false},
	rdma.VerbSend:        {abi.OpSendImm, 0, true},
}

func (q *queue) writeTransfer(i int, seq uint64, wr *rdma.WorkRequest, flags uint32) *verdict {
	t := &transfers[wr.Verb]
	if why := q.Lacks(wr.Verb); why != "" {
		return bad(rdma.StatusLocal, "%s", why)
	}
	n, v := q.segment(i, wr, t.inline, &flags)
	if v != nil {
		return v
	}
	b, at := q.out.block, sendsAt+i*abi.SendSize
	op, imm := t.op, bits.ReverseBytes32(wr.Imm)
	switch {
	case wr.Verb == rdma.VerbSend:
		if wr.Solicited {
			flags |= abi.FlagSolicited
		}
		switch {
		case n > q.message:
			return bad(rdma.StatusLocal, "a message of %d bytes, and at most %d are sent", n, q.message)
		case q.short():
			return unready
		case wr.Invalidate != 0:
			if !q.canEnd {
				return bad(rdma.StatusLocal, "the device does not end keys of the peer: it has no memory windows of type 2")
			}
			if v := q.keys.checkEnd(wr); v != nil {
				return v
			}
			op, imm = abi.OpSendInv, uint32(wr.Invalidate)
		case q.framed, q.plain && wr.Imm == 0:
			op = abi.OpSend
		}
	case n == 0 && wr.Verb != rdma.VerbWriteNotify:
		return bad(rdma.StatusLocal, "it moves no bytes")
	case n > q.transfer:
		return bad(rdma.StatusLocal, "it moves %d bytes, and at most %d go in one operation", n, q.transfer)
	case n > 0:
		if v := q.keys.check(wr, n, t.right); v != nil {
			return v
		}
	}
	if q.framed {
		switch wr.Verb {
		case rdma.VerbRead:
			if split(wr.Addr, n) && b.U32(at+abi.SendNumSGE) == 1 {
				q.splitRead(i, seq, wr, flags)
			}
		case rdma.VerbSend:
			q.putHead(i, seq, isMessage, wr.Imm, n)
		case rdma.VerbWriteNotify:
			if q.short() {
				return unready
			}
			if n == 0 {
				q.writeNote(i, seq, wr, 0, flags)
				return nil
			}
			b.Put64(at+abi.SendID, isHalf|seq)
			op = abi.OpWrite
			q.writeNote(i+1, seq, wr, n, abi.FlagSignaled)
			q.out.two = true
		}
	}
	b.Put32(at+abi.SendOpcode, op)
	b.Put32(at+abi.SendFlags, flags)
	b.Put32(at+abi.SendImm, imm)
	b.Put64(at+abi.SendRemoteAddr, wr.Addr)
	b.Put32(at+abi.SendRKey, uint32(wr.Key))
	return nil
}

// segment writes the segments of the i-th request, those of no bytes left out: a device takes them for 2 GiB. Where
// all fit into the request the device takes the bytes at once.
func (q *queue) segment(i int, wr *rdma.WorkRequest, mayInline bool, flags *uint32) (total uint64, v *verdict) {
	if uint64(wr.Segs) > q.segments {
		return 0, bad(rdma.StatusLocal, "it has %d local segments, and at most %d are taken", wr.Segs, q.segments)
	}
	first := uint32(0) // behind the head, if it has one
	if q.framed && wr.Verb == rdma.VerbSend {
		first = 1
	}
	b, seg, used := q.out.block, segsAt+(i*rdma.MaxSegments+int(first))*abi.SGESize, first
	var moved [rdma.MaxSegments]uint64 // from addresses of the process to those of the keys
	for s := range wr.Local[:wr.Segs] {
		l := &wr.Local[s]
		r, base := q.local(l.Key), uint64(uintptr(l.Ptr))
		if r == nil {
			return 0, bad(rdma.StatusLocal, "the local key %#x is not of memory that is registered here", uint32(l.Key))
		}
		off := base - uint64(r.base)
		if l.Len < 0 || off > r.len || uint64(l.Len) > r.len-off {
			return 0, bad(rdma.StatusLocal, "a local segment is not within the %d bytes of its key", r.len)
		}
		if l.Len == 0 {
			continue
		}
		if q.iwarp && wr.Verb == rdma.VerbRead && r.rights&iregion.Write == 0 && !q.dom.adapter.openSinks {
			return 0, bad(rdma.StatusLocal, "%v", ErrSink)
		}
		b.Put64(seg+abi.SGEAddr, base)
		b.Put32(seg+abi.SGELength, uint32(l.Len))
		b.Put32(seg+abi.SGELKey, uint32(l.Key))
		mayInline = mayInline && !r.opaque
		moved[used] = r.addr - uint64(r.base)
		total += uint64(l.Len)
		seg += abi.SGESize
		used++
	}
	b.Put32(sendsAt+i*abi.SendSize+abi.SendNumSGE, used)
	if all := total + uint64(first)*headSize; mayInline && all > 0 && all <= uint64(q.inline) {
		*flags |= abi.FlagInline
		return total, nil
	}
	for s := first; s < used; s++ {
		at := segsAt + (i*rdma.MaxSegments+int(s))*abi.SGESize + abi.SGEAddr
		b.Put64(at, b.U64(at)+moved[s])
	}
	return total, nil
}

// local is the registration of a local key, nil where there is none. The post lock is held.
func (q *queue) local(key rdma.LKey) *region {
	at := &q.out.seen[(key>>8^key)&7]
	if r := *at; r != nil && r.keys.L == key && !r.dead.Load() {
		return r
	}
	r := q.dom.find(key)
	if r != nil {
		*at = r
	}
	return r
}

//go:build amd64 || arm64

package verbs

import (
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/exchange"
)

// Messages between programs with this package over iWARP, which has no immediate data and whose connections end with a message that finds no
// receive. So each message has a head in front, which lands in memory of this package, and a notification is a write with a message of nothing
// but its head behind it, which the peer takes when what was written is placed (RFC 5040, section 5.5). And each side says how many
// receives it has posted, in the heads and beside the connection: what none is there for waits here.

// The head of a message, little-endian: what it is, the program's number, the bytes that a notification is about, and how many receives the
// sender has posted, modulo 2^32.
const (
	headKind   = 0
	headImm    = 4
	headBytes  = 8
	headPosted = 12
	headSize   = 16
)

// What a message is.
const (
	isMessage = 1
	isNote    = 2
)

// isHalf marks the work request IDs of the writes of notifications, which have another request behind them.
const isHalf = 1 << 61

// notReady is how long a message or a notification waits for a receive of the peer's.
const notReady = 3 * time.Second

// heads is the memory of heads that are sent, and behind them of those that are received.
type heads struct {
	block abi.Block
	mr    uintptr
	addr  uint64
	lkey  uint32
	sends int // how many are sent from
}

// make pins the memory. Peers may do nothing with it.
func (h *heads) make(d *domain, sends, receives int) (err error) {
	h.sends = sends
	if h.block, err = abi.NewBlock((sends + receives) * headSize); err != nil {
		return err
	}
	if h.mr, h.addr, err = d.pin(h.block.Ptr(0), h.block.Len(), abi.AccessLocalWrite); err != nil {
		return explain(err, uint64(h.block.Len()))
	}
	h.lkey = abi.At(h.mr).U32(abi.MRLKey)
	return nil
}

// free gives the memory back, if there is some.
func (h *heads) free(d *domain) error {
	if h.mr != 0 {
		if err := d.unpin(h.mr); err != nil {
			return err
		}
		h.mr = 0
	}
	h.block.Free()
	h.block = abi.Block{}
	return nil
}

// segment writes a head at an offset of the heads as a segment of a request.
func (h *heads) segment(b abi.Block, seg, off int) {
	b.Put64(seg+abi.SGEAddr, h.addr+uint64(off))
	b.Put32(seg+abi.SGELength, headSize)
	b.Put32(seg+abi.SGELKey, h.lkey)
}

// readiness is what each side knows of the other's receives.
type readiness struct {
	used   uint64        // of the peer's; guarded by postMu
	awaits uint64        // one more than the number of the request that a timer runs for; guarded by postMu
	have   atomic.Uint64 // that the peer has posted
	posted atomic.Uint64 // that this side has posted: the device has them
	told   atomic.Uint64 // that the peer knows of
	held   atomic.Bool   // a request waits for a receive of the peer's
	wanted atomic.Bool   // the peer waits for one of this side's
}

// unready is the verdict on a request that the peer has no receive for, yet.
var unready = &verdict{}

// framed reports whether messages of the device's connections have heads.
func (a *adapter) framed() bool { return a.iwarp() && !a.byCM }

// width is how many requests of the device's one of ours may be.
func (a *adapter) width() int {
	if a.framed() {
		return 2
	}
	return 1
}

// putHead writes the head of the i-th request, which has the number seq, and its segment. It uses a receive of the peer's. The post lock is held.
func (q *queue) putHead(i int, seq uint64, kind, imm uint32, bytes uint64) {
	took := q.ready.posted.Load()
	off := int(seq&q.mask) * headSize
	h := &q.hw.heads
	h.block.Put32(off+headKind, kind)
	h.block.Put32(off+headImm, imm)
	h.block.Put32(off+headBytes, uint32(bytes))
	h.block.Put32(off+headPosted, uint32(took))
	h.segment(q.out.block, segsAt+i*rdma.MaxSegments*abi.SGESize, off)
	q.ready.told.Store(took)
	q.ready.used++
	q.sends[seq&q.mask].nth = q.ready.used
}

// writeNote writes the message of a notification into the i-th place of the block, behind its write if that moves something.
func (q *queue) writeNote(i int, seq uint64, wr *rdma.WorkRequest, n uint64, flags uint32) {
	b, at := q.out.block, sendsAt+i*abi.SendSize
	q.putHead(i, seq, isNote, wr.Imm, n)
	if q.inline >= headSize {
		flags |= abi.FlagInline
	}
	b.Put64(at+abi.SendID, seq)
	b.Put32(at+abi.SendOpcode, abi.OpSend)
	b.Put32(at+abi.SendFlags, flags)
	b.Put32(at+abi.SendNumSGE, 1)
}

// siwShort is the bytes of the longest message that siw copies behind its headers.
const siwShort = 32

// split reports whether a read of n bytes is to be two, one for each page of the peer's: where siw answers such a short read across the end
// of a page by itself, it answers with bytes of elsewhere. Source: drivers/infiniband/sw/siw/siw_qp_tx.c, siw_try_1seg, which takes from the first page as
// many bytes as are in the second.
func split(addr, n uint64) bool { return n > 1 && n <= siwShort && addr&4095+n > 4096 }

// splitRead makes the read at the i-th place one of the first page, and writes that of the second behind it.
func (q *queue) splitRead(i int, seq uint64, wr *rdma.WorkRequest, flags uint32) {
	b, at, seg := q.out.block, sendsAt+i*abi.SendSize, segsAt+i*rdma.MaxSegments*abi.SGESize
	first, all := uint32(4096-wr.Addr&4095), b.U32(seg+abi.SGELength)
	b.Put64(at+abi.SendID, isHalf|seq)
	b.Put32(seg+abi.SGELength, first)
	next, rest := at+abi.SendSize, seg+rdma.MaxSegments*abi.SGESize
	b.Put64(next+abi.SendID, seq)
	b.Put32(next+abi.SendOpcode, abi.OpRead)
	b.Put32(next+abi.SendFlags, flags)
	b.Put32(next+abi.SendNumSGE, 1)
	b.Put64(next+abi.SendRemoteAddr, wr.Addr+uint64(first))
	b.Put32(next+abi.SendRKey, uint32(wr.Key))
	b.Put64(rest+abi.SGEAddr, b.U64(seg+abi.SGEAddr)+uint64(first))
	b.Put32(rest+abi.SGELength, all-first)
	b.Put32(rest+abi.SGELKey, b.U32(seg+abi.SGELKey))
	q.out.two = true
}

// short reports whether the peer has no receive for one message more. The post lock is held.
func (q *queue) short() bool { return q.framed && q.ready.used >= q.ready.have.Load() }

// awaitReceive has the request seq, the first of those that wait, fail if the peer posts no receive in time. The post lock is held.
func (q *queue) awaitReceive(seq uint64) {
	q.ready.held.Store(true)
	if q.ready.have.Load() > q.ready.used { // it came meanwhile, and did not see that something waits
		go q.resumeHeld()
		return
	}
	if q.ready.awaits == seq+1 {
		return
	}
	q.ready.awaits = seq + 1
	q.ctl.send(&exchange.Wants{Used: q.ready.used}, false)
	time.AfterFunc(notReady, func() {
		q.postMu.Lock()
		defer q.postMu.Unlock()
		if len(q.waiting) == 0 || q.waiting[0].seq != seq || !q.short() || q.failed.Load() != nil || q.closed.Load() {
			return
		}
		r := &q.sends[seq&q.mask]
		r.err = bad(rdma.StatusNotReady, "the peer posted no receive for it within %v", notReady)
		r.state.Store(refused)
		q.halted = true
		q.flushWaiting(1)
	})
}

// resumeHeld gives the device what waited for a receive of the peer's.
func (q *queue) resumeHeld() {
	q.postMu.Lock()
	defer q.postMu.Unlock()
	q.ready.held.Store(false)
	q.resume()
}

// peerPosted notes how many receives the peer says that it has posted. The post lock is not held.
func (q *queue) peerPosted(n uint64) {
	for {
		have := q.ready.have.Load()
		if n <= have {
			return
		}
		if q.ready.have.CompareAndSwap(have, n) {
			break
		}
	}
	if q.ready.held.Load() {
		q.resumeHeld()
	}
}

// announce tells the peer of receives, beside the connection, where it waits for one, or half of what it knows of is used up. It is
// quick otherwise.
func (q *queue) announce() {
	if !q.framed || q.ctl == nil {
		return
	}
	took, told, done := q.ready.posted.Load(), q.ready.told.Load(), q.rhead.Load()
	if took > told && (told <= done || told-done <= (took-done)/2 || q.ready.wanted.Load()) && q.ready.told.CompareAndSwap(told, took) {
		q.ready.wanted.Store(false)
		q.ctl.send(&exchange.Posted{Receives: took}, false)
	}
}

// peerWants is for a peer that waits for a receive, and has used so many.
func (q *queue) peerWants(used uint64) {
	q.ready.wanted.Store(true)
	if took := q.ready.posted.Load(); took > used { // it may not have heard of that yet
		q.ready.wanted.Store(false)
		q.ctl.send(&exchange.Posted{Receives: took}, false)
	}
}

// takeHead reads the head of the message that the receive at head got, of n bytes with it, and makes its completion.
func (q *queue) takeHead(head uint64, n int, out *rdma.Completion) {
	h := q.hw.heads.block
	off := (q.hw.heads.sends + int(head&q.rmask)) * headSize
	kind, posted := h.U32(off+headKind), h.U32(off+headPosted)
	switch {
	case n >= headSize && kind == isMessage:
		out.Bytes = n - headSize
	case n == headSize && kind == isNote:
		out.Verb, out.Bytes = rdma.VerbNotify, int(h.U32(off+headBytes))
	default:
		q.fail(q.lost("it sent a message of %d bytes with a head that is none of this package's (kind %d)", n, kind), "it sent what is no message")
		out.Err = q.failed.Load().error()
		return
	}
	out.Imm = h.U32(off + headImm)
	have := q.ready.have.Load()
	if ahead := int32(posted - uint32(have)); ahead > 0 {
		q.peerPosted(have + uint64(ahead))
	}
}

// sentAs finds the request that was the n-th message, if it is in the ring still.
func (q *queue) sentAs(n uint64) (id uint64, found bool) {
	q.postMu.Lock()
	defer q.postMu.Unlock()
	tail := q.tail.Load()
	first := tail - min(tail, uint64(len(q.sends)))
	for seq := first; n > 0 && seq < tail; seq++ {
		if r := &q.sends[seq&q.mask]; r.nth == n {
			return r.id, true
		}
	}
	return 0, false
}

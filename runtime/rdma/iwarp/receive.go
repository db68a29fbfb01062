package iwarp

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// incoming is the state of whoever reads, the reader or Poll (spin.go). It reads as much as there is into a buffer, and
// then does what the frames in it ask for, one after the other. Without checksums a long payload goes from the socket to
// its place directly.
type incoming struct {
	mu     sync.Mutex  // of whoever reads, of all but met
	over   bool        // nothing more is read
	barren int         // so many times in a row Poll has found nothing
	met    atomic.Bool // we may send: the peer was heard, or we are the side that begins
	rtr    fpdu.RTR    // what the first frame of the peer may be, in the place of a request
	crc    bool
	direct bool // long payloads go from the socket to their places
	kick   bool // somebody may have something to send
	full   bool // as much was read as there was room for
	rest   unfinished

	buf    []byte
	r, w   int // what of it is read and not used
	stream int // so many frames more are expected to be long
	sip    int // bytes to read at once, where they are not
	skip   int // bytes of the end of a frame that are not there yet

	h     fpdu.Header // of the frame that is placed
	ulpdu int         // its length
	left  int         // bytes of its payload that are not there yet
	ahead ahead
	to    placing

	msn     [4]uint32 // the last whole message's number on each queue
	message message   // that is under way
	theirs  exported
	ours    cache
}

// Sizes of the buffer: at first, and when there is much to read. It holds the longest frame.
const (
	firstBuffer = 16 << 10
	mostBuffer  = 256 << 10

	// Where payloads are placed directly, hardly more than a header is read of a stream of long frames: what tells
	// where the next payload goes. It has ended after so many short frames. Else this much is read at first, and twice as
	// much each time it was all there.
	streamHead = fpdu.LengthSize + fpdu.TaggedSize
	streamEnds = 8
	firstSip   = 4 << 10

	longRest = 8 << 10 // of a frame: it is read by itself
	behind   = 64      // and that many bytes more, for the header of the next frame or a short one
)

func (in *incoming) init(s *session, immediate bool) {
	in.crc = s.crc
	in.direct = immediate && readsDirectly && !s.crc
	if in.met.Store(s.initiator); !s.initiator {
		in.rtr = s.ready
	}
	in.buf = make([]byte, max(firstBuffer, len(s.early)))
	in.sip = firstSip
	in.w = copy(in.buf, s.early)
}

// verdict is what came of the frames in the buffer.
type verdict uint8

const (
	wantMore verdict = iota
	hungry           // the next one is for a receive, and there is none
	ends             // the queue ends, or has
)

// read is the reader.
func (q *queue) read() {
	in := &q.in
	in.mu.Lock()
	more := q.chew()
	in.mu.Unlock()
	for more {
		err := q.link.serve()
		in.mu.Lock()
		if err != nil {
			q.fails(err)
		}
		more = err == nil && !in.over
		in.mu.Unlock()
		more = more && q.resumed()
	}
	q.discard()
	q.exit()
}

// fails ends the queue because reading did. The reader's lock is held.
func (q *queue) fails(err error) {
	if fault, ok := err.(*fpdu.Fault); ok {
		q.conclude(ends, fault)
	} else if !q.in.over {
		q.in.over = true
		q.lost(err)
	}
}

// chew does what the frames in the buffer ask for, and sees to it that what they make possible is sent. It reports
// false when nothing more is to be read. It may wait. The reader's lock is held.
func (q *queue) chew() bool { return q.conclude(q.digest()) }

// digest does what the frames in the buffer ask for, as far as that goes without waiting.
func (q *queue) digest() (v verdict, fault *fpdu.Fault) {
	v = ends
	if q.enter() {
		v, fault = q.frames()
	}
	q.leave()
	return v, fault
}

// conclude does what a verdict asks for. It may wait, but where more is wanted.
func (q *queue) conclude(v verdict, fault *fpdu.Fault) bool {
	for v == hungry && fault == nil && q.awaitReceive() {
		v, fault = q.digest()
	}
	switch {
	case fault != nil:
		q.fault(fault)
	case v == wantMore:
		if q.in.kick {
			q.in.kick = false
			q.kick()
		}
		return true
	}
	q.in.over = true
	return false
}

// frames does what the frames in the buffer ask for.
func (q *queue) frames() (verdict, *fpdu.Fault) {
	in := &q.in
	for {
		if in.to.kind != nowhere { // of a frame that was not whole when it began
			if fault := q.placeRest(); fault != nil || in.left > 0 {
				return wantMore, fault
			}
		}
		n := min(in.skip, in.w-in.r)
		in.skip -= n
		in.r += n
		b := in.buf[in.r:in.w]
		if in.skip > 0 || len(b) < fpdu.LengthSize {
			return wantMore, nil
		}
		if in.ahead.some() {
			if fault := q.follows(b); fault != nil {
				return ends, fault
			}
		}
		in.ulpdu = int(binary.BigEndian.Uint16(b))
		if size := fpdu.FrameSize(in.ulpdu); len(b) >= size {
			if v, fault := q.frame(b[:size]); v != wantMore || fault != nil {
				return v, fault
			}
			in.r += size
			in.stream = max(in.stream-1, 0)
		} else if !in.direct || size-len(b) < minDirect || len(b) < streamHead {
			return wantMore, nil
		} else if begun, v, fault := q.beginFrame(b); !begun || fault != nil {
			return v, fault
		} else if in.ahead.some() {
			q.takeAhead()
		}
	}
}

// frame does what a whole frame asks for.
func (q *queue) frame(b []byte) (verdict, *fpdu.Fault) {
	in := &q.in
	tail := len(b) - fpdu.CRCSize
	if in.crc && fpdu.CRC(0, b[:tail]) != binary.LittleEndian.Uint32(b[tail:]) {
		in.h = fpdu.Header{}
		return ends, &fpdu.Fault{Cause: fpdu.BadCRC, Detail: "a frame whose checksum is wrong"}
	}
	ulpdu := b[fpdu.LengthSize : fpdu.LengthSize+in.ulpdu]
	if fault := in.h.Parse(ulpdu); fault != nil {
		return ends, fault
	}
	payload := ulpdu[in.h.Size():]
	if v, fault := q.begins(len(payload), payload); v != wantMore || fault != nil {
		return v, fault
	}
	if in.to.kind != nowhere {
		if fault := q.place(payload); fault != nil {
			return ends, fault
		}
		return wantMore, q.placed()
	}
	return wantMore, nil
}

// beginFrame places what is there of a long frame, if its payload can be placed without the rest. It reports whether it
// can.
func (q *queue) beginFrame(b []byte) (begun bool, v verdict, fault *fpdu.Fault) {
	in := &q.in
	if !fpdu.IsTagged(b[fpdu.LengthSize:]) && len(b) < fpdu.LengthSize+fpdu.UntaggedSize {
		return false, wantMore, nil
	}
	if fault = in.h.Parse(b[fpdu.LengthSize:]); fault != nil {
		return false, ends, fault
	}
	switch in.h.Op {
	case fpdu.Write, fpdu.ReadResponse, fpdu.Send, fpdu.SendSolicited, fpdu.SendInvalidate, fpdu.SendSolicitedInvalidate:
	default:
		return false, wantMore, nil // it is longer than any of its kind may be, and that is found out when it is whole
	}
	payload := in.ulpdu - in.h.Size()
	if v, fault = q.begins(payload, nil); v != wantMore || fault != nil {
		return false, v, fault
	}
	in.r += fpdu.LengthSize + in.h.Size()
	in.left, in.stream = payload, streamEnds
	in.skip = fpdu.Pad(in.ulpdu) + fpdu.CRCSize
	if in.to.kind == nowhere {
		in.left, in.skip = 0, in.left+in.skip
	}
	return true, wantMore, nil
}

// placeRest places what the buffer has of the rest of a payload.
func (q *queue) placeRest() *fpdu.Fault {
	in := &q.in
	n := min(in.left, in.w-in.r)
	if fault := q.place(in.buf[in.r : in.r+n]); fault != nil {
		return fault
	}
	in.r += n
	if in.left -= n; in.left == 0 {
		return q.placed()
	}
	return nil
}

// begins looks at a frame whose header was read, and finds where its payload goes; or it does what the frame asks
// for, and then there is nothing to place. The payload is not given where it is not whole.
func (q *queue) begins(n int, payload []byte) (verdict, *fpdu.Fault) {
	in := &q.in
	h := &in.h
	in.to = placing{}
	first := !in.met.Load()
	if first && in.rtr&fpdu.RTRSend != 0 && h.Op == fpdu.Send && n == 0 {
		in.msn[fpdu.QueueSend] = h.MSN // it is the handshake's, and no message
		q.meet()
		return wantMore, nil
	}
	var v verdict
	var fault *fpdu.Fault
	switch h.Op {
	case fpdu.Write:
		fault = q.writeArrives(n)
	case fpdu.ReadResponse:
		fault = q.responseArrives(n)
	case fpdu.Send, fpdu.SendSolicited, fpdu.SendInvalidate, fpdu.SendSolicitedInvalidate:
		v, fault = q.messageArrives(n)
	case fpdu.Immediate, fpdu.ImmediateSolicited:
		v, fault = q.noticeArrives(payload)
	default:
		v, fault = q.controlArrives(payload)
	}
	if first && v != hungry && fault == nil {
		q.meet()
	}
	return v, fault
}

// meet lets the side that was dialled send.
func (q *queue) meet() {
	q.in.met.Store(true)
	q.in.kick = true
}

// controlArrives does what messages that are made of one segment ask for.
func (q *queue) controlArrives(payload []byte) (verdict, *fpdu.Fault) {
	h := &q.in.h
	var on uint32
	switch h.Op {
	case fpdu.ReadRequest, fpdu.AtomicRequest:
		on = fpdu.QueueRequest
	case fpdu.AtomicResponse:
		on = fpdu.QueueAtomic
	case fpdu.Terminate:
		q.terminated(payload)
		return ends, nil
	}
	if fault := q.single(on); fault != nil {
		return ends, fault
	}
	q.in.msn[on] = h.MSN
	switch h.Op {
	case fpdu.ReadRequest:
		return wantMore, q.readRequested(h, payload)
	case fpdu.AtomicRequest:
		return wantMore, q.atomicRequested(h, payload)
	default:
		return wantMore, q.atomicArrives(payload)
	}
}

// single looks at the header of a message that must be one segment, on a queue.
func (q *queue) single(on uint32) *fpdu.Fault {
	h := &q.in.h
	switch {
	case h.Queue != on:
		return &fpdu.Fault{Cause: fpdu.InvalidQueue, Detail: "a message on the wrong queue"}
	case h.MSN != q.in.msn[on]+1:
		return &fpdu.Fault{Cause: fpdu.InvalidMSN, Detail: "a message out of sequence"}
	case h.MO != 0:
		return &fpdu.Fault{Cause: fpdu.InvalidMO, Detail: "a segment out of sequence"}
	case !h.Last:
		return &fpdu.Fault{Cause: fpdu.MessageTooLong, Detail: "a message of several segments that has only one"}
	}
	return nil
}

// room makes room in the buffer, and tells how many bytes to read there. Of a long frame that has begun the rest is
// read and hardly more, so that the next one does not begin in the midst of the buffer, from where it would have to be
// moved; where payloads are placed directly, as little as can be of a long one goes by the buffer.
func (in *incoming) room() int {
	if in.r == in.w {
		in.r, in.w = 0, 0
	}
	rest := 0
	if in.w-in.r >= fpdu.LengthSize && in.left+in.skip == 0 {
		rest = fpdu.FrameSize(int(binary.BigEndian.Uint16(in.buf[in.r:]))) - (in.w - in.r)
	}
	need, most := max(rest+behind, 4<<10), len(in.buf)
	switch have := in.w - in.r; {
	case in.direct && have < streamHead && (in.stream > 0 || rest >= longRest):
		most = in.skip + streamHead - have
	case in.direct && rest < longRest:
		most = max(need, in.sip)
	case rest >= longRest:
		need, most = rest+behind, rest+behind
	}
	if len(in.buf)-in.w < need {
		in.makeRoom(need)
	}
	return min(most, len(in.buf)-in.w)
}

// filled notes that n bytes were read to the buffer, which grows when it was full.
func (in *incoming) filled(n int) {
	in.w += n
	if in.sip = min(2*in.sip, mostBuffer); n < in.sip/2 || in.left > 0 {
		in.sip = firstSip
	}
	if in.w == len(in.buf) && in.r == 0 && len(in.buf) < mostBuffer {
		in.makeRoom(1)
	}
}

// makeRoom moves what is in the buffer to its beginning, and makes the buffer larger if it is full.
func (in *incoming) makeRoom(need int) {
	to := in.buf
	if in.w-in.r+need > len(in.buf) {
		to = make([]byte, min(max(2*len(in.buf), powerOfTwo(in.w-in.r+need)), mostBuffer))
	}
	n := copy(to, in.buf[in.r:in.w])
	in.buf, in.r, in.w = to, 0, n
}

// lost ends the queue because the connection did.
func (q *queue) lost(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended != nil {
		return
	}
	midst := q.in.w > q.in.r || q.in.left+q.in.skip > 0
	switch {
	case q.broken != nil && errors.Is(err, os.ErrDeadlineExceeded):
		q.end(status(rdma.StatusPeerLost, "writing to the peer: %v", q.broken), nil)
	case err == io.EOF && midst:
		q.end(status(rdma.StatusPeerLost, "the connection ended in the midst of a frame"), nil)
	case err == io.EOF:
		q.end(status(rdma.StatusPeerLost, "the peer closed the connection"), nil)
	default:
		q.end(status(rdma.StatusPeerLost, "reading from the peer: %v", err), nil)
	}
}

// discard reads what the peer sends still, so that what it was sent last is not lost by a reset; the deadline of
// the end bounds it.
func (q *queue) discard() {
	buf := q.in.buf
	for {
		if _, err := q.s.conn.Read(buf); err != nil {
			return
		}
	}
}

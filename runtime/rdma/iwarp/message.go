package iwarp

import (
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// notReady is how long a message waits for a receive. Nothing more is read meanwhile.
var notReady = lasting(time.Second)

// messageArrives looks at a segment of a send.
func (q *queue) messageArrives(n int) (verdict, *fpdu.Fault) {
	in := &q.in
	h, m := &in.h, &in.message
	switch {
	case h.Queue != fpdu.QueueSend:
		return ends, &fpdu.Fault{Cause: fpdu.InvalidQueue, Detail: "a message on the wrong queue"}
	case h.MSN != in.msn[fpdu.QueueSend]+1:
		return ends, &fpdu.Fault{Cause: fpdu.InvalidMSN, Detail: "a message out of sequence"}
	}
	if !m.begun {
		if v, fault := q.messageBegins(); v == hungry || fault != nil {
			return v, fault
		}
	}
	switch {
	case h.Op != m.op || h.Invalidate != m.imm:
		return ends, &fpdu.Fault{Cause: fpdu.UnexpectedOpcode, Detail: "another message before the one before has ended"}
	case uint64(h.MO) != uint64(m.got) || n == 0 && !h.Last:
		return ends, &fpdu.Fault{Cause: fpdu.InvalidMO, Detail: "a segment out of sequence"}
	case n > m.buf.Len-m.got:
		q.tooLong(m.got+n, m.buf.Len)
		return ends, &fpdu.Fault{Cause: fpdu.MessageTooLong, Detail: "a message that is longer than the receive for it"}
	}
	in.to = placing{kind: toReceive, reg: m.reg, p: m.buf.Ptr, off: m.got}
	return wantMore, nil
}

// messageBegins takes the receive that is the message's.
func (q *queue) messageBegins() (verdict, *fpdu.Fault) {
	in := &q.in
	r, ok := q.box.first()
	if !ok {
		return hungry, nil
	}
	reg := in.ours.find(q.dom, r.Buf.Key)
	if !reg.covers(&r.Buf) {
		return ends, &fpdu.Fault{Cause: fpdu.Catastrophic, Detail: "the receive's memory is no longer registered"}
	}
	in.message = message{begun: true, op: in.h.Op, imm: in.h.Invalidate, buf: r.Buf, reg: reg}
	return wantMore, nil
}

// messageEnds completes the receive of a message that is here.
func (q *queue) messageEnds() *fpdu.Fault {
	in := &q.in
	m := &in.message
	c := rdma.Completion{Verb: rdma.VerbReceive, Bytes: m.got}
	c.Solicited = m.op == fpdu.SendSolicited || m.op == fpdu.SendSolicitedInvalidate
	if m.op == fpdu.SendInvalidate || m.op == fpdu.SendSolicitedInvalidate {
		if fault := q.dom.invalidate(q, m.imm); fault != nil {
			return q.excuse(fault, m.imm)
		}
		c.Invalidated = rdma.RKey(m.imm)
	} else if q.s.ours {
		c.Imm = m.imm
	}
	q.receives(&c)
	*m = message{}
	return nil
}

// receives completes a receive by a message on the queue of sends.
func (q *queue) receives(c *rdma.Completion) {
	q.in.msn[fpdu.QueueSend] = q.in.h.MSN
	q.box.complete(c)
	q.signal()
}

// noticeArrives is immediate data: the notification of a write before it, which takes a receive and leaves its
// memory as it is.
func (q *queue) noticeArrives(payload []byte) (verdict, *fpdu.Fault) {
	h := &q.in.h
	if !q.s.ours || h.Op != fpdu.Immediate {
		return ends, &fpdu.Fault{Cause: fpdu.UnexpectedOpcode, Detail: "immediate data that were not agreed on"}
	}
	if fault := fpdu.Misfit(len(payload), fpdu.ImmediateSize); fault != nil {
		return ends, fault
	}
	if fault := q.single(fpdu.QueueSend); fault != nil {
		return ends, fault
	}
	if q.in.message.begun {
		return ends, &fpdu.Fault{Cause: fpdu.InvalidMSN, Detail: "another message before the one before has ended"}
	}
	if _, ok := q.box.first(); !ok {
		return hungry, nil
	}
	c := rdma.Completion{Verb: rdma.VerbNotify}
	c.Bytes, c.Imm = notice(payload)
	q.receives(&c)
	return wantMore, nil
}

// tooLong fails the receive that a message is too long for.
func (q *queue) tooLong(n, room int) {
	q.box.complete(&rdma.Completion{Verb: rdma.VerbReceive,
		Err: status(rdma.StatusTooLong, "a message of %d bytes or more for a receive of %d", n, room)})
	q.signal()
}

// awaitReceive waits until a receive is posted, for a time. It reports false when the queue ends.
func (q *queue) awaitReceive() bool {
	q.kick()
	most := notReady.length()
	late := time.NewTimer(most)
	defer late.Stop()
	for {
		if _, ok := q.box.first(); ok {
			return true
		}
		q.mu.Lock()
		ended := q.ended != nil
		q.mu.Unlock()
		if ended {
			return false
		}
		select {
		case <-q.box.arrived:
		case <-late.C:
			q.fault(&fpdu.Fault{Cause: fpdu.NoBuffer, Detail: "no receive was posted for a message for " + most.String()})
			return false
		}
	}
}

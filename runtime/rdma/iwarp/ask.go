package iwarp

import (
	"encoding/binary"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// noEntry stands for a request that is not the user's among those that wait for a response.
const noEntry = ^uint64(0)

// ask notes that the request whose turn it is waits for a response.
func (q *queue) ask() {
	q.asks.add(q.out.next)
	q.out.dirty = false
}

// sendRead appends a read request. Its response goes by a key that is good for this read only, and that no table has.
func (q *queue) sendRead(e *entry) {
	e.sink = q.out.newSink()
	q.askRead(&fpdu.ReadRequestHeader{
		SinkSTag: e.sink, Size: uint32(e.total), SourceSTag: uint32(e.wr.Key), SourceTO: e.wr.Addr,
	})
	e.msn = q.out.msn[fpdu.QueueRequest]
	q.ask()
}

func (q *queue) askRead(r *fpdu.ReadRequestHeader) {
	o := &q.out
	h := o.request(fpdu.ReadRequest)
	o.open(&h, fpdu.ReadRequestSize)
	o.buf = r.Append(o.buf)
	o.seal(&h, fpdu.ReadRequestSize)
}

// request is the header of the next message of the queue of reads and atomics.
func (o *outgoing) request(op fpdu.Opcode) fpdu.Header {
	o.msn[fpdu.QueueRequest]++
	return fpdu.Header{Op: op, Last: true, Queue: fpdu.QueueRequest, MSN: o.msn[fpdu.QueueRequest]}
}

// sendFlush appends a read of nothing. Its response is sent when all before it is placed (RFC 5040, section 5.5), and
// a response that is asked for already tells as much: completions come in order.
func (q *queue) sendFlush(e *entry) *rdma.StatusError {
	e.total = 0
	if !q.out.dirty {
		e.eager, e.presumed = true, q.out.presuming.sent
		return nil
	}
	e.wr.Key, e.wr.Addr = 0, 0
	q.sendRead(e)
	return nil
}

// sendAtomic appends an atomic request. Source: RFC 7306, section 5.
func (q *queue) sendAtomic(e *entry) {
	r := fpdu.AtomicRequestHeader{Op: fpdu.FetchAdd, STag: uint32(e.wr.Key), TO: e.wr.Addr, Data: e.wr.Operand}
	if e.wr.Verb == rdma.VerbCompareSwap {
		r.Op, r.Compare, r.Mask, r.CompareMask = fpdu.CmpSwap, e.wr.Compare, ^uint64(0), ^uint64(0)
	}
	e.total = 8
	e.sink = q.out.newSink()
	r.ID = e.sink
	o := &q.out
	h := o.request(fpdu.AtomicRequest)
	o.open(&h, fpdu.AtomicRequestSize)
	o.buf = r.Append(o.buf)
	o.seal(&h, fpdu.AtomicRequestSize)
	e.msn = h.MSN
	q.ask()
}

// The immediate data of a notification: the bytes of the write, and the number.

func appendNotice(b []byte, bytes int, imm uint32) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(bytes))
	return binary.BigEndian.AppendUint32(b, imm)
}

func notice(b []byte) (bytes int, imm uint32) {
	return int(binary.BigEndian.Uint32(b) & (1<<31 - 1)), binary.BigEndian.Uint32(b[4:])
}

package iwarp

import (
	"encoding/binary"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// A system call for each segment is a third of what a long message costs where it goes from memory to memory without a
// copy of ours. So between ourselves a segment tells in reserved bits how many follow it on the wire that are of the
// same message and as long, and their payloads are read to their places together. That they may go there is checked
// before; that they were what was told, when their headers are there. Whoever tells what is not so loses the connection,
// and has written to nothing but what it may write to.

// ahead is payloads that were read to their places before their headers were looked at.
type ahead struct {
	n     int // how many
	taken int // of them, those whose frames have begun
	part  [fpdu.MostMore]struct {
		p unsafe.Pointer
		n int
	}
}

func (a *ahead) some() bool { return a.taken < a.n }

func (a *ahead) add(p unsafe.Pointer, n int) {
	if !a.some() {
		a.n, a.taken = 0, 0
	}
	a.part[a.n].p, a.part[a.n].n = p, n
	a.n++
}

// following is how many segments like the one of n bytes that is appended next are sure to be appended right after it:
// they are lent, so that nothing can be wrong with them until they are written.
func (o *outgoing) following(mulpdu int, to uint64, n, left, limit int) (more uint8) {
	if !o.tells || n < minRef {
		return 0
	}
	frame := fpdu.FrameSize(fpdu.TaggedSize + n)
	for size := o.size + frame; more < fpdu.MostMore && size < limit && len(o.refs)+int(more)+2 <= maxRefs; size += frame {
		to, left = to+uint64(n), left-n
		if left <= 0 || tagged(mulpdu, to, left) != n {
			break
		}
		more++
	}
	return more
}

// expect is how many segments are read with the rest of this one, of which room bytes have their place at once: those that
// the peer says follow, if there is memory for them behind it that it may write to.
func (q *queue) expect(room int) int {
	in := &q.in
	more, size := int(in.h.More), in.ulpdu-fpdu.TaggedSize
	if more == 0 || !q.s.tells {
		return 0
	}
	switch in.to.kind {
	case toRegion:
		if _, fault := in.to.reg.reach(q, in.h.TO+uint64(size), more*size, region.Write); fault != nil {
			return 0
		}
	case toRead:
		if e := in.to.e; room < in.left+more*size || e.total-e.got < in.left+more*size {
			return 0
		}
	default:
		return 0
	}
	return more
}

// follows looks at the header of a frame whose payload was read ahead.
func (q *queue) follows(b []byte) *fpdu.Fault {
	in := &q.in
	var h fpdu.Header
	if h.Parse(b[fpdu.LengthSize:fpdu.LengthSize+fpdu.TaggedSize]) == nil && int(binary.BigEndian.Uint16(b)) == in.ulpdu &&
		h.Op == in.h.Op && h.STag == in.h.STag && h.TO == in.h.TO+uint64(in.ulpdu-fpdu.TaggedSize) {
		return nil
	}
	return &fpdu.Fault{Cause: fpdu.StreamCatastrophe, Detail: "another segment than the one before said"}
}

// takeAhead notes what is there already of the payload of the frame that has begun.
func (q *queue) takeAhead() {
	in := &q.in
	part := &in.ahead.part[in.ahead.taken]
	in.ahead.taken++
	in.to.passed(part.n)
	in.left -= part.n
	part.p = nil
}

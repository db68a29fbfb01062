package iwarp

import (
	"slices"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/words"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// batch is frames that are written together. With checksums all of their bytes are copied: the memory may change
// meanwhile, and the sum must be that of what is sent. Without, long payloads are written from where they are.
type batch struct {
	crc   bool
	lend  bool   // long payloads are written from where they are
	tells bool   // segments tell how many follow
	sum   uint32 // of the frame that is open
	buf   []byte
	refs  []ref
	size  int   // bytes of both
	sent  int   // of them
	err   error // why nothing can be written any more
}

// ref is memory whose bytes are among those of a batch.
type ref struct {
	at  int // they come before this one of buf
	p   unsafe.Pointer
	n   int
	reg *registration
	own bool // it is of a request of ours, and not exported memory
}

// enter begins an access to it.
func (r *ref) enter() bool {
	if r.own {
		return r.reg.enterLocal()
	}
	return r.reg.enter()
}

const (
	minRef  = 8 << 10 // shorter payloads are copied
	maxRefs = 64
)

func (b *batch) empty() bool { return b.sent == b.size }

// reset makes room for the next batch.
func (b *batch) reset() {
	b.forget()
	b.buf, b.size, b.sent = b.buf[:0], 0, 0
}

// forget drops the pointers to memory that is its owner's again: it may be unmapped, and its addresses used anew.
func (b *batch) forget() {
	clear(b.refs)
	b.refs = b.refs[:0]
}

// open begins a frame with n bytes of payload. It returns where the frame is in buf.
func (b *batch) open(h *fpdu.Header, n int) (start int) {
	start = len(b.buf)
	b.buf = h.Append(b.buf, n)
	if b.crc {
		b.sum = fpdu.CRC(0, b.buf[start:])
	}
	return start
}

// close ends a frame.
func (b *batch) close(h *fpdu.Header, n int) {
	b.buf = fpdu.AppendTail(b.buf, h.Size()+n, b.sum, b.crc)
	b.size += fpdu.FrameSize(h.Size() + n)
}

// seal ends a frame whose n bytes of payload were appended to buf, and are not summed.
func (b *batch) seal(h *fpdu.Header, n int) {
	if b.crc {
		b.sum = fpdu.CRC(b.sum, b.buf[len(b.buf)-n:])
	}
	b.close(h, n)
}

// drop takes back a frame that was begun.
func (b *batch) drop(start int) {
	for n := len(b.refs); n > 0 && b.refs[n-1].at > start; n-- {
		b.refs = b.refs[:n-1]
	}
	b.buf = b.buf[:start]
}

// add puts n bytes of memory into the frame. It reports false where the memory is no longer registered.
func (b *batch) add(p unsafe.Pointer, n int, reg *registration, own bool) bool {
	r := ref{at: len(b.buf), p: p, n: n, reg: reg, own: own}
	if b.lend && n >= minRef && len(b.refs) < maxRefs {
		b.refs = append(b.refs, r)
		return true
	}
	if !r.enter() {
		return false
	}
	b.buf = slices.Grow(b.buf, n)
	to := b.buf[len(b.buf) : len(b.buf)+n]
	b.copy(to, unsafe.Slice((*byte)(p), n), own)
	reg.leave()
	b.buf = b.buf[:len(b.buf)+n]
	return true
}

// copy copies a part of a payload, and sums the copy: what is copied may change meanwhile. Of exported memory a single
// word is copied whole.
func (b *batch) copy(to, from []byte, own bool) {
	switch {
	case b.crc && (own || !words.ByWords && len(from) > 8):
		b.sum = fpdu.CopyCRC(to, from, b.sum)
	case own:
		copy(to, from)
	default:
		words.Fetch(unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from)), len(from))
		if b.crc {
			b.sum = fpdu.CRC(b.sum, to)
		}
	}
}

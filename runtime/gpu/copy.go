package gpu

import (
	"fmt"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// The functions here are not inlined, so that the place where they were called can be found by following frame pointers.

// CopyToDevice copies elements of the host's into memory of the device. Until it has ended ([Op.Wait]) the host must not write what is
// copied. It is refused, and nothing is posted, where the parts differ in length or have none, a region is closed, mapped or another
// device's, or the queue is full or has failed: the error is an [*OpError] around the reason.
//
//go:noinline
//barewire:effect fills=0 of dst on ok, starts=0 of src on ok, fresh=0 on ok, uses=q, excludes=dst, excludes=src
func CopyToDevice[T barewire.Fixed[T], R barewire.HostAddressable, A, B barewire.Access](q *Queue, dst Part[T, barewire.GPU, A], src Part[T, R, B]) (Op, error) {
	const op = "copy to the device"
	d, s, err := both(dst.span, src.span)
	if err != nil {
		return Op{}, q.refuse(op, 0, nil, err)
	}
	return q.copy(op, d, s)
}

// CopyToHost copies elements of the device's to the host. They are there when it has ended ([Op.Wait]). For what is refused see [CopyToDevice].
//
//go:noinline
//barewire:effect fills=0 of dst on ok, starts=0 of src on ok, fresh=0 on ok, uses=q, excludes=dst, excludes=src
func CopyToHost[T barewire.Fixed[T], R barewire.HostAddressable, A, B barewire.Access](q *Queue, dst Part[T, R, A], src Part[T, barewire.GPU, B]) (Op, error) {
	const op = "copy to the host"
	d, s, err := both(dst.span, src.span)
	if err != nil {
		return Op{}, q.refuse(op, 0, nil, err)
	}
	return q.copy(op, d, s)
}

// OnDevice is memory that the device copies by itself, with no part of the host's: its own, and managed memory while it is the device's turn.
type OnDevice interface {
	barewire.GPU | barewire.Managed
}

// Copy copies elements within the memory of the device, and from and to managed memory, which the host must not have acquired ([ErrHostHas]). Parts
// of one region must not overlap. Between two devices nothing is copied ([ErrOtherDevice]), be they of one provider: copy to the host, and from
// there. For what else is refused see [CopyToDevice].
//
//go:noinline
//barewire:effect fills=0 of dst on ok, starts=0 of src on ok, fresh=0 on ok, uses=q, excludes=dst, excludes=src
func Copy[T barewire.Fixed[T], R, S OnDevice, A, B barewire.Access](q *Queue, dst Part[T, R, A], src Part[T, S, B]) (Op, error) {
	const op = "copy within the device"
	d, s, err := both(dst.span, src.span)
	if err != nil {
		return Op{}, q.refuse(op, 0, nil, err)
	}
	if d.h == s.h && d.off < s.off+s.bytes && s.off < d.off+d.bytes {
		return Op{}, q.refuse(op, d.bytes, d.h, fmt.Errorf("%w: the parts overlap", ErrArgs))
	}
	return q.copy(op, d, s)
}

// end is one side of a copy: a range of bytes of a region.
type end struct {
	h     *region.Handle
	gen   uint32
	off   int
	bytes int
}

// endOf is what a span stands for.
func endOf[T barewire.Fixed[T], A barewire.Access](s barewire.Span[T, A]) (e end, err error) {
	e.h, e.gen, e.off, e.bytes, err = barewire.SpanParts(friend, s)
	return e, err
}

// both are the sides of a copy, which are of one length.
func both[T barewire.Fixed[T], A, B barewire.Access](dst barewire.Span[T, A], src barewire.Span[T, B]) (d, s end, err error) {
	if d, err = endOf(dst); err != nil {
		return d, s, err
	}
	if s, err = endOf(src); err != nil {
		return d, s, err
	}
	switch {
	case d.bytes != s.bytes:
		err = fmt.Errorf("%w: %d bytes to %s, and %d from %s", ErrLength, d.bytes, d.h.Name(), s.bytes, s.h.Name())
	case d.bytes == 0:
		err = ErrEmpty
	}
	return d, s, err
}

// copy posts a copy.
func (q *Queue) copy(op string, dst, src end) (Op, error) {
	if q.none() {
		return Op{}, errNoQueue
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	r, err := q.begin()
	if err != nil {
		return Op{}, q.refuse(op, dst.bytes, nil, err)
	}
	r.op, r.bytes = op, dst.bytes
	r.copy.Bytes = uintptr(dst.bytes)
	if err := q.side(r, &r.copy.Dst, dst); err != nil {
		return Op{}, q.refuse(op, dst.bytes, dst.h, err)
	}
	if err := q.side(r, &r.copy.Src, src); err != nil {
		q.letGo(r)
		return Op{}, q.refuse(op, dst.bytes, src.h, err)
	}
	if err := q.s.Copy(int(r.seq&uint64(len(q.ring)-1)), &r.copy); err != nil {
		q.letGo(r)
		return Op{}, q.refuse(op, dst.bytes, dst.h, err)
	}
	r.at.Fill()
	return q.commit(), nil
}

// side holds a region, and says where its bytes are.
func (q *Queue) side(r *record, to *Side, e end) error {
	m, err := q.take(r, e.h, e.gen)
	if err != nil {
		return err
	}
	*to = Side{Off: uintptr(e.off)}
	own := m != nil && m.dev == q.dev
	managed := m != nil && m.kind == ManagedMemory
	if !own && (e.h.Opaque() || managed) {
		q.letGo(r)
		return q.foreign(m)
	}
	if e.h.Opaque() {
		to.Mem = m.mem
		return nil
	}
	if managed && !r.gated {
		if err := q.gate(r); err != nil {
			q.letGo(r)
			return err
		}
	}
	to.Host = unsafe.Add(e.h.Base(), e.off)
	if own {
		to.Mem = m.mem
	}
	return nil
}

// foreign is the error of memory that the queue's device has not.
func (q *Queue) foreign(m *memory) error {
	if m == nil {
		return fmt.Errorf("%w: it is no memory of %s", ErrOtherDevice, q.dev.name)
	}
	if m.dev.name == q.dev.name {
		return fmt.Errorf("%w: it was allocated on %s, which was opened another time than the queue's", ErrOtherDevice, m.dev.name)
	}
	return fmt.Errorf("%w: it is on %s, the queue is on %s; copy by way of the host", ErrOtherDevice, m.dev.name, q.dev.name)
}

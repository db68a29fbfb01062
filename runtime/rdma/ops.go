package rdma

import (
	"context"
	"errors"
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// The functions here are not inlined, so that the place where they were called
// can be found by following frame pointers.

// Read copies elements of a peer's region into a region of one's own. They are there
// when the operation has ended ([Op.Wait]); until then both are the device's.
//
// It is refused, and nothing is posted, where the spans differ in length or have
// none, a region is not registered in the connection's domain or no longer, or
// the queue is full: the error is an [*OpError] around the reason.
//
//go:noinline
//barewire:effect fills=0 of dst on ok, fresh=0 on ok, meets=dst of p
func Read[T barewire.Fixed[T], A barewire.Registered, B barewire.CanRemoteRead](p Poster, dst barewire.Span[T, A], src barewire.Remote[T, B]) (Op, error) {
	var r request
	r.verb = VerbRead
	if err := sides(&r, dst, src); err != nil {
		return Op{}, refuseOn(p, &r, err)
	}
	return post(p, &r, nil)
}

// Write copies elements of a region of one's own into a peer's. When it has ended
// the local elements may be changed; that the others are in place, [Conn.Flush]
// says. For what is refused see [Read].
//
//go:noinline
//barewire:effect starts=0 of src on ok, fresh=0 on ok, meets=src of p, places=dst
func Write[T barewire.Fixed[T], A barewire.Registered, B barewire.CanRemoteWrite](p Poster, dst barewire.Remote[T, B], src barewire.Span[T, A]) (Op, error) {
	var r request
	r.verb = VerbWrite
	if err := sides(&r, src, dst); err != nil {
		return Op{}, refuseOn(p, &r, err)
	}
	return post(p, &r, nil)
}

// WriteNotify is [Write], and tells the peer: its [Conn.NextNotification] gives imm once
// the elements, and all of earlier writes on the connection, are in place. It is
// refused with [ErrNoCredit] while the peer has too many notifications and messages unread: [Conn.WaitCredit] waits.
//
//go:noinline
//barewire:effect starts=0 of src on ok, fresh=0 on ok, meets=src of p, places=dst
func WriteNotify[T barewire.Fixed[T], A barewire.Registered, B barewire.CanRemoteWrite](p Poster, dst barewire.Remote[T, B], src barewire.Span[T, A], imm uint32) (Op, error) {
	var r request
	r.verb, r.imm = VerbWriteNotify, imm
	if err := sides(&r, src, dst); err != nil {
		return Op{}, refuseOn(p, &r, err)
	}
	return post(p, &r, nil)
}

// WriteGather is [Write] with elements from several spans, in order. There may be as
// many as the device's [Limits] have Segments, 4 at most.
//
//go:noinline
//barewire:effect starts=0 of src on ok, fresh=0 on ok, places=dst
func WriteGather[T barewire.Fixed[T], A barewire.Registered, B barewire.CanRemoteWrite](p Poster, dst barewire.Remote[T, B], src ...barewire.Span[T, A]) (Op, error) {
	var r request
	r.verb = VerbWrite
	var room [MaxSegments - 1]piece
	more, err := gather(p, &r, room[:0], dst, src)
	if err != nil {
		return Op{}, refuseOn(p, &r, err)
	}
	for i := range more {
		if err := hold(p, &more[i]); err != nil {
			letGo(more[:i])
			return Op{}, refuseOn(p, &r, err)
		}
	}
	op, err := post(p, &r, more)
	if err != nil {
		letGo(more)
	}
	return op, err
}

// Send sends elements as one message: the peer gets their bytes by [Conn.Receive].
// It copies nothing here; [Conn.SendBytes] copies, and waits. It is refused with
// [ErrNoCredit] while the peer has too many messages unread: [Conn.WaitCredit] waits.
//
//go:noinline
//barewire:effect starts=0 of src on ok, fresh=0 on ok, meets=src of p
func Send[T barewire.Fixed[T], A barewire.Registered](p Poster, src barewire.Span[T, A]) (Op, error) {
	var r request
	r.verb = VerbSend
	if err := local(&r, src); err != nil {
		return Op{}, refuseOn(p, &r, err)
	}
	return post(p, &r, nil)
}

// ReadField is [Read] for one field of an element.
//
//go:noinline
//barewire:effect fills=0 of dst on ok, fresh=0 on ok, meets=dst of p
func ReadField[F any, A barewire.CanRemoteRead](p Poster, dst barewire.LocalField[F], src barewire.Field[F, A]) (Op, error) {
	var r request
	r.verb = VerbRead
	if err := fields(&r, dst, src); err != nil {
		return Op{}, refuseOn(p, &r, err)
	}
	return post(p, &r, nil)
}

// WriteField is [Write] for one field of an element.
//
//go:noinline
//barewire:effect starts=0 of src on ok, fresh=0 on ok, meets=src of p
func WriteField[F any, A barewire.CanRemoteWrite](p Poster, dst barewire.Field[F, A], src barewire.LocalField[F]) (Op, error) {
	var r request
	r.verb = VerbWrite
	if err := fields(&r, src, dst); err != nil {
		return Op{}, refuseOn(p, &r, err)
	}
	return post(p, &r, nil)
}

// Flush returns when all writes that were posted before are in place at the peer, or
// with the error of the operation that failed. It does not say that they are durable. Where
// the queue is full it waits for room first.
//
//go:noinline
//barewire:effect flushes=c
func (c *Conn) Flush(ctx context.Context) error {
	r := request{verb: VerbFlush}
	op, err := post(c, &r, nil)
	for errors.Is(err, ErrQueueFull) {
		if err = c.WaitRoom(ctx); err != nil {
			return refuse(c, &r, err)
		}
		op, err = post(c, &r, nil)
	}
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// Fence makes the next operation that is posted on the connection wait until all
// reads and atomics before it have ended. Writes and messages need none: see docs/ordering.md.
func (c *Conn) Fence() error {
	if c.none() {
		return errNoConn
	}
	if f := c.failed.Load(); f != nil {
		return fmt.Errorf("rdma: fence: %w", &flushError{f.err})
	}
	c.mu.Lock()
	c.fence = true
	c.mu.Unlock()
	return nil
}

// sides puts the local and the remote side of an operation into a request.
func sides[T barewire.Fixed[T], A barewire.Registered, B barewire.RemoteAccess](r *request, s barewire.Span[T, A], rem barewire.Remote[T, B]) error {
	if err := local(r, s); err != nil {
		return err
	}
	if to, ok := barewire.RemoteTarget(friend, rem); ok && to.Bytes == uint64(r.bytes) {
		// The rights are those of its type, and the verb is one for which that has them.
		r.key, r.epoch, r.addr, r.rights = RKey(to.Key), to.Epoch, to.Addr, barewire.RightsOf[B](friend)
		return nil
	}
	ref, err := barewire.RemoteParts(friend, rem)
	if err != nil {
		return err
	}
	return r.remote(&ref, r.bytes)
}

// local puts the local side into a request.
func local[T barewire.Fixed[T], A barewire.Registered](r *request, s barewire.Span[T, A]) error {
	h, gen, off, n, err := barewire.SpanParts(friend, s)
	if err != nil {
		return err
	}
	return r.local(h, gen, off, n)
}

// fields puts the sides of an operation on a field into a request.
func fields[F any, A barewire.RemoteAccess](r *request, in barewire.LocalField[F], f barewire.Field[F, A]) error {
	h, gen, off, n, err := barewire.LocalFieldParts(friend, in)
	if err != nil {
		return err
	}
	if err := r.local(h, gen, off, n); err != nil {
		return err
	}
	ref, err := barewire.FieldParts(friend, f)
	if err != nil {
		return err
	}
	return r.remote(&ref, r.bytes)
}

// gather puts several spans into a request, and those behind the first into more.
func gather[T barewire.Fixed[T], A barewire.Registered, B barewire.RemoteAccess](p Poster, r *request, more []piece, dst barewire.Remote[T, B], src []barewire.Span[T, A]) ([]piece, error) {
	most := MaxSegments
	if c := connOf(p); c != nil {
		most = min(most, c.dom.dev.limits.Segments)
	}
	if len(src) > 0 {
		if err := local(r, src[0]); err != nil {
			return nil, err
		}
	}
	if len(src) == 0 || len(src) > most {
		return nil, fmt.Errorf("%w: %d spans, and this device takes 1 to %d", ErrLength, len(src), most)
	}
	for _, s := range src[1:] {
		var one request
		if err := local(&one, s); err != nil {
			return nil, err
		}
		more = append(more, piece{h: one.h, gen: one.gen, off: one.off, bytes: one.bytes})
		r.bytes += one.bytes
	}
	ref, err := barewire.RemoteParts(friend, dst)
	if err != nil {
		return nil, err
	}
	return more, r.remote(&ref, r.bytes)
}

package rdma

import (
	"context"
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// word is a field that atomics work on.
type word interface{ ~uint64 | ~int64 }

// AtomicOp is a compare-and-swap or a fetch-and-add that was posted. It is a value, as [Op] is.
//
//barewire:type op
type AtomicOp[F word] struct {
	op    Op
	place *result
}

// CompareAndSwap sets a field of a peer's region to x if it is old, and gives what
// it was. It is atomic together with other operations of the peer's device, and
// with its processor where [Domain.GlobalAtomics] says so. The field must be aligned to 8
// bytes ([ErrMisaligned]).
//
//go:noinline
//barewire:effect fresh=0 on ok
func CompareAndSwap[F word, A barewire.CanRemoteAtomic](p Poster, f barewire.Field[F, A], old, x F) (AtomicOp[F], error) {
	var r request
	r.verb, r.compare, r.operand = VerbCompareSwap, uint64(old), uint64(x)
	return atomic64[F](p, &r, f)
}

// FetchAdd adds to a field of a peer's region, modulo 2^64, and gives what it was. For the rest see
// [CompareAndSwap].
//
//go:noinline
//barewire:effect fresh=0 on ok
func FetchAdd[F word, A barewire.CanRemoteAtomic](p Poster, f barewire.Field[F, A], x F) (AtomicOp[F], error) {
	var r request
	r.verb, r.operand = VerbFetchAdd, uint64(x)
	return atomic64[F](p, &r, f)
}

// atomic64 posts an atomic.
func atomic64[F word, A barewire.CanRemoteAtomic](p Poster, r *request, f barewire.Field[F, A]) (AtomicOp[F], error) {
	ref, err := barewire.FieldParts(friend, f)
	if err == nil {
		r.bytes = 8
		err = r.remote(&ref, 8)
	}
	if err == nil && ref.Addr%8 != 0 {
		err = fmt.Errorf("%w: it is at %d; a field with #@atomic is", ErrMisaligned, ref.Addr)
	}
	if err != nil {
		return AtomicOp[F]{}, refuseOn(p, r, err)
	}
	op, err := post(p, r, nil)
	return AtomicOp[F]{op: op, place: r.place}, err
}

// Wait returns what the word was before, once the operation has ended. The result is
// kept for whoever waits first, however late; a second Wait may still get it, or [ErrCollected]. Results that nobody
// waits for cost an allocation each. Otherwise it is as [Op.Wait].
//
//barewire:effect waits=o
func (o AtomicOp[F]) Wait(ctx context.Context) (F, error) {
	if err := o.op.Wait(ctx); err != nil {
		return 0, err
	}
	c := o.op.c
	w, ok := c.results.take(o.place, o.op.seq)
	if !ok {
		return 0, wrap(ErrCollected, "an atomic with %s: it was waited for before", c.peer)
	}
	return F(w), nil
}

// Done reports whether the operation has ended, without waiting.
//
//barewire:effect waits=o on true
func (o AtomicOp[F]) Done() bool { return o.op.Done() }

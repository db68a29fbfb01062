package rdma

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// ReadWhole is [Read] for elements that are written meanwhile, by [WriteWhole] or by
// their owner's Publish: each comes as it was at one time, though not all of them at the same. Their type
// has a sequence, #@atomic(sequence), which tells whether an element was whole; what
// was not is read again.
//
// It waits until all are there, ctx ends, or the connection fails. Where the writer of an
// element does not end, or is faster each time, the error is [barewire.ErrUnstable] and ctx's, and says which element it is. After
// an error what is in dst are no elements, and if it was ctx's, dst is busy until the operations have ended.
//
//go:noinline
//barewire:effect uses=dst, meets=dst of c
func ReadWhole[T barewire.Sequenced[T], A barewire.Registered, B barewire.CanRemoteRead](ctx context.Context, c *Conn, dst barewire.Span[T, A], src barewire.Remote[T, B]) error {
	w := whole{c: c, step: stepRead}
	w.r.verb = VerbRead
	err := wholes(&w, dst, &src)
	if err = w.begin(ctx, err); err == nil {
		defer w.end()
	}
	for err == nil && w.step != stepNone {
		if err = w.round(ctx); err == nil {
			err = w.next(ctx)
		}
	}
	return err
}

// WriteWhole is [Write] for elements that are read meanwhile, by [ReadWhole] or by their owner's Snapshot:
// these get each as it was before, or as it is after. It counts the sequence itself; that of src
// does not matter. When it returns all are in place at the peer. It takes four round trips for
// a few elements.
//
// There must be no other writer of the elements at the same time, the owner's Publish among them. One whose sequence
// is odd is waited for as in [ReadWhole]; if it is odd for ever, since a writer ended in the midst of it, who knows that
// may make it even with [WriteField]. So that this does not happen, ctx is heeded before elements are begun only: what is begun is ended,
// which takes as long as [Config].OpTimeout allows at most.
//
//go:noinline
//barewire:effect uses=src, meets=src of c
func WriteWhole[T barewire.Sequenced[T], A barewire.Registered, B barewire.CanRemoteReadWrite](ctx context.Context, c *Conn, dst barewire.Remote[T, B], src barewire.Span[T, A]) error {
	w := whole{c: c, step: stepAsk}
	w.r.verb = VerbWrite
	err := wholes(&w, src, &dst)
	if err = w.begin(ctx, err); err == nil {
		defer w.end()
	}
	for err == nil && w.step != stepNone {
		if err = w.round(ctx); err == nil {
			err = w.next(ctx)
		}
	}
	return err
}

// wholes puts both sides of all elements into w.
func wholes[T barewire.Fixed[T], A barewire.Registered, B barewire.RemoteAccess](w *whole, s barewire.Span[T, A], rem *barewire.Remote[T, B]) error {
	if err := local(&w.r, s); err != nil {
		return err
	}
	ref, err := barewire.RemoteParts(friend, *rem)
	if err != nil {
		return err
	}
	w.size = int(ref.Size)
	return w.r.remote(&ref, w.r.bytes)
}

// wholeGroup is how many elements are under way at once: each has two words of a line.
const wholeGroup = wordsInLine / 2

// seqSize is the bytes of a sequence, which is the first word of an element.
const seqSize = 8

// whole is a call that moves whole elements, a few at a time, in rounds of operations that are posted
// together and waited for. docs/ordering.md says why the rounds are what they are.
//
// The place where the user called must be among the few calls that a record keeps, so rounds are
// posted by what the user called itself.
type whole struct {
	c    *Conn
	r    request // of all elements
	size int     // of one, in bytes
	line int     // of words, where sequences are
	last Op      // that was posted
	at   where.Mark

	step    step
	first   int                // element of the group
	n       int                // elements of the group
	pending uint               // those that this step is still to be done for, a bit each
	seqs    [wholeGroup]uint64 // what their sequences were
	tries   int
}

// step is what a round does.
type step uint8

const (
	stepNone step = iota
	stepRead      // read the sequence, the element, and the sequence again
	stepAsk       // read the sequence, before the element is written
	stepOdd       // make the sequence odd
	stepBody      // write what is behind it
	stepEven      // make the sequence even
)

// begin checks what would be refused in the midst of it, and takes what is needed: the region and the
// connection's memory stay until end.
func (w *whole) begin(ctx context.Context, err error) error {
	c, r := w.c, &w.r
	w.at.Fill()
	if c.none() {
		err = errNoConn
	}
	if err != nil {
		return w.refuse(err)
	}
	if most := c.dom.dev.limits.MaxTransfer; w.size > most {
		return w.refuse(fmt.Errorf("%w: elements of %d bytes, and the device moves at most %d at once", ErrTooLong, w.size, most))
	}
	if err := r.h.Hold(r.gen); err != nil {
		return w.refuse(err)
	}
	if reg, ok := r.h.Reg.(*registration); !ok || reg.dom != c.dom {
		err = c.foreign(r.h)
	} else if !c.pool.enter() {
		err = ErrClosed
	} else if w.line, err = c.pool.waitLine(ctx); err != nil {
		c.pool.leave()
	}
	if err != nil {
		r.h.Drop()
		return w.refuse(err)
	}
	w.group()
	return nil
}

// end gives back what begin took.
func (w *whole) end() {
	w.c.pool.giveLine(w.line, w.last)
	w.c.pool.leave()
	w.r.h.Drop()
}

// group takes up as many elements as there are left, and there is room for.
func (w *whole) group() {
	w.n = min(wholeGroup, w.r.bytes/w.size-w.first)
	w.pending = 1<<w.n - 1
	w.tries = 0
	if w.n == 0 {
		w.step = stepNone
	}
}

// due reports whether the step has something for the element i of the group; the flush behind writes is
// beyond the last.
func (w *whole) due(i int) bool {
	if i == w.n {
		return w.step >= stepOdd
	}
	return w.pending&(1<<i) != 0
}

// request is a part of what is due, and whether there is another.
func (w *whole) request(i, part int) (r request, more bool) {
	if i == w.n {
		return request{verb: VerbFlush}, false
	}
	at := (w.first + i) * w.size
	r = request{verb: w.r.verb, key: w.r.key, epoch: w.r.epoch, rights: w.r.rights, addr: w.r.addr + uint64(at), bytes: seqSize}
	word := 2 * i
	switch w.step {
	case stepRead:
		if part == 1 {
			r.h, r.gen, r.off = w.r.h, w.r.gen, w.r.off+at
			r.bytes, r.first = w.size, w.size
			return r, true
		}
		word += part / 2
		more = part == 0
	case stepAsk:
		r.verb = VerbRead
	case stepBody:
		r.h, r.gen, r.off = w.r.h, w.r.gen, w.r.off+at+seqSize
		r.bytes, r.first = w.size-seqSize, w.size-seqSize
		r.addr += seqSize
		return r, false
	}
	r.ptr = w.c.pool.word(w.line, word)
	return r, more
}

// round posts what is due, and waits for it.
func (w *whole) round(ctx context.Context) error {
	if w.step >= stepOdd {
		ctx = context.Background() // what is begun is ended
	}
	for i := range w.n + 1 {
		for part, more := 0, w.due(i); more; part++ {
			var r request
			r, more = w.request(i, part)
			op, err := post(w.c, &r, nil)
			for errors.Is(err, ErrQueueFull) {
				if err = w.c.WaitRoom(ctx); err == nil {
					op, err = post(w.c, &r, nil)
				}
			}
			if err != nil {
				return w.failed(err)
			}
			w.last = op
		}
	}
	if err := w.last.Wait(ctx); err != nil {
		return w.failed(err)
	}
	return nil
}

// next is what comes after a round.
func (w *whole) next(ctx context.Context) error {
	pool := w.c.pool
	switch w.step {
	case stepRead, stepAsk:
		w.look()
		if w.pending != 0 {
			return w.pause(ctx)
		}
		if w.step == stepRead {
			w.first += w.n
			w.group()
			return nil
		}
		if ctx.Err() != nil {
			return w.refuse(over(ctx))
		}
	case stepEven:
		w.step, w.first = stepAsk, w.first+w.n
		w.group()
		return nil
	}
	w.step++
	w.pending = 1<<w.n - 1
	for i := range w.n {
		switch w.step {
		case stepOdd:
			storeWord(pool.word(w.line, 2*i), w.seqs[i]+1)
		case stepEven:
			storeWord(pool.word(w.line, 2*i), w.seqs[i]+2)
		}
	}
	return nil
}

// look takes the elements off the list whose sequence was even, and stayed.
func (w *whole) look() {
	w.tries++
	for i := range w.n {
		if w.pending&(1<<i) == 0 {
			continue
		}
		before := loadWord(w.c.pool.word(w.line, 2*i))
		after := before
		if w.step == stepRead {
			after = loadWord(w.c.pool.word(w.line, 2*i+1))
		}
		w.seqs[i] = after
		if before == after && after&1 == 0 {
			w.pending &^= 1 << i
		}
	}
}

// pause waits before another try, the longer the more there were.
func (w *whole) pause(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return w.unstable(over(ctx))
	case w.tries < 8:
	case w.tries < 64:
		runtime.Gosched()
	default:
		time.Sleep(min(time.Duration(w.tries)*time.Microsecond, time.Millisecond))
	}
	return nil
}

// unstable is the error of an element that was never found whole.
func (w *whole) unstable(why error) error {
	i := 0
	for w.pending&(1<<i) == 0 {
		i++
	}
	how := "its writer is slow, stopped, or ended in the midst of it"
	if w.seqs[i]&1 == 0 {
		how = "it is written faster than it can be read"
	}
	w.r.addr += uint64((w.first + i) * w.size)
	w.r.bytes = w.size
	return w.refuse(fmt.Errorf("%w, %d times, and its sequence was %d at last: %s: %w", barewire.ErrUnstable, w.tries, w.seqs[i], how, why))
}

// failed is the error of a round: that of the operation of it that failed first.
func (w *whole) failed(err error) error {
	var e *OpError
	if !errors.As(err, &e) {
		if w.tries > 0 && w.pending != 0 && w.step < stepOdd {
			return w.unstable(err)
		}
		err = w.refuse(err)
	}
	if w.step >= stepOdd {
		err = fmt.Errorf("%w; of the elements that were to be written, those from %d to %d may be left with an odd sequence", err, w.first, w.first+w.n-1)
	}
	return err
}

// refuse is the error of the call as a whole.
func (w *whole) refuse(err error) error {
	err = refuse(w.c, &w.r, err)
	if e, ok := err.(*OpError); ok {
		e.Op += " of whole elements"
		e.At = w.at.String()
	}
	return err
}

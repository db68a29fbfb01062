package region

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// Handle is one registration of a block of memory, or none: what a typed region
// points to. It has a generation, which changes whenever the typed region that
// stands for it does, so an old one is noticed. It may be used from several goroutines.
type Handle struct {
	word  atomic.Uint64 // generation, borrows, operations in flight: see the shifts
	block *Block
	made  where.Mark // where the region, or this sibling of it, was made

	mu    sync.Mutex
	ends  [4]end    // how the last generations ended, by generation modulo their number
	slots []*Borrow // all there are
	free  *Borrow   // those of no open window
	// Reg belongs to whoever registered the memory, nil where nobody did. It is
	// written only by the holder of a move that has not ended yet. It may have
	// these methods, which are used here:
	//
	//	Deregister(context.Context) error  // called when the region is closed
	//	Unclosed(at where.Mark)            // called after it, if it failed: the handle stays, and is to go
	//	InFlight(*Handle) string           // where an operation in flight was posted
	Reg any
}

const (
	flightBits = 20
	borrowBits = 16
	genBits    = 64 - genShift
	oneFlight  = 1
	oneBorrow  = 1 << flightBits
	flightMask = oneBorrow - 1
	genShift   = flightBits + borrowBits
	genMask    = 1<<genBits - 1
	borrowMask = 1<<borrowBits - 1
)

// end is how a generation ended.
type end struct {
	gen uint32
	how End
	at  where.Mark
}

// End is what ends a generation.
type End uint8

// The ends.
const (
	Moved    End = iota + 1 // it became another typed region: Register, Deregister
	Released                // it was closed
)

// FirstGen is the generation of a new handle. A zero typed region has another.
const FirstGen = 1

func newHandle(b *Block, made where.Mark) *Handle {
	h := &Handle{block: b, made: made}
	h.word.Store(FirstGen << genShift)
	return h
}

// Gen is the handle's generation now.
func (h *Handle) Gen() uint32 { return uint32(h.word.Load() >> genShift) }

// Hold counts an operation in flight: until Drop, the memory stays and the
// handle neither moves nor closes. It fails if the generation is not the current one.
func (h *Handle) Hold(gen uint32) error {
	for {
		w := h.word.Load()
		if uint32(w>>genShift) != gen {
			return h.stale(gen)
		}
		if w&flightMask == flightMask {
			return h.errorOf(ErrInFlight, "", fmt.Sprintf("there can be no more than %d", flightMask))
		}
		if h.word.CompareAndSwap(w, w+oneFlight) {
			return nil
		}
	}
}

// Drop ends what Hold began. One too many is a fault of whoever calls it, and changes
// nothing: it must not reach the counts and the generation beside it.
func (h *Handle) Drop() {
	if w := h.word.Add(^uint64(0)); w&flightMask == flightMask { // more than Hold counts to: there was none
		h.word.Add(oneFlight)
	}
}

// Check reports whether gen is the current generation.
func (h *Handle) Check(gen uint32) error {
	if h.Gen() != gen {
		return h.stale(gen)
	}
	return nil
}

// Advance ends a generation: the typed region that had it is no longer good,
// and who calls this gets the next one, which nobody else has. It fails, and changes
// nothing, while windows are open or operations in flight, and if gen is not the
// current generation.
func (h *Handle) Advance(gen uint32, how End) (next uint32, err error) {
	return h.end(gen, end{gen, how, where.Quick()})
}

// end does what Advance does.
func (h *Handle) end(gen uint32, e end) (next uint32, err error) {
	next, busy, reg := h.advance(gen, e)
	if busy&flightMask != 0 && h.inquire() {
		next, busy, reg = h.advance(gen, e)
	}
	switch {
	case busy != 0:
		return 0, h.busy(busy, reg)
	case next == gen:
		return 0, h.stale(gen)
	}
	return next, nil
}

// advance does what Advance does. Where that fails next is gen, and busy the counts if
// they are why; reg is who can tell more of them.
func (h *Handle) advance(gen uint32, e end) (next uint32, busy uint64, reg any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	slot := &h.ends[gen%uint32(len(h.ends))]
	for {
		w := h.word.Load()
		if uint32(w>>genShift) != gen {
			return gen, 0, nil
		}
		if w<<genBits != 0 {
			return gen, w, h.Reg
		}
		next = (gen + 1) & genMask
		// The end is written first: who sees the new generation asks why.
		old := *slot
		*slot = e
		if h.word.CompareAndSwap(w, uint64(next)<<genShift) {
			return next, 0, nil
		}
		*slot = old
	}
}

// Undo takes an Advance back whose move failed: gen is good again. Nobody may
// have been given next.
func (h *Handle) Undo(gen, next uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.word.CompareAndSwap(uint64(next)<<genShift, uint64(gen)<<genShift) {
		h.ends[gen%uint32(len(h.ends))] = end{}
	}
}

// closeTimeout bounds how long closing waits for a device.
const closeTimeout = 10 * time.Second

// Close ends the generation for good: the registration ends, and with the last
// handle the memory goes. If the device cannot say in 10 seconds that it is done with the
// memory, the generation is good still, and Close may be called again: [ErrRegistered].
func (h *Handle) Close(gen uint32) error {
	return h.CloseWithin(context.Background(), gen, where.Quick())
}

// CloseWithin is Close within a context, on behalf of who asked for it at a place.
func (h *Handle) CloseWithin(ctx context.Context, gen uint32, at where.Mark) error {
	next, err := h.end(gen, end{gen, Released, at})
	if err != nil {
		return err
	}
	if err := h.deregister(ctx, at); err != nil {
		h.Undo(gen, next)
		e := h.errorOf(ErrRegistered, at.String(), "")
		e.Cause = err
		return e
	}
	h.Reg = nil
	if err := h.block.unref(); err != nil {
		return fmt.Errorf("barewire: close: %s: the system did not take its memory back: %w", h.Name(), err)
	}
	return nil
}

// deregister ends the registration of a handle that is being closed, if it has one.
func (h *Handle) deregister(ctx context.Context, at where.Mark) error {
	d, ok := h.Reg.(interface{ Deregister(context.Context) error })
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	err := d.Deregister(ctx)
	if u, ok := h.Reg.(interface{ Unclosed(at where.Mark) }); ok && err != nil {
		u.Unclosed(at)
	}
	return err
}

// Sibling is another handle of the same memory, in its first generation. The
// memory must be there, as it is while who calls this holds h.
func (h *Handle) Sibling() (*Handle, error) {
	if !h.block.ref() {
		return nil, h.stale(h.Gen() - 1)
	}
	return newHandle(h.block, where.Quick()), nil
}

// Share gives the memory a file, if it has none, by copying it to other memory.
// It is for the holder of a move; it fails if the memory has other handles, or the
// system has no such memory. An allocator's memory without a file is errors.ErrUnsupported: it cannot go elsewhere.
func (h *Handle) Share() error {
	b := h.block
	if b.mem.file != nil {
		return nil
	}
	if g := b.mem.given; g != nil {
		if g.File == nil {
			return h.errorOf(errors.ErrUnsupported, "", "no file for its memory: "+b.mem.noFile.Error())
		}
		return nil
	}
	if b.refs.Load() != 1 {
		return h.errorOf(ErrShared, "", "its memory cannot be given a file")
	}
	return h.refile()
}

// Expose says that somebody who is not trusted was given the file of the memory: what is
// mapped of it elsewhere may stay so.
func (h *Handle) Expose() { h.block.exposed.Store(true) }

// Renew copies the memory to other memory with a file of its own, if it was exposed: who has
// kept a mapping of the old one reaches nothing of it any more. It is for the holder of a move,
// when nobody else is to be given the file; it fails if the memory has other handles, or there
// is not as much memory once more. Where it fails the memory stays as it is, and exposed.
func (h *Handle) Renew() error {
	b := h.block
	if b.exposed.Load() && b.mem.given != nil {
		return h.errorOf(ErrShared, "", "a peer of another user may keep a mapping of its memory, which is its allocator's and cannot be replaced: close it")
	}
	if !b.exposed.Load() || b.mem.file == nil {
		return nil
	}
	if b.refs.Load() != 1 {
		return h.errorOf(ErrShared, "", "a peer of another user may keep a mapping of its memory, which is to be replaced")
	}
	if err := h.refile(); err != nil {
		return err
	}
	b.exposed.Store(false)
	return nil
}

// refile moves the elements to memory with a new file. The address changes.
func (h *Handle) refile() error {
	b := h.block
	old := b.mem
	mem, err := obtainFile(b.ask())
	if err != nil {
		return h.errorOf(ErrNoMemory, "", "no file for its memory: "+err.Error())
	}
	n := b.bytes()
	copy(unsafe.Slice((*byte)(mem.base), n), unsafe.Slice((*byte)(old.base), n))
	b.mem = mem
	return old.release()
}

// Type is what is known of the elements.
func (h *Handle) Type() *Type { return h.block.typ }

// Count is how many elements there are.
func (h *Handle) Count() int { return h.block.count }

// Memory is where the memory is, in bytes, a multiple of the page, and the file it
// is a shared mapping of, with the offset there: the file stays the region's. The
// error says why it has none. Share and Renew may change all of it.
func (h *Handle) Memory() (base unsafe.Pointer, n int, file func() (*os.File, int64, error)) {
	m := &h.block.mem
	return m.base, int(m.size), func() (*os.File, int64, error) {
		if m.given != nil && m.given.File != nil {
			return m.given.File()
		}
		if m.file == nil {
			return nil, 0, fmt.Errorf("%s has no file: %w", h.Name(), m.noFile)
		}
		return m.file, 0, nil
	}
}

// Base is where the first element is. Who asks has a window or an operation that keeps
// the memory: the race detector is not told of windows, see quiet.
//
//go:norace
func (h *Handle) Base() unsafe.Pointer { return h.block.mem.base }

// Home is the residency that it was allocated with, see Spec.
func (h *Handle) Home() uint8 { return h.block.spec.Home }

// Why says why the memory is not where it was wanted first; empty where it is.
func (h *Handle) Why() string { return h.block.spec.Why }

// Extra is what the package that the residency is of keeps for the memory.
func (h *Handle) Extra() any { return h.block.spec.Extra }

// Alone reports whether no other handle has the memory. It is for the holder of a move, and for
// who knows that nobody makes siblings meanwhile.
func (h *Handle) Alone() bool { return h.block.refs.Load() == 1 }

// Huge says what pages the memory has.
func (h *Handle) Huge() Huge { return h.block.mem.huge }

// NoFile says why the memory has no file, nil where it has one.
func (h *Handle) NoFile() error {
	if g := h.block.mem.given; h.block.mem.file != nil || g != nil && g.File != nil {
		return nil
	}
	return h.block.mem.noFile
}

// Name is how errors call the region: its type and where it was made.
func (h *Handle) Name() string { return name(h.block.name, h.block.typ.Name, h.made.String()) }

// Range is the error of n elements from i on that are not in the region.
func (h *Handle) Range(i, n int) error {
	return h.errorOf(ErrRange, "", fmt.Sprintf("%s from %d on, and it has %d", Elements(n), i, h.block.count))
}

// Failed is the error of memory that failed under an access: which element, and why.
func (h *Handle) Failed(element string, why error) error {
	e := h.errorOf(ErrMemory, "", element)
	e.Cause = why
	return e
}

// stale says how a generation ended.
func (h *Handle) stale(gen uint32) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.ends[gen%uint32(len(h.ends))]
	if e.gen != gen || e.how == 0 {
		return h.errorOf(ErrMoved, "", "more than once")
	}
	if e.how == Released {
		return h.errorOf(ErrReleased, e.at.String(), "")
	}
	return h.errorOf(ErrMoved, e.at.String(), "")
}

// busy says what kept a generation from ending.
func (h *Handle) busy(w uint64, reg any) error {
	if n := w >> flightBits & borrowMask; n > 0 {
		return h.errorOf(ErrBorrowed, h.window(), several(n))
	}
	at := ""
	if p, ok := reg.(interface{ InFlight(*Handle) string }); ok {
		at = p.InFlight(h)
	}
	if at == "" {
		at = h.posted()
	}
	return h.errorOf(ErrInFlight, at, several(w&flightMask))
}

// window is where some open window was opened.
func (h *Handle) window() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.slots {
		if b.state.Load()&1 == 1 {
			return b.opened.String()
		}
	}
	return ""
}

// several says of how many the place of one is told.
func several(n uint64) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("one of %d", n)
}

func (h *Handle) errorOf(why error, at, detail string) *Error {
	return &Error{Region: h.block.name, Type: h.block.typ.Name, Made: h.made.String(), At: at, Detail: detail, Err: why}
}

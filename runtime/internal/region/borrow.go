package region

import (
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// Borrow is a slot of a handle for one open window after another. A window keeps
// the slot and the state that it had when the window was opened: states never
// come again.
type Borrow struct {
	state  atomic.Uint64 // odd while a window is open; grows by one at each end of it
	h      *Handle
	next   *Borrow // of the free ones; guarded by the handle's lock, as the marks are
	opened where.Mark
	closed where.Mark
}

// Borrow counts an open window on the memory. Until Return, the memory stays, and
// the handle neither moves nor closes. It allocates only where more windows
// are open than ever before.
func (h *Handle) Borrow(gen uint32) (b *Borrow, state uint64, err error) {
	b, state = h.lend(gen)
	if b != nil {
		return b, state, nil
	}
	if err := h.Check(gen); err != nil {
		return nil, 0, err
	}
	return nil, 0, h.errorOf(ErrBorrowed, "", "no more than 65535 can be")
}

// lend does what Borrow does, and gives nil where that fails.
//
//go:norace
func (h *Handle) lend(gen uint32) (b *Borrow, state uint64) {
	// Who uses the memory in turns has to order that themselves; for the race
	// detector, what is locked here must not look as if it did. See quiet.
	quiet()
	defer loud()
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		w := h.word.Load()
		if uint32(w>>genShift) != gen || w>>flightBits&borrowMask == borrowMask {
			return nil, 0
		}
		if h.word.CompareAndSwap(w, w+oneBorrow) {
			break
		}
	}
	b = h.free
	if b == nil {
		b = &Borrow{h: h}
		h.slots = append(h.slots, b)
	} else {
		h.free = b.next
	}
	b.opened.Fill()
	return b, b.state.Add(1)
}

// Return ends what Borrow began.
func (b *Borrow) Return(state uint64) error {
	if b.end(state) {
		return nil
	}
	return b.Fault(state)
}

// end does what Return does, and reports whether it could.
//
//go:norace
func (b *Borrow) end(state uint64) bool {
	quiet()
	defer loud()
	h := b.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.state.Load() != state {
		return false
	}
	b.closed.Fill()
	b.state.Add(1)
	b.next, h.free = h.free, b
	h.word.Add(^uint64(oneBorrow - 1))
	return true
}

// Open reports whether the window that had this state is still open.
func (b *Borrow) Open(state uint64) bool { return b.state.Load() == state }

// Handle is what is borrowed.
func (b *Borrow) Handle() *Handle { return b.h }

// Fault says why the window that had this state cannot be used.
//
//go:norace
func (b *Borrow) Fault(state uint64) error {
	quiet()
	defer loud()
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	e := b.h.errorOf(ErrClosed, "", "")
	if b.state.Load() == state+1 { // else the slot has served another window since
		e.At = b.closed.String()
		e.Detail = "opened at " + b.opened.String()
	}
	return e
}

// Windows reports how many windows are open, and where one of them was opened.
func (h *Handle) Windows() (n int, at string) {
	n = int(h.word.Load() >> flightBits & borrowMask)
	if n > 0 {
		at = h.window()
	}
	return n, at
}

// Borrowed is the error of a handle whose windows are in the way.
func (h *Handle) Borrowed() error {
	n, at := h.Windows()
	return h.errorOf(ErrBorrowed, at, several(uint64(n)))
}

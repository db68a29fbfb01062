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
//
//go:norace
func (h *Handle) Borrow(gen uint32) (b *Borrow, state uint64, err error) {
	// Who uses the memory in turns has to order that themselves; for the race
	// detector, what is locked here must not look as if it did. See quiet.
	quiet()
	defer loud()
	at := where.Quick()
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		w := h.word.Load()
		if uint32(w>>genShift) != gen {
			return nil, 0, h.staleLocked(gen)
		}
		if w>>flightBits&borrowMask == borrowMask {
			return nil, 0, h.errorOf(ErrBorrowed, "", "no more than 65535 windows can be open")
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
	b.opened = at
	return b, b.state.Add(1), nil
}

// Return ends what Borrow began.
//
//go:norace
func (b *Borrow) Return(state uint64) error {
	quiet()
	defer loud()
	at := where.Quick()
	h := b.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.state.Load() != state {
		return b.fault(state)
	}
	b.state.Add(1)
	b.closed = at
	b.next, h.free = h.free, b
	h.word.Add(^uint64(oneBorrow - 1))
	return nil
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
	return b.fault(state)
}

func (b *Borrow) fault(state uint64) error {
	e := b.h.errorOf(ErrClosed, "", "")
	if b.state.Load() == state+1 { // else the slot has served another window since
		e.At = b.closed.String()
		e.Detail = "opened at " + b.opened.String() + ", closed"
	}
	return e
}

package shm

import (
	"sync/atomic"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/prefetch"
	"github.com/fidelityframework/barewire-gen/runtime/internal/release"
)

// ahead guesses which memory of the peer is accessed next, so that its first line is on its way while the program looks at what
// has come, and is this processor's own when the answer is stored: the peer has read it, and to take it away from there
// takes as long as all checks of the answer together. What is guessed is that accesses go on as the last
// two did: to the same place, or with the same step through an array.
type ahead struct {
	last uintptr       // that was accessed; the queue's mu guards it
	next atomic.Uint64 // that is expected; written under mu
}

// wrote notes an access. mu of the queue is held.
func (a *ahead) wrote(base unsafe.Pointer, off uint64) {
	at := uintptr(base) + uintptr(off)
	release.Store(&a.next, uint64(2*at-a.last))
	a.last = at
}

// fetch has the line fetched for writing. A wrong guess, and memory that is gone, only cost the fetch: it is no access.
func (a *ahead) fetch() { prefetch.Write(uintptr(a.next.Load())) }

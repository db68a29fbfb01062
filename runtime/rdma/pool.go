package rdma

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// line is 64 bytes of a connection's own buffers.
type line struct{}

// BareLayout makes line an element type.
func (line) BareLayout() barewire.LayoutOf[line] { return barewire.LayoutOf[line]{} }

const lineSize = 64

var lineInfo = barewire.TypeInfo{Name: "rdma.line", Size: lineSize, Align: lineSize}

// sendSlots is how many messages may be on their way out; the mask of free ones is a word.
const sendSlots = 16

// pool is a connection's buffers for messages: slots that receive, then slots that send; and behind
// them lines of words for sequences, see whole.go.
type pool struct {
	r     *barewire.Region[line, barewire.CPU, barewire.Local]
	reg   *registration
	base  unsafe.Pointer
	in    int           // slots that receive
	size  int           // bytes of a slot
	used  int           // of them, that a message may take
	empty atomic.Uint32 // send slots that are free
	words words
}

// newPool makes the buffers of a connection and registers them.
func newPool(dom *Domain, in, message int, peer string) (*pool, error) {
	p := &pool{in: in, used: message, size: (message + lineSize - 1) / lineSize * lineSize}
	place := barewire.MintPlace[line, barewire.CPU](&lineInfo, barewire.InCPU, -1, false)
	r, err := barewire.New(place, (in+sendSlots)*p.size/lineSize+wordLines, barewire.Named("buffers of the connection with "+peer))
	if err != nil {
		return nil, err
	}
	if p.r, err = Register(dom, r, barewire.MintGrant[line, barewire.Local](&lineInfo)); err != nil {
		_ = r.Close() // the first error says more
		return nil, err
	}
	h, gen, err := barewire.Core(friend, p.r)
	if err != nil {
		return nil, err
	}
	// The pool holds its region for as long as it is: nothing else does.
	if err := h.Hold(gen); err != nil {
		return nil, err
	}
	if p.reg, err = registrationOf(h); err != nil {
		return nil, err
	}
	p.base = h.Base()
	p.empty.Store(1<<sendSlots - 1)
	p.words.free = 1<<wordLines - 1
	return p, nil
}

// close gives the memory back. Nothing may be in flight; who is between enter and
// leave is waited for.
func (p *pool) close() error {
	p.reg.h.Drop()
	for {
		err := p.r.Close()
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, barewire.ErrInFlight):
			return fmt.Errorf("rdma: the buffers of a connection: %w", err)
		}
		time.Sleep(20 * time.Microsecond)
	}
}

// enter keeps the memory until leave, for who copies; it reports false when the pool is closed.
func (p *pool) enter() bool { return p.reg.h.Hold(p.reg.gen) == nil }

func (p *pool) leave() { p.reg.h.Drop() }

func (p *pool) lkey() LKey { return LKey(p.reg.lkey.Load()) }

// at is where a slot begins.
func (p *pool) at(slot int) unsafe.Pointer { return unsafe.Add(p.base, slot*p.size) }

// receive is a receiving slot as providers take it.
func (p *pool) receive(slot int) Segment {
	return Segment{Ptr: p.at(slot), Len: p.used, Key: p.lkey()}
}

// bytes is n bytes of a slot.
func (p *pool) bytes(slot, n int) []byte { return unsafe.Slice((*byte)(p.at(slot)), n) }

// take takes a free sending slot.
func (p *pool) take() (slot int, ok bool) {
	for {
		e := p.empty.Load()
		if e == 0 {
			return 0, false
		}
		i := bits.TrailingZeros32(e)
		if p.empty.CompareAndSwap(e, e&^(1<<i)) {
			return p.in + i, true
		}
	}
}

// free gives a sending slot back.
func (p *pool) free(slot int) { p.empty.Or(1 << (slot - p.in)) }

// some reports whether a sending slot is free.
func (p *pool) some() bool { return p.empty.Load() != 0 }

// registered is a check at compile time that a registration is what closing a
// region and errors look for.
var _ interface {
	InFlight(*region.Handle) string
	Domain() any
} = (*registration)(nil)

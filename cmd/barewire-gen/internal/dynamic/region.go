package dynamic

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/wire"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Stride is the number of bytes from one element of a region of the type to the next:
// its size if that is fixed, else that of its slot. It is 0 for types that no region
// can have.
func Stride(l *layout.Layouts, d *resolve.Decl) uint64 {
	if i := l.Of(d.Type); i.IsFixed() {
		return i.Max
	}
	return l.Slot(d.Type, d)
}

// Element is the message of an element of a region, and where it begins in the
// memory that the element has, which must be exactly the type's stride: of a type of
// fixed size that is the message; else a slot, with a length before the message and
// zeros behind it. A slot that nothing was put into gives wire.ErrSlotEmpty.
func Element(l *layout.Layouts, d *resolve.Decl, memory []byte) (msg []byte, at int, err error) {
	if l.Of(d.Type).IsFixed() {
		return memory, 0, nil
	}
	const head = 4 // the length, a u32
	msg, err = wire.SlotMessage(memory, len(memory))
	if err == nil {
		err = wire.SlotTail(memory, len(memory))
	}
	return msg, head, err
}

// CheckStride says why a type has no regions, or nil.
func CheckStride(l *layout.Layouts, d *resolve.Decl) error {
	if Stride(l, d) > 0 {
		return nil
	}
	if l.Of(d.Type).IsFixed() {
		return fmt.Errorf("`%s` has no bytes, so that no memory has elements of it", d.Name)
	}
	return fmt.Errorf("`%s` has no greatest size, so that no memory has elements of it: put #@max(N) above what varies", d.Name)
}

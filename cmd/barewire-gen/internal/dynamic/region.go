package dynamic

import (
	"encoding/binary"
	"fmt"
	"strconv"

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
	msg, err = wire.SlotMessage(memory, len(memory))
	if err == nil {
		err = wire.SlotTail(memory, len(memory))
	}
	return msg, slotHead, err
}

// slotHead is where the message of a slot begins: behind its length, a u32.
const slotHead = 4

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

// EncodeRegion makes a region's memory of JSON in the form that inspect writes of one: an array with an object for each
// element, in their order,
//
//	{"element": 0, "offset": 4, "value": …}
//
// with "empty": true instead of the value for a slot that nothing was put into. An offset is not looked at. The memory of
// each element goes to emit, which may keep it only while it runs; an error of emit's ends it. Else the error is nil or a
// *JSONError. The type must have regions; see [CheckStride].
func EncodeRegion(l *layout.Layouts, d *resolve.Decl, text []byte, elements int, emit func(memory []byte) error) error {
	e := &regionEncoder{
		encoder: encoder{l: l, tokens: tokens{b: text, path: []string{d.Name}}},
		d:       d, fixed: l.Of(d.Type).IsFixed(), memory: make([]byte, Stride(l, d)),
	}
	e.next()
	at, n := e.at, 0
	if err := e.want('[', "an array with an object for each element"); err != nil {
		return err
	}
	for ; !e.take(']'); n++ {
		if n > 0 {
			if err := e.want(',', "a comma or the end of the array"); err != nil {
				return err
			}
		}
		if err := e.into("["+strconv.Itoa(n)+"]", func() error { return e.element(n) }); err != nil {
			return err
		}
		if err := emit(e.memory); err != nil {
			return err
		}
	}
	if e.next() != 0 || e.at < len(e.b) {
		return e.fail(e.at, "want the end, have %s", e.have())
	}
	if n != elements {
		return e.fail(at, "%s, and the region has %d", count(uint64(n), "element"), elements)
	}
	return nil
}

type regionEncoder struct {
	encoder
	d      *resolve.Decl
	fixed  bool   // elements are messages by themselves, and no slots
	memory []byte // of an element
}

// element reads element n into the memory.
func (e *regionEncoder) element(n int) error {
	e.next()
	at, number, value, empty := e.at, false, false, false
	err := e.members(func(name string, nameAt int) error {
		switch twice := number && name == "element" || value && name == "value" || empty && name == "empty"; {
		case twice:
			return e.fail(nameAt, "\"%s\" stands twice", name)
		case name == "element":
			number = true
			return e.index(n)
		case name == "offset":
			_, err := e.anyNumber()
			return err
		case name == "empty" && !e.fixed:
			if empty = true; !e.word("true") {
				return e.fail(e.at, "want true, have %s", e.have())
			}
			return nil
		case name == "value":
			value = true
			e.out = e.out[:0]
			return e.value(e.d.Type)
		case name == "error":
			return e.fail(nameAt, "the element was refused when it was read, so that it has no value; mend it")
		}
		return e.fail(nameAt, "an element has no \"%s\"; it has element, offset, value%s", clip(name), map[bool]string{false: " or empty"}[e.fixed])
	})
	switch {
	case err != nil:
		return err
	case !number:
		return e.fail(at, "missing: element, its number")
	case value == empty:
		return e.fail(at, "it has to have a value%s", map[bool]string{false: ", or be empty, and not both"}[e.fixed])
	}
	clear(e.memory)
	switch {
	case len(e.out) > len(e.memory):
		return e.fail(at, "its message has %d bytes, and an element %d", len(e.out), len(e.memory)) // a type's limits keep it from that
	case e.fixed:
		copy(e.memory, e.out)
	case value:
		binary.LittleEndian.PutUint32(e.memory, uint32(len(e.out)))
		copy(e.memory[slotHead:], e.out)
	}
	return nil
}

// index reads an element's number, which must be n.
func (e *regionEncoder) index(n int) error {
	e.next()
	at := e.at
	text, err := e.anyNumber()
	if err != nil {
		return err
	}
	if text != strconv.Itoa(n) {
		return e.fail(at, "element %s stands where %d should: all elements of a region are needed, in their order", clip(text), n)
	}
	return nil
}

func (e *regionEncoder) anyNumber() (string, error) {
	e.next()
	at := e.at
	text, ok := e.number()
	if !ok {
		return "", e.fail(at, "want a number, have %s", e.have())
	}
	return text, nil
}

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A slot is memory of a fixed size for one message of a type with a greatest
// size. It is BARE itself, struct { len: u32  body: data[N-4] }: the length,
// the message, zeros.

const slotHead = 4

// ErrSlot is what a slot gives that is too small for its type or whose length
// is more than it holds.
var ErrSlot = errors.New("wire: bad slot")

// ErrSlotEmpty is what a slot gives that nothing was put into, or in vain: its length is 0, and every message of a type
// that slots are for has at least a byte.
var ErrSlotEmpty = errors.New("wire: the slot is empty: nothing was put into it")

// ErrSlotTail is what validating a slot gives where bytes behind the message
// are not zero.
var ErrSlotTail = errors.New("wire: bytes behind a slot's message are not zero")

// BeginSlot returns where a slot's message goes: no bytes, and room for size
// bytes less the length. It is for generated code.
func BeginSlot(slot []byte, size int) ([]byte, error) {
	if len(slot) < size {
		return nil, fmt.Errorf("%w: %d bytes, its type needs %d", ErrSlot, len(slot), size)
	}
	return slot[slotHead:slotHead:size], nil
}

// EndSlot finishes what BeginSlot began: b is what was appended, err why it
// could not be. The slot then has the length and zeros behind the message, or
// after an error nothing but zeros. It is for generated code.
func EndSlot(slot []byte, size int, b []byte, err error) error {
	if len(slot) < size {
		return err
	}
	n := len(b)
	if err == nil && n > size-slotHead {
		err = fmt.Errorf("%w: a message of %d bytes in a slot of %d", ErrSlot, n, size)
	}
	if err != nil {
		n = 0
	}
	clear(slot[slotHead+n : size])
	binary.LittleEndian.PutUint32(slot, uint32(n))
	return err
}

// SlotMessage returns the message in a slot, in place. It is for generated code.
func SlotMessage(slot []byte, size int) ([]byte, error) {
	if len(slot) < size {
		return nil, fmt.Errorf("%w: %d bytes, its type needs %d", ErrSlot, len(slot), size)
	}
	n := binary.LittleEndian.Uint32(slot)
	if n == 0 {
		return nil, ErrSlotEmpty
	}
	if uint64(n) > uint64(size-slotHead) {
		return nil, fmt.Errorf("%w: its length is %d and it holds at most %d", ErrSlot, n, size-slotHead)
	}
	end := slotHead + int(n)
	return slot[slotHead:end:end], nil
}

// SlotTail checks that the bytes behind a slot's message are zero. It is for
// generated code.
func SlotTail(slot []byte, size int) error {
	b, err := SlotMessage(slot, size)
	if err != nil {
		return err
	}
	for i, c := range slot[slotHead+len(b) : size] {
		if c != 0 {
			return fmt.Errorf("%w: byte %d is %#02x", ErrSlotTail, slotHead+len(b)+i, c)
		}
	}
	return nil
}

package cxl

import (
	"encoding"
	"encoding/binary"
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// message is how a generated type is written and read.
type message[T any] interface {
	*T
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// Publish writes an element of one's own for other hosts to see, and returns the sequence that it has: [SnapshotSince] takes it, where a
// message tells another host. When Publish returns, the element is in memory. The error is [ErrNotWriter], [ErrTwoWriters], [barewire.ErrMemory],
// or that of the encoding.
//
//barewire:effect uses=r, tells=1
func Publish[T barewire.Fixed[T], P message[T]](r *barewire.Region[T, barewire.CXLShared, barewire.Unregistered], i int, v P) (seq uint64, err error) {
	if v == nil {
		return 0, barewire.ErrNoValue
	}
	h, _, err := barewire.Core(friend, r)
	if err != nil {
		return 0, err
	}
	size := int(h.Type().Size)
	slot := make([]byte, slotHead, size+slotHead)
	b, err := v.AppendBinary(slot)
	if err != nil {
		return 0, fmt.Errorf("barewire: publish: %s: element %d: %w", r, i, err)
	}
	m := b[slotHead:]
	if len(m) == size {
		return PublishBytes(r, i, m)
	}
	if len(m) > size-slotHead {
		return 0, fmt.Errorf("barewire: publish: %s: element %d: %w: its message has %d bytes, and the slot %d", r, i, barewire.ErrRange, len(m), size)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(m)))
	return PublishBytes(r, i, append(b, make([]byte, size-len(b))...))
}

// slotHead is the length before a message in a slot: elements of types of bounded size are slots, in which zeros follow the message. A
// message of such a type is never as long as the slot, so the two cannot be mistaken.
const slotHead = 4

// PublishBytes is [Publish] of an element as it lies in memory: its message, or its slot: a length (u32), the message, zeros.
//
//barewire:effect uses=r, tells=1
func PublishBytes[T barewire.Fixed[T]](r *barewire.Region[T, barewire.CXLShared, barewire.Unregistered], i int, b []byte) (seq uint64, err error) {
	h, gen, err := barewire.Core(friend, r)
	if err != nil {
		return 0, err
	}
	s, err := sharedOf(h, gen, opPublish, i, len(b))
	if err != nil {
		return 0, err
	}
	defer h.Drop()
	seq, err = s.publish(i, b)
	return seq, named(h, opPublish, i, err)
}

// Snapshot reads an element as one call has published it, and returns its sequence. The error is [ErrUnpublished], [ErrForeign], [barewire.ErrMemory];
// or, after a second of trying, [ErrTorn] or [ErrStale]. What v has after an error is not known.
//
//barewire:effect uses=r, tells=1
func Snapshot[T barewire.Fixed[T], P message[T]](r *barewire.Region[T, barewire.CXLShared, barewire.Unregistered], i int, v P) (seq uint64, err error) {
	return SnapshotSince(r, i, v, 0)
}

// SnapshotSince is [Snapshot] of an element that was published with a sequence of since at the earliest, else [ErrStale].
//
//barewire:effect uses=r, tells=1
func SnapshotSince[T barewire.Fixed[T], P message[T]](r *barewire.Region[T, barewire.CXLShared, barewire.Unregistered], i int, v P, since uint64) (seq uint64, err error) {
	if v == nil {
		return 0, barewire.ErrNoValue
	}
	h, _, err := barewire.Core(friend, r)
	if err != nil {
		return 0, err
	}
	b := make([]byte, h.Type().Size)
	if seq, err = SnapshotBytes(r, i, b, since); err != nil {
		return 0, err
	}
	err = v.UnmarshalBinary(b)
	if err != nil && len(b) > slotHead {
		if m, serr := wire.SlotMessage(b, len(b)); serr == nil {
			err = v.UnmarshalBinary(m)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("barewire: snapshot: %s: element %d was published as it is, and is none: %w", r, i, err)
	}
	return seq, nil
}

// SnapshotBytes is [SnapshotSince] of an element as it lies in memory.
//
//barewire:effect uses=r, tells=1
func SnapshotBytes[T barewire.Fixed[T]](r *barewire.Region[T, barewire.CXLShared, barewire.Unregistered], i int, dst []byte, since uint64) (seq uint64, err error) {
	h, gen, err := barewire.Core(friend, r)
	if err != nil {
		return 0, err
	}
	s, err := sharedOf(h, gen, opSnapshot, i, len(dst))
	if err != nil {
		return 0, err
	}
	defer h.Drop()
	seq, err = s.snapshot(i, dst, since)
	return seq, named(h, opSnapshot, i, err)
}

package wire

import (
	"cmp"
	"errors"
	"hash/maphash"
	"math"
)

// ErrIndexSize is what a view of a message of 4 GiB or more gives: an index
// holds 32-bit offsets. Such a message can still be decoded.
var ErrIndexSize = errors.New("wire: the message is 4 GiB or longer, more than an index can address; decode it instead")

// Index is where a message's parts lie. The functions named …ViewOf fill it in
// one pass over the message, and views read through it. Its memory is the
// caller's: give the same Index again and nothing is allocated once it has
// grown to the size of the largest message.
//
// An Index belongs to one message at a time. Giving it another ends the life of
// the views made from it: they then read the new message, with offsets of their
// own. The message's bytes must not change while views are in use; if they do,
// views return wrong or zero values or panic as a slice's index does, and
// nothing worse.
//
// Many goroutines may read views of one Index; filling it is for one.
//
// Memory: at most three slots of 4 bytes for each byte of input, whatever the
// lengths in it claim (more only for types with list<T>[n] of a T of variable
// size inside each other: up to three more for each such list with one small
// element), and up to 8 bytes for each byte of an unsorted map while its keys
// are compared. A list of structs takes one slot for each element and one for each
// field of variable size that has another behind it; a list of numbers takes
// none.
//
// The zero value is ready for use: new(Index). A nil *Index is not; the functions
// named …ViewOf panic with it.
type Index struct {
	buf   []byte
	slots []uint32
	limit int      // slots that a valid message of this length can need
	table []uint32 // scratch of Keys
	seed  maphash.Seed
}

// What a slot means is fixed by the schema. A type T has a frame of K(T) slots,
// known when the code is generated: for a struct, one for each field of
// variable size that has another field behind it (where it ends), then what the
// fields need themselves. Lists and maps, and optionals and unions whose
// content needs more than one slot, keep theirs elsewhere and have one slot
// that says where: frames of elements lie one behind the other, each after a
// slot with the element's offset, so that an element is found by a
// multiplication. The slot before the first element is the count.

const (
	short    = 1 << 20 // a message so long that no product of Begin overflows
	noChild  = 1       // where an empty list's elements would be: slot 0 is its count, 0
	unsorted = 1 << 31 // in a map's slot: its keys do not ascend
	maxSlots = 1<<31 - 1
)

// Begin makes the index ready for a message whose root type has a frame of k
// slots, which begins at slot 1, and never needs more than perByte others for a
// byte. It is false for a message that is too long to be indexed
// (ErrIndexSize). It is for generated code.
func (x *Index) Begin(b []byte, k, perByte int) bool {
	x.buf = b
	if len(b) > short || k >= cap(x.slots) {
		return x.begin(k, perByte)
	}
	x.slots = x.slots[:k+1]
	x.slots[0] = 0
	x.limit = perByte*len(b) + k + 1
	return true
}

// begin is Begin's rare half: for messages that may come near the index's
// limits, and for an index that has to grow.
func (x *Index) begin(k, perByte int) bool {
	if uint64(len(x.buf)) > math.MaxUint32 {
		x.Reset()
		return false
	}
	x.limit = maxSlots
	if len(x.buf) < (maxSlots-k-1)/perByte {
		x.limit = perByte*len(x.buf) + k + 1
	}
	x.slots = x.slots[:0]
	x.grow(1 + k)
	x.slots[0] = 0
	return true
}

// Refused returns why the pass over a message of type t refused it, and lets go
// of the message. It is for generated code.
func (x *Index) Refused(t *Type) error {
	err := t.Explain(x.buf, Options{}, true)
	if x.limit == maxSlots && errors.Is(err, ErrInternal) {
		err = ErrIndexSize // there is no fault, but more slots are needed than there can be
	}
	x.Reset()
	return err
}

// Reset lets go of the message, so that the index does not keep it in memory,
// and keeps the index's own memory. Views of the message must not be used any more.
func (x *Index) Reset() {
	x.buf = nil
	x.slots = x.slots[:0]
}

// Slots returns how many slots of 4 bytes the index has in use.
func (x *Index) Slots() int { return len(x.slots) }

// grow adds n slots, which the caller has checked against the limit, and
// returns the first. Those of an earlier message are not cleared: the pass
// writes all that views of a valid message read.
func (x *Index) grow(n int) int {
	at := len(x.slots)
	if cap(x.slots)-at < n {
		s := make([]uint32, at, max(2*cap(x.slots), at+n, 16))
		copy(s, x.slots)
		x.slots = s
	}
	x.slots = x.slots[:at+n]
	return at
}

// Frame takes k slots for what stands behind an optional or a union's tag, or
// returns -1 if no valid message of this length can need them.
// It is for generated code.
func (x *Index) Frame(k int) int {
	if k > x.limit-len(x.slots) {
		return -1
	}
	return x.grow(k)
}

// Children takes the frames of a list of n elements of at least least bytes
// each (at least 1), with left bytes of the message left, and returns the first element's, or -1 if
// there cannot be so many. Each frame has stride slots. It is for generated code.
func (x *Index) Children(n, stride, least, left int) int {
	if n == 0 {
		return noChild
	}
	// Neither product overflows: n is at most left, which is less than 4 GiB,
	// on a machine of 32 bits less than 2 GiB, and is checked by division.
	if n > left/least || n >= (x.limit-len(x.slots))/stride {
		return -1
	}
	at := x.grow(1 + n*stride)
	x.slots[at] = uint32(n)
	return at + 1
}

// Set writes a slot. It is for generated code.
func (x *Index) Set(slot, v int) { x.slots[slot] = uint32(v) }

// Leaf returns the slots from slot on, for a type whose pass takes no further
// slots: they move when the index grows. It is for generated code.
func (x *Index) Leaf(slot int) []uint32 { return x.slots[slot:] }

// Keys checks that the keys of a map are all different, and writes the map's
// slot: where its n entries are (first, from Children), and whether their keys
// ascend. It takes one walk over ascending keys, as our encoder writes them,
// and a second one with a hash table otherwise. It is for generated code.
func Keys[K cmp.Ordered](x *Index, slot, first, n, stride int, key func(View) K) bool {
	x.slots[slot] = uint32(first)
	if n < 2 {
		return true
	}
	last := key(x.child(first))
	for i := 1; i < n; i++ {
		k := key(x.child(first + i*stride))
		if k <= last {
			x.slots[slot] |= unsorted
			return differ(x, first, n, stride, key)
		}
		last = k
	}
	return true
}

// differ reports whether n keys are all different.
func differ[K cmp.Ordered](x *Index, first, n, stride int, key func(View) K) bool {
	if x.seed == (maphash.Seed{}) {
		x.seed = maphash.MakeSeed()
	}
	size := 4
	for size < n+n/2 {
		size *= 2
	}
	if cap(x.table) < size {
		x.table = make([]uint32, size)
	}
	t := x.table[:size]
	clear(t)
	for i := range n {
		at := first + i*stride
		k := key(x.child(at))
		// Open addressing with steps of one: at most two thirds are taken.
		h := int(maphash.Comparable(x.seed, k) & uint64(size-1))
		for t[h] != 0 {
			if key(x.child(int(t[h]))) == k {
				return false
			}
			h = (h + 1) & (size - 1)
		}
		t[h] = uint32(at) // never 0: slot 0 is no element's
	}
	return true
}

// child returns the view of a list's element whose slots begin at at.
func (x *Index) child(at int) View {
	return View{x, x.slots[at], uint32(at) + 1}
}

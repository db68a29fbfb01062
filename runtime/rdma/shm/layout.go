package shm

import "fmt"

// layout says how an outbox is divided. Its owner chooses it, and its peer
// checks it. What different processors write lies on different pairs of cache
// lines, since processors fetch lines in pairs.
type layout struct {
	entries uint32 // of the ring, and receives that can be posted: a power of two
	arena   uint32 // bytes for messages that do not fit in an entry: a power of two
	slots   uint32 // keys that can be granted at one time
	longest uint32 // bytes of the longest message that the owner takes
}

// Where things are in an outbox, in bytes.
const (
	atPosted   = 128 // receives that the owner has posted, ever
	atConsumed = 136 // entries of the peer's ring that the owner has taken, ever
	atSleep    = 256 // odd while the owner sleeps and wants a doorbell for whatever comes
	atStarved  = 384 // odd while the owner wants a doorbell when the peer posts a receive
	atAccess   = 512 // odd while the owner is in the peer's memory
	atSlots    = 4096

	entrySize  = 64
	entryWords = entrySize / 8
	inlineMax  = 32 // bytes of a message that an entry holds itself

	maxEntries = 1 << 16
	maxArena   = 1 << 28
	maxSlots   = 1 << 14
)

// check refuses a layout that this package would not make.
func (l layout) check() error {
	switch {
	case l.entries == 0 || l.entries > maxEntries || l.entries&(l.entries-1) != 0,
		l.arena == 0 || l.arena > maxArena || l.arena&(l.arena-1) != 0,
		l.slots == 0 || l.slots > maxSlots,
		l.longest > l.arena/2:
		return fmt.Errorf("shm: the peer's outbox has an impossible shape: %d entries, %d bytes, %d keys, messages of %d",
			l.entries, l.arena, l.slots, l.longest)
	}
	return nil
}

// sizes is where the sizes of posted receives begin: four bytes each, by their number.
func (l layout) sizes() int { return (atSlots + int(l.slots)*8 + 4095) &^ 4095 }

// ring is where the entries begin.
func (l layout) ring() int { return (l.sizes() + int(l.entries)*4 + 4095) &^ 4095 }

// data is where the arena begins.
func (l layout) data() int { return l.ring() + int(l.entries)*entrySize }

// size is the size of the outbox in bytes: a multiple of 64 KiB, the largest
// page of the usual machines.
func (l layout) size() int { return (l.data() + int(l.arena) + 0xffff) &^ 0xffff }

// ceilPow2 is the least power of two that is at least n.
func ceilPow2(n int) uint32 {
	p := uint32(1)
	for int(p) < n && p < 1<<30 {
		p <<= 1
	}
	return p
}

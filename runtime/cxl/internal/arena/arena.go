// Package arena divides a range of bytes among those who ask for parts of it. It knows offsets only, and touches no memory: what is
// divided may be slow, shared, or broken.
//
// Free parts are kept in lists by size, two levels of them, each with a word that says which lists are not empty; so taking and
// giving back take the same time however many parts there are, and neighbours that are free become one at once.
// Source: M. Masmano et al., "TLSF: a new dynamic memory allocator for real-time systems", ECRTS 2004.
package arena

import (
	"errors"
	"fmt"
	"math/bits"
)

// Line is what offsets and sizes are multiples of: bytes of a cache line, so that two parts share none.
const Line = 64

const (
	secondBits = 4 // lists for each power of two
	seconds    = 1 << secondBits
	lineBits   = 6
	firsts     = 64 - lineBits
)

// none is no part.
const none = int32(-1)

// part is a piece of the range, free or taken. All parts together are the range.
type part struct {
	off, size    uint64
	before, next int32 // its neighbours
	prev, follow int32 // in the list of its size, where it is free
	free         bool
}

// Arena divides the bytes from 0 to its size. It is not safe for use by several goroutines at once.
type Arena struct {
	parts  []part
	spare  int32 // a list of entries of parts that stand for nothing, by follow
	lists  [firsts][seconds]int32
	first  uint64         // which rows of lists are not empty
	second [firsts]uint32 // and which lists in each
	free   uint64         // bytes
	taken  int            // parts
	whole  uint64
}

// ErrFull is what asking for more than there is in one piece gives.
var ErrFull = errors.New("there is no piece of that size")

// New is an arena of so many bytes, rounded down to lines.
func New(size uint64) *Arena {
	a := &Arena{spare: none, whole: size &^ (Line - 1)}
	for i := range a.lists {
		for j := range a.lists[i] {
			a.lists[i][j] = none
		}
	}
	if a.whole > 0 {
		p := a.make(0, a.whole, none, none)
		a.put(p)
	}
	return a
}

// Take takes size bytes whose offset is a multiple of align, a power of two. The offset and the name of the part, for Give, are
// what it gives. The error is [ErrFull].
func (a *Arena) Take(size, align uint64) (off uint64, name int32, err error) {
	if size == 0 || size > a.whole {
		return 0, none, a.full(size)
	}
	size = (size + Line - 1) &^ (Line - 1)
	room := size
	if align > Line {
		if room += align - Line; room < size {
			return 0, none, a.full(size)
		}
	}
	p := a.find(room)
	if p == none {
		return 0, none, a.full(size)
	}
	a.drop(p)
	if skip := -a.parts[p].off & (max(align, Line) - 1); skip > 0 {
		head := p
		p = a.split(head, skip)
		a.put(head)
	}
	if a.parts[p].size > size {
		a.put(a.split(p, size))
	}
	a.taken++
	return a.parts[p].off, p, nil
}

// Give gives a part back. It reports whether the name was that of one that was taken.
func (a *Arena) Give(name int32) bool {
	if name < 0 || int(name) >= len(a.parts) || a.parts[name].free || a.parts[name].size == 0 {
		return false
	}
	a.taken--
	p := name
	if b := a.parts[p].before; b != none && a.parts[b].free {
		a.drop(b)
		a.join(b, p)
		p = b
	}
	if n := a.parts[p].next; n != none && a.parts[n].free {
		a.drop(n)
		a.join(p, n)
	}
	a.put(p)
	return true
}

// Free is how many bytes are free, in all pieces.
func (a *Arena) Free() uint64 { return a.free }

// Taken is how many parts are taken.
func (a *Arena) Taken() int { return a.taken }

// Largest is the size of a largest free piece, to the list that it is in: none is larger than twice that.
func (a *Arena) Largest() (most uint64) {
	if a.first == 0 {
		return 0
	}
	i := 63 - bits.LeadingZeros64(a.first)
	j := 31 - bits.LeadingZeros32(a.second[i])
	for p := a.lists[i][j]; p != none; p = a.parts[p].follow {
		most = max(most, a.parts[p].size)
	}
	return most
}

func (a *Arena) full(size uint64) error {
	return fmt.Errorf("%d bytes of %d are free, the largest piece has %d, and %d are wanted: %w", a.free, a.whole, a.Largest(), size, ErrFull)
}

// listOf is the list of pieces of a size: all in it are at least as large as the list's least.
func listOf(size uint64) (i, j int) {
	n := size >> lineBits
	if n < seconds { // the first row has a list for each number of lines
		return 0, int(n)
	}
	top := bits.Len64(n) - 1
	return top - secondBits + 1, int(n>>(top-secondBits)) & (seconds - 1)
}

// find finds a free piece of at least a size.
func (a *Arena) find(size uint64) int32 {
	// From the next list on any piece will do.
	up := size
	if n := size >> lineBits; n >= seconds {
		up += 1<<(bits.Len64(size)-1-secondBits) - 1
	}
	if up >= size {
		i, j := listOf(up)
		if row := a.second[i] >> j << j; row != 0 {
			return a.lists[i][bits.TrailingZeros32(row)]
		}
		if rows := a.first >> (i + 1) << (i + 1); rows != 0 {
			i = bits.TrailingZeros64(rows)
			return a.lists[i][bits.TrailingZeros32(a.second[i])]
		}
	}
	// In its own list some may be large enough: looked at when there is nothing else.
	i, j := listOf(size)
	for p := a.lists[i][j]; p != none; p = a.parts[p].follow {
		if a.parts[p].size >= size {
			return p
		}
	}
	return none
}

// make has an entry for a part.
func (a *Arena) make(off, size uint64, before, next int32) int32 {
	p := a.spare
	if p == none {
		p = int32(len(a.parts))
		a.parts = append(a.parts, part{})
	} else {
		a.spare = a.parts[p].follow
	}
	a.parts[p] = part{off: off, size: size, before: before, next: next, prev: none, follow: none}
	return p
}

// split cuts a part that is in no list, and gives the piece behind.
func (a *Arena) split(p int32, size uint64) int32 {
	old := a.parts[p]
	n := a.make(old.off+size, old.size-size, p, old.next)
	if old.next != none {
		a.parts[old.next].before = n
	}
	a.parts[p].size, a.parts[p].next = size, n
	return n
}

// join puts n, which is behind p, to it.
func (a *Arena) join(p, n int32) {
	a.parts[p].size += a.parts[n].size
	a.parts[p].next = a.parts[n].next
	if a.parts[p].next != none {
		a.parts[a.parts[p].next].before = p
	}
	a.parts[n] = part{follow: a.spare}
	a.spare = n
}

// put puts a part into the list of its size.
func (a *Arena) put(p int32) {
	q := &a.parts[p]
	i, j := listOf(q.size)
	q.free, q.prev, q.follow = true, none, a.lists[i][j]
	if q.follow != none {
		a.parts[q.follow].prev = p
	}
	a.lists[i][j] = p
	a.first |= 1 << i
	a.second[i] |= 1 << j
	a.free += q.size
}

// drop takes a part out of its list.
func (a *Arena) drop(p int32) {
	q := &a.parts[p]
	i, j := listOf(q.size)
	if q.prev == none {
		a.lists[i][j] = q.follow
	} else {
		a.parts[q.prev].follow = q.follow
	}
	if q.follow != none {
		a.parts[q.follow].prev = q.prev
	}
	if a.lists[i][j] == none {
		if a.second[i] &^= 1 << j; a.second[i] == 0 {
			a.first &^= 1 << i
		}
	}
	q.free = false
	a.free -= q.size
}

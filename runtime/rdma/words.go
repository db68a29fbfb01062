package rdma

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
	"time"
	"unsafe"
)

// A connection's pool has lines of words, where sequences are read to and written from. Each call that
// moves whole elements has a line for itself.
const (
	wordLines   = 16
	wordsInLine = lineSize / 8
)

// words are which lines are free.
type words struct {
	mu   sync.Mutex
	free uint32        // one bit each
	left uint32        // given back while an operation may still be at work there
	last [wordLines]Op // that operation
}

// takeLine takes a free line.
func (p *pool) takeLine() (n int, ok bool) {
	w := &p.words
	w.mu.Lock()
	defer w.mu.Unlock()
	for left := w.left; w.free == 0 && left != 0; left &= left - 1 {
		n := bits.TrailingZeros32(left)
		if op := &w.last[n]; op.c.done(op.seq) {
			w.left &^= 1 << n
			w.free |= 1 << n
		}
	}
	if w.free == 0 {
		return 0, false
	}
	n = bits.TrailingZeros32(w.free)
	w.free &^= 1 << n
	return n, true
}

// giveLine gives a line back. Last is the last operation that was posted with it, if any.
func (p *pool) giveLine(n int, last Op) {
	w := &p.words
	w.mu.Lock()
	defer w.mu.Unlock()
	if last.c == nil || last.c.done(last.seq) {
		w.free |= 1 << n
		return
	}
	w.left |= 1 << n
	w.last[n] = last
}

// word is where a word of a line is.
func (p *pool) word(line, i int) unsafe.Pointer {
	return unsafe.Add(p.at(p.in+sendSlots), line*lineSize+8*i)
}

// loadWord and storeWord are for words that no operation has at the time.
func loadWord(p unsafe.Pointer) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice((*byte)(p), 8))
}

func storeWord(p unsafe.Pointer, v uint64) {
	binary.LittleEndian.PutUint64(unsafe.Slice((*byte)(p), 8), v)
}

// waitLine takes a line, when there is one. There is soon: who has one waits for a few operations at a time.
func (p *pool) waitLine(ctx context.Context) (int, error) {
	for {
		if n, ok := p.takeLine(); ok {
			return n, nil
		}
		if ctx.Err() != nil {
			return 0, fmt.Errorf("%d calls move whole elements on this connection, as many as can at once: %w", wordLines, over(ctx))
		}
		time.Sleep(50 * time.Microsecond)
	}
}

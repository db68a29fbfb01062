//go:build unix

package region

import "sync"

// yard is address ranges of released memory, which stay reserved without
// access: first in, first out, bounded by number and size.
type yard struct {
	mu    sync.Mutex
	spans []span
	bytes uintptr
}

const graveyardSpans = 256

// graveyardBytes is address space, not memory: 16 GiB, and 32 MiB where there are 32 bits of it.
const graveyardBytes = 32 << 20 << (9 * (^uintptr(0) >> 63))

var graveyard yard

// bury adds a range and gives those that must go for it.
func (y *yard) bury(s span) (out []span) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.spans = append(y.spans, s)
	y.bytes += s.size
	for len(y.spans) > graveyardSpans || y.bytes > graveyardBytes {
		out = append(out, y.spans[0])
		y.bytes -= y.spans[0].size
		y.spans = y.spans[1:]
	}
	return out
}

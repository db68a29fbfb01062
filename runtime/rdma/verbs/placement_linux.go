//go:build amd64 || arm64

package verbs

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// places is where the pages of memory were before it was pinned: the kernel moves long-term pins out of movable zones, and ignores
// the policy of the memory when it chooses where to (mm/gup.c). Every call succeeds.
type places struct {
	base  unsafe.Pointer
	count int              // pages
	pages []unsafe.Pointer // those that are looked at
	nodes []int32
}

// maxSampled bounds how many pages are looked at, spread evenly.
const maxSampled = 4096

// whereIs asks the kernel, for memory that was placed: that has a policy. Other memory may be anywhere, and is moved by the kernel
// as it likes. On a machine of one node there is nothing to ask. Source: move_pages(2), get_mempolicy(2).
func whereIs(base unsafe.Pointer, n int) *places {
	if !manyNodes() || !placed(base) {
		return nil
	}
	page := os.Getpagesize()
	from, pages := unsafe.Add(base, -int(uintptr(base)%uintptr(page))), (n+page-1)/page
	step := max((pages+maxSampled-1)/maxSampled, 1)
	p := &places{base: from, count: pages}
	for i := 0; i < pages; i += step {
		p.pages = append(p.pages, unsafe.Add(from, i*page))
	}
	var err error
	if p.nodes, err = mempolicy.NodesOf(p.pages); err != nil {
		return nil
	}
	return p
}

// placed reports whether memory, or this thread, has a policy that names nodes.
func placed(base unsafe.Pointer) bool {
	mode, _, err := mempolicy.PolicyOf(base)
	return err == nil && mode != mempolicy.Default && mode != mempolicy.Local
}

// moved is an error where pages have moved to another node.
func (p *places) moved() *lostError {
	if p == nil {
		return nil
	}
	e := &lostError{was: p}
	nodes, err := mempolicy.NodesOf(p.pages)
	if err != nil {
		return nil // it told before
	}
	for i, now := range nodes {
		if now >= 0 && p.nodes[i] >= 0 && now != p.nodes[i] {
			e.moved, e.from, e.to = e.moved+1, p.nodes[i], now
		}
	}
	if e.moved == 0 {
		return nil
	}
	return e
}

// lostError is memory that registering has moved.
type lostError struct {
	was      *places
	moved    int
	from, to int32
}

func (e *lostError) Error() string {
	return fmt.Sprintf("registering moved %d of %d pages that were looked at from node %d to node %d, since node %d is online as movable: bring it online as non-movable (daxctl reconfigure-device --mode=system-ram --no-movable), or use it as device-dax",
		e.moved, len(e.was.pages), e.from, e.to, e.from)
}

func (e *lostError) Unwrap() error { return barewire.ErrPlacementLost }

// restore moves the pages back, when they are not pinned any more. Pages that were not looked at go where those before them were.
func (e *lostError) restore() {
	const atOnce = 4096
	page, next, node := os.Getpagesize(), 0, e.from
	var pages []unsafe.Pointer
	var nodes []int32
	for i := range e.was.count {
		at := unsafe.Add(e.was.base, i*page)
		if next < len(e.was.pages) && e.was.pages[next] == at {
			if e.was.nodes[next] >= 0 {
				node = e.was.nodes[next]
			}
			next++
		}
		pages, nodes = append(pages, at), append(nodes, node)
		if len(pages) == atOnce || i == e.was.count-1 {
			_ = mempolicy.MoveEach(pages, nodes) // what does not go stays
			pages, nodes = pages[:0], nodes[:0]
		}
	}
}

// manyNodes reports whether memory can be at more than one node, as far as the machine had them when it was asked first.
var manyNodes = sync.OnceValue(func() bool {
	b, err := os.ReadFile("/sys/devices/system/node/possible")
	return err == nil && strings.ContainsAny(string(b), "-,")
})

package cxl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/cxl/internal/arena"
	"github.com/fidelityframework/barewire-gen/runtime/internal/fault"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// Pool is memory behind CXL that regions are made of. It may be used from several goroutines. A nil pool, as a zero one, is one of a machine without
// CXL: places with a fallback still give memory.
//
// Regions begin at cache lines of their own, and each is followed by a line that is a guard: it has a pattern, which is looked at when
// the region is closed. Go code by windows does not reach it; devices and C code that were given an address may. Regions of a pool have no pages
// without access around them, as others have, and a closed one's addresses are given out again.
//
//barewire:type handle
type Pool struct {
	from   Origin
	mem    backing
	guard  uint64 // bytes behind each region
	guards uint64 // the pattern, and each guard's offset in it

	mu     sync.Mutex
	arena  *arena.Arena
	used   uint64 // the first byte that was never given out
	live   map[int32]*lease
	closed bool
	stats  Stats
}

// Origin is what memory a pool is of.
type Origin struct {
	Device string // dax0.0; empty for a node
	Node   int    // of NUMA: the pool's, or the one that the device belongs to; -1 where it belongs to none
	Kind   string // as platform.MemoryKind says
	Offset uint64 // of the pool in the device, bytes
	Size   uint64 // bytes
	Align  uint64 // that mappings of the device have
	// Assumed says that it is CXL's by [Assume] only.
	Assumed bool
	// Tag is the UUID by which an allocation of dynamic capacity is known, or of a persistent region; empty where there is none.
	Tag string
}

// String names the memory.
func (o Origin) String() string {
	if o.Device == "" {
		return fmt.Sprintf("node %d", o.Node)
	}
	return fmt.Sprintf("%s from %#x on", o.Device, o.Offset)
}

// backing is the memory of a pool.
type backing interface {
	base() unsafe.Pointer
	// ready has memory there before it is given out, and reports whether what nobody had before is zero.
	ready(off, size uint64) (zero bool, err error)
	nodes() func() []int // see region.Given
	noFile() error
	close() error
}

// lease is a part of a pool that a region has.
type lease struct {
	off, size uint64
	h         *region.Handle
}

// Stats is how a pool is used. Sizes are bytes.
type Stats struct {
	Size    uint64 // of the pool
	Used    uint64 // by regions, with guards
	Free    uint64
	Largest uint64 // free in one piece
	Peak    uint64 // of Used
	Regions int
	Given   uint64 // regions ever made
	Refused uint64 // that there was no room for
	// Bad is memory that failed when it was made zero, and is not given out again.
	Bad uint64
}

// newPool divides memory.
func newPool(c *config, from Origin, mem backing) *Pool {
	p := &Pool{from: from, mem: mem, arena: arena.New(from.Size), live: map[int32]*lease{}, guard: arena.Line, guards: 0x5afe_11e5_ca5e_0000}
	if c.unguarded {
		p.guard = 0
	}
	p.stats.Size = from.Size
	return p
}

// none reports whether there is no pool: a nil pointer, or a zero value, which is taken for one.
func (p *Pool) none() bool { return p == nil || p.mem == nil }

// Origin says what memory the pool is of.
//
//barewire:effect looks=p
func (p *Pool) Origin() Origin {
	if p.none() {
		return Origin{Node: -1}
	}
	return p.from
}

// Tag is [Origin.Tag].
//
//barewire:effect looks=p
func (p *Pool) Tag() string { return p.Origin().Tag }

// String names the pool.
//
//barewire:effect looks=p
func (p *Pool) String() string {
	if p.none() {
		return "no pool"
	}
	return "pool on " + p.from.String()
}

// Stats says how the pool is used.
//
//barewire:effect looks=p
func (p *Pool) Stats() Stats {
	if p.none() {
		return Stats{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Free, s.Largest, s.Regions = p.arena.Free(), p.arena.Largest(), len(p.live)
	s.Used = s.Size - s.Free - s.Bad
	return s
}

// Close gives the memory back, and ends the claim. It fails while regions of the pool are not closed, and leaves it as it is: the error is
// a [*LeakError], which names them.
//
//barewire:effect releases=p on ok
func (p *Pool) Close() error {
	if p.none() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	if len(p.live) > 0 {
		return p.leaks()
	}
	p.closed = true
	if err := p.mem.close(); err != nil {
		return fmt.Errorf("cxl: close: %s: the system did not take it back: %w", p, err)
	}
	return nil
}

// LeakError is what closing a pool gives that has regions.
type LeakError struct {
	Pool    string
	Regions []string // as errors name them, with where each was made
	Bytes   uint64
}

// Error names the regions, and a few only where there are many.
func (e *LeakError) Error() string {
	const some = 8
	list := e.Regions[:min(len(e.Regions), some)]
	more := ""
	if n := len(e.Regions) - len(list); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	regions := "1 region"
	if n := len(e.Regions); n != 1 {
		regions = fmt.Sprintf("%d regions", n)
	}
	return fmt.Sprintf("cxl: close: %s: close first %s with %d bytes: %s%s", e.Pool, regions, e.Bytes, strings.Join(list, "; "), more)
}

// Unwrap is [ErrInUse].
func (e *LeakError) Unwrap() error { return ErrInUse }

// leaks is the error of regions that are left. The lock is held.
func (p *Pool) leaks() error {
	e := &LeakError{Pool: p.String()}
	left := slices.Collect(maps.Values(p.live))
	sort.Slice(left, func(i, j int) bool { return left[i].off < left[j].off })
	for _, l := range left {
		name := "a region that is being made"
		if l.h != nil {
			name = l.h.Name()
		}
		e.Regions = append(e.Regions, name)
		e.Bytes += l.size
	}
	return e
}

// give takes memory for a region, makes it zero, and has the region's handle.
func (p *Pool) give(spec region.Spec) (*region.Handle, error) {
	size, err := spec.Bytes()
	if err != nil {
		return nil, err
	}
	if p.none() {
		return nil, region.Refused(spec, ErrNoCXL)
	}
	name, l, err := p.take(uint64(size), spec.Type.Align)
	if err != nil {
		return nil, region.Refused(spec, fmt.Errorf("%s: %w", p, err))
	}
	h, err := region.Adopt(spec, region.Given{
		Base: p.at(l.off), Size: size, NoFile: p.mem.noFile(), Nodes: p.mem.nodes(),
		Release: func() error { return p.release(name) },
	})
	if err != nil {
		return nil, errors.Join(err, p.release(name))
	}
	p.mu.Lock()
	l.h = h
	p.mu.Unlock()
	return h, nil
}

// at is where an offset is in memory.
func (p *Pool) at(off uint64) unsafe.Pointer { return unsafe.Add(p.mem.base(), off) }

// bytes is a range of the pool.
func (p *Pool) bytes(off, n uint64) []byte { return unsafe.Slice((*byte)(p.at(off)), n) }

// take has zeroed memory, and its guard.
func (p *Pool) take(size, align uint64) (int32, *lease, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, nil, errors.New("it is closed")
	}
	if most := uint64(1) << 21; align > most {
		return 0, nil, fmt.Errorf("the type is aligned to %d, and pools are to %d: %w", align, most, ErrPart)
	}
	off, name, err := p.arena.Take(size+p.guard, align)
	if err != nil {
		p.stats.Refused++
		return 0, nil, fmt.Errorf("%w: %w", ErrFull, err)
	}
	total := (size + p.guard + arena.Line - 1) &^ (arena.Line - 1)
	if err := p.prepare(off, size, total); err != nil {
		var f *fault.Error
		if errors.As(err, &f) { // it stays taken, so that nobody is given it
			p.stats.Bad += total
		} else {
			p.arena.Give(name)
		}
		p.stats.Refused++
		return 0, nil, err
	}
	l := &lease{off: off, size: size}
	p.live[name] = l
	p.stats.Given++
	p.stats.Peak = max(p.stats.Peak, p.stats.Size-p.arena.Free()-p.stats.Bad)
	return name, l, nil
}

// prepare makes memory zero and writes its guard.
func (p *Pool) prepare(off, size, total uint64) error {
	zero, err := p.mem.ready(off, total)
	if err != nil {
		return err
	}
	dirty := off + size
	if zero {
		dirty = min(dirty, max(p.used, off))
	}
	p.used = max(p.used, off+total)
	g := p.pattern(off)
	return fault.Try(p.bytes(off, total), func() {
		clear(p.bytes(off, dirty-off))
		copy(p.bytes(off+size, p.guard), g[:])
	})
}

// pattern is what the guard of the region at an offset has.
func (p *Pool) pattern(off uint64) (g [arena.Line]byte) {
	for i := 0; i < len(g); i += 8 {
		binary.LittleEndian.PutUint64(g[i:], p.guards^off^uint64(i))
	}
	return g
}

// release takes memory back, and looks at its guard.
func (p *Pool) release(name int32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.live[name]
	if l == nil {
		return fmt.Errorf("cxl: %s has no such region", p)
	}
	delete(p.live, name)
	var err error
	if p.guard > 0 {
		var is [arena.Line]byte
		want := p.pattern(l.off)
		err = fault.Read(is[:], p.bytes(l.off+l.size, p.guard))
		if at := differs(is[:], want[:]); err == nil && at >= 0 {
			err = fmt.Errorf("cxl: %s: byte %d behind the region's %d: %w", p, at, l.size, ErrGuard)
		}
	}
	p.arena.Give(name)
	return err
}

// differs is the first byte that is another one, or -1.
func differs(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/bench/regions"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/numa"
)

const packet = 64

var page = os.Getpagesize()

// touch writes to each page.
func touch(b []byte) {
	for i := 0; i < len(b); i += page {
		b[i] = 1
	}
}

// times does something so many times.
func times(f func() error) func(int) error {
	return func(n int) error {
		for range n {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}
}

// mapped is mmap(2) alone.
func mapped(size int, use func([]byte)) func() error {
	return func() error {
		b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return err
		}
		use(b)
		return unix.Munmap(b)
	}
}

// made is Go's make.
func made(size int, use func([]byte)) func() error {
	return func() error {
		b := make([]byte, size)
		use(b)
		runtime.KeepAlive(b) // it is not left out
		return nil
	}
}

// fresh is make of memory that the program does not have yet: what it gave back was given to the system.
func fresh(size int, use func([]byte)) func() error {
	do := made(size, use)
	return func() error {
		err := do()
		debug.FreeOSMemory()
		return err
	}
}

// region is an allocator of ours.
func region[R barewire.HostAddressable](use func([]byte), alloc func() (*barewire.Region[regions.Packet, R, barewire.Unregistered], error)) func() error {
	return func() error {
		r, err := alloc()
		if err != nil {
			return err
		}
		if use == nil {
			return r.Close()
		}
		w, err := barewire.Open(r)
		if err != nil {
			return err
		}
		for i := 0; i < w.Len(); i += page / packet {
			regions.PacketAt(w, i).SetSeq(1)
		}
		return errors.Join(w.Close(), r.Close())
	}
}

func nothing([]byte) {}

// human is a size in words.
func human(n int) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// allocations are beside mmap and make.
func allocations(quick bool) (all []*table, err error) {
	node := 0
	if r, err := numa.Local(regions.PacketInNUMA(), 1); err == nil {
		p, perr := barewire.Placement(r)
		node = max(p.Node, 0)
		if err := errors.Join(perr, r.Close()); err != nil {
			return nil, err
		}
	} else {
		return nil, fmt.Errorf("memory cannot be placed here: %w", err)
	}
	sizes := []int{4 << 10, 64 << 10, 1 << 20, 16 << 20, 128 << 20, 1 << 30}
	if quick {
		sizes = sizes[:3]
	}
	for _, size := range sizes {
		n := size / packet
		news := func() (*barewire.Region[regions.Packet, barewire.CPU, barewire.Unregistered], error) {
			return barewire.New(regions.PacketInCPU(), n)
		}
		all = append(all,
			&table{title: "allocate and free " + human(size) + ", not touched", ours: 2, rows: []*row{
				by("mmap, munmap", times(mapped(size, nothing))),
				by("make", times(made(size, nothing))),
				by("barewire.New", times(region(nil, news))),
			}},
			&table{title: "allocate, touch and free " + human(size), ours: 3, rows: []*row{
				by("mmap, munmap", times(mapped(size, touch))),
				by("make, again", times(made(size, touch))),
				by("make, of the system", times(fresh(size, touch))),
				by("barewire.New", times(region(touch, news))),
				by("with HugePages", times(region(touch, func() (*barewire.Region[regions.Packet, barewire.CPU, barewire.Unregistered], error) {
					return barewire.New(regions.PacketInCPU(), n, barewire.HugePages())
				}))),
				by("numa.New, looked for", times(region(touch, func() (*barewire.Region[regions.Packet, barewire.NUMA, barewire.Unregistered], error) {
					return numa.New(node, regions.PacketInNUMA(), n)
				}))),
			}})
	}
	return all, nil
}

// pool is of 1 GiB of the machine's memory.
func pool() (*cxl.Pool, error) {
	return cxl.Open(context.Background(), cxl.Node(0), cxl.Assume(), cxl.Size(1<<30))
}

// pools are beside make, the pool empty, half full, and nearly full, in pieces.
func pools(quick bool) (all []*table, err error) {
	sizes := []int{4 << 10, 64 << 10, 1 << 20}
	if quick {
		sizes = sizes[:1]
	}
	for _, size := range sizes {
		t := &table{title: "a region of " + human(size) + " out of a pool, and back", ours: 1, rows: []*row{by("make", times(made(size, nothing)))}}
		for _, full := range []int{0, 50, 90} {
			p, err := pool()
			if err != nil {
				return nil, err
			}
			filled, err := fill(p, full)
			if err != nil {
				return nil, errors.Join(err, p.Close())
			}
			alloc := func() (*barewire.Region[regions.Packet, barewire.CXL, barewire.Unregistered], error) {
				return cxl.New(p, regions.PacketInCXL(), size/packet)
			}
			t.rows = append(t.rows, by(fmt.Sprintf("cxl.New, %d %% full", full), times(region(nil, alloc))))
			t.close = append(t.close, func() error {
				for _, r := range filled {
					if err := r.Close(); err != nil {
						return err
					}
				}
				return p.Close()
			})
		}
		all = append(all, t)
	}
	return all, nil
}

// fill takes regions of 192 KiB until so many percent are taken, with holes of that size.
func fill(p *cxl.Pool, percent int) (kept []*barewire.Region[regions.Packet, barewire.CXL, barewire.Unregistered], err error) {
	const size = 192 << 10
	var holes []*barewire.Region[regions.Packet, barewire.CXL, barewire.Unregistered]
	for s := p.Stats(); s.Used < s.Size/100*uint64(percent); s = p.Stats() {
		r, err := cxl.New(p, regions.PacketInCXL(), size/packet)
		if err != nil {
			return nil, err
		}
		if kept = append(kept, r); len(kept)%8 != 0 {
			continue
		}
		if r, err = cxl.New(p, regions.PacketInCXL(), size/packet); err != nil {
			return nil, err
		}
		holes = append(holes, r)
	}
	for _, r := range holes {
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// loops are over elements, wherever they lie: so few that they stay in the nearest cache, and so many that they do not.
func loops(quick bool) (all []*table, err error) {
	sizes := []int{256, 4096}
	if quick {
		sizes = sizes[:1]
	}
	for _, elements := range sizes {
		for _, u := range uses {
			t, err := u.table(elements)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// table is of one use of so many elements.
func (u *use) table(elements int) (*table, error) {
	t := &table{title: fmt.Sprintf("%s of each of %d elements", u.name, elements), ours: 2, most: 1.1}
	t.rows = append(t.rows, over("a slice of Go's", make([]regions.Packet, elements), u.slices))
	p, err := pool()
	if err != nil {
		return nil, err
	}
	return t, errors.Join(
		u.add(t, "cpu", held(barewire.New(regions.PacketInCPU(), elements))),
		u.add(t, "numa", held(numa.Local(regions.PacketInNUMA(), elements))),
		u.add(t, "cxl", held(cxl.New(p, regions.PacketInCXL(), elements))),
		u.add(t, "unified", held(cxl.New(nil, regions.PacketInCXLOrUnified(), elements))),
		u.add(t, "huge pages", held(barewire.New(regions.PacketInCPU(), elements, barewire.HugePages()))),
		closing(t, p.Close),
	)
}

// memory is a window on a region, a slice of its elements, and what closes both.
type memory struct {
	w     window
	in    []regions.Packet
	close func() error
}

// held opens a region.
func held[R barewire.HostAddressable](r *barewire.Region[regions.Packet, R, barewire.Unregistered], err error) func() (memory, error) {
	return func() (m memory, _ error) {
		if err != nil {
			return m, err
		}
		if m.w, err = barewire.Open(r); err != nil {
			return m, errors.Join(err, r.Close())
		}
		m.close = func() error { return errors.Join(m.w.Close(), r.Close()) }
		if m.in, err = barewire.Slice(m.w); err != nil {
			return m, errors.Join(err, m.close())
		}
		return m, nil
	}
}

// add adds a row over a slice in a region's memory, and one over a window on it, which is held to it: how long memory takes hangs on where
// it lies, for a slice of Go's, too.
func (u *use) add(t *table, name string, open func() (memory, error)) error {
	m, err := open()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	bare, ours := over("a slice, "+name, m.in, u.slices), over("a window, "+name, m.w, u.windows)
	ours.to = bare
	t.rows = append(t.rows, bare, ours)
	return closing(t, m.close)
}

// closing adds what is closed after the table.
func closing(t *table, f func() error) error {
	t.close = append(t.close, f)
	return nil
}

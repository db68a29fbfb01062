package region

import (
	"errors"
	"fmt"
	"math"
	"os"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// Given is memory that an allocator has made, of another kind than this package's own: at a node, of a device, a GPU's.
type Given struct {
	// Base is where it begins, aligned as the type wants. Where this processor cannot reach the memory (Opaque) it is
	// the address by which its device calls it, or one of a reservation without access: spans are counted from it, and
	// nobody touches what it points to. It is never nil.
	Base unsafe.Pointer
	Size uintptr // bytes, as many as the elements take at least
	// Opaque says that this processor cannot load from the memory or store to it.
	Opaque bool
	// File returns the file that the memory is a shared mapping of, and the offset there; nil: it has none. The
	// file stays the allocator's.
	File func() (*os.File, int64, error)
	// NoFile says why it has none.
	NoFile error
	// Nodes are the nodes of NUMA where the memory lies now, where the system does not know it by its pages, as of
	// device-dax; nil: the system is asked.
	Nodes func() []int
	// DMABuf exports the memory for other devices; nil: it cannot be.
	DMABuf func() (DMABuf, error)
	// Release gives the memory back. It is called once, when the last handle has gone; nil: there is nothing to do.
	Release func() error
}

// DMABuf is memory as the kernel shares it between devices. Source: the kernel's Documentation/driver-api/dma-buf.rst.
type DMABuf struct {
	File *os.File // whoever asked for it closes it, when the importing device has it
	Off  uint64   // bytes from its beginning to that of the memory
}

// errNoDMABuf is why memory has no dma-buf: whoever made it said so.
var errNoDMABuf = fmt.Errorf("it is not memory of a device that exports any: %w", errors.ErrUnsupported)

// Adopt gives the first handle of memory that an allocator has made. After an error the memory is still the allocator's.
func Adopt(spec Spec, g Given) (*Handle, error) {
	made := where.Quick()
	t := spec.Type
	fail := func(detail string) error {
		return &Error{Op: "new", Region: spec.Name, Type: t.Name, Made: made.String(), Detail: detail, Err: ErrRange}
	}
	align := max(t.Align, 1)
	switch {
	case t.Size == 0 || align&(align-1) != 0:
		return nil, fail(fmt.Sprintf("the type says %d bytes aligned to %d: generate it again", t.Size, t.Align))
	case spec.Count <= 0:
		return nil, fail(fmt.Sprintf("%d elements; a region has at least one", spec.Count))
	case uint64(spec.Count) > math.MaxInt/uint64(t.Size) || uintptr(spec.Count)*uintptr(t.Size) > g.Size:
		return nil, fail(fmt.Sprintf("%s of %d bytes do not fit into %d bytes", Elements(spec.Count), t.Size, g.Size))
	case g.Base == nil || uintptr(g.Base)%uintptr(align) != 0:
		return nil, fail(fmt.Sprintf("its memory is at %#x, which is not aligned to %d", uintptr(g.Base), align))
	}
	if g.NoFile == nil {
		g.NoFile = errors.New("its allocator gave it none")
	}
	b := &Block{typ: t, count: spec.Count, name: spec.Name, spec: spec, given: g}
	b.mem = memory{base: g.Base, size: g.Size, given: &b.given, noFile: g.NoFile}
	if err := b.reserve(made); err != nil {
		return nil, err
	}
	b.refs.Store(1)
	return newHandle(b, made), nil
}

// Opaque reports whether this processor cannot reach the memory.
func (h *Handle) Opaque() bool {
	g := h.block.mem.given
	return g != nil && g.Opaque
}

// DMABuf exports the memory for another device. The file is the caller's to close. The error wraps
// [errors.ErrUnsupported] where the memory is none that can be exported.
func (h *Handle) DMABuf() (DMABuf, error) {
	g := h.block.mem.given
	if g == nil || g.DMABuf == nil {
		return DMABuf{}, fmt.Errorf("%s has no dma-buf: %w", h.Name(), errNoDMABuf)
	}
	d, err := g.DMABuf()
	if err != nil {
		return DMABuf{}, fmt.Errorf("%s has no dma-buf: %w", h.Name(), err)
	}
	return d, nil
}

// release gives memory back to who gave it.
func (g *Given) release() error {
	if g.Release == nil {
		return nil
	}
	return g.Release()
}

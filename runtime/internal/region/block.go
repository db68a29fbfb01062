package region

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// Block is memory for elements of a type. The handles that stand for it are
// counted: with the last one it goes.
type Block struct {
	typ   *Type
	count int
	name  string // as given by its owner; may be empty
	spec  Spec   // as it was asked for
	refs  atomic.Int32
	mem   memory // changes only in Share and Renew
	given Given  // that mem is, where an allocator made it

	release func() // gives the memory back to the quota

	exposed atomic.Bool // somebody who is not trusted was given the file
}

// Spec is what memory is wanted.
type Spec struct {
	Type  *Type
	Count int
	Name  string // for errors; may be empty
	Huge  bool   // huge pages, where there are any

	// Home is the residency, as package barewire numbers them; 0 is the machine's own memory.
	Home uint8
	// Prepare is called on each new mapping before anybody touches it, when the region is made and when
	// its elements move to memory with a file: it places them. An error is [ErrPlace]. Memory with it is
	// mapped under the race detector, too.
	Prepare func(base unsafe.Pointer, size uintptr) error
	// Why says why the memory is not where it was wanted first; empty where it is.
	Why string
	// Quota counts the memory; nil: nobody does.
	Quota Quota
	// MayLie refuses nodes that memory must not be placed at; nil: none. Allocators at nodes ask it.
	MayLie func(node int) error
	// MustHuge refuses memory without reserved huge pages, where it is not on the Go heap.
	MustHuge bool
	// Extra belongs to the package that the residency is of; it is not looked at here.
	Extra any
}

// Quota is a bound on memory that allocations share. Release gives back what Reserve counted, when the memory goes.
type Quota interface {
	Reserve(bytes uint64) (release func(), err error)
}

// reserve counts the block's memory.
func (b *Block) reserve(made where.Mark) (err error) {
	b.release = func() {}
	if b.spec.Quota == nil {
		return nil
	}
	release, err := b.spec.Quota.Reserve(uint64(b.bytes()))
	if err != nil {
		return &Error{Op: "new", Region: b.name, Type: b.typ.Name, Made: made.String(), Err: ErrNoMemory, Cause: err}
	}
	b.release = release
	return nil
}

// Huge says what pages memory has.
type Huge uint8

// The pages: ordinary ones; huge ones where the kernel can (MADV_HUGEPAGE); huge
// ones reserved for it (MFD_HUGETLB).
const (
	NotHuge Huge = iota
	HugeAdvised
	HugeReserved
)

// memory is a mapping or a piece of the heap.
type memory struct {
	base   unsafe.Pointer
	size   uintptr  // bytes that may be touched, a multiple of the page
	file   *os.File // that it is a shared mapping of, from offset 0; nil where there is none
	noFile error    // why there is none
	huge   Huge
	whole  span     // the reservation around it
	heap   []uint64 // instead of a mapping
	given  *Given   // instead of either: it is an allocator's, see Adopt
}

// span is a range of address space.
type span struct {
	base unsafe.Pointer
	size uintptr
}

// ask is what memory is asked for of the system: sizes are multiples of the page.
type ask struct {
	size, align uintptr
	huge        bool
	tried       bool // there are no reserved huge pages for it
	name        string
	prepare     func(base unsafe.Pointer, size uintptr) error // see Spec
}

// New allocates zeroed memory for spec.Count elements, and gives its first handle.
func New(spec Spec) (*Handle, error) {
	made := where.Quick()
	t := spec.Type
	b := &Block{typ: t, count: spec.Count, name: spec.Name, spec: spec}
	fail := func(why error, detail string) error {
		return &Error{Op: "new", Region: spec.Name, Type: t.Name, Made: made.String(), Detail: detail, Err: why}
	}
	if t.Size == 0 || t.Align&(t.Align-1) != 0 {
		return nil, fail(ErrRange, fmt.Sprintf("the type says %d bytes aligned to %d: generate it again", t.Size, t.Align))
	}
	if spec.Count <= 0 {
		return nil, fail(ErrRange, fmt.Sprintf("%d elements; a region has at least one", spec.Count))
	}
	if uint64(spec.Count) > (math.MaxInt-maxPage)/t.Size {
		return nil, fail(ErrNoMemory, fmt.Sprintf("%s of %d bytes: more than a process can address", Elements(spec.Count), t.Size))
	}
	// Systems promise memory that they do not have, and end the process when it is used.
	if most := machineMemory(); most > 0 && uint64(spec.Count) > most/t.Size {
		return nil, fail(ErrNoMemory, fmt.Sprintf("%s of %d bytes: more than the %d MiB of the machine", Elements(spec.Count), t.Size, most>>20))
	}
	if err := b.reserve(made); err != nil {
		return nil, err
	}
	mem, err := obtain(b.ask())
	if err == nil && spec.MustHuge && mem.heap == nil && mem.huge != HugeReserved {
		err = errors.Join(errors.New("there are no huge pages left for it, and it must have them"), mem.release())
	}
	var place *placeError
	switch {
	case errors.As(err, &place):
		b.release()
		return nil, refused(spec, made, place.why)
	case err != nil:
		b.release()
		return nil, fail(ErrNoMemory, err.Error())
	}
	b.mem = mem
	b.refs.Store(1)
	return newHandle(b, made), nil
}

// Refused is the error of memory that cannot be had where it was wanted, for allocators: [ErrPlace], and why.
func Refused(spec Spec, why error) error { return refused(spec, where.Here(), why) }

func refused(spec Spec, made where.Mark, why error) error {
	return &Error{Op: "new", Region: spec.Name, Type: spec.Type.Name, Made: made.String(), Err: ErrPlace, Cause: why}
}

// Bytes is what the elements take, for allocators that make the memory before they call [Adopt].
func (s Spec) Bytes() (uintptr, error) {
	t, why, detail := s.Type, ErrRange, ""
	switch {
	case t.Size == 0 || t.Align&(t.Align-1) != 0:
		detail = fmt.Sprintf("the type says %d bytes aligned to %d: generate it again", t.Size, t.Align)
	case s.Count <= 0:
		detail = fmt.Sprintf("%d elements; a region has at least one", s.Count)
	case uint64(s.Count) > (math.MaxInt-maxPage)/t.Size:
		why, detail = ErrNoMemory, fmt.Sprintf("%s of %d bytes: more than a process can address", Elements(s.Count), t.Size)
	default:
		return uintptr(s.Count) * uintptr(t.Size), nil
	}
	return 0, &Error{Op: "new", Region: s.Name, Type: t.Name, Made: where.Here().String(), Detail: detail, Err: why}
}

// placeError is memory that cannot be had where it was wanted.
type placeError struct{ why error }

func (e *placeError) Error() string { return e.why.Error() }

func (e *placeError) Unwrap() error { return e.why }

// maxPage is more than any page that memory is rounded to.
const maxPage = 1 << 30

// ref counts another handle. It fails where the memory is gone.
func (b *Block) ref() bool {
	for {
		n := b.refs.Load()
		if n == 0 || n == math.MaxInt32 {
			return false
		}
		if b.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// unref gives a handle's share up.
func (b *Block) unref() error {
	if b.refs.Add(-1) > 0 {
		return nil
	}
	mem := b.mem
	b.mem = memory{size: mem.size, noFile: errReleased}
	defer b.release()
	if mem.given != nil {
		return mem.given.release()
	}
	return mem.release()
}

var errReleased = errors.New("the memory was released")

// bytes is what the elements take.
func (b *Block) bytes() uintptr { return uintptr(b.count) * uintptr(b.typ.Size) }

// ask is what the system was asked for the memory.
func (b *Block) ask() ask {
	a := ask{size: b.bytes(), align: uintptr(max(b.typ.Align, 1)), huge: b.spec.Huge, name: b.name, prepare: b.spec.Prepare}
	if a.name == "" {
		a.name = b.typ.Name
	}
	return a
}

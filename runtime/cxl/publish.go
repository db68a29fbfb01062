package cxl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/fault"
	"github.com/fidelityframework/barewire-gen/runtime/internal/flush"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// Before each element is its head, a line:
//
//	 0  sequence: 0 never published; odd while it is written; else even, and it grows by two each time
//	 8  checksum, CRC-32C, of the sequence and the element
//	16  the first half of the schema's hash
//	32  size of the element, u32
//
// All little-endian; the rest is zero.
const (
	headSeq  = 0
	headSum  = 8
	headHash = 16
	headSize = 32
)

// strideOf is from one head to the next.
func strideOf(size uint64) uint64 { return flush.Line + (size+flush.Line-1)&^(flush.Line-1) }

// cache is what a host does with its caches. Tests have one that is not coherent with the others.
type cache interface {
	clean(p unsafe.Pointer, n int) // what was stored is in memory, before what is stored later
	drop(p unsafe.Pointer, n int)  // what is loaded later comes from memory
}

// hardware is this processor's.
type hardware struct{}

func (hardware) clean(p unsafe.Pointer, n int) { flush.Clean(p, n) }
func (hardware) drop(p unsafe.Pointer, n int)  { flush.Drop(p, n) }

// shared is elements that several hosts see.
type shared struct {
	base   unsafe.Pointer
	typ    *region.Type
	count  int
	stride uintptr
	role   Role
	cache  cache

	mu   sync.Mutex
	last []uint64 // by element of the role: the sequence that it was published with; 0: not yet
	seen []atomic.Uint64
}

func newShared(base unsafe.Pointer, spec region.Spec, role Role, c cache) *shared {
	return &shared{
		base: base, typ: spec.Type, count: spec.Count, stride: uintptr(strideOf(spec.Type.Size)), role: role, cache: c,
		last: make([]uint64, role.count), seen: make([]atomic.Uint64, spec.Count),
	}
}

func (s *shared) head(i int) unsafe.Pointer { return unsafe.Add(s.base, uintptr(i)*s.stride) }

func (s *shared) body(i int) unsafe.Pointer { return unsafe.Add(s.head(i), flush.Line) }

func (s *shared) slot(i int) []byte { return unsafe.Slice((*byte)(s.head(i)), s.stride) }

func word(head unsafe.Pointer, off int) *uint64 { return (*uint64)(unsafe.Add(head, off)) }

// le is a number as it is stored, or a stored one as a number.
func le(x uint64) uint64 {
	if wire.LittleEndian {
		return x
	}
	return bits.ReverseBytes64(x)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the checksum of an element and its sequence.
func sum(seq uint64, b []byte) uint64 {
	var s [8]byte
	binary.LittleEndian.PutUint64(s[:], seq)
	return uint64(crc32.Update(crc32.Update(0, castagnoli, s[:]), castagnoli, b))
}

// halfway is called when half of an element is written, in tests.
var halfway func()

// publish writes an element.
func (s *shared) publish(i int, b []byte) (seq uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	head, mine := s.head(i), i-s.role.first
	err = fault.Try(s.slot(i), func() {
		s.cache.drop(head, flush.Line)
		seq = le(atomic.LoadUint64(word(head, headSeq)))
	})
	switch last := s.last[mine]; {
	case err != nil:
		return 0, err
	case last != 0 && seq != last && seq != last+1: // it is one more where a write of ours failed
		return 0, fmt.Errorf("its sequence is %d, and %d was written: %w", seq, last, ErrTwoWriters)
	case last == 0 && !s.ours(head):
		seq = 0 // memory that nobody has written to, or somebody else
	}
	seq = seq &^ 1 // who was in the midst of it has ended
	err = fault.Try(s.slot(i), func() { s.write(i, seq+2, b) })
	if err != nil {
		return 0, err
	}
	s.last[mine] = seq + 2
	return seq + 2, nil
}

// ours reports whether a head is one of this schema's.
func (s *shared) ours(head unsafe.Pointer) bool {
	size := uint64(s.typ.Size)
	return *(*[16]byte)(unsafe.Add(head, headHash)) == [16]byte(s.typ.Hash[:16]) && le(atomic.LoadUint64(word(head, headSize))) == size
}

// write stores an element, in the order that readers rely on.
func (s *shared) write(i int, seq uint64, b []byte) {
	head, body := s.head(i), s.body(i)
	atomic.StoreUint64(word(head, headSeq), le(seq-1))
	s.cache.clean(head, flush.Line)
	half := len(b) / 16 * 8
	barewire.StoreWords(body, b[:half])
	if halfway != nil {
		s.cache.clean(body, max(half, 1))
		halfway()
	}
	barewire.StoreWords(unsafe.Add(body, half), b[half:])
	s.cache.clean(body, len(b))
	*(*[16]byte)(unsafe.Add(head, headHash)) = [16]byte(s.typ.Hash[:16])
	atomic.StoreUint64(word(head, headSize), le(s.typ.Size))
	atomic.StoreUint64(word(head, headSum), le(sum(seq, b)))
	atomic.StoreUint64(word(head, headSeq), le(seq))
	s.cache.clean(head, flush.Line)
}

// patience is how long a reader tries: a writer that the system has put to sleep takes milliseconds, and longer is one that died.
const patience = time.Second

// snapshot copies an element that was published, by since at the earliest.
func (s *shared) snapshot(i int, dst []byte, since uint64) (seq uint64, err error) {
	began := time.Time{}
	for try := 0; ; try++ {
		if ferr := fault.Try(s.slot(i), func() { seq, err = s.read(i, dst) }); ferr != nil {
			return 0, ferr
		}
		least := max(since, s.seen[i].Load())
		if err == nil && seq < least {
			err = fmt.Errorf("its sequence is %d, and %d was seen or is wanted: %w", seq, least, ErrStale)
		}
		switch {
		case err == nil:
			for seen := s.seen[i].Load(); seen < seq && !s.seen[i].CompareAndSwap(seen, seq); seen = s.seen[i].Load() {
			}
			return seq, nil
		case errors.Is(err, ErrUnpublished) && least == 0, errors.Is(err, ErrForeign):
			return 0, err
		case try < 64:
			runtime.Gosched()
		case began.IsZero():
			began = time.Now()
		case time.Since(began) > patience:
			return 0, err
		default:
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// read tries once.
func (s *shared) read(i int, dst []byte) (uint64, error) {
	head := s.head(i)
	s.cache.drop(head, int(s.stride))
	seq := le(atomic.LoadUint64(word(head, headSeq)))
	switch {
	case seq == 0:
		return 0, ErrUnpublished
	case seq&1 == 1:
		return 0, fmt.Errorf("its sequence is %d: %w", seq, ErrTorn)
	case !s.ours(head):
		return 0, ErrForeign
	}
	barewire.LoadWords(dst, s.body(i))
	want := le(atomic.LoadUint64(word(head, headSum)))
	s.cache.drop(head, flush.Line)
	if again := le(atomic.LoadUint64(word(head, headSeq))); again != seq {
		return 0, fmt.Errorf("its sequence went from %d to %d: %w", seq, again, ErrTorn)
	}
	if sum(seq, dst) != want {
		return 0, fmt.Errorf("its checksum is not that of sequence %d: %w", seq, ErrStale)
	}
	return seq, nil
}

// sharedOf holds a region's elements, and checks what is asked for.
func sharedOf(h *region.Handle, gen uint32, op string, i, n int) (*shared, error) {
	if err := h.Hold(gen); err != nil {
		return nil, region.Doing(op, err)
	}
	s, ok := h.Extra().(*shared)
	var err error
	switch size := int(h.Type().Size); {
	case !ok:
		err = fmt.Errorf("barewire: %s: %s: it was not opened by Share", op, h.Name())
	case i < 0 || i >= h.Count():
		err = region.Doing(op, h.Range(i, 1))
	case n != size:
		err = fmt.Errorf("barewire: %s: %s: %w: %d bytes for an element of %d (of types with slots, a slot)", op, h.Name(), barewire.ErrRange, n, size)
	case op == opPublish && (i < s.role.first || i-s.role.first >= s.role.count):
		err = fmt.Errorf("barewire: %s: %s: element %d: %w", op, h.Name(), i, ErrNotWriter)
	}
	if err != nil {
		h.Drop()
		return nil, err
	}
	return s, nil
}

const opPublish, opSnapshot = "publish", "snapshot"

// named says which region and element an error is of.
func named(h *region.Handle, op string, i int, err error) error {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return region.Doing(op, h.Failed(fmt.Sprintf("element %d", i), err))
	}
	return fmt.Errorf("barewire: %s: %s: element %d: %w", op, h.Name(), i, err)
}

package barewire

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// Ref is a reference to memory of a peer as it travels: 48 bytes, little-endian
// in this order, the wire format of a #@ref field; as a BARE message it is Reference in
// rdma/internal/ctl/ctl.bare. It names, and protects nothing: the peer checks scope, bounds and rights.
//
//barewire:type capability
type Ref struct {
	Addr    uint64   // offset in the key's space; never an address in a process for software providers
	Count   uint64   // elements
	Size    uint32   // bytes an element
	Key     uint32   // the remote key
	Hash    [16]byte // start of the schema hash
	Epoch   uint32   // of the registration
	Rights  Rights   // what it may be used for
	Version uint16   // of this format: 1
}

// RefSize is the number of bytes of a [Ref] on the wire.
const RefSize = 48

// RefVersion is the version of a [Ref]'s format.
const RefVersion = 1

// Append appends the reference's 48 bytes.
func (r Ref) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, r.Addr)
	b = binary.LittleEndian.AppendUint64(b, r.Count)
	b = binary.LittleEndian.AppendUint32(b, r.Size)
	b = binary.LittleEndian.AppendUint32(b, r.Key)
	b = append(b, r.Hash[:]...)
	b = binary.LittleEndian.AppendUint32(b, r.Epoch)
	b = binary.LittleEndian.AppendUint16(b, uint16(r.Rights))
	return binary.LittleEndian.AppendUint16(b, r.Version)
}

// Decode reads a reference from exactly 48 bytes. What it says is not checked.
func (r *Ref) Decode(b []byte) error {
	if len(b) != RefSize {
		return fmt.Errorf("%w: %d bytes, it has %d", ErrBadRef, len(b), RefSize)
	}
	*r = Ref{
		Addr:    binary.LittleEndian.Uint64(b),
		Count:   binary.LittleEndian.Uint64(b[8:]),
		Size:    binary.LittleEndian.Uint32(b[16:]),
		Key:     binary.LittleEndian.Uint32(b[20:]),
		Hash:    [16]byte(b[24:40]),
		Epoch:   binary.LittleEndian.Uint32(b[40:]),
		Rights:  Rights(binary.LittleEndian.Uint16(b[44:])),
		Version: binary.LittleEndian.Uint16(b[46:]),
	}
	return nil
}

// Remote is elements of T in the memory of a peer, which may be reached as A
// says. It is a value: copying it is free, and closing it is nobody's duty. The zero value refers to
// nothing: operations refuse it.
//
//barewire:type remote
type Remote[T Fixed[T], A RemoteAccess] struct {
	_ [0]*T
	_ [0]*A
	r remote
}

// remote is a [Ref] without what the types say, in four words: so much the compiler keeps in registers.
type remote struct {
	info *TypeInfo // nil: it refers to nothing
	addr uint64    // as in Ref; of a Slice that is out of bounds: the element that was asked for
	key  uint64    // the key, and above it the epoch; of such a Slice: how many elements were asked for
	n    uint64    // elements, times two; and one more for such a Slice: then they are those of what it was taken of
}

// makeRemote is the reference to elements of a type.
func makeRemote(info *TypeInfo, ref *Ref) remote {
	return remote{info: info, addr: ref.Addr, key: uint64(ref.Epoch)<<32 | uint64(ref.Key), n: ref.Count << 1}
}

// bad reports whether it is a Slice that is out of bounds.
func (r remote) bad() bool { return r.n&1 != 0 }

// count is how many elements there are, or were. It fits an int: see checkRef.
func (r remote) count() int { return int(r.n >> 1) }

// ref is the reference with all that it says.
func (r Remote[T, A]) ref() Ref {
	t := r.r.info
	return Ref{
		Addr: r.r.addr, Count: uint64(r.r.count()), Size: uint32(t.Size), Key: uint32(r.r.key),
		Hash: [16]byte(t.Hash[:16]), Epoch: uint32(r.r.key >> 32), Rights: rightsOf[A](), Version: RefVersion,
	}
}

// Len is the number of elements.
func (r Remote[T, A]) Len() int {
	if r.r.bad() {
		return 0
	}
	return r.r.count()
}

// String says what r refers to, for logs.
func (r Remote[T, A]) String() string {
	if err := r.r.check(); err != nil {
		return strings.TrimPrefix(err.Error(), "barewire: ")
	}
	return fmt.Sprintf("%s of %T at a peer, granting %v", region.Elements(r.r.count()), *new(T), rightsOf[A]())
}

// Slice is n elements from the element i on. What is not within r is refused by operations and by
// encoding, with an error that says what was asked ([ErrRange]).
//
//barewire:effect refers=0 of r at i count n
func (r Remote[T, A]) Slice(i, n int) Remote[T, A] {
	return Remote[T, A]{r: r.r.slice(i, n)}
}

func (r remote) slice(i, n int) remote {
	if count := uint64(r.count()); r.info == nil || r.bad() || uint64(i) > count || uint64(n) > count-uint64(i) {
		return r.outside(i, n)
	}
	r.addr += uint64(i) * r.info.Size
	r.n = uint64(n) << 1
	return r
}

// outside is a slice that is out of bounds, or of one that is, or of nothing.
//
//go:noinline
func (r remote) outside(i, n int) remote {
	if r.info != nil && !r.bad() {
		r.addr, r.key, r.n = uint64(i), uint64(n), r.n|1
	}
	return r
}

// Narrow gives up rights: g grants what is kept. The error is [ErrBadRef] where
// that is more than rem has.
//
//barewire:effect narrows=0 of rem
func Narrow[B RemoteAccess, T Fixed[T], A RemoteAccess](rem Remote[T, A], g Grant[T, B]) (Remote[T, B], error) {
	if g.info == nil {
		return Remote[T, B]{}, ErrNoGrant
	}
	if err := rem.r.check(); err != nil {
		return Remote[T, B]{}, err
	}
	if err := enough(rightsOf[A](), g.rights); err != nil {
		return Remote[T, B]{}, err
	}
	return Remote[T, B]{r: rem.r}, nil
}

// AppendRemote appends the 48 bytes of a reference. It fails for the zero value,
// and for a slice that was out of range.
func AppendRemote[T Fixed[T], A RemoteAccess](b []byte, rem Remote[T, A]) ([]byte, error) {
	if err := rem.r.check(); err != nil {
		return b, err
	}
	return rem.ref().Append(b), nil
}

// PutRemote writes a reference into exactly 48 bytes, which stay as they are where
// it fails, as [AppendRemote] does.
func PutRemote[T Fixed[T], A RemoteAccess](b []byte, rem Remote[T, A]) error {
	if len(b) != RefSize {
		return fmt.Errorf("%w: %d bytes, it has %d", ErrBadRef, len(b), RefSize)
	}
	_, err := AppendRemote(b[:0], rem)
	return err
}

// RemoteFrom reads a reference from 48 bytes for the rights that g grants. The
// error is [ErrBadRef] where the bytes are of another type (by schema hash and
// size), another version, or grant less; and [ErrNoRemote] where they are zero.
//
//barewire:effect narrows=0 of b
func RemoteFrom[T Fixed[T], A RemoteAccess](b []byte, g Grant[T, A]) (Remote[T, A], error) {
	if g.info == nil {
		return Remote[T, A]{}, ErrNoGrant
	}
	var ref Ref
	if err := ref.Decode(b); err != nil {
		return Remote[T, A]{}, err
	}
	if ref == (Ref{}) {
		return Remote[T, A]{}, ErrNoRemote
	}
	if err := checkRef(ref, g.info); err != nil {
		return Remote[T, A]{}, err
	}
	if err := enough(ref.Rights, g.rights); err != nil {
		return Remote[T, A]{}, err
	}
	return Remote[T, A]{r: makeRemote(g.info, &ref)}, nil
}

// checkRef holds a reference from outside to its type, and to sizes that can be
// reckoned with.
func checkRef(ref Ref, t *TypeInfo) error {
	switch {
	case ref.Version != RefVersion:
		return fmt.Errorf("%w: its format is version %d, this program knows %d", ErrBadRef, ref.Version, RefVersion)
	case ref.Hash != [16]byte(t.Hash[:16]):
		return fmt.Errorf("%w: it is to another type than %s, or another version of it: its schema hash begins %x, ours %x", ErrBadRef, t.Name, ref.Hash[:4], t.Hash[:4])
	case uint64(ref.Size) != t.Size:
		return fmt.Errorf("%w: its elements have %d bytes, those of %s %d", ErrBadRef, ref.Size, t.Name, t.Size)
	case ref.Count > maxRemote/t.Size || ref.Addr > ^uint64(0)-ref.Count*t.Size:
		return fmt.Errorf("%w: %s of %d bytes at %#x: more than there can be", ErrBadRef, region.Elements(ref.Count), t.Size, ref.Addr)
	}
	return nil
}

// maxRemote is the most bytes that a reference may be to, so that an int counts its elements.
const maxRemote = uint64(^uint(0) >> 1)

// enough checks that what is wanted is part of what there is.
func enough(have, want Rights) error {
	if want&^have != 0 {
		return fmt.Errorf("%w: it grants %s, and %s is asked for", ErrBadRef, have, want)
	}
	return nil
}

// check refuses the zero value and slices out of range.
func (r remote) check() error {
	if r.info == nil {
		return ErrNoRemote
	}
	if r.bad() {
		return fmt.Errorf("barewire: slice of a Remote: %w: %s from %d on, and it has %d", ErrRange, region.Elements(int(r.key)), int(r.addr), r.count())
	}
	return nil
}

// RemoteParts is for the runtime's device packages.
func RemoteParts[T Fixed[T], A RemoteAccess](f seal.Friend, rem Remote[T, A]) (Ref, error) {
	if !f.OK() {
		return Ref{}, ErrNoRemote
	}
	if err := rem.r.check(); err != nil {
		return Ref{}, err
	}
	return rem.ref(), nil
}

// Target is what an operation needs of a [Ref].
type Target struct {
	Addr  uint64
	Bytes uint64
	Key   uint32
	Epoch uint32
}

// RemoteTarget is [RemoteParts] for operations: ok is false where that has an error.
func RemoteTarget[T Fixed[T], A RemoteAccess](f seal.Friend, rem Remote[T, A]) (t Target, ok bool) {
	r := rem.r
	if r.info == nil || r.bad() || !f.OK() {
		return Target{}, false
	}
	// No overflow: checked when it was decoded.
	return Target{Addr: r.addr, Bytes: r.n >> 1 * r.info.Size, Key: uint32(r.key), Epoch: uint32(r.key >> 32)}, true
}

// MakeRemote is for the runtime's device packages, which have checked ref: it is to elements of the type that
// info is of, with the rights that A says.
func MakeRemote[T Fixed[T], A RemoteAccess](f seal.Friend, info *TypeInfo, ref Ref) Remote[T, A] {
	if !f.OK() {
		return Remote[T, A]{}
	}
	return Remote[T, A]{r: makeRemote(info, &ref)}
}

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
type Remote[T Fixed[T], A RemoteAccess] struct {
	_    [0]*T
	_    [0]*A
	ref  Ref
	i, n int  // of a Slice that is out of bounds: what was asked
	bad  bool // there was such a Slice; ref is what it was taken of
}

// Len is the number of elements.
func (r Remote[T, A]) Len() int {
	if r.bad {
		return 0
	}
	return int(r.ref.Count)
}

// String says what r refers to, for logs.
func (r Remote[T, A]) String() string {
	if err := r.check(); err != nil {
		return strings.TrimPrefix(err.Error(), "barewire: ")
	}
	return fmt.Sprintf("%s of %T at a peer, granting %v", region.Elements(r.ref.Count), *new(T), r.ref.Rights)
}

// Slice is n elements from the element i on. What is not within r is refused by operations and by
// encoding, with an error that says what was asked ([ErrRange]).
func (r Remote[T, A]) Slice(i, n int) Remote[T, A] {
	if r.bad {
		return r
	}
	count := int(r.ref.Count) // fits: see checkRef
	if i < 0 || n < 0 || i > count || n > count-i {
		r.i, r.n, r.bad = i, n, true
		return r
	}
	r.ref.Addr += uint64(i) * uint64(r.ref.Size)
	r.ref.Count = uint64(n)
	return r
}

// Narrow gives up rights: g grants what is kept. The error is [ErrBadRef] where
// that is more than rem has.
func Narrow[B RemoteAccess, T Fixed[T], A RemoteAccess](rem Remote[T, A], g Grant[T, B]) (Remote[T, B], error) {
	if g.info == nil {
		return Remote[T, B]{}, ErrNoGrant
	}
	if err := rem.check(); err != nil {
		return Remote[T, B]{}, err
	}
	if err := enough(rem.ref.Rights, g.rights); err != nil {
		return Remote[T, B]{}, err
	}
	rem.ref.Rights = g.rights
	return Remote[T, B]{ref: rem.ref}, nil
}

// AppendRemote appends the 48 bytes of a reference. It fails for the zero value,
// and for a slice that was out of range.
func AppendRemote[T Fixed[T], A RemoteAccess](b []byte, rem Remote[T, A]) ([]byte, error) {
	if err := rem.check(); err != nil {
		return b, err
	}
	return rem.ref.Append(b), nil
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
	ref.Rights = g.rights
	return Remote[T, A]{ref: ref}, nil
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
func (r Remote[T, A]) check() error {
	if r.bad {
		return fmt.Errorf("barewire: slice of a Remote: %w: %s from %d on, and it has %d", ErrRange, region.Elements(r.n), r.i, r.ref.Count)
	}
	if r.ref.Version == 0 {
		return ErrNoRemote
	}
	return nil
}

// RemoteParts is for the runtime's device packages.
func RemoteParts[T Fixed[T], A RemoteAccess](f seal.Friend, rem Remote[T, A]) (Ref, error) {
	if !f.OK() {
		return Ref{}, ErrNoRemote
	}
	return rem.ref, rem.check()
}

// RemoteRef is [RemoteParts] without a copy: the reference is good as long as rem is.
func RemoteRef[T Fixed[T], A RemoteAccess](f seal.Friend, rem *Remote[T, A]) (*Ref, error) {
	if !rem.bad && rem.ref.Version != 0 && f.OK() {
		return &rem.ref, nil
	}
	_, err := RemoteParts(f, *rem)
	return nil, err
}

// MakeRemote is for the runtime's device packages, which have checked ref.
func MakeRemote[T Fixed[T], A RemoteAccess](f seal.Friend, ref Ref) Remote[T, A] {
	if !f.OK() {
		return Remote[T, A]{}
	}
	return Remote[T, A]{ref: ref}
}

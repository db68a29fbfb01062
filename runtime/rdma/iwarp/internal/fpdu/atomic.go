package fpdu

import "encoding/binary"

// AtomicOp is what an atomic request does. Source: RFC 7306, sections 5.2.1 and 10.1.
type AtomicOp uint8

// The atomic operations.
const (
	FetchAdd AtomicOp = 0
	CmpSwap  AtomicOp = 2
)

// Sizes of the payloads of atomic operations and of immediate data.
const (
	AtomicRequestSize  = 52
	AtomicResponseSize = 12
	ImmediateSize      = 8
)

// AtomicRequestHeader is the payload of an atomic request on the 8 bytes at TO, which must be at an address that is
// a multiple of 8. It works on the number that the target's own order of bytes makes of them; here numbers are in
// network order. Source: RFC 7306, sections 5.1 and 5.2.1.
type AtomicRequestHeader struct {
	Op   AtomicOp
	ID   uint32 // comes back in the response
	STag uint32
	TO   uint64
	// What is added or written in. The mask of an addition marks with ones the highest bits of fields that are added
	// each for itself: 0 or the top bit is a plain addition of 64 bits. That of a swap marks the bits to be replaced.
	Data, Mask uint64
	// A swap happens if the bits under CompareMask are as those of Compare. An addition does not have them.
	Compare, CompareMask uint64
}

// Append appends it as it travels.
func (a *AtomicRequestHeader) Append(b []byte) []byte {
	be := binary.BigEndian
	b = be.AppendUint32(b, uint32(a.Op)&opMask)
	b = be.AppendUint32(b, a.ID)
	b = be.AppendUint32(b, a.STag)
	b = be.AppendUint64(b, a.TO)
	b = be.AppendUint64(b, a.Data)
	b = be.AppendUint64(b, a.Mask)
	if a.Op == FetchAdd {
		b = be.AppendUint64(b, 0)
		return be.AppendUint64(b, ^uint64(0))
	}
	b = be.AppendUint64(b, a.Compare)
	return be.AppendUint64(b, a.CompareMask)
}

// Parse reads it from a payload, which has exactly its size and one of the operations. The fields that an addition
// does not have are not looked at.
func (a *AtomicRequestHeader) Parse(b []byte) bool {
	if len(b) != AtomicRequestSize {
		return false
	}
	be := binary.BigEndian
	*a = AtomicRequestHeader{
		Op: AtomicOp(be.Uint32(b) & opMask), ID: be.Uint32(b[4:]), STag: be.Uint32(b[8:]), TO: be.Uint64(b[12:]),
		Data: be.Uint64(b[20:]), Mask: be.Uint64(b[28:]), Compare: be.Uint64(b[36:]), CompareMask: be.Uint64(b[44:]),
	}
	if a.Op == FetchAdd {
		a.Compare, a.CompareMask = 0, 0
	}
	return a.Op == FetchAdd || a.Op == CmpSwap
}

// AtomicResponseHeader is the payload of an atomic response. Source: RFC 7306, section 5.2.2.
type AtomicResponseHeader struct {
	ID  uint32 // of the request
	Old uint64 // what was there before
}

// Append appends it as it travels.
func (a *AtomicResponseHeader) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, a.ID)
	return binary.BigEndian.AppendUint64(b, a.Old)
}

// Parse reads it from a payload, which has exactly its size.
func (a *AtomicResponseHeader) Parse(b []byte) bool {
	if len(b) != AtomicResponseSize {
		return false
	}
	*a = AtomicResponseHeader{ID: binary.BigEndian.Uint32(b), Old: binary.BigEndian.Uint64(b[4:])}
	return true
}

// ImmediateData is the payload of an Immediate Data message. Source: RFC 7306, sections 6.2 and 6.3.
type ImmediateData [ImmediateSize]byte

// Append appends it as it travels.
func (d *ImmediateData) Append(b []byte) []byte { return append(b, d[:]...) }

// Parse reads it from a payload, which has exactly its size.
func (d *ImmediateData) Parse(b []byte) bool {
	return len(b) == ImmediateSize && copy(d[:], b) == ImmediateSize
}

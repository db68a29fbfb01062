package fpdu

import "encoding/binary"

// TerminateHeader is the payload of a Terminate message: why, and about which segment. Source: RFC 5040, section 4.8.
//
// The segment is there with RDMAP's and DDP's causes other than a local catastrophe, and not with those of MPA. The
// read request is there with protection errors of RDMAP (figure 10 there).
type TerminateHeader struct {
	Cause Cause

	// Of the segment that it is about, which may be absent.
	HasSegment bool
	Length     uint16 // its ULPDU's: header and payload
	Segment    Header

	HasRequest bool // the segment is a read request, and Request is its payload, or what of it is left to do
	Request    ReadRequestHeader
}

// MaxTerminateSize is the bytes of the longest TerminateHeader.
const MaxTerminateSize = terminateControl + LengthSize + UntaggedSize + ReadRequestSize

// The control field, and the bits in it that say what follows.
const (
	terminateControl = 4
	bitLength        = 0x80 // M: the length of the segment
	bitHeader        = 0x40 // D: its DDP header
	bitRequest       = 0x20 // R: and its RDMAP header, that of a read request
)

// Append appends it as it travels.
func (t *TerminateHeader) Append(b []byte) []byte {
	be := binary.BigEndian
	b = be.AppendUint16(b, uint16(t.Cause))
	if !t.HasSegment {
		return append(b, 0, 0)
	}
	bits := byte(bitLength | bitHeader)
	if t.HasRequest {
		bits |= bitRequest
	}
	b = append(b, bits, 0)
	b = be.AppendUint16(b, t.Length)
	b = t.Segment.appendSegment(b)
	if t.HasRequest {
		b = t.Request.Append(b)
	}
	return b
}

// Parse reads it from a payload. The cause is there even where the rest is refused: the connection is over in any
// case, and the cause is what its user wants to know.
func (t *TerminateHeader) Parse(b []byte) bool {
	*t = TerminateHeader{}
	if len(b) < terminateControl {
		return false
	}
	be := binary.BigEndian
	t.Cause = Cause(be.Uint16(b))
	bits := b[2]
	b = b[terminateControl:]
	if bits&(bitLength|bitHeader) != 0 { // the length is there before a header, even if it says nothing
		if len(b) < LengthSize {
			return false
		}
		if bits&bitLength != 0 {
			t.Length = be.Uint16(b)
		}
		b = b[LengthSize:]
	}
	if bits&bitHeader != 0 {
		// What was wrong with the segment may be in its header, so that it is not checked here.
		if !t.Segment.parseSegment(b) {
			return false
		}
		t.HasSegment, b = true, b[t.Segment.Size():]
	}
	if bits&bitRequest != 0 {
		if !t.HasSegment || len(b) < ReadRequestSize || !t.Request.Parse(b[:ReadRequestSize]) {
			return false
		}
		t.HasRequest, b = true, b[ReadRequestSize:]
	}
	return len(b) == 0
}

package fpdu

import (
	"encoding/binary"
	"fmt"
)

// Cause is why a connection is terminated: the layer, the type of the error and its code, as in the control
// field of a Terminate message. Source: RFC 5040, section 4.8; RFC 5041, section 8.2; RFC 5044, section 8; RFC 6581,
// section 8.
type Cause uint16

// The causes.
const (
	Catastrophic     Cause = 0x0000 // local, of RDMAP
	InvalidSTag      Cause = 0x0100
	OutOfBounds      Cause = 0x0101
	NoRight          Cause = 0x0102
	ForeignSTag      Cause = 0x0103 // not of this stream
	WrappedTO        Cause = 0x0104
	NotInvalidated   Cause = 0x0109
	Protection       Cause = 0x01ff // unspecified
	RDMAPVersion     Cause = 0x0205
	UnexpectedOpcode Cause = 0x0206
	StreamCatastrophe Cause = 0x0207
	GlobalCatastrophe Cause = 0x0208
	Operation        Cause = 0x02ff // unspecified

	DDPCatastrophic   Cause = 0x1000
	TaggedSTag        Cause = 0x1100
	TaggedBounds      Cause = 0x1101
	TaggedForeign     Cause = 0x1102
	TaggedWrap        Cause = 0x1103
	TaggedVersion     Cause = 0x1104
	InvalidQueue      Cause = 0x1201
	NoBuffer          Cause = 0x1202
	InvalidMSN        Cause = 0x1203
	InvalidMO         Cause = 0x1204
	MessageTooLong    Cause = 0x1205
	UntaggedVersion   Cause = 0x1206

	StreamLost      Cause = 0x2001
	BadCRC          Cause = 0x2002
	BadMarker       Cause = 0x2003
	BadStartup      Cause = 0x2004
	MPACatastrophic Cause = 0x2005
	TooLittleIRD    Cause = 0x2006
	NoRTR           Cause = 0x2007
)

// Fault is what is wrong with what a peer sent.
type Fault struct {
	Cause  Cause
	Detail string
}

func (f *Fault) Error() string { return fmt.Sprintf("%s (%s)", f.Detail, f.Cause) }

// TerminateHeader is the payload of a Terminate message. The headers of the segment that it is about may be
// absent.
type TerminateHeader struct {
	Cause  Cause
	Length uint16 // of the segment, where HasSegment
	HasSegment bool
	Segment    Header
	Request    *ReadRequestHeader // of a read that it is about
}

// AtomicOp is what an atomic request does. Source: RFC 7306, section 5.
type AtomicOp uint8

// ReadRequestHeader is the payload of a read request. Source: RFC 5040, section 4.4.
type ReadRequestHeader struct {
	SinkSTag   uint32
	SinkTO     uint64
	Size       uint32
	SourceSTag uint32
	SourceTO   uint64
}

// ReadRequestSize is the bytes of a ReadRequestHeader.
const ReadRequestSize = 28

// Append appends it as it travels.
func (r *ReadRequestHeader) Append(b []byte) []byte {
	be := binary.BigEndian
	b = be.AppendUint32(b, r.SinkSTag)
	b = be.AppendUint64(b, r.SinkTO)
	b = be.AppendUint32(b, r.Size)
	b = be.AppendUint32(b, r.SourceSTag)
	return be.AppendUint64(b, r.SourceTO)
}

// Parse reads it from a payload, which has exactly its size.
func (r *ReadRequestHeader) Parse(b []byte) bool {
	if len(b) != ReadRequestSize {
		return false
	}
	be := binary.BigEndian
	*r = ReadRequestHeader{be.Uint32(b), be.Uint64(b[4:]), be.Uint32(b[12:]), be.Uint32(b[16:]), be.Uint64(b[20:])}
	return true
}

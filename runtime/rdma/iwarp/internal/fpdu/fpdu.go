// Package fpdu is the wire of iWARP: the frames of MPA, the headers of DDP and of RDMAP, and the messages that
// are made of headers alone. It turns bytes into values and values into bytes, and knows of no connection.
//
// All numbers are in network byte order, except for the checksum, which is sent as iSCSI sends its own.
//
// What its users have to keep to, besides the formats:
//
//   - Messages are sent in the order in which they were given, and the segments of one in rising order; the other
//     side delivers them in that order (RFC 5041, section 5.3). Nothing allows for segments of two messages to be
//     mixed. Untagged ones could be told apart, by queue and MSN; tagged ones could not (section 5.2).
//   - A message of no bytes is one segment. The STag and TO of a tagged one must not be checked (section 5.2).
//   - A read request, also one of no bytes, is not looked at before all messages ahead of it are placed (RFC 5040,
//     section 5.5, rules 12 and 17), and responses are in the order of the requests (rule 20). So the response to a
//     read of no bytes tells that all writes ahead of it are there, and any read after a write sees it. Later writes
//     may be placed before the read is answered, which is what fences are for.
//   - After an error the rest of the segment is not placed, and later segments are dropped silently (RFC 5041,
//     section 7.1); one Terminate may follow in the other direction.
//
// Sources: RFC 5044 (MPA), RFC 6581 (its enhanced set-up), RFC 5041 (DDP), RFC 5040 (RDMAP), RFC 7306 (atomic
// operations and immediate data).
package fpdu

import (
	"cmp"
	"encoding/binary"

	"github.com/fidelityframework/barewire-gen/runtime/internal/crc32c"
)

// Sizes of what a frame (FPDU) is made of. Its length field counts the ULPDU alone: header and payload.
// Source: RFC 5044, section 4.
const (
	LengthSize   = 2
	TaggedSize   = 14 // the header of a tagged segment
	UntaggedSize = 18 // and of an untagged one
	CRCSize      = 4
	MaxULPDU     = 1<<16 - 1
)

// Opcode is what an RDMAP message does.
type Opcode uint8

// The opcodes. Source: RFC 5040, section 4.3; RFC 7306, section 10.
const (
	Write Opcode = iota
	ReadRequest
	ReadResponse
	Send
	SendInvalidate
	SendSolicited
	SendSolicitedInvalidate
	Terminate
	Immediate
	ImmediateSolicited
	AtomicRequest
	AtomicResponse
)

// The queues of untagged messages. Source: RFC 5040, section 4.3; RFC 7306, sections 5.2 and 6.3.
const (
	QueueSend      = 0
	QueueRequest   = 1 // of reads and atomics
	QueueTerminate = 2
	QueueAtomic    = 3 // the answers to atomics
)

// Bits of the first two octets of a segment.
const (
	bitTagged = 0x80
	bitLast   = 0x40
	ddpV1     = 0x01 // low two bits
	ddpMask   = 0x03
	rdmapV1   = 0x40 // high two bits
	rdmapMask = 0xc0
	opMask    = 0x0f
	moreShift = 4 // bits that RFC 5040 reserves
)

// MostMore is the most that [Header.More] can tell.
const MostMore = 3

// Header is that of one segment of a message.
type Header struct {
	Op     Opcode
	Last   bool // of its message
	Tagged bool

	More uint8  // tagged, between ourselves: so many segments follow that are as long and go on where this one ends
	STag uint32 // tagged: whose memory
	TO   uint64 // and where in it

	Invalidate uint32 // untagged: the STag that a send invalidates; what else sends carry there, see package iwarp
	Queue      uint32
	MSN        uint32 // the message's number on its queue, from 1
	MO         uint32 // where in the message the segment begins

	// The control octets that Parse found, if they are not as Append makes them: a Terminate repeats them.
	odd uint16
}

// Size is the bytes of the header.
func (h *Header) Size() int {
	if h.Tagged {
		return TaggedSize
	}
	return UntaggedSize
}

// IsTagged reports whether a ULPDU, of which one octet is there at least, is a tagged segment.
func IsTagged(ulpdu []byte) bool { return ulpdu[0]&bitTagged != 0 }

// Tagged reports whether messages of an opcode go to tagged memory.
func (op Opcode) Tagged() bool { return op == Write || op == ReadResponse }

// Pad is how many zero octets follow a ULPDU of n bytes, so that the frame is a multiple of four.
func Pad(n int) int { return -(LengthSize + n) & 3 }

// FrameSize is the bytes of a frame whose ULPDU has n, with length, padding and checksum.
func FrameSize(n int) int { return LengthSize + n + Pad(n) + CRCSize }

// Append appends the beginning of a frame: the length field and the header of a segment with that many bytes
// of payload.
func (h *Header) Append(b []byte, payload int) []byte {
	return h.appendSegment(binary.BigEndian.AppendUint16(b, uint16(h.Size()+payload)))
}

// appendSegment appends the header alone.
func (h *Header) appendSegment(b []byte) []byte {
	be := binary.BigEndian
	b = be.AppendUint16(b, cmp.Or(h.odd, h.control()))
	if h.Tagged {
		b = be.AppendUint32(b, h.STag)
		return be.AppendUint64(b, h.TO)
	}
	b = be.AppendUint32(b, h.Invalidate)
	b = be.AppendUint32(b, h.Queue)
	b = be.AppendUint32(b, h.MSN)
	return be.AppendUint32(b, h.MO)
}

// control is the first two octets.
func (h *Header) control() uint16 {
	first := flag[byte](h.Tagged, bitTagged) | flag[byte](h.Last, bitLast) | ddpV1
	second := rdmapV1 | h.More&MostMore<<moreShift | byte(h.Op)&opMask
	return uint16(first)<<8 | uint16(second)
}

// CRC is the checksum of pieces of a frame, continued from that of what came before. It begins with 0.
func CRC(sum uint32, b []byte) uint32 { return crc32c.Update(sum, b) }

// CopyCRC copies b to dst, which is as long at least, and is CRC of what is in dst then: b may change meanwhile.
func CopyCRC(dst, b []byte, sum uint32) uint32 { return crc32c.Copy(dst, b, sum) }

var zeros [4]byte

// AppendTail appends what follows the payload of a frame whose ULPDU has n bytes: the padding and the
// checksum. Sum is that of the frame so far; without checksums it is not looked at, and zero is sent.
func AppendTail(b []byte, n int, sum uint32, crc bool) []byte {
	pad := zeros[:Pad(n)]
	b = append(b, pad...)
	if !crc {
		return append(b, zeros[:]...)
	}
	return binary.LittleEndian.AppendUint32(b, CRC(sum, pad))
}

// Parse reads the header of a segment from the front of a ULPDU. A ULPDU that is too short for its own header, of
// another version, or with an opcode that does not go with its segment, is a fault. Where it is long enough, the
// fields are there after a fault, too, for the Terminate that tells of it. Reserved bits are not looked at.
func (h *Header) Parse(ulpdu []byte) *Fault {
	if !h.parseSegment(ulpdu) {
		return &Fault{Cause: DDPCatastrophic, Detail: "a segment that is shorter than its header"}
	}
	if ulpdu[0]&ddpMask != ddpV1 {
		cause := UntaggedVersion
		if h.Tagged {
			cause = TaggedVersion
		}
		return &Fault{Cause: cause, Detail: "another version of DDP"}
	}
	if ulpdu[1]&rdmapMask != rdmapV1 {
		return &Fault{Cause: RDMAPVersion, Detail: "another version of RDMAP"}
	}
	if h.Op > AtomicResponse || h.Tagged != h.Op.Tagged() {
		return &Fault{Cause: UnexpectedOpcode, Detail: "an opcode that does not go with its segment"}
	}
	return nil
}

// parseSegment reads the header without looking at what it says. It reports whether the bytes are enough.
func (h *Header) parseSegment(b []byte) bool {
	*h = Header{}
	if len(b) < 2 {
		return false
	}
	h.Tagged, h.Last, h.Op = b[0]&bitTagged != 0, b[0]&bitLast != 0, Opcode(b[1]&opMask)
	if len(b) < h.Size() {
		return false
	}
	if h.Tagged {
		h.More = b[1] >> moreShift & MostMore
	}
	be := binary.BigEndian
	if control := be.Uint16(b); control != h.control() {
		h.odd = control
	}
	if h.Tagged {
		h.STag, h.TO = be.Uint32(b[2:]), be.Uint64(b[6:])
		return true
	}
	h.Invalidate, h.Queue = be.Uint32(b[2:]), be.Uint32(b[6:])
	h.MSN, h.MO = be.Uint32(b[10:]), be.Uint32(b[14:])
	return true
}

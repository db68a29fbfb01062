package fpdu

import (
	"encoding/binary"
	"fmt"
)

// Sizes of a start-up frame. Source: RFC 5044, section 7.1.1.
const (
	StartupSize = 20  // without its private data
	MaxPrivate  = 512 // the most private data, with the 4 octets of RFC 6581 where they are there
	DepthsSize  = 4   // those 4 octets
)

// The revisions of MPA. Source: RFC 5044, section 7.1.1; RFC 6581, section 4.
const (
	Revision1 = 1
	Revision2 = 2 // can do the enhanced set-up
)

// MaxDepth is the most reads that a start-up frame can speak of; it means that the side does not take part in the
// negotiation of them. Source: RFC 6581, section 9.1.
const MaxDepth = 1<<14 - 1

// RTR is a set of ready-to-receive messages: what an initiator can send first, so that an acceptor may send.
// Source: RFC 6581, section 9.2.
type RTR uint8

// The ready-to-receive messages, all of them of zero length.
const (
	RTRSend RTR = 1 << iota
	RTRWrite
	RTRRead
)

// The bits of a start-up frame, and of the two words of RFC 6581: the first word is the IRD, the second the ORD.
const (
	bitMarkers  = 0x80
	bitCRC      = 0x40
	bitReject   = 0x20
	bitEnhanced = 0x10

	bitPeerToPeer = 0x8000 // A, in the first word
	bitRTRSend    = 0x4000 // B, in the first word
	bitRTRWrite   = 0x8000 // C, in the second word
	bitRTRRead    = 0x4000 // D, in the second word
)

const (
	requestKey = "MPA ID Req Frame"
	replyKey   = "MPA ID Rep Frame"
)

// Startup is the frame that each side sends first: the initiator's request, then the acceptor's reply.
// Source: RFC 5044, section 7.1.1; RFC 6581, sections 4 and 9.
type Startup struct {
	Reply    bool // else it is a request
	Markers  bool // the sender wants markers in what it receives
	CRC      bool // the sender wants checksums; they are used where one side wants them
	Reject   bool // of a reply: there will be no connection
	Revision uint8
	Enhanced bool // with what is below, in the first 4 octets of the private data; of revision 2 alone

	IRD, ORD   uint16 // reads and atomics that the sender answers at a time, and that it wants to have outstanding
	PeerToPeer bool   // the acceptor may send first, after a ready-to-receive message; a reply has it as the request
	RTR        RTR    // where PeerToPeer: what the initiator can send, or the acceptor understands

	Private []byte // without those 4 octets
}

// Append appends the frame as it travels. It refuses private data that are too long, and depths that do not fit.
func (s *Startup) Append(b []byte) ([]byte, error) {
	private := len(s.Private)
	if s.Enhanced {
		private += DepthsSize
	}
	if private > MaxPrivate {
		return b, fmt.Errorf("private data of %d bytes are more than the %d that fit a start-up frame", private, MaxPrivate)
	}
	if s.IRD > MaxDepth || s.ORD > MaxDepth {
		return b, fmt.Errorf("%d and %d reads at a time are more than a start-up frame can say (%d)", s.IRD, s.ORD, MaxDepth)
	}
	key := requestKey
	if s.Reply {
		key = replyKey
	}
	b = append(b, key...)
	bits := flag[byte](s.Markers, bitMarkers) | flag[byte](s.CRC, bitCRC) | flag[byte](s.Reject, bitReject) |
		flag[byte](s.Enhanced, bitEnhanced)
	b = append(b, bits, s.Revision)
	b = binary.BigEndian.AppendUint16(b, uint16(private))
	if s.Enhanced {
		b = s.appendDepths(b)
	}
	return append(b, s.Private...), nil
}

func (s *Startup) appendDepths(b []byte) []byte {
	ird, ord := s.IRD, s.ORD
	if s.PeerToPeer {
		ird |= bitPeerToPeer | flag[uint16](s.RTR&RTRSend != 0, bitRTRSend)
		ord |= flag[uint16](s.RTR&RTRWrite != 0, bitRTRWrite) | flag[uint16](s.RTR&RTRRead != 0, bitRTRRead)
	}
	b = binary.BigEndian.AppendUint16(b, ird)
	return binary.BigEndian.AppendUint16(b, ord)
}

// ParseHeader reads the first StartupSize octets of a request, or of a reply, and tells how many octets of private
// data follow: 0 to MaxPrivate. ParsePrivate reads those. After a fault the fields that could be read are there:
// an acceptor answers a revision that it does not know with its own. Reserved bits are not looked at.
func (s *Startup) ParseHeader(b []byte, reply bool) (private int, fault *Fault) {
	*s = Startup{Reply: reply}
	key := requestKey
	if reply {
		key = replyKey
	}
	if len(b) != StartupSize || string(b[:len(key)]) != key {
		return 0, &Fault{Cause: BadStartup, Detail: "what came is no " + key + " of MPA: the peer does not speak iWARP"}
	}
	bits := b[len(key)]
	s.Revision = b[len(key)+1]
	s.Markers, s.CRC = bits&bitMarkers != 0, bits&bitCRC != 0
	s.Reject = reply && bits&bitReject != 0
	s.Enhanced = s.Revision == Revision2 && bits&bitEnhanced != 0
	private = int(binary.BigEndian.Uint16(b[len(key)+2:]))
	switch {
	case s.Revision < Revision1 || s.Revision > Revision2:
		return 0, &Fault{Cause: BadStartup, Detail: fmt.Sprintf("revision %d of MPA is not known", s.Revision)}
	case private > MaxPrivate:
		return 0, &Fault{Cause: BadStartup, Detail: fmt.Sprintf("%d octets of private data are too many", private)}
	case s.Enhanced && private < DepthsSize:
		return 0, &Fault{Cause: BadStartup, Detail: "an enhanced start-up frame without the numbers of reads"}
	}
	return private, nil
}

// ParsePrivate reads the private data, of as many octets as ParseHeader told. Private is a part of b.
func (s *Startup) ParsePrivate(b []byte) *Fault {
	if s.Enhanced {
		if len(b) < DepthsSize {
			return &Fault{Cause: BadStartup, Detail: "an enhanced start-up frame without the numbers of reads"}
		}
		ird, ord := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
		s.IRD, s.ORD = ird&MaxDepth, ord&MaxDepth
		s.PeerToPeer = ird&bitPeerToPeer != 0
		if s.PeerToPeer { // else the other bits mean nothing
			s.RTR = flag(ird&bitRTRSend != 0, RTRSend) | flag(ord&bitRTRWrite != 0, RTRWrite) | flag(ord&bitRTRRead != 0, RTRRead)
		}
		b = b[DepthsSize:]
	}
	s.Private = b
	return nil
}

// flag is a bit where it is set, else 0.
func flag[T ~uint8 | ~uint16](set bool, bit T) T {
	if set {
		return bit
	}
	return 0
}

package fpdu

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"testing"
)

// octets are the bytes that a text has in hexadecimal, its comments (from # to the end of a line) left out.
func octets(t testing.TB, text string) []byte {
	t.Helper()
	text = regexp.MustCompile(`(?m)#.*$|\s`).ReplaceAllString(text, "")
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// message is a payload that has a form of its own.
type message interface {
	Append(b []byte) []byte
	Parse(b []byte) bool
}

// frames are whole frames of each kind, written down octet by octet from the RFCs' figures. The checksums were
// computed bit by bit, by another program.
var frames = []struct {
	name    string
	header  Header
	payload string
	message message // instead of payload
	wire    string
}{{
	name:    "write, first of two segments",
	header:  Header{Op: Write, Tagged: true, STag: 0x12345678, TO: 0x0000000100000010},
	payload: "0102030405",
	wire: `
		0013               # RFC 5044, 4: ULPDU_Length, 14 + 5
		81                 # RFC 5041, 4.1: T=1, L=0, reserved 0, DV=1
		40                 # RFC 5040, 4.1: RV=1, reserved 0, opcode 0
		12345678           # RFC 5041, 4.2: STag
		0000000100000010   # TO
		01 02 03 04 05     # payload
		000000             # RFC 5044, 4: 2+19+3 is a multiple of 4
		85923137           # CRC32C`,
}, {
	name:   "write of nothing",
	header: Header{Op: Write, Last: true, Tagged: true},
	wire: `
		000e               # ULPDU_Length, 14
		c1                 # T=1, L=1, DV=1
		40                 # RV=1, opcode 0
		00000000           # STag: not looked at
		0000000000000000   # TO: not looked at
		                   # 2+14 is a multiple of 4
		a30572ab           # CRC32C`,
}, {
	name:    "read request",
	header:  Header{Op: ReadRequest, Last: true, Queue: QueueRequest, MSN: 1},
	message: &ReadRequestHeader{SinkSTag: 0xaabbccdd, SinkTO: 0x1020304050607080, Size: 0x00010000, SourceSTag: 0x11223344, SourceTO: 0x8877665544332211},
	wire: `
		002e               # ULPDU_Length, 18 + 28
		41                 # T=0, L=1, DV=1
		41                 # RV=1, opcode 1
		00000000           # RFC 5041, 4.3: RsvdULP
		00000001           # QN
		00000001           # MSN
		00000000           # MO
		aabbccdd           # RFC 5040, 4.4: data sink STag
		1020304050607080   # data sink TO
		00010000           # size
		11223344           # data source STag
		8877665544332211   # data source TO
		                   # 2+46 is a multiple of 4
		f7e2a8b7           # CRC32C`,
}, {
	name:    "read response",
	header:  Header{Op: ReadResponse, Last: true, Tagged: true, STag: 0xaabbccdd, TO: 0x1020304050607080},
	payload: "fffefdfc",
	wire: `
		0012               # ULPDU_Length, 14 + 4
		c1                 # T=1, L=1, DV=1
		42                 # RV=1, opcode 2
		aabbccdd           # the sink's STag of the request
		1020304050607080   # and its TO
		fffefdfc           # payload
		                   # 2+18 is a multiple of 4
		9a9d0a92           # CRC32C`,
}, {
	name:    "read response of ours, two more of as many bytes behind it",
	header:  Header{Op: ReadResponse, Tagged: true, More: 2, STag: 0xaabbccdd, TO: 0x1020304050607080},
	payload: "fffefdfc",
	wire: `
		0012               # ULPDU_Length, 14 + 4
		81                 # T=1, L=0, DV=1
		62                 # RV=1, reserved 2, opcode 2
		aabbccdd           # the sink's STag of the request
		1020304050607080   # and its TO
		fffefdfc           # payload
		                   # 2+18 is a multiple of 4
		322bb29b           # CRC32C`,
}, {
	name:    "send, second segment, the last",
	header:  Header{Op: Send, Last: true, MSN: 7, MO: 0x5ca},
	payload: "68656c6c6f",
	wire: `
		0017               # ULPDU_Length, 18 + 5
		41                 # T=0, L=1, DV=1
		43                 # RV=1, opcode 3
		00000000           # RsvdULP
		00000000           # QN
		00000007           # MSN
		000005ca           # MO, 1482
		68656c6c6f         # "hello"
		000000             # 2+23+3
		551b2e64           # CRC32C`,
}, {
	name:    "send with invalidate",
	header:  Header{Op: SendInvalidate, Last: true, Invalidate: 0xdeadbeef, MSN: 0xffffffff},
	payload: "01",
	wire: `
		0013               # ULPDU_Length, 18 + 1
		41                 # T=0, L=1, DV=1
		44                 # RV=1, opcode 4
		deadbeef           # RFC 5040, 4.1: Invalidate STag
		00000000           # QN
		ffffffff           # MSN, the last before 0
		00000000           # MO
		01                 # payload
		000000             # 2+19+3
		22ab0c83           # CRC32C`,
}, {
	name:   "send with solicited event, of nothing",
	header: Header{Op: SendSolicited, Last: true, MSN: 2},
	wire: `
		0012               # ULPDU_Length, 18
		41                 # T=0, L=1, DV=1
		45                 # RV=1, opcode 5
		00000000           # RsvdULP
		00000000           # QN
		00000002           # MSN
		00000000           # MO
		                   # 2+18
		9f746d49           # CRC32C`,
}, {
	name:    "send with solicited event and invalidate",
	header:  Header{Op: SendSolicitedInvalidate, Last: true, Invalidate: 0x00000100, MSN: 3},
	payload: "0203",
	wire: `
		0014               # ULPDU_Length, 18 + 2
		41                 # T=0, L=1, DV=1
		46                 # RV=1, opcode 6
		00000100           # Invalidate STag
		00000000           # QN
		00000003           # MSN
		00000000           # MO
		0203               # payload
		0000               # 2+20+2
		1674d72d           # CRC32C`,
}, {
	name:   "terminate of RDMAP: a read without the right",
	header: Header{Op: Terminate, Last: true, Queue: QueueTerminate, MSN: 1},
	message: &wholeTerminate{TerminateHeader{
		Cause: NoRight, HasSegment: true, Length: 46,
		Segment:    Header{Op: ReadRequest, Last: true, Queue: QueueRequest, MSN: 9},
		HasRequest: true,
		Request:    ReadRequestHeader{SinkSTag: 1, SinkTO: 2, Size: 3, SourceSTag: 4, SourceTO: 5},
	}},
	wire: `
		0046               # ULPDU_Length, 18 + 4 + 2 + 18 + 28
		41                 # T=0, L=1, DV=1
		47                 # RV=1, opcode 7
		00000000           # RsvdULP
		00000002           # QN
		00000001           # MSN
		00000000           # MO
		01                 # RFC 5040, 4.8: layer 0 (RDMAP), type 1 (remote protection)
		02                 # code: access rights violation
		e0 00              # HdrCt: M=1, D=1, R=1; reserved
		002e               # DDP segment length
		41 41              # the segment's header
		00000000
		00000001
		00000009
		00000000
		00000001           # the read request
		0000000000000002
		00000003
		00000004
		0000000000000005
		                   # 2+70
		3efba4a7           # CRC32C`,
}, {
	name:   "terminate of DDP: a write out of bounds",
	header: Header{Op: Terminate, Last: true, Queue: QueueTerminate, MSN: 1},
	message: &wholeTerminate{TerminateHeader{
		Cause: TaggedBounds, HasSegment: true, Length: 0x05c0,
		Segment: Header{Op: Write, Tagged: true, STag: 0x01020304, TO: 0x0506070809},
	}},
	wire: `
		0026               # ULPDU_Length, 18 + 4 + 2 + 14
		41 47              # as above
		00000000           # RsvdULP
		00000002           # QN
		00000001           # MSN
		00000000           # MO
		11                 # layer 1 (DDP), type 1 (tagged buffer)
		01                 # RFC 5041, 7.2: base or bounds violation
		c0 00              # M=1, D=1, R=0
		05c0               # DDP segment length
		81 40              # the segment's header
		01020304
		0000000506070809
		                   # 2+38
		37082f85           # CRC32C`,
}, {
	name:    "terminate of MPA: a checksum error",
	header:  Header{Op: Terminate, Last: true, Queue: QueueTerminate, MSN: 1},
	message: &wholeTerminate{TerminateHeader{Cause: BadCRC}},
	wire: `
		0016               # ULPDU_Length, 18 + 4
		41 47
		00000000           # RsvdULP
		00000002           # QN
		00000001           # MSN
		00000000           # MO
		20                 # layer 2 (LLP), type 0 (MPA)
		02                 # RFC 5044, 8: CRC error
		00 00              # M=0, D=0, R=0
		                   # 2+22
		7fe42585           # CRC32C`,
}, {
	name:    "immediate data",
	header:  Header{Op: Immediate, Last: true, MSN: 4},
	message: &ImmediateData{0, 0, 0, 0, 0xca, 0xfe, 0xf0, 0x0d},
	wire: `
		001a               # ULPDU_Length, 18 + 8
		41                 # T=0, L=1, DV=1
		48                 # RFC 7306, 10: RV=1, opcode 8
		00000000           # RsvdULP
		00000000           # RFC 7306, 6.3: QN 0
		00000004           # MSN
		00000000           # MO
		00000000cafef00d   # RFC 7306, 6.2: immediate data
		                   # 2+26
		38bbc043           # CRC32C`,
}, {
	name:    "immediate data with solicited event",
	header:  Header{Op: ImmediateSolicited, Last: true, MSN: 5},
	message: &ImmediateData{1, 2, 3, 4, 5, 6, 7, 8},
	wire: `
		001a               # ULPDU_Length, 18 + 8
		41                 # T=0, L=1, DV=1
		49                 # RV=1, opcode 9
		00000000           # RsvdULP
		00000000           # QN
		00000005           # MSN
		00000000           # MO
		0102030405060708   # immediate data
		                   # 2+26
		0fe854e8           # CRC32C`,
}, {
	name:    "atomic request, an addition",
	header:  Header{Op: AtomicRequest, Last: true, Queue: QueueRequest, MSN: 2},
	message: &AtomicRequestHeader{Op: FetchAdd, ID: 0x01010101, STag: 0x0a0b0c0d, TO: 0x1000, Data: 0xffffffffffffffff},
	wire: `
		0046               # ULPDU_Length, 18 + 52
		41                 # T=0, L=1, DV=1
		4a                 # RFC 7306, 5.2: RV=1, opcode 10
		00000000           # RsvdULP
		00000001           # QN 1, that of reads
		00000002           # MSN
		00000000           # MO
		00000000           # RFC 7306, 5.2.1: reserved 0, AOpCode 0
		01010101           # request identifier
		0a0b0c0d           # remote STag
		0000000000001000   # remote TO
		ffffffffffffffff   # add data: -1
		0000000000000000   # add mask: one field
		0000000000000000   # compare data: 0 with an addition
		ffffffffffffffff   # compare mask: ones with an addition
		                   # 2+70
		e4c48893           # CRC32C`,
}, {
	name:   "atomic request, a swap",
	header: Header{Op: AtomicRequest, Last: true, Queue: QueueRequest, MSN: 3},
	message: &AtomicRequestHeader{
		Op: CmpSwap, ID: 2, STag: 0x0a0b0c0d, TO: 0x1008,
		Data: 0x1111111111111111, Mask: 0x00000000ffffffff, Compare: 0x2222222222222222, CompareMask: 0xffffffff00000000,
	},
	wire: `
		0046               # ULPDU_Length, 18 + 52
		41 4a              # T=0, L=1, DV=1; RV=1, opcode 10
		00000000           # RsvdULP
		00000001           # QN
		00000003           # MSN
		00000000           # MO
		00000002           # reserved 0, AOpCode 2
		00000002           # request identifier
		0a0b0c0d           # remote STag
		0000000000001008   # remote TO
		1111111111111111   # swap data
		00000000ffffffff   # swap mask
		2222222222222222   # compare data
		ffffffff00000000   # compare mask
		                   # 2+70
		17bf03be           # CRC32C`,
}, {
	name:    "atomic response",
	header:  Header{Op: AtomicResponse, Last: true, Queue: QueueAtomic, MSN: 1},
	message: &AtomicResponseHeader{ID: 0x01010101, Old: 0x8000000000000001},
	wire: `
		001e               # ULPDU_Length, 18 + 12
		41                 # T=0, L=1, DV=1
		4b                 # RV=1, opcode 11
		00000000           # RsvdULP
		00000003           # QN 3
		00000001           # MSN
		00000000           # MO
		01010101           # RFC 7306, 5.2.2: original request identifier
		8000000000000001   # original remote data value
		                   # 2+30
		caebc228           # CRC32C`,
}}

// wholeTerminate is a TerminateHeader as a message.
type wholeTerminate struct{ TerminateHeader }

func TestFrames(t *testing.T) {
	for _, c := range frames {
		t.Run(c.name, func(t *testing.T) {
			wire, payload := octets(t, c.wire), octets(t, c.payload)
			if c.message != nil {
				payload = c.message.Append(nil)
			}
			got := c.header.Append(nil, len(payload))
			got = append(got, payload...)
			ulpdu := len(got) - LengthSize
			got = AppendTail(got, ulpdu, CRC(0, got), true)
			if !bytes.Equal(got, wire) {
				t.Errorf("sent\n%x, not\n%x", got, wire)
			}
			if len(wire) != FrameSize(ulpdu) {
				t.Errorf("a frame of %d octets, not %d", len(wire), FrameSize(ulpdu))
			}
			parseFrame(t, wire, c.header, payload)
		})
	}
}

// parseFrame reads a frame back.
func parseFrame(t *testing.T, wire []byte, want Header, payload []byte) {
	n := int(binary.BigEndian.Uint16(wire))
	sum := binary.LittleEndian.Uint32(wire[len(wire)-CRCSize:])
	if got := CRC(0, wire[:len(wire)-CRCSize]); got != sum {
		t.Errorf("the checksum is %#x, not %#x", got, sum)
	}
	ulpdu := wire[LengthSize : LengthSize+n]
	var h Header
	if fault := h.Parse(ulpdu); fault != nil || h != want {
		t.Fatalf("read the header %+v (%v), not %+v", h, fault, want)
	}
	if got := ulpdu[h.Size():]; !bytes.Equal(got, payload) {
		t.Errorf("read the payload %x, not %x", got, payload)
	}
}

func TestMessages(t *testing.T) {
	for _, c := range frames {
		if c.message == nil {
			continue
		}
		payload := c.message.Append(nil)
		got := fresh(c.message)
		if !got.Parse(payload) {
			t.Errorf("%s: %x is refused", c.name, payload)
			continue
		}
		if back := got.Append(nil); !bytes.Equal(back, payload) || !same(got, c.message) {
			t.Errorf("%s: read %+v, not %+v", c.name, got, c.message)
		}
		for n := range payload { // each is of one length
			if fresh(c.message).Parse(payload[:n]) {
				t.Errorf("%s: %d of its %d octets are taken", c.name, n, len(payload))
			}
		}
		if fresh(c.message).Parse(append(bytes.Clone(payload), 0)) {
			t.Errorf("%s: an octet too many is taken", c.name)
		}
	}
}

// fresh is an empty message of the kind of another one.
func fresh(m message) message {
	switch m.(type) {
	case *ReadRequestHeader:
		return new(ReadRequestHeader)
	case *wholeTerminate:
		return new(wholeTerminate)
	case *ImmediateData:
		return new(ImmediateData)
	case *AtomicRequestHeader:
		return new(AtomicRequestHeader)
	default:
		return new(AtomicResponseHeader)
	}
}

func same(a, b message) bool {
	switch a := a.(type) {
	case *ReadRequestHeader:
		return *a == *b.(*ReadRequestHeader)
	case *wholeTerminate:
		return *a == *b.(*wholeTerminate)
	case *ImmediateData:
		return *a == *b.(*ImmediateData)
	case *AtomicRequestHeader:
		return *a == *b.(*AtomicRequestHeader)
	default:
		return *a.(*AtomicResponseHeader) == *b.(*AtomicResponseHeader)
	}
}

// The test values of RFC 3720, appendix B.4, in the order of octets in which they are sent.
func TestCRC(t *testing.T) {
	up, down := make([]byte, 32), make([]byte, 32)
	for i := range up {
		up[i], down[31-i] = byte(i), byte(i)
	}
	for _, c := range []struct {
		data []byte
		sum  string
	}{
		{make([]byte, 32), "aa36918a"},
		{bytes.Repeat([]byte{0xff}, 32), "43aba862"},
		{up, "4e79dd46"},
		{down, "5cdb3f11"},
	} {
		// 30 octets as a ULPDU go without padding after a length of 2, which is as much of the data.
		got := AppendTail(nil, 30, CRC(CRC(0, c.data[:9]), c.data[9:]), true)
		if want := octets(t, c.sum); !bytes.Equal(got, want) {
			t.Errorf("the checksum of %x is sent as %x, not %x", c.data, got, want)
		}
	}
	dst := make([]byte, len(up))
	if got := CopyCRC(dst, up, 0); got != CRC(0, up) || !bytes.Equal(dst, up) {
		t.Errorf("copied %x with %#x", dst, got)
	}
	if got := AppendTail(nil, 13, 0x12345678, false); !bytes.Equal(got, make([]byte, 1+CRCSize)) {
		t.Errorf("without checksums, the tail is %x", got)
	}
}

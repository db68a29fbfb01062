package fpdu

import (
	"strings"
	"testing"
)

func TestHeaderRefused(t *testing.T) {
	const tagged, untagged = "12345678 0000000000000001", "00000000 00000001 00000002 00000003"
	for _, c := range []struct {
		name, ulpdu string
		cause       Cause
	}{
		{"nothing", "", DDPCatastrophic},
		{"one octet", "c1", DDPCatastrophic},
		{"a tagged header that is cut", "c1 40 12345678 00000000000000", DDPCatastrophic},
		{"an untagged header that is cut", "41 43 00000000 00000001 00000002 000000", DDPCatastrophic},
		{"DDP version 0, tagged", "c0 40" + tagged, TaggedVersion},
		{"DDP version 2, untagged", "42 43" + untagged, UntaggedVersion},
		{"RDMAP version 0", "c1 00" + tagged, RDMAPVersion},
		{"RDMAP version 2", "41 83" + untagged, RDMAPVersion},
		{"a send that is tagged", "c1 43" + tagged, UnexpectedOpcode},
		{"a write that is untagged", "41 40" + untagged, UnexpectedOpcode},
		{"a read response that is untagged", "41 42" + untagged, UnexpectedOpcode},
		{"an atomic response that is tagged", "c1 4b" + tagged, UnexpectedOpcode},
		{"opcode 12", "41 4c" + untagged, UnexpectedOpcode},
		{"opcode 15", "c1 4f" + tagged, UnexpectedOpcode},
	} {
		var h Header
		b := octets(t, c.ulpdu)
		fault := h.Parse(b)
		if fault == nil || fault.Cause != c.cause {
			t.Errorf("%s: %v, not %v", c.name, fault, c.cause)
		}
		if c.cause != DDPCatastrophic && len(b) != h.Size() {
			t.Errorf("%s: the header was not read", c.name)
		}
		if c.cause != DDPCatastrophic && !h.Tagged && (h.Queue != 1 || h.MSN != 2 || h.MO != 3) || h.Tagged && h.TO > 1 {
			t.Errorf("%s: read %+v", c.name, h)
		}
	}
	// Reserved bits are not looked at, but for those that this package gives a meaning, and come back in a Terminate.
	var h Header
	if fault := h.Parse(octets(t, "fd 70"+tagged)); fault != nil || h != (Header{Op: Write, Last: true, Tagged: true, More: 3, STag: 0x12345678, TO: 1, odd: 0xfd70}) {
		t.Errorf("with reserved bits set: %+v, %v", h, fault)
	}
	if fault := h.Parse(octets(t, "41 73"+untagged)); fault != nil || h.More != 0 {
		t.Errorf("with reserved bits of an untagged segment set: %+v, %v", h, fault)
	}
}

func TestAtomicOperationRefused(t *testing.T) {
	for op := range AtomicOp(opMask + 1) {
		b := (&AtomicRequestHeader{Op: op}).Append(nil)
		var a AtomicRequestHeader
		if got, want := a.Parse(b), op == FetchAdd || op == CmpSwap; got != want {
			t.Errorf("operation %d: %v", op, got)
		}
	}
}

func TestMisfit(t *testing.T) {
	if f := Misfit(8, 8); f != nil {
		t.Error(f)
	}
	if f := Misfit(7, 8); f == nil || f.Cause != StreamCatastrophe {
		t.Error(f)
	}
	if f := Misfit(9, 8); f == nil || f.Cause != MessageTooLong {
		t.Error(f)
	}
}

// The cause is there however little came with it.
func TestTerminateRefused(t *testing.T) {
	for _, c := range []struct {
		name, payload string
		ok            bool
		want          TerminateHeader
	}{
		{"nothing", "", false, TerminateHeader{}},
		{"no control field", "0102e0", false, TerminateHeader{}},
		{"a header that is not there", "1101 c000 0010", false, TerminateHeader{Cause: TaggedBounds, Length: 16}},
		{"a request without a header", "0102 2000" + strings.Repeat("00", ReadRequestSize), false, TerminateHeader{Cause: NoRight}},
		{"a length alone", "1101 8000 0010", true, TerminateHeader{Cause: TaggedBounds, Length: 16}},
		{"a header without a valid length", "1101 4000 0010 c140 00000001 0000000000000002", true, TerminateHeader{
			Cause: TaggedBounds, HasSegment: true, Segment: Header{Last: true, Tagged: true, STag: 1, TO: 2}}},
		{"a header of another version", "1104 c000 000e c240 00000001 0000000000000002", true, TerminateHeader{
			Cause: TaggedVersion, Length: 14, HasSegment: true, Segment: Header{Last: true, Tagged: true, STag: 1, TO: 2, odd: 0xc240}}},
		{"reserved bits", "2002 1fff", true, TerminateHeader{Cause: BadCRC}},
	} {
		var got TerminateHeader
		if ok := got.Parse(octets(t, c.payload)); ok != c.ok || got != c.want {
			t.Errorf("%s: %v, %+v", c.name, ok, got)
		}
	}
}

func TestCauseInWords(t *testing.T) {
	for _, c := range []struct {
		cause Cause
		want  string
	}{
		{NoRight, "the key does not give that right, RDMAP 0x0102"},
		{TaggedBounds, "data out of the bounds of the key's memory, DDP 0x1101"},
		{BadCRC, "checksum error, MPA 0x2002"},
		{0x0042, "local catastrophic error, RDMAP 0x0042"}, // a code that says nothing
		{0x1fff, "unknown cause, DDP 0x1fff"},
		{0xffff, "unknown cause, unknown layer 0xffff"},
	} {
		if got := c.cause.String(); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
	if got := (&Fault{Cause: InvalidMSN, Detail: "message 7 after 5"}).Error(); got != "message 7 after 5 (message out of sequence, DDP 0x1203)" {
		t.Error(got)
	}
}

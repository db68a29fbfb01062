package fpdu

import (
	"bytes"
	"testing"
)

// FuzzSegment reads bytes as a segment, and what was taken has to come back as it was, reserved bits too.
func FuzzSegment(f *testing.F) {
	for _, c := range frames {
		f.Add(c.header.Append(nil, 0)[LengthSize:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Header
		if h.Parse(b) != nil {
			return
		}
		if got := h.Append(nil, 0)[LengthSize:]; !bytes.Equal(got, b[:h.Size()]) {
			t.Errorf("%x came back as %x", b[:h.Size()], got)
		}
	})
}

// FuzzTerminate reads bytes as the payload of a Terminate.
func FuzzTerminate(f *testing.F) {
	for _, c := range frames {
		if _, ok := c.message.(*wholeTerminate); ok {
			f.Add(c.message.Append(nil))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, second TerminateHeader
		whole := first.Parse(b)
		if _ = first.Cause.String(); !whole {
			return
		}
		if !first.HasSegment {
			first.Length = 0 // which is not sent alone
		}
		if sent := first.Append(nil); len(sent) > MaxTerminateSize || !second.Parse(sent) || second != first {
			t.Errorf("%+v came back as %+v", first, second)
		}
	})
}

// FuzzMessages reads bytes as the payloads of fixed form.
func FuzzMessages(f *testing.F) {
	for _, c := range frames {
		if c.message != nil {
			f.Add(c.message.Append(nil))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var read ReadRequestHeader
		var response AtomicResponseHeader
		var data ImmediateData
		for _, m := range []message{&read, &response, &data} {
			if m.Parse(b) && !bytes.Equal(m.Append(nil), b) {
				t.Errorf("%x came back as %x", b, m.Append(nil))
			}
		}
		var first, second AtomicRequestHeader
		if first.Parse(b) && (!second.Parse(first.Append(nil)) || first != second) {
			t.Errorf("%+v came back as %+v", first, second)
		}
	})
}

// FuzzStartup reads bytes as a start-up frame.
func FuzzStartup(f *testing.F) {
	for _, c := range startups {
		f.Add(octets(f, c.wire), c.frame.Reply)
	}
	f.Fuzz(func(t *testing.T, b []byte, reply bool) {
		var first, second Startup
		if len(b) < StartupSize {
			return
		}
		n, fault := first.ParseHeader(b[:StartupSize], reply)
		if n < 0 || n > MaxPrivate {
			t.Fatalf("%d octets of private data", n)
		}
		if fault != nil || len(b) < StartupSize+n || first.ParsePrivate(b[StartupSize:StartupSize+n]) != nil {
			return
		}
		sent, err := first.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if m, fault := second.ParseHeader(sent[:StartupSize], reply); fault != nil || m != n {
			t.Fatalf("%d octets of private data came back as %d (%v)", n, m, fault)
		}
		if fault := second.ParsePrivate(sent[StartupSize:]); fault != nil || !bytes.Equal(second.Private, first.Private) ||
			second.IRD != first.IRD || second.ORD != first.ORD || second.RTR != first.RTR || second.CRC != first.CRC {
			t.Errorf("%+v came back as %+v (%v)", first, second, fault)
		}
	})
}

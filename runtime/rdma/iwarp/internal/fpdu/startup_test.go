package fpdu

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

var startups = []struct {
	name  string
	frame Startup
	wire  string
}{{
	name:  "request of revision 1",
	frame: Startup{CRC: true, Revision: 1, Private: []byte("hi")},
	wire: `
		4d504120494420526571204672616d65   # RFC 5044, 7.1.1: "MPA ID Req Frame"
		40                                 # M=0, C=1, R=0, reserved 0
		01                                 # revision
		0002                               # PD_Length
		6869                               # private data`,
}, {
	name:  "reply of revision 1, a refusal",
	frame: Startup{Reply: true, Markers: true, Reject: true, Revision: 1, Private: []byte{}},
	wire: `
		4d504120494420526570204672616d65   # "MPA ID Rep Frame"
		a0                                 # M=1, C=0, R=1
		01                                 # revision
		0000                               # PD_Length`,
}, {
	name: "request of revision 2, peer to peer",
	frame: Startup{
		CRC: true, Revision: 2, Enhanced: true, IRD: 16, ORD: 0x3fff, PeerToPeer: true, RTR: RTRWrite | RTRRead,
		Private: []byte{7},
	},
	wire: `
		4d504120494420526571204672616d65
		50                                 # RFC 6581, 4: M=0, C=1, R=0, S=1
		02                                 # revision
		0005                               # PD_Length, with the four octets that follow
		8010                               # RFC 6581, 9: A=1, B=0, IRD 16
		ffff                               # C=1, D=1, ORD 0x3fff
		07                                 # private data`,
}, {
	name:  "reply of revision 2, peer to peer with a send",
	frame: Startup{Reply: true, CRC: true, Revision: 2, Enhanced: true, IRD: 1, ORD: 2, PeerToPeer: true, RTR: RTRSend, Private: []byte{}},
	wire: `
		4d504120494420526570204672616d65
		50                                 # M=0, C=1, R=0, S=1
		02                                 # revision
		0004                               # PD_Length
		c001                               # A=1, B=1, IRD 1
		0002                               # C=0, D=0, ORD 2`,
}, {
	name:  "reply of revision 2, client and server",
	frame: Startup{Reply: true, Revision: 2, Enhanced: true, IRD: 0x3fff, Private: []byte{}},
	wire: `
		4d504120494420526570204672616d65
		10                                 # M=0, C=0, R=0, S=1
		02                                 # revision
		0004                               # PD_Length
		3fff                               # A=0, B=0, IRD 0x3fff
		0000                               # C=0, D=0, ORD 0`,
}, {
	name:  "request of revision 2 that is not enhanced",
	frame: Startup{CRC: true, Revision: 2, Private: []byte{}},
	wire: `
		4d504120494420526571204672616d65
		40                                 # S=0
		02                                 # revision
		0000                               # PD_Length`,
}}

func TestStartup(t *testing.T) {
	for _, c := range startups {
		wire := octets(t, c.wire)
		if got, err := c.frame.Append(nil); err != nil || !bytes.Equal(got, wire) {
			t.Errorf("%s: sent (%v)\n%x, not\n%x", c.name, err, got, wire)
		}
		var s Startup
		n, fault := s.ParseHeader(wire[:StartupSize], c.frame.Reply)
		if fault != nil || n != len(wire)-StartupSize {
			t.Errorf("%s: %d octets of private data (%v), not %d", c.name, n, fault, len(wire)-StartupSize)
			continue
		}
		if fault := s.ParsePrivate(wire[StartupSize:]); fault != nil || !reflect.DeepEqual(s, c.frame) {
			t.Errorf("%s: read %+v (%v), not %+v", c.name, s, fault, c.frame)
		}
		if _, fault := s.ParseHeader(wire[:StartupSize], !c.frame.Reply); fault == nil {
			t.Errorf("%s: taken for its counterpart", c.name)
		}
	}
}

// The bits B, C and D mean nothing without A, and S nothing in revision 1; R is not looked at in a request.
// Source: RFC 6581, section 9.2; RFC 5044, section 7.1.1.
func TestStartupBitsThatMeanNothing(t *testing.T) {
	var s Startup
	wire := octets(t, "4d504120494420526570204672616d65 1f02 0004 4001 c002")
	if _, fault := s.ParseHeader(wire[:StartupSize], true); fault != nil {
		t.Fatal(fault)
	}
	if fault := s.ParsePrivate(wire[StartupSize:]); fault != nil || s.PeerToPeer || s.RTR != 0 || s.IRD != 1 || s.ORD != 2 {
		t.Errorf("read %+v (%v)", s, fault)
	}
	wire = octets(t, "4d504120494420526571204672616d65 ff01 0000")
	if n, fault := s.ParseHeader(wire, false); fault != nil || n != 0 || s.Enhanced || s.Reject || !s.Markers || !s.CRC {
		t.Errorf("read %+v (%v)", s, fault)
	}
	frame := Startup{Revision: 2, Enhanced: true, RTR: RTRSend | RTRRead}
	if b, err := frame.Append(nil); err != nil || !bytes.Equal(b[StartupSize:], make([]byte, DepthsSize)) {
		t.Errorf("sent %x (%v)", b, err)
	}
}

func TestStartupRefused(t *testing.T) {
	for _, c := range []struct{ name, wire, detail string }{
		{"another key", "4d504120494420526571204672616d66 4001 0000", "does not speak iWARP"},
		{"too short", "4d504120494420526571204672616d65 4001 00", "does not speak iWARP"},
		{"too long", "4d504120494420526571204672616d65 4001 0000 00", "does not speak iWARP"},
		{"nothing", "", "does not speak iWARP"},
		{"revision 0", "4d504120494420526571204672616d65 4000 0000", "revision 0"},
		{"revision 3", "4d504120494420526571204672616d65 5003 0004", "revision 3"},
		{"too much private data", "4d504120494420526571204672616d65 4001 0201", "513 octets"},
		{"enhanced without numbers", "4d504120494420526571204672616d65 5002 0003", "without the numbers"},
	} {
		var s Startup
		n, fault := s.ParseHeader(octets(t, c.wire), false)
		if fault == nil || fault.Cause != BadStartup || n != 0 || !strings.Contains(fault.Error(), c.detail) {
			t.Errorf("%s: %d octets, %v", c.name, n, fault)
		}
	}
	s := Startup{Revision: 2, Enhanced: true}
	if fault := s.ParsePrivate([]byte{1, 2, 3}); fault == nil || fault.Cause != BadStartup {
		t.Errorf("three octets of numbers: %v", fault)
	}
	for _, s := range []Startup{
		{Revision: 1, Private: make([]byte, MaxPrivate+1)},
		{Revision: 2, Enhanced: true, Private: make([]byte, MaxPrivate-DepthsSize+1)},
		{Revision: 2, Enhanced: true, IRD: MaxDepth + 1},
		{Revision: 2, Enhanced: true, ORD: MaxDepth + 1},
	} {
		if b, err := s.Append(nil); err == nil || len(b) != 0 {
			t.Errorf("%d octets of private data, %d and %d reads: sent as %x", len(s.Private), s.IRD, s.ORD, b)
		}
	}
}

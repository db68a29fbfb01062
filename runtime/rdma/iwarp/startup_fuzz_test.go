package iwarp

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// FuzzAcceptor gives octets to the side that accepts, as one request after TCP has connected. What it agrees on is never
// more than both sides said.
func FuzzAcceptor(f *testing.F) {
	for _, s := range []string{honest, req + "40 01 0000", req + "50 02 0004 c008 c008", req + "d0 02 0004 8080 8080", req + "50 03 0004"} {
		f.Add(bits(f, s), false, true)
		f.Add(bits(f, s), true, false)
	}
	f.Fuzz(func(t *testing.T, b []byte, plain, crc bool) {
		own := side{inbound: maxInbound, plain: plain, crc: crc}
		frame, err := readFrame(bytes.NewReader(b), false)
		a := &asked{frame: frame}
		if err == nil {
			a, err = own.consider(frame)
		}
		if err != nil {
			no := own.reject(a, err)
			if out, err := no.Append(nil); err != nil || !no.Reject || a.ours && plain || !a.ours && len(no.Private) > 0 || len(out) > fpdu.StartupSize+fpdu.MaxPrivate {
				t.Fatalf("refused by %q, %v", out, err)
			}
			return
		}
		reply, ses, err := own.reply(a, []byte("hello"), "peer")
		if err != nil {
			t.Fatal(err)
		}
		out, err := reply.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if ses.ird != maxInbound || ses.ord > min(maxInbound, int(frame.IRD)) || ses.crc != (crc || frame.CRC) || ses.ready&^frame.RTR != 0 ||
			(ses.ready == 0) == frame.PeerToPeer || ses.ours && (plain || !bytes.Contains(b, []byte(mark))) || frame.Markers || len(ses.hello) > len(b) {
			t.Fatalf("a request %+v became the session %+v", frame, ses)
		}
		// The other side understands the answer as we do.
		asked, _ := side{inbound: int(frame.ORD), crc: frame.CRC}.request(fpdu.Revision2, nil)
		asked.Revision, asked.RTR = frame.Revision, fpdu.RTRWrite|fpdu.RTRRead|fpdu.RTRSend
		back, err := readFrame(bytes.NewReader(out), true)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := side{inbound: int(frame.ORD), plain: !a.ours, crc: frame.CRC}.replied(asked, back, "us")
		if err != nil || theirs.crc != ses.crc || theirs.ready != ses.ready || theirs.ours != ses.ours ||
			theirs.ord > ses.ird && frame.ORD != fpdu.MaxDepth { // then it is left to the programs
			t.Fatalf("we agreed on %+v, and the other side on %+v, %v", ses, theirs, err)
		}
	})
}

// FuzzDialer gives octets to the side that dialled, as the reply.
func FuzzDialer(f *testing.F) {
	for _, s := range []string{welcomed, rep + "70 02 0017 0080 0080 'no visitors'" + ours, rep + "60 01 0000", rep + "50 02 0004 3fff 3fff"} {
		f.Add(bits(f, s), false)
		f.Add(bits(f, s), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, plain bool) {
		own := side{inbound: maxInbound, plain: plain}
		asked, err := own.request(fpdu.Revision2, []byte("hello"))
		if err != nil {
			t.Fatal(err)
		}
		back, err := readFrame(bytes.NewReader(b), true)
		if err != nil {
			return
		}
		ses, err := own.replied(asked, back, "peer")
		if err != nil {
			if no := (*refusal)(nil); errors.As(err, &no) && strings.ContainsAny(no.why, "\x00\n\r\x1b\x7f") {
				t.Fatalf("a refusal that is not to be printed: %q", no.why)
			}
			return
		}
		if back.Reject || back.Markers || ses.ord > maxInbound || ses.ird != maxInbound || ses.ready&(ses.ready-1) != 0 ||
			ses.ready&^(back.RTR&asked.RTR) != 0 || ses.crc != back.CRC || ses.ours && (plain || !bytes.Contains(b, []byte(mark))) {
			t.Fatalf("a reply %+v became the session %+v", back, ses)
		}
	})
}

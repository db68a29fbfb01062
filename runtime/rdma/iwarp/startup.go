package iwarp

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"unicode"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// What this package adds to the private data between programs that have it: mark, version, and a word of what the
// sender can do.
const (
	mark         = "BWI"
	markVersion  = 1
	markSize     = len(mark) + 1 + 4
	canRFC7306   = 1 << 0 // atomics and immediate data
	canTell      = 1 << 1 // segments tell how many follow, see ahead.go
	ourAbilities = canRFC7306 | canTell

	// maxPrivate is how much of private data this package sends, a refusal's text apart: librdmacm leaves its callers
	// 56 octets.
	maxPrivate = 48
	maxReason  = 256 // octets of a refusal's text
)

// offered are the ready-to-receive messages that we can send when we dial. A send is not among them: it is the
// one that some peers take a receive for.
const offered = fpdu.RTRWrite | fpdu.RTRRead

// side is what this end brings to a handshake.
type side struct {
	inbound int  // reads and atomics at a time, in each direction
	plain   bool // nothing of ours is said
	crc     bool // we want checksums
}

// side is what we bring to a handshake over a connection.
func (a *adapter) side(conn net.Conn) side {
	return side{inbound: a.inbound, plain: a.plain, crc: !a.noCRC || !trusted(conn)}
}

// trusted reports whether checksums may be left out on a connection: it is under TLS, or between two sockets of this
// host.
func trusted(conn net.Conn) bool {
	if _, ok := conn.(*tls.Conn); ok {
		return true
	}
	local, remote := hostOf(conn.LocalAddr()), hostOf(conn.RemoteAddr())
	return remote.IsValid() && (remote.IsLoopback() || remote == local)
}

// hostOf is the host of an address, or the zero value of one that is not IP's.
func hostOf(a net.Addr) netip.Addr {
	if t, ok := a.(*net.TCPAddr); ok && t != nil {
		return t.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// request is the frame of a dialer.
func (s side) request(revision uint8, hello []byte) (*fpdu.Startup, error) {
	f := &fpdu.Startup{Revision: revision, CRC: s.crc}
	if revision == fpdu.Revision1 {
		return f, nil // a peer that knows no better is not ours
	}
	f.Enhanced, f.PeerToPeer, f.RTR = true, true, offered
	f.IRD, f.ORD = uint16(s.inbound), uint16(s.inbound)
	f.Private = s.private(hello, !s.plain)
	return f, checkPrivate(f)
}

// private is what follows RFC 6581's numbers.
func (s side) private(hello []byte, ours bool) []byte {
	p := append([]byte(nil), hello...)
	if ours {
		p = append(append(p, mark...), markVersion)
		p = binary.BigEndian.AppendUint32(p, ourAbilities)
	}
	return p
}

func checkPrivate(f *fpdu.Startup) error {
	n := len(f.Private)
	if f.Enhanced {
		n += fpdu.DepthsSize
	}
	if n > maxPrivate {
		return fmt.Errorf("iwarp: a hello that makes %d octets of private data, and there is room for %d", n, maxPrivate)
	}
	return nil
}

// unmark takes off a peer's private data what this package added. It reports whether the peer is ours; the error says
// that it is, and of a version that will not do.
func unmark(p []byte) (hello []byte, ours bool, err error) {
	at := len(p) - markSize
	if at < 0 || string(p[at:at+len(mark)]) != mark {
		return p, false, nil
	}
	hello = p[:at]
	if v := p[at+len(mark)]; v != markVersion {
		return hello, true, fmt.Errorf("%w: the peer speaks version %d over iWARP, this program version %d", rdma.ErrProtocol, v, markVersion)
	}
	if can := binary.BigEndian.Uint32(p[len(p)-4:]); can&canRFC7306 == 0 {
		return hello, true, fmt.Errorf("%w: the peer has no atomics and notifications (abilities %#x)", rdma.ErrProtocol, can)
	}
	return hello, true, nil
}

// able reports whether a peer of ours can do something, by its private data.
func able(private []byte, what uint32) bool {
	return binary.BigEndian.Uint32(private[len(private)-4:])&what != 0
}

// readFrame reads a start-up frame, and no octet more. After an error the frame has what could be read of it.
func readFrame(r io.Reader, reply bool) (f *fpdu.Startup, err error) {
	f = &fpdu.Startup{}
	head := make([]byte, fpdu.StartupSize)
	n, err := readHead(r, head, reply)
	if err != nil {
		return f, cut(n, err)
	}
	size, fault := f.ParseHeader(head, reply)
	if fault != nil {
		return f, faulty(head, reply, fault)
	}
	private := make([]byte, size)
	if n, err := io.ReadFull(r, private); err != nil {
		return f, cut(len(head)+n, err)
	}
	if fault := f.ParsePrivate(private); fault != nil {
		return f, fault
	}
	return f, nil
}

// readHead fills the beginning of a frame. It stops early where that cannot become one: who sends something else may
// wait for an answer to it.
func readHead(r io.Reader, head []byte, reply bool) (n int, err error) {
	like, _ := (&fpdu.Startup{Reply: reply, Revision: fpdu.Revision2}).Append(nil) // never fails
	const key = 16
	for n < len(head) {
		m, err := r.Read(head[n:])
		n += m
		if k := min(n, key); string(head[:k]) != string(like[:k]) {
			return n, nil
		}
		if err != nil && n < len(head) {
			return n, err
		}
	}
	return n, nil
}

// errSilent is the error of a connection that ended before it said anything: somebody looked whether the port is open.
var errSilent = errors.New("the connection ended before the peer said anything")

// cut is the error of a frame that ended after n octets.
func cut(n int, err error) error {
	switch {
	case n == 0 && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)): // reset, if it did not read what was sent
		return errSilent
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &fpdu.Fault{Cause: fpdu.BadStartup, Detail: fmt.Sprintf("the connection ended after %d octets of a start-up frame", n)}
	}
	return fmt.Errorf("after %d octets of a start-up frame: %w", n, err)
}

// faulty is the error of a frame that does not begin as one; what is often met is told by its name.
func faulty(head []byte, reply bool, fault *fpdu.Fault) error {
	switch {
	case head[0] == 0x16 && head[1] == 3:
		return fmt.Errorf("the peer begins TLS, and this side has none (Config.TLS): %w", fault)
	case head[0] == 0x15 && head[1] == 3:
		return fmt.Errorf("the peer answers under TLS, and this side has none (Config.TLS): %w", fault)
	case reply && string(head[:11]) == "MPA ID Req ":
		return fmt.Errorf("both sides dialled each other: one has to listen: %w", fault)
	}
	return fault
}

// refusal is the error of a dialer that was refused.
type refusal struct{ why string }

// Error says why, if that is known.
func (r *refusal) Error() string {
	if r.why == "" {
		return "the peer refuses the connection, and does not say why"
	}
	return "the peer refuses the connection: " + r.why
}

// Is makes it rdma.ErrRefused.
func (r *refusal) Is(target error) bool { return target == rdma.ErrRefused }

// errOlder is the refusal of a peer that knows revision 1 only.
var errOlder = errors.New("the peer knows revision 1 of MPA only")

// replied makes a session of a reply to a request. The error is a *refusal where the peer does not want us.
func (s side) replied(req, rep *fpdu.Startup, peer string) (*session, error) {
	hello, ours, bad := unmark(rep.Private)
	if rep.Reject {
		if rep.Revision < req.Revision {
			return nil, errOlder
		}
		why := ""
		if ours && rep.Enhanced {
			why = printable(hello)
		}
		return nil, &refusal{why}
	}
	fault := func(c fpdu.Cause, detail string) (*session, error) { return nil, &fpdu.Fault{Cause: c, Detail: detail} }
	ses := &session{initiator: true, crc: req.CRC || rep.CRC, ird: s.inbound, hello: rep.Private, peer: peer}
	switch {
	case rep.Markers:
		return fault(fpdu.BadStartup, "the peer wants markers, which this package never sends")
	case rep.Revision > req.Revision:
		return fault(fpdu.BadStartup, fmt.Sprintf("a reply of revision %d to a request of revision %d", rep.Revision, req.Revision))
	case !rep.Enhanced:
		return ses, nil // what we said of reads was not understood
	case bad != nil && !s.plain:
		return nil, bad
	}
	ses.ord = agree(s.inbound, rep.IRD)
	if ours && !s.plain {
		ses.ours, ses.hello, ses.tells = true, hello, able(rep.Private, canTell)
	}
	if rep.PeerToPeer {
		if ses.ready = pick(rep.RTR & req.RTR); ses.ready == 0 {
			return fault(fpdu.NoRTR, "the peer waits for a message that this package does not begin with")
		}
	}
	return ses, nil
}

// agree is how many reads may be outstanding: as many as we want, and the peer answers at a time. The peer may leave it
// to the programs, which have ways of their own.
func agree(want int, peers uint16) int {
	if peers == fpdu.MaxDepth {
		return want
	}
	return min(want, int(peers))
}

// depths is what a reply says of one direction: our number, unless the peer leaves it to the programs. Source: RFC 6581,
// section 9.1.
func depths(peers uint16, ours int) uint16 {
	if peers == fpdu.MaxDepth {
		return fpdu.MaxDepth
	}
	return uint16(ours)
}

// pick is the best of a set of ready-to-receive messages, or 0 of none.
func pick(set fpdu.RTR) fpdu.RTR {
	for _, r := range []fpdu.RTR{fpdu.RTRWrite, fpdu.RTRRead, fpdu.RTRSend} {
		if set&r != 0 {
			return r
		}
	}
	return 0
}

// asked is a request that can be answered.
type asked struct {
	frame *fpdu.Startup
	hello []byte
	ours  bool // the peer is, and is to be told so
}

// consider looks whether a request can be answered.
func (s side) consider(f *fpdu.Startup) (*asked, error) {
	a := &asked{frame: f, hello: f.Private}
	hello, ours, err := unmark(f.Private)
	if !s.plain && f.Enhanced {
		if ours {
			a.hello, a.ours = hello, true
		}
		if err != nil {
			return a, err
		}
	}
	switch {
	case f.Markers:
		return a, &fpdu.Fault{Cause: fpdu.BadStartup, Detail: "the peer wants markers, which this package never sends"}
	case f.PeerToPeer && pick(f.RTR) == 0:
		return a, &fpdu.Fault{Cause: fpdu.NoRTR, Detail: "the peer names no message to begin with"}
	}
	return a, nil
}

// reply is the answer to a request that is taken, with the session that it makes.
func (s side) reply(a *asked, hello []byte, peer string) (*fpdu.Startup, *session, error) {
	req := a.frame
	f := &fpdu.Startup{Reply: true, Revision: req.Revision, CRC: s.crc || req.CRC, Enhanced: req.Enhanced}
	ses := &session{crc: f.CRC, ird: s.inbound, hello: a.hello, ours: a.ours, peer: peer}
	if req.Enhanced {
		ses.ord = agree(s.inbound, req.IRD)
		f.IRD, f.ORD = depths(req.ORD, s.inbound), depths(req.IRD, ses.ord)
		if f.PeerToPeer = req.PeerToPeer; f.PeerToPeer {
			ses.ready = pick(req.RTR)
			f.RTR = ses.ready
		}
	}
	ses.tells = a.ours && able(req.Private, canTell)
	f.Private = s.private(hello, a.ours)
	return f, ses, checkPrivate(f)
}

// reject is the answer to a request, as far as it could be read, that is not taken. Only a peer of ours is told why.
func (s side) reject(req *asked, why error) *fpdu.Startup {
	f := &fpdu.Startup{Reply: true, Reject: true, Revision: fpdu.Revision2, Enhanced: req.frame.Enhanced}
	if req.frame.Revision == fpdu.Revision1 {
		f.Revision = fpdu.Revision1
	}
	if f.Enhanced {
		f.IRD, f.ORD = uint16(s.inbound), uint16(s.inbound)
	}
	if req.ours {
		text := why.Error()
		f.Private = s.private([]byte(text[:min(len(text), maxReason)]), true)
	}
	return f
}

// printable is a peer's text as it may be logged and shown.
func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, string(b))
}

// defaultSegment is that of TCP in packets of 1500 bytes, with timestamps, where it cannot be asked for.
const defaultSegment = 1448

// Sizes of ULPDUs.
const (
	// streamULPDU is used where segments of TCP are not known. It fills a record of TLS.
	streamULPDU = 16<<10 - fpdu.LengthSize - fpdu.CRCSize
	// minULPDU is used where a peer makes TCP's segments tiny, so that it does not make us send headers only.
	minULPDU = 512 - fpdu.LengthSize - fpdu.CRCSize
)

// mulpduOf is the longest ULPDU whose frame fits a segment of TCP of that many bytes. Source: RFC 5044, section 4.2,
// without markers.
func mulpduOf(mss int) int {
	n := mss&^3 - fpdu.LengthSize - fpdu.CRCSize
	return min(max(n, minULPDU), fpdu.MaxULPDU-1) // the most that needs no padding, too
}

// complete adds the connection to a session.
func (a *adapter) complete(ses *session, conn net.Conn) {
	ses.conn, ses.mulpdu = conn, streamULPDU
	if tcp, ok := conn.(*net.TCPConn); ok {
		ses.tcp, ses.mulpdu = tcp, mulpduOf(a.sock.segment(tcp))
	}
}

package iwarp_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"testing"
	"time"
)

// foreign is an iWARP peer that has nothing in common with the package: it was written for the tests, from the RFCs
// alone, and does just what a test tells it to do, right or wrong.
type foreign struct {
	conn  net.Conn
	crc   bool      // sends checksums, and wants them
	sent  [4]uint32 // messages on each queue
	heard []byte    // all that arrived

	memory []byte // what it exports
	stag   uint32 // under this key
	base   uint64 // from this address on
	stale  []byte // what it answers to a read of nothing, as Linux's siw may
}

// The bits of the first two octets of a segment. Source: RFC 5041, section 4.1; RFC 5040, section 4.1.
const (
	ddpTagged = 0x80
	ddpLast   = 0x40
	ddpV1     = 0x01
	rdmapV1   = 0x40
)

// The opcodes. Source: RFC 5040, figure 4; RFC 7306, section 10.
const (
	opWrite byte = iota
	opReadRequest
	opReadResponse
	opSend
	opSendInvalidate
	opSendSolicited
	opSendSolicitedInvalidate
	opTerminate
	opImmediate
	opImmediateSolicited
	opAtomicRequest
	opAtomicResponse
)

// tagged is a tagged segment. Source: RFC 5041, section 4.2.
func tagged(flags, op byte, stag uint32, to uint64, payload []byte) []byte {
	b := []byte{ddpTagged | flags | ddpV1, rdmapV1 | op}
	b = binary.BigEndian.AppendUint32(b, stag)
	b = binary.BigEndian.AppendUint64(b, to)
	return append(b, payload...)
}

// untagged is an untagged one; the words are RsvdULP, queue, message and offset. Source: RFC 5041, section 4.3.
func untagged(flags, op byte, words [4]uint32, payload []byte) []byte {
	b := []byte{flags | ddpV1, rdmapV1 | op}
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return append(b, payload...)
}

// readRequest is the payload of one. Source: RFC 5040, section 4.4.
func readRequest(sink uint32, sinkTO uint64, size, source uint32, sourceTO uint64) []byte {
	b := binary.BigEndian.AppendUint32(nil, sink)
	b = binary.BigEndian.AppendUint64(b, sinkTO)
	b = binary.BigEndian.AppendUint32(b, size)
	b = binary.BigEndian.AppendUint32(b, source)
	return binary.BigEndian.AppendUint64(b, sourceTO)
}

// atomicRequest is the payload of one. Source: RFC 7306, section 5.2.1.
func atomicRequest(op, id, stag uint32, to, data, mask, compare, compareMask uint64) []byte {
	b := binary.BigEndian.AppendUint32(nil, op)
	b = binary.BigEndian.AppendUint32(b, id)
	b = binary.BigEndian.AppendUint32(b, stag)
	for _, w := range []uint64{to, data, mask, compare, compareMask} {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	return b
}

var iscsi = crc32.MakeTable(crc32.Castagnoli)

// frame is a segment as it travels. Source: RFC 5044, section 4.
func (f *foreign) frame(ulpdu []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(ulpdu)))
	b = append(b, ulpdu...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	if !f.crc {
		return append(b, 0xde, 0xad, 0xbe, 0xef) // not to be looked at
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, iscsi))
}

// put sends segments. An error means that the other side has closed: what it says meanwhile is for next to tell.
func (f *foreign) put(ulpdus ...[]byte) {
	var b []byte
	for _, u := range ulpdus {
		b = append(b, f.frame(u)...)
	}
	_ = f.conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_, _ = f.conn.Write(b)
}

// message is an untagged message of one segment, the next on its queue.
func (f *foreign) message(op byte, rsvd, queue uint32, payload []byte) []byte {
	f.sent[queue]++
	return untagged(ddpLast, op, [4]uint32{rsvd, queue, f.sent[queue], 0}, payload)
}

// segment is one that arrived.
type segment struct {
	tagged, last         bool
	op                   byte
	stag                 uint32
	to                   uint64
	rsvd, queue, msn, mo uint32
	payload              []byte
}

var errForm = errors.New("this is not what the RFCs allow")

// next reads a segment, and refuses what is not exactly as the RFCs have it.
func (f *foreign) next() (s segment, err error) {
	head := make([]byte, 2)
	if err := f.take(head); err != nil {
		return s, err
	}
	n := int(binary.BigEndian.Uint16(head))
	rest := make([]byte, n+(-(2+n)&3)+4)
	if err := f.take(rest); err != nil {
		return s, fmt.Errorf("a frame that ends early: %w", err)
	}
	body, sum := rest[:len(rest)-4], binary.LittleEndian.Uint32(rest[len(rest)-4:])
	if f.crc && sum != crc32.Update(crc32.Checksum(head, iscsi), iscsi, body) {
		return s, fmt.Errorf("%w: the checksum of %x %x is not %#x", errForm, head, body, sum)
	}
	for _, x := range body[n:] {
		if x != 0 {
			return s, fmt.Errorf("%w: padding of %x", errForm, body[n:])
		}
	}
	return parseSegment(body[:n])
}

func parseSegment(b []byte) (s segment, err error) {
	if len(b) < 14 || b[0]&ddpTagged == 0 && len(b) < 18 {
		return s, fmt.Errorf("%w: a segment of %d octets", errForm, len(b))
	}
	if b[0]&^(ddpTagged|ddpLast) != ddpV1 || b[1]&^0x0f != rdmapV1 {
		return s, fmt.Errorf("%w: control fields %x", errForm, b[:2])
	}
	s = segment{tagged: b[0]&ddpTagged != 0, last: b[0]&ddpLast != 0, op: b[1] & 0x0f}
	be := binary.BigEndian
	if s.tagged {
		s.stag, s.to, s.payload = be.Uint32(b[2:]), be.Uint64(b[6:]), b[14:]
		return s, nil
	}
	s.rsvd, s.queue, s.msn, s.mo, s.payload = be.Uint32(b[2:]), be.Uint32(b[6:]), be.Uint32(b[10:]), be.Uint32(b[14:]), b[18:]
	return s, nil
}

// take reads, and remembers.
func (f *foreign) take(b []byte) error {
	_ = f.conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, err := io.ReadFull(f.conn, b)
	f.heard = append(f.heard, b[:n]...)
	return err
}

// startup is what a start-up frame says. Source: RFC 5044, section 7.1.1; RFC 6581, section 9.
type startup struct {
	flags, revision byte
	private         []byte // with the four octets of RFC 6581 where they are there
}

const (
	mpaMarkers  = 0x80
	mpaCRC      = 0x40
	mpaReject   = 0x20
	mpaEnhanced = 0x10
)

// greet sends a start-up frame; name is "Req" or "Rep".
func (f *foreign) greet(name string, s startup) {
	b := append([]byte("MPA ID "+name+" Frame"), s.flags, s.revision)
	b = binary.BigEndian.AppendUint16(b, uint16(len(s.private)))
	_, _ = f.conn.Write(append(b, s.private...))
}

// greeting reads one.
func (f *foreign) greeting(name string) (s startup, err error) {
	head := make([]byte, 20)
	if err := f.take(head); err != nil {
		return s, err
	}
	if string(head[:16]) != "MPA ID "+name+" Frame" {
		return s, fmt.Errorf("%w: a start-up frame %q", errForm, head)
	}
	s = startup{flags: head[16], revision: head[17], private: make([]byte, binary.BigEndian.Uint16(head[18:]))}
	return s, f.take(s.private)
}

// serve does what the other side asks for, until a send arrives, which it returns.
func (f *foreign) serve() (segment, error) {
	for {
		s, err := f.next()
		if err != nil {
			return s, err
		}
		switch s.op {
		case opSend:
			return s, nil
		case opReadRequest:
			if err := f.respond(s); err != nil {
				return s, err
			}
		case opWrite:
			if len(s.payload) == 0 {
				continue
			}
			at := s.to - f.base
			if s.stag != f.stag || at > uint64(len(f.memory)) || uint64(len(s.payload)) > uint64(len(f.memory))-at {
				return s, fmt.Errorf("%w: a write to %#x of %#x", errForm, s.to, s.stag)
			}
			copy(f.memory[at:], s.payload)
		default:
			return s, fmt.Errorf("%w: opcode %d with %x", errForm, s.op, s.payload)
		}
	}
}

// respond answers a read request in segments of at most 1000 octets.
func (f *foreign) respond(s segment) error {
	if s.tagged || s.queue != 1 || s.mo != 0 || !s.last || s.rsvd != 0 || len(s.payload) != 28 {
		return fmt.Errorf("%w: the read request %+v", errForm, s)
	}
	be := binary.BigEndian
	sink, to, size := be.Uint32(s.payload), be.Uint64(s.payload[4:]), be.Uint32(s.payload[12:])
	if size == 0 {
		f.put(tagged(ddpLast, opReadResponse, sink, to, f.stale))
		return nil
	}
	source, at := be.Uint32(s.payload[16:]), be.Uint64(s.payload[20:])-f.base
	if source != f.stag || at > uint64(len(f.memory)) || uint64(size) > uint64(len(f.memory))-at {
		return fmt.Errorf("%w: a read of %d at %#x of %#x", errForm, size, at+f.base, source)
	}
	data := f.memory[at:][:size]
	for len(data) > 1000 {
		f.put(tagged(0, opReadResponse, sink, to, data[:1000]))
		data, to = data[1000:], to+1000
	}
	f.put(tagged(ddpLast, opReadResponse, sink, to, data))
	return nil
}

// cause reads on until the connection ends, and returns what the Terminate on the way says: the first 16 bits of
// its control field, or -1 where there was none. Source: RFC 5040, section 4.8.
func (f *foreign) cause(t testing.TB) int {
	cause := -1
	for {
		s, err := f.next()
		if errors.Is(err, errForm) {
			t.Error(err)
		}
		if err != nil {
			return cause
		}
		if s.op == opTerminate {
			if s.tagged || s.queue != 2 || s.msn != 1 || s.mo != 0 || !s.last || s.rsvd != 0 || len(s.payload) < 4 || cause >= 0 {
				t.Errorf("a Terminate of the wrong form: %+v after cause %#x", s, cause)
				return cause
			}
			cause = int(binary.BigEndian.Uint16(s.payload))
		}
	}
}

package iwarp

import (
	"bytes"
	"net"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

const (
	longBytes = 13 << 10 // of a segment that is long enough to be placed directly
	aheadTo   = 64       // where in the region the tests write
)

// teller is a peer that says by hand what follows what it sends.
type teller struct {
	t    *testing.T
	conn net.Conn
	wire []byte
	key  rdma.Keys
}

// frame adds a segment of a write to what is sent, with payload of one kind.
func (p *teller) frame(more uint8, last bool, at, n int, fill byte) {
	h := fpdu.Header{Op: fpdu.Write, Tagged: true, Last: last, More: more, STag: uint32(p.key.R), TO: p.key.Addr + uint64(at)}
	p.wire = h.Append(p.wire, n)
	p.wire = append(p.wire, bytes.Repeat([]byte{fill}, n)...)
	p.wire = fpdu.AppendTail(p.wire, h.Size()+n, 0, false)
}

// flush adds a read of nothing.
func (p *teller) flush() {
	h := fpdu.Header{Op: fpdu.ReadRequest, Last: true, Queue: fpdu.QueueRequest, MSN: 1}
	p.wire = h.Append(p.wire, fpdu.ReadRequestSize)
	p.wire = (&fpdu.ReadRequestHeader{SinkSTag: 77}).Append(p.wire)
	p.wire = fpdu.AppendTail(p.wire, h.Size()+fpdu.ReadRequestSize, 0, false)
}

// answered reports whether the flush is answered; else the connection ends with a Terminate.
func (p *teller) answered() bool {
	p.t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	got := make([]byte, 0, 256)
	for {
		for at := 0; len(got)-at >= fpdu.LengthSize+2; {
			size := fpdu.FrameSize(int(got[at])<<8 | int(got[at+1]))
			if len(got)-at < size {
				break
			}
			switch op := fpdu.Opcode(got[at+3] & 15); op {
			case fpdu.ReadResponse:
				return true
			case fpdu.Terminate:
				cause := got[at+fpdu.LengthSize+fpdu.UntaggedSize:][:2]
				if want := []byte{0x02, 0x07}; !bytes.Equal(cause, want) {
					p.t.Errorf("the Terminate says % x, want % x", cause, want)
				}
				return false
			}
			at += size
		}
		b := make([]byte, 256)
		n, err := p.conn.Read(b)
		if err != nil {
			p.t.Fatalf("neither an answer nor a Terminate: %v after % x", err, got)
		}
		got = append(got, b[:n]...)
	}
}

// meetTeller makes a queue whose peer has sent something already, so that it reads as much of it at once as it wants to.
func meetTeller(t *testing.T, say func(*teller)) (p *teller, e *end, mem []byte) {
	own, other := tcpPair(t)
	ad, err := newAdapter(Options{}, &rdma.Config{Depth: 64, MaxMessage: 4096, Credits: 64})
	if err != nil {
		t.Fatal(err)
	}
	e = &end{t: t, name: "told", dom: newDomain(ad)}
	words := make([]uint64, 6*longBytes/8+8) // no pointer is to the end of what Go knows
	mem = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 6*longBytes)
	keys, err := e.dom.Register(rdma.Memory{Base: unsafe.Pointer(&words[0]), Len: len(mem), Name: "told"}, anyRight, nil)
	if err != nil {
		t.Fatal(err)
	}
	p = &teller{t: t, conn: other, key: keys}
	say(p)
	if _, err := other.Write(p.wire); err != nil {
		t.Fatal(err)
	}
	e.q, err = e.dom.newQueue(&session{conn: own, tcp: own.(*net.TCPConn), initiator: true, ready: fpdu.RTRWrite,
		ours: true, tells: true, ird: 16, ord: 16, mulpdu: 16 << 10, fixed: true, peer: "a teller"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = other.Close()
		_ = e.q.Close()
	})
	return p, e, mem
}

// TestTold has a peer say what follows. What is so is placed, and what is said and is not so ends the connection; and
// nothing is written but where the peer said, as far as it may write there.
func TestTold(t *testing.T) {
	const n = longBytes
	for _, c := range []struct {
		name  string
		say   func(p *teller)
		wrong bool
		most  int // bytes from aheadTo that may be written to
	}{
		{name: "all that was said", most: 4 * n, say: func(p *teller) {
			for i := range 4 {
				p.frame(uint8(3-i), i == 3, aheadTo+i*n, n, byte(i+1))
			}
		}},
		{name: "more than was said", most: 4 * n, say: func(p *teller) {
			for i := range 4 {
				p.frame([]uint8{0, 1, 0, 0}[i], i == 3, aheadTo+i*n, n, byte(i+1))
			}
		}},
		{name: "a shorter one", wrong: true, most: 2 * n, say: func(p *teller) {
			p.frame(1, false, aheadTo, n, 1)
			p.frame(0, true, aheadTo+n, n-8, 2)
		}},
		{name: "one elsewhere", wrong: true, most: 2 * n, say: func(p *teller) {
			p.frame(1, false, aheadTo, n, 1)
			p.frame(0, true, aheadTo+n-8, n, 2)
		}},
		{name: "a flush", wrong: true, most: 4 * n, say: func(p *teller) { p.frame(3, false, aheadTo, n, 1) }},
		{name: "the first right, the second elsewhere", wrong: true, most: 3 * n, say: func(p *teller) {
			p.frame(2, false, aheadTo, n, 1)
			p.frame(1, false, aheadTo+n, n, 2)
			p.frame(0, true, aheadTo, n, 3)
		}},
		{name: "more than the region has", most: 6*n - aheadTo, say: func(p *teller) {
			p.frame(3, true, 5*n, n, 1)
			for i := range 3 {
				p.frame(0, i == 2, aheadTo+i*n, n, 2)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, e, mem := meetTeller(t, func(p *teller) {
				c.say(p)
				p.flush()
			})
			// Where nothing is read ahead, nothing is wrong.
			if answered := p.answered(); answered == (c.wrong && readsDirectly) {
				t.Errorf("answered: %v", answered)
			}
			if err := e.q.Close(); err != nil {
				t.Error(err)
			}
			if !c.wrong {
				checkPlaced(t, mem, p)
			}
			rest := slices.Concat(mem[:aheadTo], mem[aheadTo+c.most:])
			if i := slices.IndexFunc(rest, func(b byte) bool { return b != 0 }); i >= 0 {
				t.Errorf("%d bytes from where the peer said: a byte was written to", i)
			}
		})
	}
}

// checkPlaced holds memory to what was sent.
func checkPlaced(t *testing.T, mem []byte, p *teller) {
	t.Helper()
	for wire := p.wire; len(wire) > 0; {
		ulpdu := int(wire[0])<<8 | int(wire[1])
		var h fpdu.Header
		if fault := h.Parse(wire[fpdu.LengthSize:]); fault != nil {
			t.Fatal(fault)
		}
		if payload := wire[fpdu.LengthSize+h.Size() : fpdu.LengthSize+ulpdu]; h.Op == fpdu.Write && !bytes.Equal(mem[h.TO-p.key.Addr:][:len(payload)], payload) {
			t.Errorf("the segment at %d is not in its place", h.TO-p.key.Addr)
		}
		wire = wire[fpdu.FrameSize(ulpdu):]
	}
}

// TestToldInPieces has what was said come in pieces of all kinds.
func TestToldInPieces(t *testing.T) {
	for _, piece := range []int{1000, longBytes - 7, longBytes + 3, 2*longBytes + 25, 3 * longBytes} {
		p, e, mem := meetTeller(t, func(*teller) {})
		for i := range 4 {
			p.frame(uint8(3-i), i == 3, aheadTo+i*longBytes, longBytes, byte(i+1))
		}
		p.flush()
		for b := range slices.Chunk(p.wire, piece) {
			if _, err := p.conn.Write(b); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		if !p.answered() {
			t.Fatalf("in pieces of %d bytes it was refused", piece)
		}
		if err := e.q.Close(); err != nil {
			t.Error(err)
		}
		checkPlaced(t, mem, p)
	}
}

// TestTellingIsAgreed has both ends be able to tell what follows, and one of them not.
func TestTellingIsAgreed(t *testing.T) {
	s := side{inbound: 16}
	for _, can := range []byte{ourAbilities, canRFC7306} {
		req, err := s.request(fpdu.Revision2, []byte("hello"))
		if err != nil {
			t.Fatal(err)
		}
		req.Private[len(req.Private)-1] = can
		a, err := s.consider(req)
		if err != nil {
			t.Fatal(err)
		}
		rep, ses, err := s.reply(a, []byte("hello"), "a peer")
		if err != nil || ses.tells != (can == ourAbilities) {
			t.Errorf("abilities %#x: accepted by %+v, %v", can, ses, err)
		}
		rep.Private[len(rep.Private)-1] = can
		if ses, err = s.replied(req, rep, "a peer"); err != nil || ses.tells != (can == ourAbilities) {
			t.Errorf("abilities %#x: dialled %+v, %v", can, ses, err)
		}
	}
}

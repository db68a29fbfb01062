package iwarp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

// pingWords is how much memory a ping is about: some segments of TCP on loopback in one of them, with checksums.
const pingWords = 20000

// What rping sends: where a buffer is (address, key, length in network order).
const infoSize = 16

func info(addr uint64, key uint32, n int) []byte {
	b := binary.BigEndian.AppendUint64(nil, addr)
	b = binary.BigEndian.AppendUint32(b, key)
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

// ping is a side with the package that talks to another program, as rping does: the client tells where its
// memory is, the server reads from it, says so, is told where to write, writes, and says so.
type ping struct {
	t     *testing.T
	dev   *rdma.Device
	dom   *rdma.Domain
	words *barewire.Region[sample.Word, barewire.CPU, barewire.RemoteReadWrite]
	local *barewire.Region[sample.Word, barewire.CPU, barewire.Local]
}

func newPing(t *testing.T, plain, noCRC bool) *ping {
	ctx := soon(t)
	p := &ping{t: t}
	p.dev = must(rdma.Open(ctx, rdma.Config{
		Provider: iwarp.New(iwarp.Options{}), Plain: plain, Transport: rdma.IWARP{NoCRC: noCRC}, Logger: quiet,
	}))(t)
	t.Cleanup(func() { ok(t, p.dev.Close()) })
	p.dom = must(p.dev.Domain())(t)
	p.words = must(rdma.Register(p.dom, must(barewire.New(sample.WordInCPU(), pingWords))(t), sample.WordRemoteReadWrite()))(t)
	p.local = must(rdma.Register(p.dom, must(barewire.New(sample.WordInCPU(), pingWords))(t), sample.WordLocal()))(t)
	t.Cleanup(func() { _, _ = p.words.Close(), p.local.Close() })
	return p
}

// pattern is what is in memory before something else is written there.
func pattern(seed byte) []byte {
	b := make([]byte, pingWords*8)
	for i := range b {
		b[i] = seed + byte(i*11+i>>8)
	}
	return b
}

// set puts bytes into a region, get takes them out. Words are little-endian in memory.
func set[A barewire.Access](t *testing.T, r *barewire.Region[sample.Word, barewire.CPU, A], b []byte) {
	t.Helper()
	ok(t, barewire.With(r, func(w barewire.Window[sample.Word, A]) error {
		for i := range pingWords {
			sample.WordAt(w, i).SetValue(binary.LittleEndian.Uint64(b[i*8:]))
		}
		return nil
	}))
}

func get[A barewire.Access](t *testing.T, r *barewire.Region[sample.Word, barewire.CPU, A]) (b []byte) {
	t.Helper()
	ok(t, barewire.With(r, func(w barewire.Window[sample.Word, A]) error {
		for i := range pingWords {
			b = binary.LittleEndian.AppendUint64(b, sample.WordAt(w, i).Value())
		}
		return nil
	}))
	return b
}

// serve is the server, by the package.
func (p *ping) serve(ctx context.Context, c *rdma.Conn) error {
	said := make([]byte, 64)
	for i, seed := range []byte{0, 77} {
		n, err := c.Receive(ctx, said)
		if err != nil || n != infoSize {
			return fmt.Errorf("was told %x: %w", said[:n], err)
		}
		be := binary.BigEndian
		rem, err := rdma.Foreign(c, be.Uint64(said), rdma.RKey(be.Uint32(said[8:])), int(be.Uint32(said[12:]))/8, sample.WordRemoteReadWrite())
		if err != nil {
			return err
		}
		if i == 0 {
			op, err := rdma.Read(c, p.local.Span(0, pingWords), rem)
			if err != nil {
				return err
			}
			if err := op.Wait(ctx); err != nil {
				return err
			}
			if !bytes.Equal(get(p.t, p.local), pattern(1)) {
				return fmt.Errorf("read something else than is there")
			}
		} else {
			set(p.t, p.local, pattern(seed))
			if _, err := rdma.Write(c, rem, p.local.Span(0, pingWords)); err != nil {
				return err
			}
			if err := c.Flush(ctx); err != nil {
				return err
			}
		}
		if err := c.SendBytes(ctx, make([]byte, infoSize)); err != nil {
			return err
		}
	}
	return nil
}

// ask is the client, by the package.
func (p *ping) ask(ctx context.Context, c *rdma.Conn) error {
	addr, key, n, err := rdma.AddressOf(c, p.words)
	if err != nil {
		return err
	}
	for range 2 {
		if err := c.SendBytes(ctx, info(addr, uint32(key), n)); err != nil {
			return err
		}
		if n, err := c.Receive(ctx, make([]byte, 64)); err != nil || n != infoSize {
			return fmt.Errorf("was told %d bytes: %w", n, err)
		}
	}
	return nil
}

// TestForeignClient has another program ping this one.
func TestForeignClient(t *testing.T) {
	for _, c := range []struct {
		name  string
		plain bool // this side says so, or finds out
		say   startup
		stale int // octets of the answers to reads of nothing
	}{
		{"enhanced", true, startup{mpaCRC | mpaEnhanced, 2, depths}, 0},
		{"enhanced, found out", false, startup{mpaCRC | mpaEnhanced, 2, depths}, 0},
		{"a client", true, startup{mpaCRC | mpaEnhanced, 2, []byte{0, 16, 0, 16}}, 0},
		{"without checksums of its own", true, startup{mpaEnhanced, 2, depths}, 0},
		{"with private data of its own", false, startup{mpaCRC | mpaEnhanced, 2, append(slices.Clone(depths), "some words that are nothing of ours"...)}, 0},
		{"that answers too much", true, startup{mpaCRC | mpaEnhanced, 2, depths}, 16},
		{"that answers much too much", true, startup{mpaCRC | mpaEnhanced, 2, depths}, 1400},
		{"that answers much too much, without checksums", true, startup{mpaEnhanced, 2, depths}, 60000},
	} {
		t.Run(c.name, func(t *testing.T) {
			noCRC := c.say.flags&mpaCRC == 0 && c.stale > 0
			p := newPing(t, c.plain, noCRC)
			ctx := soon(t)
			ln := must(p.dom.Listen(ctx, ""))(t)
			done := make(chan error, 1)
			go func() {
				conn, err := ln.Accept(ctx)
				if err == nil {
					defer conn.Close()
					if err = p.serve(ctx, conn); err == nil && !conn.Plain() {
						err = fmt.Errorf("the connection is not plain")
					}
				}
				done <- err
			}()
			f := &foreign{crc: !noCRC, memory: pattern(1), stag: 0x01020304, base: 0x7f0000001000, stale: make([]byte, c.stale)}
			f.conn = must(net.Dial("tcp", ln.Addr()))(t)
			defer f.conn.Close()
			f.greet("Req", c.say)
			reply := must(f.greeting("Rep"))(t)
			ready := c.say.private[0]&0x80 != 0
			flags := byte(mpaCRC | mpaEnhanced)
			if noCRC {
				flags = mpaEnhanced
			}
			if reply.flags != flags || reply.revision != 2 || len(reply.private) != 4 || reply.private[0]&0x80 != 0 != ready {
				t.Errorf("the reply is %+v", reply)
			}
			if ready {
				f.put(tagged(ddpLast, opWrite, 0, 0, nil))
			}
			f.askToBePinged(t)
			ok(t, <-done)
			f.wantNothingOfOurs(t, len(reply.private))
		})
	}
}

// askToBePinged is the client, by the RFCs.
func (f *foreign) askToBePinged(t *testing.T) {
	t.Helper()
	where := info(f.base, f.stag, len(f.memory))
	for i, want := range [][]byte{pattern(1), pattern(77)} {
		f.put(f.message(opSend, 0, 0, where))
		s := must(f.serve())(t)
		if s.msn != uint32(i+1) || s.mo != 0 || !s.last || !bytes.Equal(s.payload, make([]byte, infoSize)) {
			t.Errorf("was told %+v", s)
		}
		if !bytes.Equal(f.memory, want) {
			t.Errorf("round %d: the memory is not as it should be", i)
		}
	}
}

// TestForeignServer has this program ping another one.
func TestForeignServer(t *testing.T) {
	for _, c := range []struct {
		name string
		say  startup
		old  bool // knows revision 1 only
	}{
		{"enhanced, to begin with a write", startup{mpaCRC | mpaEnhanced, 2, depths}, false},
		{"enhanced, to begin with a read", startup{mpaCRC | mpaEnhanced, 2, []byte{0x80, 4, 0x40, 4}}, false},
		{"a server", startup{mpaCRC | mpaEnhanced, 2, []byte{0, 16, 0, 16}}, false},
		{"without checksums of its own", startup{mpaEnhanced, 2, depths}, false},
		{"of revision 1", startup{mpaCRC, 1, nil}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPing(t, true, false)
			set(t, p.words, pattern(5))
			ctx := soon(t)
			ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
			defer ln.Close()
			done := make(chan error, 1)
			go func() {
				conn, err := p.dom.Dial(ctx, ln.Addr().String())
				if err == nil {
					defer conn.Close()
					err = p.ask(ctx, conn)
				}
				done <- err
			}()
			f := &foreign{crc: true}
			request := f.beDialled(t, ln, c.old)
			f.greet("Rep", c.say)
			f.ping(t, c.say)
			ok(t, <-done)
			if got := get(t, p.words); !bytes.Equal(got, pattern(9)) {
				t.Error("what was written is not there")
			}
			f.wantNothingOfOurs(t, len(request.private))
		})
	}
}

// beDialled takes a connection and its request. A peer that is old refuses the first one.
func (f *foreign) beDialled(t *testing.T, ln net.Listener, old bool) startup {
	t.Helper()
	f.conn = must(ln.Accept())(t)
	t.Cleanup(func() { _ = f.conn.Close() })
	request := must(f.greeting("Req"))(t)
	if request.flags != mpaCRC|mpaEnhanced || request.revision != 2 || len(request.private) != 4 || request.private[0]&0x80 == 0 {
		t.Errorf("the request is %+v", request)
	}
	if !old {
		return request
	}
	_ = f.conn.Close() // RFC 6581, section 10: so does a peer that takes the request for malformed
	f.conn, f.heard = must(ln.Accept())(t), nil
	request = must(f.greeting("Req"))(t)
	if request.flags != mpaCRC || request.revision != 1 || len(request.private) != 0 {
		t.Errorf("the second request is %+v", request)
	}
	return request
}

// ping is the server, by the RFCs: it reads from the client's memory, and writes to it.
func (f *foreign) ping(t *testing.T, say startup) {
	t.Helper()
	if say.flags&mpaEnhanced != 0 && say.private[0]&0x80 != 0 {
		f.wantReady(t, say.private[2]&0x80 != 0)
	}
	be := binary.BigEndian
	for i := range 2 {
		s := must(f.next())(t)
		if s.op != opSend || s.rsvd != 0 || s.msn != uint32(i+1) || len(s.payload) != infoSize {
			t.Fatalf("was told %+v", s)
		}
		addr, key, n := be.Uint64(s.payload), be.Uint32(s.payload[8:]), be.Uint32(s.payload[12:])
		if i == 0 {
			f.put(f.message(opReadRequest, 0, 1, readRequest(0x42, 0x1000, n, key, addr)))
			if got := f.responses(t, 0x42, 0x1000, int(n)); !bytes.Equal(got, pattern(5)) {
				t.Error("read something else than is there")
			}
		} else {
			data := pattern(9)
			for at := 0; at < len(data); at += 1000 {
				flags := byte(0)
				if at+1000 >= len(data) {
					flags = ddpLast
				}
				f.put(tagged(flags, opWrite, key, addr+uint64(at), data[at:min(at+1000, len(data))]))
			}
		}
		f.put(f.message(opSend, 0, 0, make([]byte, infoSize)))
	}
}

// wantReady wants the message that lets the side that was dialled send. Source: RFC 6581, section 9.2.
func (f *foreign) wantReady(t *testing.T, write bool) {
	t.Helper()
	s := must(f.next())(t)
	if write {
		if s.op != opWrite || !s.last || len(s.payload) != 0 {
			t.Errorf("the first message is %+v", s)
		}
		return
	}
	if s.op != opReadRequest || len(s.payload) != 28 || binary.BigEndian.Uint32(s.payload[12:]) != 0 {
		t.Fatalf("the first message is %+v", s)
	}
	ok(t, f.respond(s))
}

// responses are the bytes of a read response, in order and in one message.
func (f *foreign) responses(t *testing.T, sink uint32, to uint64, n int) (data []byte) {
	t.Helper()
	for {
		s := must(f.next())(t)
		if s.op != opReadResponse || s.stag != sink || s.to != to+uint64(len(data)) {
			t.Fatalf("the response is %+v after %d bytes", s, len(data))
		}
		data = append(data, s.payload...)
		if s.last != (len(data) >= n) {
			t.Fatalf("after %d bytes of %d, the last: %v", len(data), n, s.last)
		}
		if s.last {
			return data
		}
	}
}

// wantNothingOfOurs wants all that the other side said to be what the RFCs ask for, and not one octet more: next and
// greeting have refused what has reserved bits set, or another form.
func (f *foreign) wantNothingOfOurs(t *testing.T, private int) {
	t.Helper()
	if s, err := f.next(); err == nil {
		t.Errorf("there is more: %+v", s)
	}
	for _, word := range []string{"BWR", "BWI"} {
		if at := bytes.Index(f.heard, []byte(word)); at >= 0 {
			t.Errorf("%q at %d of what came", word, at)
		}
	}
	// Frame by frame once more, from the octets alone.
	msn := map[uint32]uint32{}
	for b := f.heard[20+private:]; len(b) > 0; {
		n := int(binary.BigEndian.Uint16(b))
		s := must(parseSegment(b[2 : 2+n]))(t)
		switch s.op {
		case opWrite, opReadResponse:
		case opSend, opReadRequest:
			if s.rsvd != 0 || s.last && s.msn != msn[s.queue]+1 {
				t.Errorf("a message of another's: %+v", s)
			}
			if s.last {
				msn[s.queue]++
			}
		default:
			t.Errorf("a message that was not asked for: %+v", s)
		}
		b = b[2+n+(-(2+n)&3)+4:]
	}
}

package iwarp_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// longBytes is the payload of frames that go to their place from the socket, where there are no checksums.
const longBytes = 60000

// TestLongHostileFrames has peers do with long frames what they must not: their payloads are placed while
// they come, where there are no checksums, so all that can be wrong must be seen in the header.
func TestLongHostileFrames(t *testing.T) {
	long := bytes.Repeat([]byte{0xee}, longBytes)
	for _, crc := range []bool{true, false} {
		s := newScene(t, crc)
		mem, k := s.big(2 * longBytes)
		for _, c := range []struct {
			name string
			u    func(f *foreign) []byte
			want []int
		}{
			{"a write over the end", func(*foreign) []byte { return tagged(ddpLast, opWrite, uint32(k.R), k.Addr+longBytes+1, long) }, []int{0x1101}},
			{"a write before the beginning", func(*foreign) []byte { return tagged(ddpLast, opWrite, uint32(k.R), k.Addr-1, long) }, []int{0x1101}},
			{"a write into a small region", func(*foreign) []byte { return s.write("open", 0, longBytes) }, []int{0x1101}},
			{"a write by an ended key", func(*foreign) []byte { return s.write("ended", 0, longBytes) }, []int{0x1100}},
			{"a write by another's key", func(*foreign) []byte { return s.write("other's", 0, longBytes) }, []int{0x1102}},
			{"a response that nobody asked for", func(*foreign) []byte { return tagged(ddpLast, opReadResponse, uint32(k.R), k.Addr, long) }, []int{0x1100}},
			{"a message that is too long", func(f *foreign) []byte { return f.message(opSend, 0, 0, long) }, []int{0x1205}},
			{"a message on another queue", func(f *foreign) []byte { return f.message(opSend, 0, 1, long) }, []int{0x1201}},
			{"a read request", func(f *foreign) []byte { return f.message(opReadRequest, 0, 1, long) }, []int{0x1205}},
			{"an atomic request", func(f *foreign) []byte { return f.message(opAtomicRequest, 0, 1, long) }, []int{0x1205}},
			{"immediate data", func(f *foreign) []byte { return f.message(opImmediate, 0, 0, long) }, []int{0x1205}},
			{"a Terminate", func(f *foreign) []byte { return f.message(opTerminate, 0, 2, long) }, []int{-1}},
			{"another version", func(*foreign) []byte { return patch(tagged(ddpLast, opWrite, uint32(k.R), k.Addr, long), 1, 0) }, []int{0x0205}},
		} {
			f, q := s.meet(false, true, crc)
			ok(t, q.PostReceive([]rdma.ReceiveRequest{{ID: 1, Buf: s.local("inbox", 0, 64)}}))
			f.put(c.u(f))
			if got := f.cause(t); !slices.Contains(c.want, got) {
				t.Errorf("crc=%v: %s: the Terminate says %#x, want one of %#x", crc, c.name, got, c.want)
			}
			failed(t, q, 1)
			s.unchanged()
			if at := bytes.IndexFunc(mem, func(r rune) bool { return r != 0 }); at >= 0 {
				t.Errorf("crc=%v: %s: byte %d was written", crc, c.name, at)
				clear(mem)
			}
		}
	}
}

// TestKeyEndsInLongFrame ends a key while a long write to it is coming. Once that is done nothing more is written, and
// the peer is told when it goes on.
func TestKeyEndsInLongFrame(t *testing.T) {
	for _, crc := range []bool{true, false} {
		s := newScene(t, crc)
		mem, k := s.big(longBytes)
		f, q := s.meet(true, false, crc)
		b := f.frame(tagged(ddpLast, opWrite, uint32(k.R), k.Addr, bytes.Repeat([]byte{0xee}, longBytes)))
		_, _ = f.conn.Write(b[:len(b)/2])
		time.Sleep(20 * time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		ok(t, s.pd.Deregister(ctx, k)) // it does not wait for a peer
		cancel()
		was := bytes.Clone(mem)
		_, _ = f.conn.Write(b[len(b)/2:])
		if got := f.cause(t); got != 0x1100 {
			t.Errorf("crc=%v: the Terminate says %#x", crc, got)
		}
		failed(t, q, 0)
		if !bytes.Equal(mem, was) {
			t.Errorf("crc=%v: memory was written to after its key had ended", crc)
		}
		s.unchanged()
	}
}

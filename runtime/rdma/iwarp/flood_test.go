package iwarp_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

// TestSpoiltFrame has single bits of a good write turned on its way. With checksums nothing of it is placed, and the
// peer is told.
func TestSpoiltFrame(t *testing.T) {
	s := newScene(t, true)
	size := len((&foreign{crc: true}).frame(s.write("open", 0, 61)))
	for at := 2; at < size; at += 3 { // the two before are the length: what is then the frame is not here yet
		f, q := s.meet(at%2 == 0, true, true)
		b := f.frame(s.write("open", 0, 61))
		b[at] ^= 1 << (at % 8)
		_, _ = f.conn.Write(b)
		if got := f.cause(t); got != 0x2002 {
			t.Errorf("octet %d: the Terminate says %#x", at, got)
		}
		failed(t, q, 0)
		s.unchanged()
	}
}

// TestTerminateIsAbout looks at what a Terminate repeats of the segment that it is about: its length, its header, and of
// a read request that is refused the request. Source: RFC 5040, section 4.8 and figure 10.
func TestTerminateIsAbout(t *testing.T) {
	s := newScene(t, true)
	for _, c := range []struct {
		name string
		bad  func(f *foreign) []byte
		bits byte
	}{
		{"a read without the right", func(f *foreign) []byte { return s.read(f, "writable", 8, 16) }, 0xe0},
		{"an addition without the right", func(f *foreign) []byte {
			k := s.keys["readable"]
			return f.message(opAtomicRequest, 0, 1, atomicRequest(0, 1, uint32(k.R), k.Addr, 1, 0, 0, ^uint64(0)))
		}, 0xc0},
		{"a write out of bounds", func(*foreign) []byte { return s.write("open", slotSize-4, 8) }, 0xc0},
		{"a send out of sequence", func(f *foreign) []byte { f.sent[0]++; return f.message(opSend, 0, 0, []byte("hello")) }, 0xc0},
		{"another version", func(*foreign) []byte { return patch(s.write("open", 0, 8), 1, 0x80) }, 0xc0},
		{"no header at all", func(*foreign) []byte { return []byte{ddpV1} }, 0x00},
	} {
		f, q := s.meet(false, true, true)
		bad := c.bad(f)
		f.put(bad)
		var got segment
		for got.op != opTerminate {
			got = must(f.next())(t)
		}
		want := append(got.payload[:2:2], c.bits, 0)
		if c.bits != 0 {
			want = append(binary.BigEndian.AppendUint16(want, uint16(len(bad))), bad[:headerOf(bad)]...)
		}
		if c.bits == 0xe0 {
			want = append(want, bad[18:]...)
		}
		if !bytes.Equal(got.payload, want) {
			t.Errorf("%s: the Terminate is\n%x, not\n%x", c.name, got.payload, want)
		}
		failed(t, q, 0)
	}
	s.unchanged()
}

func headerOf(ulpdu []byte) int {
	if ulpdu[0]&ddpTagged != 0 {
		return 14
	}
	return 18
}

// TestNoReceive has a peer send what no receive is posted for. It is waited for, for a time, and nothing is kept.
func TestNoReceive(t *testing.T) {
	t.Cleanup(iwarp.ShortWaits(50 * time.Millisecond))
	for _, crc := range []bool{true, false} {
		s := newScene(t, crc)
		for _, listens := range []bool{true, false} {
			f, q := s.meet(listens, true, crc)
			begun := time.Now()
			f.put(f.message(opSend, 0, 0, make([]byte, 64)))
			if got := f.cause(t); got != 0x1202 {
				t.Errorf("the Terminate says %#x", got)
			}
			if waited := time.Since(begun); waited < 40*time.Millisecond {
				t.Errorf("it was waited for %v only", waited)
			}
			failed(t, q, 0)
			s.unchanged()
		}
	}
}

// big is memory of a scene's that is larger than its slots.
func (s *scene) big(n int) ([]byte, rdma.Keys) {
	mem := make([]byte, n)
	m := rdma.Memory{Base: unsafe.Pointer(&mem[0]), Len: n, Name: "big"}
	k := must(s.pd.Register(m, region.Read|region.Write, nil))(s.t)
	return mem, k
}

// TestFloods has peers ask for, and send, more than they may, and read nothing of the answers. What that takes of
// memory has a bound for each, however much they ask for.
func TestFloods(t *testing.T) {
	const peers, bound = 8, 2 << 20
	for _, c := range []struct {
		name string
		one  func(f *foreign, s *scene, k rdma.Keys, i int) []byte
		want []int
	}{
		{"reads", func(f *foreign, _ *scene, k rdma.Keys, _ int) []byte {
			return f.message(opReadRequest, 0, 1, readRequest(1, 0, 1<<20, uint32(k.R), k.Addr))
		}, []int{0x1202, -1}},
		{"reads of nothing", func(f *foreign, _ *scene, k rdma.Keys, _ int) []byte {
			return f.message(opReadRequest, 0, 1, readRequest(1, 0, 0, 0, 0))
		}, []int{0x1202, -1}},
		{"atomics", func(f *foreign, s *scene, _ rdma.Keys, _ int) []byte {
			k := s.keys["open"]
			return f.message(opAtomicRequest, 0, 1, atomicRequest(0, 1, uint32(k.R), k.Addr, 1, 0, 0, ^uint64(0)))
		}, []int{0x1202, -1}},
		{"messages", func(f *foreign, _ *scene, _ rdma.Keys, _ int) []byte {
			return f.message(opSend, 0, 0, make([]byte, 4096))
		},
			[]int{0x1202, 0x1205, -1}},
		{"one message", func(_ *foreign, _ *scene, _ rdma.Keys, i int) []byte {
			return untagged(0, opSend, [4]uint32{0, 0, 1, uint32(i) * 1024}, make([]byte, 1024))
		}, []int{0x1202, 0x1205, -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Cleanup(iwarp.ShortWaits(100 * time.Millisecond))
			s := newScene(t, true)
			_, k := s.big(1 << 20)
			start := settledMemory()
			var fs []*foreign
			var qs []rdma.Queue
			for range peers {
				f, q := s.meet(false, true, true)
				fs, qs = append(fs, f), append(qs, q)
			}
			for _, f := range fs {
				_ = f.conn.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
				for i := range 5000 {
					if _, err := f.conn.Write(f.frame(c.one(f, s, k, i))); err != nil {
						break
					}
				}
			}
			if grown := (settledMemory() - start) / peers; grown > bound {
				t.Errorf("each peer takes %d KiB", grown>>10)
			} else {
				t.Logf("each peer takes %d KiB", grown>>10)
			}
			for i, f := range fs {
				halfClose(f)
				if got := f.cause(t); !slices.Contains(c.want, got) {
					t.Errorf("the Terminate says %#x, want one of %#x", got, c.want)
				}
				waitFailed(t, qs[i])
				ok(t, qs[i].Close())
			}
			s.unchanged("open")
		})
	}
}

// settledMemory is what is in use when what can be thrown away is.
func settledMemory() int64 {
	runtime.GC()
	return int64(inUse())
}

// TestPlainMessagesAreWhole has a stranger read much from a side that writes much to it: between the segments of a
// message there are none of another, since nothing says that a peer must stand that. But neither the writes nor the
// responses wait for all of the others.
func TestPlainMessagesAreWhole(t *testing.T) {
	for _, crc := range []bool{true, false} {
		for _, c := range []struct{ writes, reads int }{{16, 4}, {4, 32}} {
			t.Run(fmt.Sprintf("crc=%v,writes=%d,reads=%d", crc, c.writes, c.reads), func(t *testing.T) { takeTurns(t, crc, c.writes, c.reads) })
		}
	}
}

func takeTurns(t *testing.T, crc bool, writes, reads int) {
	const n = 1 << 20 // so that all of them are more than a socket takes
	s := newScene(t, crc)
	mem, k := s.big(n)
	f, q := s.meet(false, false, crc)
	post := func() {
		for i := range writes {
			wr := rdma.WorkRequest{ID: uint64(i), Verb: rdma.VerbWrite, Segs: 1, Key: 7, Addr: uint64(i) << 32}
			wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&mem[0]), Len: n, Key: k.L}
			must(q.Post([]rdma.WorkRequest{wr}))(t)
		}
	}
	ask := func() {
		for i := range reads {
			f.put(f.message(opReadRequest, 0, 1, readRequest(uint32(100+i), 0, n, uint32(k.R), k.Addr)))
		}
		time.Sleep(50 * time.Millisecond) // they are heard of
	}
	if writes > reads {
		post()
		ask()
	} else {
		ask()
		post()
	}
	wrote, read := 0, 0
	var open *segment
	for wrote < writes || read < reads {
		got := must(f.next())(t)
		if open != nil && (got.op != open.op || got.stag != open.stag || got.to != open.to+uint64(len(open.payload))) {
			t.Fatalf("a segment of %d at %#x of %#x comes after one of %d at %#x of %#x that was not the last",
				got.op, got.to, got.stag, open.op, open.to, open.stag)
		}
		if open = &got; !got.last {
			continue
		}
		open = nil
		if got.op == opWrite {
			wrote++
		} else {
			read++
		}
		if wrote == writes && read == 0 || read == reads && wrote == 0 {
			t.Errorf("after %d writes and %d responses: one kind waits for all of the other", wrote, read)
		}
	}
	for range writes {
		if c := next(t, q); c.Err != nil {
			t.Error(c.Err)
		}
	}
	ok(t, q.Close())
}

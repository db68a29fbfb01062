package iwarp_test

import (
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

// names are what stands for a key in fuzzed segments: STag i+1 is the key of names[i], and an address is from its beginning.
var names = []string{"open", "readable", "writable", "other's", "ended"}

// FuzzTarget has a peer dial, begin as it should, and then send anything: octets, or segments in good frames. Where
// a segment has a small number for a key, a real one is put there. Whatever it is, the connection ends, nothing is left
// behind, and no memory changes but what the peer may write to.
func FuzzTarget(f *testing.F) { fuzz(f, false) }

// FuzzInitiator has the peer be dialled and asked for two reads, an atomic operation and a flush, and answer with anything.
// The keys of the answers are as small numbers, too.
func FuzzInitiator(f *testing.F) { fuzz(f, true) }

// seeds are segments that are good, and nearly.
func seeds() (all [][]byte) {
	f := &foreign{}
	for key := range uint32(6) {
		all = append(all,
			tagged(ddpLast, opWrite, key, 16, []byte("hello")),
			tagged(ddpLast, opWrite, key, slotSize, []byte("hello")),
			f.message(opReadRequest, 0, 1, readRequest(1, 2, 3, key, 8)),
			f.message(opAtomicRequest, 0, 1, atomicRequest(key&2, 1, key, 8, 1, 0, 0, 0)))
	}
	for key := range uint32(2) {
		all = append(all, tagged(ddpLast, opReadResponse, 100+key, 0, make([]byte, readBytes)), tagged(0, opReadResponse, 100+key, 0, make([]byte, 8)))
	}
	return append(all,
		f.message(opAtomicResponse, 0, 3, atomicResponse(102)),
		tagged(ddpLast, opReadResponse, 103, 0, nil),
		f.message(opSend, 7, 0, []byte("hello")), f.message(opSendSolicitedInvalidate, 1, 0, nil),
		f.message(opImmediate, 0, 0, make([]byte, 8)), f.message(opTerminate, 0, 2, []byte{1, 1, 0, 0}))
}

// fuzz runs one of the two.
func fuzz(f *testing.F, listens bool) {
	f.Cleanup(iwarp.ShortWaits(20 * time.Millisecond))
	for i, s := range seeds() {
		next := seeds()[(i+7)%len(seeds())]
		in := binary.BigEndian.AppendUint16(nil, uint16(len(s)))
		in = append(in, s...)
		in = append(binary.BigEndian.AppendUint16(in, uint16(len(next))), next...)
		f.Add(i%2 == 0, i%4 < 2, false, in)
	}
	f.Add(true, true, true, []byte("MPA ID Req Frame"))
	f.Add(false, false, true, (&foreign{}).frame(seeds()[0]))
	scenes := map[bool]*scene{true: newScene(f, true), false: newScene(f, false)}
	f.Fuzz(func(t *testing.T, crc, alike, raw bool, in []byte) {
		if len(in) > 64<<10 {
			return
		}
		before := runtime.NumGoroutine()
		s := *scenes[crc]
		s.t = t
		p, q := s.meet(listens, alike, crc)
		s.postReceives(q)
		keys := s.keysFor()
		if listens {
			s.postRequests(q, alike)
			p.hearQuestions(t, keys)
		}
		go func() { // while it listens, as nobody can be hindered from
			if raw {
				_, _ = p.conn.Write(in)
			} else {
				p.sendSegments(in, keys)
			}
			halfClose(p)
		}()
		p.linger()
		waitFailed(t, q)
		ok(t, q.Close())
		_ = p.conn.Close()
		s.unchanged("open", "writable", "inbox")
		noLeak(t, before)
	})
}

func (s *scene) postReceives(q rdma.Queue) {
	var rs []rdma.ReceiveRequest
	for i := range 8 {
		rs = append(rs, rdma.ReceiveRequest{ID: uint64(i), Buf: s.local("inbox", 1024+64*i, 64)})
	}
	ok(s.t, q.PostReceive(rs))
}

// postRequests asks for two reads, an atomic operation where the peer is alike, and a flush after a write.
func (s *scene) postRequests(q rdma.Queue, alike bool) {
	read := rdma.WorkRequest{ID: 20, Verb: rdma.VerbRead, Segs: 1, Key: 0x101, Epoch: 1, Addr: 8}
	read.Local[0] = s.local("inbox", 64, readBytes)
	write := rdma.WorkRequest{ID: 22, Verb: rdma.VerbWrite, Segs: 1, Key: 0x101, Epoch: 1, Addr: 8}
	write.Local[0] = s.local("readable", 0, 8)
	wrs := []rdma.WorkRequest{read, read, {ID: 21, Verb: rdma.VerbFetchAdd, Key: 0x101, Epoch: 1, Addr: 8}, write, {ID: 23, Verb: rdma.VerbFlush}}
	if !alike {
		wrs = append(wrs[:2], wrs[3:]...)
	}
	if n, err := q.Post(wrs); n != len(wrs) || err != nil {
		s.t.Fatal(n, err)
	}
}

// hearQuestions learns the keys of the answers: those of the reads are 100 and 101, the number of the atomic operation is
// 102, and the key of the flush 103.
func (f *foreign) hearQuestions(t *testing.T, keys map[uint32]target) {
	for at := uint32(100); ; {
		s := must(f.next())(t)
		switch s.op {
		case opReadRequest:
			if binary.BigEndian.Uint32(s.payload[12:]) == 0 {
				keys[103] = target{key: binary.BigEndian.Uint32(s.payload)}
				return
			}
			keys[at] = target{key: binary.BigEndian.Uint32(s.payload)}
			at++
		case opAtomicRequest:
			keys[102] = target{key: binary.BigEndian.Uint32(s.payload[4:])}
		}
	}
}

// target is what a small number in a fuzzed segment stands for: a key, and what is added to the address with it.
type target struct {
	key  uint32
	addr uint64
}

func (s *scene) keysFor() map[uint32]target {
	keys := map[uint32]target{}
	for i, name := range names {
		keys[uint32(i+1)] = target{uint32(s.keys[name].R), s.keys[name].Addr}
	}
	return keys
}

// resolve puts a key in the place of a small number, and its address before the offset that follows or comes
// elsewhere.
func resolve(b []byte, key, addr int, keys map[uint32]target) {
	be := binary.BigEndian
	if len(b) < max(key+4, addr+8) {
		return
	}
	if x, known := keys[be.Uint32(b[key:])]; known {
		be.PutUint32(b[key:], x.key)
		be.PutUint64(b[addr:], x.addr+be.Uint64(b[addr:]))
	}
}

// sendSegments sends the segments that are in the input, each behind its length.
func (f *foreign) sendSegments(in []byte, keys map[uint32]target) {
	for len(in) > 2 {
		n := min(int(binary.BigEndian.Uint16(in)), len(in)-2)
		u := append([]byte(nil), in[2:2+n]...)
		in = in[2+n:]
		if len(u) > 1 && u[0]&ddpTagged != 0 {
			resolve(u, 2, 6, keys)
		} else if len(u) > 1 {
			switch u[1] & 0x0f {
			case opReadRequest:
				resolve(u, 18+16, 18+20, keys)
			case opAtomicRequest:
				resolve(u, 18+8, 18+12, keys)
			case opSendInvalidate, opSendSolicitedInvalidate:
				if len(u) >= 6 {
					if x, known := keys[binary.BigEndian.Uint32(u[2:])]; known {
						binary.BigEndian.PutUint32(u[2:], x.key)
					}
				}
			case opAtomicResponse:
				if len(u) >= 22 && binary.BigEndian.Uint32(u[18:]) == 102 {
					binary.BigEndian.PutUint32(u[18:], keys[102].key)
				}
			}
		}
		f.put(u)
	}
}

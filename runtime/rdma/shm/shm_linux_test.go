package shm

import (
	"bytes"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

func TestWriteReadAtomics(t *testing.T) {
	a, b := pair(t, nil, 1<<20)
	copy(bytesOf(b.mem), "the quick brown fox")
	b.post(t, b.one(rdma.VerbWrite, 1, 0, 19, a, 4096)) // not prepared: mapped at first use
	b.done(t, 1)
	if got := bytesOf(a.mem)[4096 : 4096+19]; string(got) != "the quick brown fox" {
		t.Fatalf("written: %q", got)
	}
	fatal(t, b.q.Prepare(within(t, patience), a.k.R, a.k.Epoch))
	copy(bytesOf(a.mem)[100:], "jumps over")
	b.post(t, b.one(rdma.VerbRead, 2, 64, 10, a, 100), rdma.WorkRequest{ID: 3, Verb: rdma.VerbFlush})
	b.done(t, 2)
	b.done(t, 3)
	if got := bytesOf(b.mem)[64:74]; string(got) != "jumps over" {
		t.Fatalf("read: %q", got)
	}
	add := b.one(rdma.VerbFetchAdd, 4, 0, 8, a, 512)
	add.Operand = 5
	swap := b.one(rdma.VerbCompareSwap, 5, 0, 8, a, 512)
	swap.Compare, swap.Operand = 5, 1<<40
	miss := swap
	miss.ID = 6
	b.post(t, add, swap, miss)
	for id, want := range []uint64{4: 0, 5: 5, 6: 1 << 40} {
		if id < 4 {
			continue
		}
		if c := b.done(t, uint64(id)); c.Result != want {
			t.Fatalf("atomic %d: before %d, want %d", id, c.Result, want)
		}
	}
	if got := bytesOf(a.mem)[512:520]; !bytes.Equal(got, []byte{0, 0, 0, 0, 0, 1, 0, 0}) {
		t.Fatalf("word: % x", got)
	}
}

func TestSendReceiveNotify(t *testing.T) {
	a, b := pair(t, nil, 1<<20)
	long := bytes.Repeat([]byte("0123456789"), 400)
	copy(bytesOf(b.mem), long)
	fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: 10, Buf: a.seg(0, 4096)}, {ID: 11, Buf: a.seg(8192, 4096)}, {ID: 12}}))
	short, big := b.one(rdma.VerbSend, 1, 0, 20, a, 0), b.one(rdma.VerbSend, 2, 0, 4000, a, 0)
	big.Local = [rdma.MaxSegments]rdma.Segment{b.seg(0, 1000), b.seg(1000, 2999), b.seg(3999, 1)}
	big.Segs, big.Imm = 3, 77
	note := b.one(rdma.VerbWriteNotify, 3, 0, 64, a, 65536)
	note.Imm = 88
	b.post(t, short, big, note)
	for id := range uint64(3) {
		b.done(t, id+1)
	}
	if c := a.done(t, 10); c.Verb != rdma.VerbReceive || c.Bytes != 20 || c.Imm != 0 || !bytes.Equal(bytesOf(a.mem)[:20], long[:20]) {
		t.Fatalf("%+v", c)
	}
	if c := a.done(t, 11); c.Bytes != 4000 || c.Imm != 77 || !bytes.Equal(bytesOf(a.mem)[8192:8192+4000], long) {
		t.Fatalf("%+v", c)
	}
	if c := a.done(t, 12); c.Verb != rdma.VerbNotify || c.Bytes != 64 || c.Imm != 88 || !bytes.Equal(bytesOf(a.mem)[65536:65600], long[:64]) {
		t.Fatalf("%+v", c)
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(wr *rdma.WorkRequest, a, b *side)
		want   rdma.Status
	}{
		{"no such key", func(wr *rdma.WorkRequest, a, b *side) { wr.Key ^= 1 << 20 }, rdma.StatusRemoteKey},
		{"old epoch", func(wr *rdma.WorkRequest, a, b *side) { wr.Epoch-- }, rdma.StatusRemoteKey},
		{"local key as remote key", func(wr *rdma.WorkRequest, a, b *side) { wr.Key = rdma.RKey(a.k.L) }, rdma.StatusRemoteKey},
		{"behind the end", func(wr *rdma.WorkRequest, a, b *side) { wr.Addr += 8192 - 63 }, rdma.StatusRemoteRange},
		{"before the beginning", func(wr *rdma.WorkRequest, a, b *side) { wr.Addr-- }, rdma.StatusRemoteRange},
		{"no write", func(wr *rdma.WorkRequest, a, b *side) { wr.Verb = rdma.VerbWrite }, rdma.StatusRemoteRight},
		{"no atomic", func(wr *rdma.WorkRequest, a, b *side) { wr.Verb = rdma.VerbFetchAdd }, rdma.StatusRemoteRight},
		{"remote key as local key", func(wr *rdma.WorkRequest, a, b *side) { wr.Local[0].Key = rdma.LKey(b.k.R) }, rdma.StatusLocal},
		{"local memory too short", func(wr *rdma.WorkRequest, a, b *side) { wr.Local[0].Len = 8193 }, rdma.StatusLocal},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b := newSide(t, nil, 8192, region.Read), newSide(t, nil, 8192, region.Read)
			connect(t, a, b)
			wr := b.one(rdma.VerbRead, 1, 0, 64, a, 0)
			test.change(&wr, a, b)
			after := b.one(rdma.VerbRead, 2, 0, 64, a, 0)
			fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: 9, Buf: a.seg(0, 64)}}))
			b.post(t, wr, after)
			b.fails(t, 1, test.want)
			b.fails(t, 2, rdma.StatusFlushed)
			a.fails(t, 9, rdma.StatusPeerLost)
		})
	}
}

func TestDeregister(t *testing.T) {
	a, b := pair(t, nil, 8192)
	b.post(t, b.one(rdma.VerbWrite, 1, 0, 64, a, 0))
	b.done(t, 1)
	fatal(t, a.dom.Deregister(within(t, patience), a.k))
	if err := a.dom.Deregister(within(t, patience), a.k); err == nil {
		t.Fatal("the second Deregister succeeds")
	}
	b.post(t, b.one(rdma.VerbWrite, 2, 0, 64, a, 0))
	b.fails(t, 2, rdma.StatusRemoteKey)
}

func TestNoReceive(t *testing.T) {
	a, b := pair(t, nil, 8192)
	short := b.dom.a.notReady
	b.dom.a.notReady = patience
	b.post(t, b.one(rdma.VerbSend, 1, 0, 64, a, 0))
	time.Sleep(50 * time.Millisecond) // it waits
	fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: 9, Buf: a.seg(0, 64)}}))
	b.done(t, 1)
	a.done(t, 9)
	b.dom.a.notReady = short
	b.post(t, b.one(rdma.VerbSend, 2, 0, 64, a, 0))
	b.fails(t, 2, rdma.StatusNotReady)
}

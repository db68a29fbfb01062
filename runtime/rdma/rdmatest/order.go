package rdmatest

import (
	"bytes"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var orderChecks = []check{
	{"completes-in-order", checkInOrder},
	{"writes-before", checkWritesBefore},
	{"fence", checkFence},
	{"buffer-reuse", checkReuse},
}

// checkInOrder posts batches of all verbs, and wants them completed in the order of posting.
func checkInOrder(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	id, next := uint64(0), uint64(0)
	for range 30 {
		batch := []rdma.WorkRequest{
			op(rdma.VerbWrite, 0, &a.memory, 0, 200, &b.memory, 0),
			op(rdma.VerbRead, 0, &a.memory, 1024, 3000, &b.memory, 8192),
			f.or(word(rdma.VerbFetchAdd, 0, &b.memory, 4096, 0, 1), op(rdma.VerbRead, 0, &a.memory, 4096, 8, &b.memory, 4096)),
			op(rdma.VerbSend, 0, &a.memory, 0, 10, &b.memory, 0),
			flush(0),
			op(rdma.VerbWriteNotify, 0, &a.memory, 0, 8, &b.memory, 16384),
			f.or(word(rdma.VerbCompareSwap, 0, &b.memory, 4104, 0, 1), flush(0)),
			op(rdma.VerbWrite, 0, &a.memory, 0, 1, &b.memory, 0),
		}
		batch[7].Fence = true
		for i := range batch {
			batch[i].ID = id
			id++
		}
		b.receive(0, 20000, 64)
		b.receive(0, 20000, 64)
		a.post(batch[:3]...)
		a.post(batch[3:]...)
		for ; next < id; next++ {
			if c := a.done(next); c.Verb != batch[next%8].Verb {
				t.Fatalf("completed %s, want %v", text(c), batch[next%8].Verb)
			}
		}
		b.next()
		b.next()
	}
}

// checkWritesBefore posts writes, and then each verb that must find them placed.
func checkWritesBefore(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	const n, size = 20, 96
	for round := range 60 {
		fill(a.mem[:n*size], round+10)
		for i := range n {
			a.post(op(rdma.VerbWrite, uint64(i), &a.memory, i*size, size, &b.memory, i*size))
		}
		b.receive(100, 60000, 64)
		last := []rdma.WorkRequest{
			flush(99),
			op(rdma.VerbSend, 99, &a.memory, 0, 8, &b.memory, 0),
			op(rdma.VerbWriteNotify, 99, &a.memory, 0, 8, &b.memory, 50000),
			f.or(word(rdma.VerbFetchAdd, 99, &b.memory, 50008, 0, 1), flush(99)),
			f.or(word(rdma.VerbCompareSwap, 99, &b.memory, 50016, 0, 1), flush(99)),
			op(rdma.VerbRead, 99, &a.memory, 30000, n*size, &b.memory, 0),
		}[round%6]
		a.post(last)
		switch last.Verb {
		case rdma.VerbSend, rdma.VerbWriteNotify: // the peer looks, when it is told
			b.done(100)
			if !bytes.Equal(b.mem[:n*size], a.mem[:n*size]) {
				t.Fatalf("round %d: the %v arrived before the writes before it", round, last.Verb)
			}
		}
		for i := range n {
			a.done(uint64(i))
		}
		a.done(99)
		if !bytes.Equal(b.mem[:n*size], a.mem[:n*size]) {
			t.Fatalf("round %d: the %v completed before the writes before it were placed", round, last.Verb)
		}
		if last.Verb == rdma.VerbRead && !bytes.Equal(a.mem[30000:30000+n*size], a.mem[:n*size]) {
			t.Fatalf("round %d: the read overtook writes", round)
		}
		if last.Verb != rdma.VerbSend && last.Verb != rdma.VerbWriteNotify {
			a.do(op(rdma.VerbSend, 98, &a.memory, 0, 8, &b.memory, 0))
			b.done(100)
		}
	}
}

// checkFence reads and then overwrites what is read; and sends on what it reads.
func checkFence(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	for round := range 60 {
		fill(b.mem[:4096], round)
		want := bytes.Clone(b.mem[:4096])
		clear(a.mem)
		fenced := op(rdma.VerbWrite, 2, &a.memory, 8192, 4096, &b.memory, 0)
		fenced.Fence = true
		onward := op(rdma.VerbWrite, 4, &a.memory, 16384, 2048, &b.memory, 32768)
		onward.Fence = true
		a.post(op(rdma.VerbRead, 1, &a.memory, 0, 4096, &b.memory, 0), fenced,
			op(rdma.VerbRead, 3, &a.memory, 16384, 2048, &b.memory, 40000), onward, flush(5))
		for id := uint64(1); id <= 5; id++ {
			a.done(id)
		}
		if !bytes.Equal(a.mem[:4096], want) {
			t.Fatal("a fenced write overtook the read before it")
		}
		if !bytes.Equal(b.mem[:4096], a.mem[8192:8192+4096]) {
			t.Fatal("the fenced write was not placed")
		}
		if !bytes.Equal(b.mem[32768:32768+2048], b.mem[40000:40000+2048]) {
			t.Fatal("a fenced write sent what was in its buffer before the read before it was done")
		}
		fill(b.mem[40000:42048], round+100)
	}
}

// checkReuse changes a buffer when its write has completed, and not before: what was there must arrive.
func checkReuse(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	const n = 512
	want := make([]byte, 100*n)
	for i := range 100 {
		fill(a.mem[:n], i)
		copy(want[i*n:], a.mem[:n])
		a.do(op(rdma.VerbWrite, uint64(i), &a.memory, 0, n, &b.memory, i*n))
		clear(a.mem[:n])
	}
	a.do(flush(1))
	if !bytes.Equal(b.mem[:100*n], want) {
		t.Error("what a buffer held when it was posted did not arrive")
	}
}

package iwarp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

func randomize(b []byte, seed uint64) {
	rnd := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = rnd.Read(b)
}

// TestTransfers writes, reads and sends pieces of all sizes in both directions at once.
func TestTransfers(t *testing.T) {
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			a, b := connectEnds(t, s)
			ended := make(chan error, 2)
			for _, d := range []struct{ from, to *end }{{a, b}, {b, a}} {
				go func() { ended <- transfer(d.from, d.to) }()
			}
			for range 2 {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// The memory of an end in a transfer: what it writes from, what it reads to, and what its peer writes to.
const (
	lower  = 0
	middle = endBytes / 4
	upper  = endBytes / 2
)

// transfer writes to the upper part of a peer's memory and reads it back. Only completions of requests may come.
func transfer(a, b *end) error {
	randomize(a.mem[lower:middle], uint64(a.name[0]))
	for i, n := range []int{1, 8, 13, 100, 110, 128, 1420, 1430, 5000, 60000, 131071, middle} {
		id := uint64(10 * i)
		at := upper + min(i*3, endBytes-upper-n)
		off := min(i, middle-n)
		wrs := []rdma.WorkRequest{
			a.request(rdma.VerbWrite, id, off, n, b, at),
			flushOf(id + 1),
			a.request(rdma.VerbRead, id+2, middle, n, b, at),
		}
		if n > 20 { // in pieces
			wrs[0].Segs = 3
			wrs[0].Local[0], wrs[0].Local[1], wrs[0].Local[2] = a.segment(off, 7), a.segment(off+7, n-20), a.segment(off+n-13, 13)
			wrs[2].Segs = 2
			wrs[2].Local[0], wrs[2].Local[1] = a.segment(middle, n-9), a.segment(middle+n-9, 9)
		}
		if took, err := a.q.Post(wrs); took != 3 {
			return fmt.Errorf("posted %d: %w", took, err)
		}
		for k := range uint64(3) {
			if c, err := await(a.q); err != nil || c.Err != nil || c.ID != id+k {
				return fmt.Errorf("%s: %d bytes: completed %+v: %w", a.name, n, c, err)
			}
		}
		if !bytes.Equal(a.mem[middle:middle+n], a.mem[off:off+n]) {
			return fmt.Errorf("%s: %d bytes came back changed", a.name, n)
		}
	}
	return nil
}

// TestMessages sends messages, with numbers and without, and notifications.
func TestMessages(t *testing.T) {
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			a, b := connectEnds(t, s)
			randomize(a.mem[:64<<10], 1)
			for i, n := range []int{0, 1, 100, 110, 111, 1422, 1423, 64 << 10} {
				id := uint64(i)
				b.receive(id, 0, n)
				wr := a.request(rdma.VerbSend, id, 0, n, b, 0)
				wr.Imm, wr.Solicited = uint32(n)+7, i%2 == 1
				a.post(wr)
				c := b.done(id)
				if c.Bytes != n || c.Imm != wr.Imm || c.Verb != rdma.VerbReceive || c.Solicited != wr.Solicited {
					t.Errorf("of %d bytes: received %+v", n, c)
				}
				if !bytes.Equal(b.mem[:n], a.mem[:n]) {
					t.Errorf("the message of %d bytes arrived changed", n)
				}
				a.done(id)
				b.receive(100, 0, 0)
				wr = a.request(rdma.VerbWriteNotify, id, 0, n, b, upper)
				wr.Imm = uint32(i) - 3
				a.post(wr)
				if c := b.done(100); c.Bytes != n || c.Imm != wr.Imm || c.Verb != rdma.VerbNotify {
					t.Errorf("of %d bytes: notified of %+v", n, c)
				}
				if !bytes.Equal(b.mem[upper:upper+n], a.mem[:n]) {
					t.Errorf("the notification of %d bytes was there before the bytes", n)
				}
				a.done(id)
			}
		})
	}
}

// TestAtomics adds and swaps.
func TestAtomics(t *testing.T) {
	a, b := connectEnds(t, shapes["tcp, sums"])
	binary.LittleEndian.PutUint64(b.mem[64:], 5)
	add := a.request(rdma.VerbFetchAdd, 1, 0, 0, b, 64)
	add.Segs, add.Operand = 0, 3
	swap := a.request(rdma.VerbCompareSwap, 2, 0, 0, b, 64)
	swap.Segs, swap.Compare, swap.Operand = 0, 8, 1<<60
	a.post(add, swap, a.request(rdma.VerbRead, 3, 0, 8, b, 64))
	if r := a.done(1).Result; r != 5 {
		t.Errorf("added to %d", r)
	}
	if r := a.done(2).Result; r != 8 {
		t.Errorf("swapped %d", r)
	}
	a.done(3)
	if v := binary.LittleEndian.Uint64(a.mem); v != 1<<60 {
		t.Errorf("left %#x", v)
	}
}

// TestPlain has a peer that is not this package: no numbers, no notifications, no atomics.
func TestPlain(t *testing.T) {
	s := shapes["tcp, sums"]
	s.plain = true
	a, b := connectEnds(t, s)
	b.receive(1, 0, 100)
	wr := a.request(rdma.VerbSend, 1, 0, 50, b, 0)
	wr.Imm = 77
	a.post(wr)
	if c := b.done(1); c.Bytes != 50 || c.Imm != 0 {
		t.Errorf("received %+v", c)
	}
	a.done(1)
	if err := transfer(a, b); err != nil {
		t.Error(err)
	}
	a.post(a.request(rdma.VerbWriteNotify, 2, 0, 8, b, 0))
	if c := a.next(); c.ID != 2 || statusAs(c.Err) != rdma.StatusLocal {
		t.Errorf("a notification for a peer that cannot be notified completed %+v", c)
	}
}

func statusAs(err error) rdma.Status {
	var s *rdma.StatusError
	if errors.As(err, &s) {
		return s.Status
	}
	return 0
}

// TestNoReads has a peer that answers no reads, as one of the first revision of MPA says that it does not.
func TestNoReads(t *testing.T) {
	s := shapes["tcp"]
	s.plain = true
	a, b := connectEnds(t, s)
	a.q.s.ord = 0
	a.post(a.request(rdma.VerbWrite, 1, 0, 8, b, 0))
	a.done(1)
	a.post(flushOf(2))
	if c := a.next(); c.ID != 2 || statusAs(c.Err) != rdma.StatusLocal {
		t.Errorf("a flush without reads completed %+v", c)
	}
}

// TestTooManyReads asks for more at a time than the peer answers.
func TestTooManyReads(t *testing.T) {
	s := shapes["tcp"]
	s.ird, s.ord = 2, 16
	a, b := connectEnds(t, s)
	var wrs []rdma.WorkRequest
	for i := range 16 { // the responses are too large to be sent at once
		wrs = append(wrs, a.request(rdma.VerbRead, uint64(i), 0, 100<<10, b, 0))
	}
	a.post(wrs...)
	for range wrs {
		c := a.next()
		if c.Err == nil {
			continue
		}
		if s := statusAs(c.Err); s != rdma.StatusProvider {
			t.Errorf("completed %+v", c)
		}
		return
	}
	t.Error("16 reads at a time were answered where 2 were agreed on")
}

// TestLate refuses a write that completed before it was refused: what follows must name it.
func TestLate(t *testing.T) {
	a, b := connectEnds(t, shapes["tcp, sums"])
	a.post(a.request(rdma.VerbWrite, 1, 0, 8, b, 0), a.request(rdma.VerbWrite, 2, 0, 8, b, 64))
	a.done(1)
	a.done(2)
	a.post(flushOf(3))
	a.done(3)
	a.post(a.request(rdma.VerbWrite, 4, 0, 8, b, 0), a.request(rdma.VerbWrite, 5, 0, 8, b, endBytes-4))
	a.done(4)
	c := a.next()
	if c.ID != 5 {
		t.Fatalf("completed %+v", c)
	}
	if c.Err != nil { // it was refused before it was polled
		if statusAs(c.Err) != rdma.StatusRemoteRange {
			t.Errorf("completed %+v", c)
		}
		return
	}
	time.Sleep(20 * time.Millisecond)
	a.post(flushOf(6))
	var serr *rdma.StatusError
	if c := a.next(); !errors.As(c.Err, &serr) || !serr.Late || serr.ID != 5 || serr.Status != rdma.StatusRemoteRange {
		t.Errorf("after a write that was refused late completed %+v", c)
	}
	a.post(flushOf(7))
	if c := a.next(); statusAs(c.Err) != rdma.StatusPeerLost {
		t.Errorf("then completed %+v", c)
	}
}

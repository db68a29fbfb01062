package shm

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// opsToExchange is how many operations each of the two processes does.
func opsToExchange() int {
	if n, err := strconv.Atoi(os.Getenv(helperOps)); err == nil && n > 0 {
		return n
	}
	return 20000
}

// Where things are in the memory of a side of the exchange.
const (
	xCounter = 0         // a word that the peer adds to
	xPlain   = 4096      // what the peer writes and reads back
	xNotes   = 256 << 10 // slots that the peer writes with a notification
	xRecvs   = 512 << 10 // buffers of receives
	xLocal   = 768 << 10 // from and to where this side's operations go

	xSlot   = 4096
	xSlots  = 32
	xWindow = 16 // operations outstanding
	xDone   = 1<<32 - 1
)

// pattern fills b with what belongs to a number.
func pattern(b []byte, number uint32) {
	v := uint64(number)*0x9e3779b97f4a7c15 + 1
	for len(b) >= 8 {
		v ^= v << 13
		v ^= v >> 7
		v ^= v << 17
		binary.LittleEndian.PutUint64(b, v)
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}

// exchange is one side of a traffic in which each side writes to the other, reads back, adds,
// sends and notifies, and checks every byte that it gets.
type exchange struct {
	*end
	rng    *rand.Rand
	mem    []byte
	shadow []byte // what this side has written to the peer's plain part
	ops    int
	posted int
	ended  int // completions of work requests

	added    uint64 // to the peer's counter
	messages uint32 // sent, with or without notification
	got      uint32 // received
	told     bool   // this side has said that it is done, and how much it added
	heard    bool   // the peer has
	theirs   uint64 // what the peer added to the counter here
	checks   [xWindow]func(rdma.Completion) error
	want     []byte
}

func (e *end) exchange(ops int, seed uint64) error {
	x := &exchange{end: e, rng: rand.New(rand.NewPCG(seed, 7)), mem: bytesOf(e.mem), ops: ops,
		shadow: make([]byte, xNotes-xPlain), want: make([]byte, xSlot)}
	for i := range xSlots {
		if err := x.receive(uint64(i)); err != nil {
			return err
		}
	}
	// The peer's plain part begins with zeros; everything there comes from here.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var out [8]rdma.Completion
	for !x.heard || !x.told || x.ended < x.posted {
		if err := x.fill(); err != nil {
			return err
		}
		n := x.q.Poll(out[:])
		if n == 0 {
			if err := x.q.Wait(ctx); err != nil {
				return fmt.Errorf("after %d of %d operations and %d messages: %w", x.ended, x.posted, x.got, err)
			}
		}
		for _, c := range out[:n] {
			if err := x.take(c); err != nil {
				return err
			}
		}
	}
	if got := binary.LittleEndian.Uint64(x.mem[xCounter:]); got != x.theirs {
		return fmt.Errorf("the counter is %d, the peer added %d", got, x.theirs)
	}
	return nil
}

func (x *exchange) receive(slot uint64) error {
	return x.q.PostReceive([]rdma.ReceiveRequest{{ID: 1<<32 + slot, Buf: x.seg(xRecvs+int(slot)*xSlot, xSlot)}})
}

// fill posts operations until enough are outstanding, one at a time or a few.
func (x *exchange) fill() error {
	for x.posted-x.ended < xWindow && !x.told {
		var batch []rdma.WorkRequest
		for range min(1+x.rng.IntN(3), xWindow-(x.posted-x.ended)) {
			if x.told {
				break
			}
			batch = append(batch, x.make(x.posted%xWindow))
			x.posted++
		}
		if _, err := x.q.Post(batch); err != nil {
			return err
		}
	}
	return nil
}

// make makes the next operation; slot is its place among those outstanding.
func (x *exchange) make(slot int) rdma.WorkRequest {
	at := xLocal + slot*xSlot
	size := 1 + x.rng.IntN(xSlot)
	if x.rng.IntN(4) > 0 {
		size = 1 + x.rng.IntN(128)
	}
	local := x.mem[at : at+size]
	id := uint64(slot)
	x.checks[slot] = nil
	verb := x.rng.IntN(8)
	if x.posted >= x.ops {
		x.told = true
		local = x.mem[at : at+8]
		binary.LittleEndian.PutUint64(local, x.added)
		wr := x.wr(rdma.VerbSend, id, at, 8, 0)
		wr.Imm = xDone
		return wr
	}
	place := x.rng.IntN(len(x.shadow) - size)
	switch verb {
	case 0, 1: // write
		pattern(local, x.rng.Uint32())
		copy(x.shadow[place:], local)
		return x.wr(rdma.VerbWrite, id, at, size, xPlain+place)
	case 2, 3: // read, what was written by then
		want := bytes.Clone(x.shadow[place : place+size])
		x.checks[slot] = func(rdma.Completion) error {
			if !bytes.Equal(local, want) {
				return fmt.Errorf("%d bytes read at %d are not what was written", size, place)
			}
			return nil
		}
		return x.wr(rdma.VerbRead, id, at, size, xPlain+place)
	case 4:
		by, before := uint64(x.rng.IntN(1000)), x.added
		x.added += by
		wr := x.wr(rdma.VerbFetchAdd, id, at, 8, xCounter)
		wr.Operand = by
		x.checks[slot] = func(c rdma.Completion) error {
			if c.Result != before {
				return fmt.Errorf("the counter was %d, want %d", c.Result, before)
			}
			return nil
		}
		return wr
	case 5, 6:
		pattern(local, x.messages)
		wr := x.wr(rdma.VerbSend, id, at, size, 0)
		wr.Imm = x.messages
		x.messages++
		return wr
	default:
		pattern(local, x.messages)
		wr := x.wr(rdma.VerbWriteNotify, id, at, size, xNotes+int(x.messages%xSlots)*xSlot)
		wr.Imm = x.messages
		x.messages++
		return wr
	}
}

// take looks at a completion.
func (x *exchange) take(c rdma.Completion) error {
	if c.Err != nil && x.heard && c.Verb == rdma.VerbReceive {
		return nil // the peer has said that it is done, and has gone
	}
	if c.Err != nil {
		return fmt.Errorf("%v %d: %w", c.Verb, c.ID, c.Err)
	}
	switch c.Verb {
	default:
		if c.ID != uint64(x.ended%xWindow) {
			return fmt.Errorf("completion %d out of order, want %d", c.ID, x.ended%xWindow)
		}
		x.ended++
		if check := x.checks[c.ID]; check != nil {
			return check(c)
		}
		return nil
	case rdma.VerbReceive, rdma.VerbNotify:
	}
	slot := int(c.ID - 1<<32)
	if c.Imm == xDone {
		x.heard = true
		x.theirs = binary.LittleEndian.Uint64(x.mem[xRecvs+slot*xSlot:])
		return nil
	}
	if c.Imm != x.got || slot != int(x.got%xSlots) {
		return fmt.Errorf("message %d came in receive %d, want %d", c.Imm, slot, x.got)
	}
	at := xRecvs + slot*xSlot
	if c.Verb == rdma.VerbNotify {
		at = xNotes + slot*xSlot
	}
	pattern(x.want[:c.Bytes], c.Imm)
	if !bytes.Equal(x.mem[at:at+c.Bytes], x.want[:c.Bytes]) {
		return fmt.Errorf("message %d of %d bytes is not as it was sent", c.Imm, c.Bytes)
	}
	x.got++
	return x.receive(uint64(slot))
}

// TestExchange has two processes exchange operations of all kinds and sizes and check all
// contents. BAREWIRE_SHM_OPS says how many each does, for a longer run.
func TestExchange(t *testing.T) {
	before := count(t)
	t.Run("", func(t *testing.T) {
		e, h := withHelper(t, "exchange")
		fatal(t, e.exchange(opsToExchange(), 1))
		if err := h.cmd.Wait(); err != nil {
			t.Errorf("the other process: %v", err)
		}
	})
	before.noMore(t)
}

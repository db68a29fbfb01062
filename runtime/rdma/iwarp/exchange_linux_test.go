package iwarp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

func init() {
	roles["exchange"] = func(e *errand) error { return e.exchange(dialling) }
	roles["exchange here"] = func(e *errand) error { return e.exchange(listening) }
	roles["queue"] = func(e *errand) error {
		x, err := newSide(e)
		if err == nil {
			err = x.connect(e, dialling)
		}
		if err != nil {
			return err
		}
		say("ready")
		forget()
		return nil
	}
}

// opsVariable is how many operations each of the two processes of [TestExchange] does, for a longer run.
const opsVariable = "BAREWIRE_IWARP_OPS"

func opsToExchange() int {
	if n, err := strconv.Atoi(os.Getenv(opsVariable)); err == nil && n > 0 {
		return n
	}
	if testing.Short() {
		return 4000
	}
	return 20000
}

// Where things are in the memory of a side of the exchange.
const (
	xCounter = 0          // a word that the peer adds to
	xSwapped = 8          // a word that the peer swaps
	xGot     = 16         // messages that this side has taken
	xPlain   = 4096       // what the peer writes and reads back
	xNotes   = 1 << 20    // slots that the peer writes with a notification
	xRecvs   = xNotes * 2 // buffers of receives
	xLocal   = xNotes * 3 // from and to where this side's operations go
	xBytes   = xNotes * 4

	xSlot   = 64 << 10 / 4
	xSlots  = 32
	xWindow = 32        // operations outstanding
	xDone   = 1<<32 - 1 // the number of the message that says how much was added, and is the last
	xOver   = 1<<32 - 2 // of the one that the side that listens sends when it has nothing outstanding
)

// side is a provider's end of a connection in a process of its own, with memory, and the key of the other's.
type side struct {
	ad   rdma.Adapter
	pd   rdma.ProtectionDomain
	q    rdma.Queue
	mem  []byte
	k    rdma.Keys
	peer rdma.Keys
}

func newSide(e *errand) (*side, error) {
	cfg, err := e.config()
	if err != nil {
		return nil, err
	}
	cfg.Depth, cfg.MaxMessage, cfg.Credits = 2*xWindow, xSlot, 2*xSlots
	s := &side{}
	if s.ad, err = iwarp.New(iwarp.Options{}).Open(context.Background(), "", &cfg); err != nil {
		return nil, err
	}
	if s.pd, err = s.ad.NewDomain(); err != nil {
		return nil, err
	}
	if s.mem, err = unix.Mmap(-1, 0, xBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		return nil, err
	}
	m := rdma.Memory{Base: unsafe.Pointer(&s.mem[0]), Len: len(s.mem), Name: "an exchange"}
	s.k, err = s.pd.Register(m, region.Read|region.Write|region.Atomic, nil)
	return s, err
}

// connect makes the queue. Each side's hello is its key.
func (s *side) connect(e *errand, listens bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if listens {
		ln, err := s.pd.Listen(ctx, e.Addr)
		if err != nil {
			return err
		}
		defer ln.Close()
		say("at", ln.Addr())
		if s.q, err = ln.Accept(ctx, func([]byte) ([]byte, error) { return s.hello(), nil }); err != nil {
			return err
		}
	} else {
		q, err := s.pd.Dial(ctx, e.Addr, s.hello())
		if err != nil {
			return err
		}
		s.q = q
	}
	var err error
	s.peer, err = parseHello(s.q.Hello())
	return err
}

// hello is what a side says of itself: its key.
func (s *side) hello() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(s.k.R))
	b = binary.LittleEndian.AppendUint32(b, s.k.Epoch)
	return binary.LittleEndian.AppendUint64(b, s.k.Addr)
}

func parseHello(b []byte) (k rdma.Keys, err error) {
	if len(b) != 16 {
		return k, fmt.Errorf("a hello of %d bytes", len(b))
	}
	return rdma.Keys{R: rdma.RKey(binary.LittleEndian.Uint32(b)), Epoch: binary.LittleEndian.Uint32(b[4:]), Addr: binary.LittleEndian.Uint64(b[8:])}, nil
}

// close ends everything. The memory can be had back then.
func (s *side) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	if s.q != nil {
		errs = append(errs, s.q.Close())
	}
	return errors.Join(append(errs, s.pd.Deregister(ctx, s.k), s.ad.Close(), unix.Munmap(s.mem))...)
}

func (s *side) seg(off, n int) rdma.Segment {
	return rdma.Segment{Ptr: unsafe.Pointer(&s.mem[off]), Len: n, Key: s.k.L}
}

// request is of n bytes at off here and at there.
func (s *side) request(v rdma.Verb, id uint64, off, n, there int) rdma.WorkRequest {
	wr := rdma.WorkRequest{ID: id, Verb: v, Key: s.peer.R, Epoch: s.peer.Epoch, Addr: s.peer.Addr + uint64(there)}
	if n > 0 {
		wr.Segs, wr.Local[0] = 1, s.seg(off, n)
	}
	return wr
}

// word is one of the memory's that the peer reads or changes.
func (s *side) word(off int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&s.mem[off])) }

// exchange is one side of a traffic in which each side writes to the other, reads back, adds, swaps, sends and notifies,
// and checks every byte that it gets.
type exchange struct {
	*side
	rng    *rand.Rand
	shadow []byte // what this side has written to the peer's plain part
	ops    int
	posted int
	ended  int // completions of requests

	added, swapped uint64 // to the peer's counter; what is in the other word
	messages       uint64 // sent, with or without notification
	taken          uint64 // of them, by the peer, as far as this side knows
	asking         bool   // how many it took
	got            uint64 // received
	told           bool   // this side has said that it is done, and how much it added
	heard          bool   // the peer has
	over, gone     bool   // the peer has nothing outstanding; it has closed the connection
	theirs         uint64 // what the peer added to the counter here
	checks         [xWindow]func(rdma.Completion) error
	reads          [xWindow]span // of the shadow, that are outstanding
}

// span is from one offset to another.
type span struct{ from, to int }

// exchange connects and does so many operations. Nothing may be left after it.
func (e *errand) exchange(listens bool) error {
	before := count()
	s, err := newSide(e)
	if err != nil {
		return err
	}
	if err := s.connect(e, listens); err != nil {
		return errors.Join(err, s.close())
	}
	say("ready")
	x := &exchange{side: s, rng: rand.New(rand.NewPCG(e.Seed, 7)), ops: e.Ops, shadow: make([]byte, xNotes-xPlain)}
	return errors.Join(x.run(listens), s.close(), before.noMore())
}

func (x *exchange) run(listens bool) error {
	for i := range xSlots {
		if err := x.receive(i); err != nil {
			return err
		}
	}
	ctx, cancel := forMinutes(120)
	defer cancel()
	for !x.heard || !x.told || x.ended < x.posted {
		if err := x.fill(); err != nil {
			return err
		}
		if err := x.poll(ctx); err != nil {
			return err
		}
	}
	if got := x.word(xCounter).Load(); got != x.theirs {
		return fmt.Errorf("the counter is %d, the peer added %d", got, x.theirs)
	}
	return x.part(ctx, listens)
}

// part has the side that dialled close the connection, when it knows that nothing is outstanding at either.
func (x *exchange) part(ctx context.Context, listens bool) error {
	if listens {
		wr := rdma.WorkRequest{ID: xOver, Verb: rdma.VerbSend, Imm: xOver, Segs: 1, Local: [4]rdma.Segment{x.seg(xLocal, 1)}}
		if _, err := x.q.Post([]rdma.WorkRequest{wr}); err != nil {
			return err
		}
	}
	for !x.gone && !x.over {
		if err := x.poll(ctx); err != nil {
			return err
		}
	}
	return nil
}

// poll waits for completions and looks at them.
func (x *exchange) poll(ctx context.Context) error {
	var out [8]rdma.Completion
	n := x.q.Poll(out[:])
	if n == 0 {
		if err := x.q.Wait(ctx); err != nil {
			return fmt.Errorf("after %d of %d operations and %d messages: %w", x.ended, x.posted, x.got, err)
		}
	}
	for i := range out[:n] {
		if err := x.take(&out[i]); err != nil {
			return fmt.Errorf("after %d of %d operations and %d messages: %w", x.ended, x.posted, x.got, err)
		}
	}
	return nil
}

func (x *exchange) receive(slot int) error {
	return x.q.PostReceive([]rdma.ReceiveRequest{{ID: 1<<32 + uint64(slot), Buf: x.seg(xRecvs+slot*xSlot, xSlot)}})
}

// fill posts operations until enough are outstanding, one at a time or a few.
func (x *exchange) fill() error {
	for x.posted-x.ended < xWindow && !x.told {
		var batch []rdma.WorkRequest
		for range min(1+x.rng.IntN(3), xWindow-(x.posted-x.ended)) {
			if x.told {
				break
			}
			wr, some := x.make(x.posted % xWindow)
			if !some {
				break // until the peer has taken more messages
			}
			batch = append(batch, wr)
			x.posted++
		}
		if len(batch) == 0 {
			return nil
		}
		if n, err := x.q.Post(batch); err != nil || n != len(batch) {
			return fmt.Errorf("posted %d of %d: %w", n, len(batch), err)
		}
	}
	return nil
}

// size is how long an operation is: short most of the time.
func (x *exchange) size() int {
	switch x.rng.IntN(16) {
	case 0:
		return 1 + x.rng.IntN(xSlot)
	case 1, 2, 3:
		return 1 + x.rng.IntN(2048)
	}
	return 1 + x.rng.IntN(128)
}

// make makes the next operation; slot is its place among those outstanding. It may have to wait for something.
func (x *exchange) make(slot int) (wr rdma.WorkRequest, some bool) {
	at, size, id := xLocal+slot*xSlot, x.size(), uint64(slot)
	local := x.mem[at : at+size]
	x.checks[slot] = nil
	verb := x.rng.IntN(10)
	room := x.messages-x.taken < xSlots-2 // two are for the last
	switch {
	case x.posted >= x.ops && x.messages-x.taken < xSlots-1:
		x.told = true
		binary.LittleEndian.PutUint64(x.mem[at:], x.added)
		wr = x.request(rdma.VerbSend, id, at, 8, 0)
		wr.Imm, wr.Fence = xDone, true // it could overtake the additions: see docs/ordering.md
		return wr, true
	case x.posted >= x.ops || verb >= 7 && !room:
		return x.ask(slot)
	case verb <= 1:
		return x.write(id, at, local), true
	case verb <= 3:
		return x.read(slot, at, local), true
	case verb <= 5:
		return x.change(slot, verb == 4), true
	case verb == 6:
		return rdma.WorkRequest{ID: id, Verb: rdma.VerbFlush}, true
	}
	scramble(local, x.messages)
	if verb <= 8 {
		wr = x.request(rdma.VerbSend, id, at, size, 0)
		wr.Solicited = verb == 8
	} else {
		wr = x.request(rdma.VerbWriteNotify, id, at, size, xNotes+int(x.messages%xSlots)*xSlot)
	}
	wr.Imm = uint32(x.messages)
	x.messages++
	return wr, true
}

// ask reads how many messages the peer has taken, unless that is on its way.
func (x *exchange) ask(slot int) (wr rdma.WorkRequest, some bool) {
	if x.asking {
		return wr, false
	}
	x.asking = true
	at := xLocal + slot*xSlot
	x.checks[slot] = func(rdma.Completion) error {
		x.asking = false
		taken := x.word(at).Load()
		if taken < x.taken || taken > x.messages {
			return fmt.Errorf("the peer has taken %d messages, of %d, after %d", taken, x.messages, x.taken)
		}
		x.taken = taken
		return nil
	}
	return x.request(rdma.VerbRead, uint64(slot), at, 8, xGot), true
}

// write writes somewhere, from one piece or from several.
func (x *exchange) write(id uint64, at int, local []byte) rdma.WorkRequest {
	size := len(local)
	place := x.rng.IntN(len(x.shadow) - size)
	scramble(local, x.rng.Uint64())
	copy(x.shadow[place:], local)
	wr := x.request(rdma.VerbWrite, id, at, size, xPlain+place)
	if cut := x.rng.IntN(size); cut > 0 && x.rng.IntN(4) == 0 {
		wr.Segs = 2
		wr.Local[0], wr.Local[1] = x.seg(at, cut), x.seg(at+cut, size-cut)
	}
	for _, r := range x.reads { // a write may overtake the answer to a read: RFC 5040, section 5.5
		wr.Fence = wr.Fence || r.from < place+size && place < r.to
	}
	return wr
}

// read reads what was written by then.
func (x *exchange) read(slot, at int, local []byte) rdma.WorkRequest {
	size := len(local)
	place := x.rng.IntN(len(x.shadow) - size)
	want := bytes.Clone(x.shadow[place : place+size])
	x.reads[slot] = span{place, place + size}
	x.checks[slot] = func(rdma.Completion) error {
		x.reads[slot] = span{}
		if !bytes.Equal(local, want) {
			return fmt.Errorf("%d bytes read at %d are not what was written", size, place)
		}
		return nil
	}
	return x.request(rdma.VerbRead, uint64(slot), at, size, xPlain+place)
}

// change adds to a word of the peer's, or swaps one: with what is there, or not.
func (x *exchange) change(slot int, add bool) (wr rdma.WorkRequest) {
	before := &x.swapped
	if add {
		before = &x.added
		wr = x.request(rdma.VerbFetchAdd, uint64(slot), 0, 0, xCounter)
		wr.Operand = uint64(x.rng.IntN(1000))
	} else {
		wr = x.request(rdma.VerbCompareSwap, uint64(slot), 0, 0, xSwapped)
		wr.Compare, wr.Operand = x.swapped+x.rng.Uint64N(2), x.rng.Uint64()
	}
	was := *before
	if add {
		x.added += wr.Operand
	} else if wr.Compare == was {
		x.swapped = wr.Operand
	}
	x.checks[slot] = func(c rdma.Completion) error {
		if c.Result != was {
			return fmt.Errorf("%v found %d, want %d", c.Verb, c.Result, was)
		}
		return nil
	}
	return wr
}

// take looks at a completion.
func (x *exchange) take(c *rdma.Completion) error {
	isReceive := c.Verb == rdma.VerbReceive || c.Verb == rdma.VerbNotify
	switch {
	case c.Err != nil && x.heard && isReceive:
		x.gone = true // after it said that it was done
		return nil
	case c.ID == xOver:
		return nil // the peer may have closed the connection before this side knew
	}
	if c.Err != nil {
		return fmt.Errorf("%v %d: %w", c.Verb, c.ID, c.Err)
	}
	if isReceive {
		return x.arrived(c)
	}
	if c.ID != uint64(x.ended%xWindow) {
		return fmt.Errorf("completion %d out of order, want %d", c.ID, x.ended%xWindow)
	}
	x.ended++
	if check := x.checks[c.ID]; check != nil {
		return check(*c)
	}
	return nil
}

// arrived looks at a message, or at what was written with a notification.
func (x *exchange) arrived(c *rdma.Completion) error {
	slot := int(c.ID - 1<<32)
	if c.Imm == xOver && x.heard {
		x.over = true
		return nil
	}
	if slot != int(x.got%xSlots) || c.Imm != uint32(x.got) && c.Imm != xDone {
		return fmt.Errorf("message %d came in receive %d, want %d", c.Imm, slot, x.got)
	}
	if c.Imm == xDone {
		x.heard = true
		x.theirs = binary.LittleEndian.Uint64(x.mem[xRecvs+slot*xSlot:])
		return nil
	}
	at := xRecvs + slot*xSlot
	if c.Verb == rdma.VerbNotify {
		at = xNotes + slot*xSlot
	}
	if err := scrambled(x.mem[at:at+c.Bytes], x.got); err != nil {
		return fmt.Errorf("message %d: %w", c.Imm, err)
	}
	if err := x.receive(slot); err != nil {
		return err
	}
	x.got++
	x.word(xGot).Store(x.got)
	return nil
}

// TestExchange has two processes exchange operations of all kinds and sizes over the loopback, and check all contents.
func TestExchange(t *testing.T) {
	ops := opsToExchange()
	for name, bare := range map[string]bool{"with checksums": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			here := begin(t, nil, errand{Role: "exchange here", Ops: ops, Seed: 1, NoCRC: bare})
			there := begin(t, nil, errand{Role: "exchange", Ops: ops, Seed: 2, NoCRC: bare, Addr: here.hear("at ")})
			there.ends(2 * time.Hour)
			here.ends(time.Minute)
			t.Logf("%d operations of each of two processes in %v", ops, time.Since(began).Round(time.Millisecond))
		})
	}
}

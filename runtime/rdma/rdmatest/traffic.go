package rdmatest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var trafficChecks = []check{
	{"traffic", func(t *testing.T, f *Factory) { checkTraffic(t, f, 1) }},
	{"traffic-on-several-queues", func(t *testing.T, f *Factory) { checkTraffic(t, f, 4) }},
}

// checkTraffic runs random requests on some queues between two domains at once.
func checkTraffic(t *testing.T, f *Factory, queues int) {
	ops := setting(t, "RDMATEST_OPS", 10000)
	if testing.Short() {
		ops = min(ops, 2000)
	}
	seed := uint64(setting(t, "RDMATEST_SEED", 1))
	a, b := connect(t, f)
	var wg sync.WaitGroup
	for i := range queues {
		l := newLane(a, b, rand.New(rand.NewPCG(seed, uint64(i))))
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := l.run(ops / queues); err != nil {
				t.Errorf("RDMATEST_SEED=%d, queue %d: %v", seed, i, err)
			}
		}()
	}
	wg.Wait()
}

// lane is one queue with traffic, and what is known of it.
type lane struct {
	rnd      *rand.Rand
	qa, qb   rdma.Queue
	depth    int
	own, far memory // of a; of b
	inbox    memory // where b receives
	model    []byte // what far must hold when all that was posted is done

	posted   uint64
	pending  []expected // requests that have not completed
	touched  []stretch  // of far, whose order with what comes is not settled
	messages []expected // that b has not received
	receives int        // that b has posted and that are not spoken for
	received uint64     // at b
	buf      [8]rdma.Completion

	noAtomics bool
}

// expected is what must come of a request.
type expected struct {
	id     uint64
	verb   rdma.Verb
	result uint64
	data   []byte // of a read, in its slot; of a message
	imm    uint32
	bytes  int
}

// stretch is a range of far memory that a request uses.
type stretch struct {
	id       uint64 // of the request
	from, to int
	write    bool
}

// A lane's memory: slots for what is under way, and the peer's part.
const (
	slots    = 64
	slotSize = 2048
	farSize  = 16 << 10
)

func newLane(a, b *side, rnd *rand.Rand) *lane {
	l := &lane{rnd: rnd, depth: min(a.ad.Limits().Depth, slots), noAtomics: a.f.NoAtomics != ""}
	l.qa, l.qb = join(a.t, a, b)
	l.own, l.far = a.register(slots*slotSize, nobody), b.register(farSize, every)
	l.inbox = b.register(slots*slotSize, nobody)
	l.model = make([]byte, farSize)
	return l
}

func (l *lane) run(ops int) error {
	for range ops {
		if err := l.step(); err != nil {
			return err
		}
	}
	if err := l.quiet(); err != nil {
		return err
	}
	return l.compare()
}

// step posts one random request, having made room, and polls now and then.
func (l *lane) step() error {
	for len(l.pending) == l.depth || len(l.messages) > slots/2 || l.rnd.IntN(4) == 0 && len(l.pending) > 0 {
		if err := l.poll(); err != nil {
			return err
		}
	}
	n := 1 << l.rnd.IntN(11)
	n = max(1, n-l.rnd.IntN(n)/2)
	at := l.rnd.IntN(farSize - n)
	switch l.rnd.IntN(10) {
	case 0, 1, 2:
		return l.write(rdma.VerbWrite, n, at)
	case 3, 4:
		return l.read(n, at)
	case 5:
		if l.noAtomics {
			return l.read(8, at&^7)
		}
		return l.atomic(at &^ 7)
	case 6:
		return l.send(n)
	case 7:
		return l.write(rdma.VerbWriteNotify, n, at)
	case 8:
		return l.post(rdma.WorkRequest{Verb: rdma.VerbFlush}, expected{})
	}
	if l.rnd.IntN(8) > 0 {
		return nil
	}
	if err := l.quiet(); err != nil {
		return err
	}
	return l.compare()
}

// request is one whose local segment is the slot of its ID.
func (l *lane) request(verb rdma.Verb, n, at int) rdma.WorkRequest {
	slot := int(l.posted%slots) * slotSize
	return op(verb, l.posted, &l.own, slot, n, &l.far, at)
}

func (l *lane) slot(id uint64) []byte { return l.own.mem[int(id%slots)*slotSize:][:slotSize] }

// fill makes n random bytes in the slot of the next request.
func (l *lane) fill(n int) []byte {
	b := l.slot(l.posted)[:n]
	for i := range b {
		b[i] = byte(l.rnd.Uint32())
	}
	return b
}

func (l *lane) write(verb rdma.Verb, n, at int) error {
	fence, err := l.settle(at, at+n)
	if err != nil {
		return err
	}
	wr := l.request(verb, n, at)
	wr.Fence = fence
	copy(l.model[at:], l.fill(n))
	e := expected{bytes: n}
	if verb == rdma.VerbWriteNotify {
		wr.Imm = l.rnd.Uint32()
		e.imm = wr.Imm
	}
	l.touched = append(l.touched, stretch{l.posted, at, at + n, true})
	return l.post(wr, e)
}

// settle sees to it that a write comes after what uses the same bytes: it must
// wait until earlier writes are placed, and for reads and atomics be fenced or wait.
func (l *lane) settle(from, to int) (fence bool, err error) {
	for _, s := range l.touched {
		if from >= s.to || to <= s.from {
			continue
		}
		if s.write || l.rnd.IntN(2) == 0 {
			return false, l.quiet()
		}
		fence = true
	}
	return fence, nil
}

func (l *lane) read(n, at int) error {
	wr := l.request(rdma.VerbRead, n, at)
	l.touched = append(l.touched, stretch{l.posted, at, at + n, false})
	return l.post(wr, expected{data: bytes.Clone(l.model[at : at+n])})
}

func (l *lane) atomic(at int) error {
	verb := rdma.VerbFetchAdd
	before := little(l.model[at:])
	compare, operand := before, l.rnd.Uint64()
	after := before + operand
	if l.rnd.IntN(2) == 0 {
		verb, after = rdma.VerbCompareSwap, operand
		if l.rnd.IntN(3) == 0 {
			compare, after = before+1, before
		}
	}
	putLittle(l.model[at:], after)
	l.touched = append(l.touched, stretch{l.posted, at, at + 8, false})
	return l.post(word(verb, l.posted, &l.far, at, compare, operand), expected{result: before})
}

func (l *lane) send(n int) error {
	wr := l.request(rdma.VerbSend, n, 0)
	wr.Imm = l.rnd.Uint32()
	data := bytes.Clone(l.fill(n))
	return l.post(wr, expected{imm: wr.Imm, bytes: n, data: data})
}

// post posts a request and notes what must come of it.
func (l *lane) post(wr rdma.WorkRequest, e expected) error {
	wr.ID, e.id, e.verb = l.posted, l.posted, wr.Verb
	if wr.Verb == rdma.VerbSend || wr.Verb == rdma.VerbWriteNotify {
		if l.rnd.IntN(8) > 0 { // else it may have to wait for a receive
			if err := l.provide(1 + l.rnd.IntN(4)); err != nil {
				return err
			}
		}
		m := e
		m.verb = rdma.VerbReceive
		if wr.Verb == rdma.VerbWriteNotify {
			m.verb = rdma.VerbNotify
		}
		l.messages = append(l.messages, m)
		e.data = nil
	}
	if n, err := l.qa.Post([]rdma.WorkRequest{wr}); n != 1 {
		return fmt.Errorf("post the request %d, with %d outstanding: %w", wr.ID, len(l.pending), err)
	}
	l.posted++
	l.pending = append(l.pending, e)
	return nil
}

// provide posts receives, if there are not many.
func (l *lane) provide(n int) error {
	for ; n > 0 && l.receives < slots; n-- {
		slot := int((l.received+uint64(l.receives))%slots) * slotSize
		err := l.qb.PostReceive([]rdma.ReceiveRequest{{ID: l.received + uint64(l.receives), Buf: l.inbox.seg(slot, slotSize)}})
		if err != nil {
			return fmt.Errorf("post a receive, with %d outstanding: %w", l.receives, err)
		}
		l.receives++
	}
	return nil
}

// poll takes what has completed on both sides. If nothing can complete for want
// of receives, it provides them.
func (l *lane) poll() error {
	if len(l.messages) > l.receives {
		if err := l.provide(len(l.messages) - l.receives); err != nil {
			return err
		}
	}
	n := l.qb.Poll(l.buf[:])
	for _, c := range l.buf[:n] {
		if err := l.arrived(c); err != nil {
			return err
		}
	}
	if len(l.pending) == 0 {
		return nil
	}
	c, err := take(l.qa, patience)
	if err != nil {
		return fmt.Errorf("no completion of the request %d: %w", l.pending[0].id, err)
	}
	return l.completed(c)
}

// completed holds a completion against what is expected.
func (l *lane) completed(c rdma.Completion) error {
	if len(l.pending) == 0 {
		return fmt.Errorf("completed %s, and nothing is outstanding", text(c))
	}
	e := l.pending[0]
	l.pending = l.pending[1:]
	if c.ID != e.id || c.Verb != e.verb || c.Err != nil || c.Result != e.result {
		return fmt.Errorf("completed %s, want %v with ID %d, result %d", text(c), e.verb, e.id, e.result)
	}
	if e.verb == rdma.VerbRead && !bytes.Equal(l.slot(e.id)[:len(e.data)], e.data) {
		got, i := l.slot(e.id), 0
		for got[i] == e.data[i] {
			i++
		}
		return fmt.Errorf("the read %d of %d bytes did not give what was written before: %#x at %d, want %#x, with %d behind it", e.id, len(e.data), got[i], i, e.data[i], len(l.pending))
	}
	placed := e.verb == rdma.VerbFlush || e.verb == rdma.VerbRead || e.verb == rdma.VerbFetchAdd || e.verb == rdma.VerbCompareSwap
	l.touched = slices.DeleteFunc(l.touched, func(s stretch) bool { return s.id <= e.id && (placed || !s.write) })
	return nil
}

// arrived holds a message against what was sent.
func (l *lane) arrived(c rdma.Completion) error {
	if len(l.messages) == 0 || l.receives == 0 {
		return fmt.Errorf("received %s, and nothing was sent", text(c))
	}
	m := l.messages[0]
	l.messages = l.messages[1:]
	if c.ID != l.received || c.Verb != m.verb || c.Err != nil || c.Imm != m.imm || c.Bytes != m.bytes {
		return fmt.Errorf("received %s, want %v with ID %d, imm %#x, %d bytes", text(c), m.verb, l.received, m.imm, m.bytes)
	}
	if slot := int(c.ID%slots) * slotSize; !bytes.Equal(l.inbox.mem[slot:slot+len(m.data)], m.data) {
		return fmt.Errorf("the message %d is not what was sent", m.id)
	}
	l.received++
	l.receives--
	return nil
}

// quiet waits until all is done and placed.
func (l *lane) quiet() error {
	if len(l.pending) == l.depth {
		if err := l.poll(); err != nil {
			return err
		}
	}
	if err := l.post(rdma.WorkRequest{Verb: rdma.VerbFlush}, expected{}); err != nil {
		return err
	}
	for len(l.pending) > 0 {
		if err := l.poll(); err != nil {
			return err
		}
	}
	for len(l.messages) > 0 {
		c, err := take(l.qb, patience)
		if err != nil {
			return fmt.Errorf("the message %d did not arrive: %w", l.messages[0].id, err)
		}
		if err := l.arrived(c); err != nil {
			return err
		}
	}
	return nil
}

// compare holds the peer's memory against the model, when all is quiet.
func (l *lane) compare() error {
	for i := range l.model {
		if l.far.mem[i] != l.model[i] {
			return fmt.Errorf("after %d requests the byte %d is %#x, want %#x", l.posted, i, l.far.mem[i], l.model[i])
		}
	}
	return nil
}

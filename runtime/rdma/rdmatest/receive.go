package rdmatest

import (
	"bytes"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var receiveChecks = []check{
	{"send", checkSend},
	{"receives-in-order", checkReceiveOrder},
	{"not-ready-yet", checkNotReadyYet},
	{"never-ready", checkNeverReady},
	{"too-long", checkTooLong},
	{"receive-unregistered", checkReceiveUnregistered},
	{"receive-room", checkReceiveRoom},
	{"both-ways", checkBothWays},
}

// checkSend sends messages of all sizes up to the limit.
func checkSend(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	fill(a.mem, 7)
	limit := a.ad.Limits().MaxMessage
	for i, n := range []int{1, 0, 7, 8, 9, 100, limit - 1, limit} {
		id := uint64(i)
		clear(b.mem)
		b.receive(id, 1000, limit+10)
		wr := op(rdma.VerbSend, id, &a.memory, i, n, &b.memory, 0)
		if wr.Imm = uint32(n) * 3; n == 0 {
			wr.Segs = 0
		}
		a.post(wr)
		c := b.done(id)
		if c.Verb != rdma.VerbReceive || c.Bytes != n || c.Imm != wr.Imm {
			t.Errorf("a message of %d bytes: received %s", n, text(c))
		}
		if !bytes.Equal(b.mem[1000:1000+n], a.mem[i:i+n]) {
			t.Errorf("a message of %d bytes arrived changed", n)
		}
		clear(b.mem[1000 : 1000+n])
		if !bytes.Equal(b.mem, make([]byte, len(b.mem))) {
			t.Errorf("a message of %d bytes wrote beside its place", n)
		}
		a.done(id)
	}
}

// checkReceiveOrder wants receives used in the order they were posted, by messages and notifications alike.
func checkReceiveOrder(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	for i := range 40 {
		b.receive(uint64(i), i*64, 64)
	}
	for i := range 40 {
		a.mem[0] = byte(i)
		verb, size := rdma.VerbSend, i%5+1
		if i%3 == 1 {
			verb = rdma.VerbWriteNotify
		}
		wr := op(verb, uint64(i), &a.memory, 0, size, &b.memory, 8192)
		wr.Imm = uint32(i)
		a.do(wr)
	}
	for i := range 40 {
		c := b.done(uint64(i))
		if c.Imm != uint32(i) || c.Bytes != i%5+1 || (c.Verb == rdma.VerbNotify) != (i%3 == 1) {
			t.Errorf("the message %d was received as %s", i, text(c))
		}
		if want := byte(i); c.Verb == rdma.VerbReceive && b.mem[i*64] != want {
			t.Errorf("the message %d holds %d", i, b.mem[i*64])
		}
	}
}

// checkNotReadyYet sends before there are receives. The messages must arrive when there are, in order.
func checkNotReadyYet(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	send := op(rdma.VerbSend, 1, &a.memory, 0, 8, &b.memory, 0)
	note := op(rdma.VerbWriteNotify, 2, &a.memory, 0, 8, &b.memory, 512)
	a.mem[0] = 77
	a.post(send, note, flush(3))
	time.Sleep(10 * time.Millisecond)
	b.receive(10, 0, 64)
	if c := b.done(10); c.Verb != rdma.VerbReceive || b.mem[0] != 77 {
		t.Errorf("received %s", text(c))
	}
	time.Sleep(time.Millisecond)
	b.receive(11, 64, 64)
	if c := b.done(11); c.Verb != rdma.VerbNotify || b.mem[512] != 77 {
		t.Errorf("received %s", text(c))
	}
	for id := uint64(1); id <= 3; id++ {
		a.done(id)
	}
}

// checkNeverReady sends and posts no receive, until the provider's patience ends or the queue is aborted.
func checkNeverReady(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	a.post(op(rdma.VerbSend, 1, &a.memory, 0, 8, &b.memory, 0), flush(2))
	if f.NotReady != 0 {
		a.refused(1, rdma.VerbSend, rdma.StatusNotReady)
	} else {
		a.q.Abort(nil)
		if c := a.next(); c.ID != 1 || !ended(c.Err) && (c.Err != nil || !f.early(rdma.VerbSend)) {
			t.Errorf("completed %s", text(c))
		}
		if c := a.next(); c.ID != 2 || !ended(c.Err) {
			t.Errorf("completed %s, want it flushed", text(c))
		}
	}
	b.mustEnd()
}

// checkTooLong sends more than a receive has room for. Both sides must be told.
func checkTooLong(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	fill(a.mem, 8)
	b.receive(10, 0, 16)
	b.receive(11, 64, 64)
	a.post(op(rdma.VerbSend, 1, &a.memory, 0, 17, &b.memory, 0), flush(2))
	a.refused(1, rdma.VerbSend, rdma.StatusTooLong)
	if c := b.next(); c.ID != 10 || statusOf(c.Err) != rdma.StatusTooLong && !ended(c.Err) {
		t.Errorf("received %s, want it too long", text(c))
	}
	if c := b.next(); c.ID != 11 || !ended(c.Err) {
		t.Errorf("received %s, want it flushed", text(c))
	}
	if !bytes.Equal(b.mem[16:], make([]byte, sideBytes-16)) {
		t.Error("the message wrote beyond its receive")
	}
	b.mustEnd()
}

// checkReceiveUnregistered posts a receive that is no registered memory. It may be
// refused at once; else it must fail when it is used.
func checkReceiveUnregistered(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	fill(a.mem, 9)
	buf := b.seg(0, 64)
	buf.Key ^= 0x5a5a5a5a
	if err := b.q.PostReceive([]rdma.ReceiveRequest{{ID: 10, Buf: buf}}); err != nil {
		return
	}
	a.post(op(rdma.VerbSend, 1, &a.memory, 0, 8, &b.memory, 0), flush(2))
	if c := b.next(); c.ID != 10 || c.Err == nil {
		t.Errorf("received %s, want an error", text(c))
	}
	if b.mem[0] != 0 {
		t.Error("the message was written to memory that is not registered")
	}
	b.mustEnd()
}

// checkReceiveRoom posts receives until there is no room. What was taken must still work, and all or none be taken.
func checkReceiveRoom(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	least := max(a.ad.Limits().Depth, 2*config().Credits)
	one := []rdma.ReceiveRequest{{Buf: b.seg(0, 8)}}
	room := 0
	for ; room < 1<<20; room++ {
		one[0].ID = uint64(room)
		if err := b.q.PostReceive(one); err != nil {
			break
		}
	}
	if room < least || room == 1<<20 {
		t.Fatalf("there was room for %d receives, want at least %d, and an end", room, least)
	}
	for i := range 3 {
		a.do(op(rdma.VerbSend, 1, &a.memory, 0, 8, &b.memory, 0))
		b.done(uint64(i))
	}
	five := make([]rdma.ReceiveRequest, 5)
	for i := range five {
		five[i] = rdma.ReceiveRequest{ID: 1<<32 + uint64(i), Buf: b.seg(0, 8)}
	}
	if err := b.q.PostReceive(five); err == nil {
		t.Error("five receives were taken where there was room for three")
	}
	must(t, b.q.PostReceive(five[:3]))
	for i := 3; i < room+3; i++ {
		a.do(op(rdma.VerbSend, 1, &a.memory, 0, 8, &b.memory, 0))
		want := uint64(i)
		if i >= room {
			want = 1<<32 + uint64(i-room)
		}
		b.done(want)
	}
}

// checkBothWays sends in both directions at once, each from a goroutine of its own.
func checkBothWays(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	const messages, ahead = 2000, 16
	finished := make(chan bool)
	for _, s := range []*side{a, b} {
		go func() {
			defer func() { finished <- true }()
			for i := range ahead {
				if err := s.q.PostReceive([]rdma.ReceiveRequest{{ID: uint64(i), Buf: s.seg(i*64, 64)}}); err != nil {
					t.Errorf("%s: %v", s.name, err)
					return
				}
			}
			sent, outstanding, got := 0, 0, 0
			for sent < messages || outstanding > 0 || got < messages {
				if sent < messages && outstanding < 8 {
					wr := rdma.WorkRequest{ID: uint64(sent), Verb: rdma.VerbSend, Imm: uint32(sent), Segs: 1}
					wr.Local[0] = s.seg(32768, sent%60)
					if n, err := s.q.Post([]rdma.WorkRequest{wr}); n != 1 {
						t.Errorf("%s: %v", s.name, err)
						return
					}
					sent++
					outstanding++
					continue
				}
				c, err := take(s.q, patience)
				if err != nil || c.Err != nil {
					t.Errorf("%s: %v, %v", s.name, err, c.Err)
					return
				}
				if c.Verb == rdma.VerbSend {
					outstanding--
					continue
				}
				if c.Imm != uint32(got) || c.Bytes != got%60 {
					t.Errorf("%s: the message %d was received as %s", s.name, got, text(c))
					return
				}
				got++
				if err := s.q.PostReceive([]rdma.ReceiveRequest{{ID: c.ID, Buf: s.seg(int(c.ID)*64, 64)}}); err != nil {
					t.Errorf("%s: %v", s.name, err)
					return
				}
			}
		}()
	}
	<-finished
	<-finished
}

package rdmatest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

var errorChecks = []check{
	{"refused", checkRefused},
	{"rights", checkRights},
	{"register-refused", checkRegisterRefused},
	{"prepare", checkPrepare},
}

// refusal is a request that must fail.
type refusal struct {
	name string
	want rdma.Status
	make func(a, b *side) rdma.WorkRequest
}

// good is a write that would be done.
func good(a, b *side) rdma.WorkRequest {
	return op(rdma.VerbWrite, 0, &a.memory, 0, 16, &b.memory, 64)
}

// but changes a good write.
func but(change func(wr *rdma.WorkRequest, a, b *side)) func(a, b *side) rdma.WorkRequest {
	return func(a, b *side) rdma.WorkRequest {
		wr := good(a, b)
		change(&wr, a, b)
		return wr
	}
}

// localRefusals are wrong on the side that posts.
var localRefusals = []refusal{
	{"local key unknown", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Local[0].Key ^= 0x5a5a5a5a })},
	{"local key zero", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Local[0].Key = 0 })},
	{"local key of another domain", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) {
		other := &side{t: a.t, f: a.f, ad: a.ad, name: "other"}
		var err error
		other.dom, err = a.ad.NewDomain()
		must(a.t, err)
		m := other.register(4096, nobody)
		wr.Local[0] = m.seg(0, 16)
	})},
	{"local key deregistered", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) {
		m := a.register(4096, nobody)
		must(a.t, a.dom.Deregister(ctx(a.t), m.keys))
		wr.Local[0] = m.seg(0, 16)
	})},
	{"local segment beyond its end", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Local[0] = a.seg(sideBytes-15, 16) })},
	{"local segment before its start", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) {
		m := a.register(4096, nobody)
		wr.Local[0] = rdma.Segment{Ptr: a.m.Base, Len: 16, Key: m.keys.L}
		if uintptr(a.m.Base)-uintptr(m.m.Base) <= 4096 {
			wr.Local[0].Key = 0
		}
	})},
	{"local segment of negative length", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Local[0].Len = -1 })},
	{"local segment of all lengths", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Local[0].Len = math.MaxInt })},
	{"second segment wrong", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) {
		wr.Segs, wr.Local[1] = 2, a.seg(16, 16)
		wr.Local[1].Key = 0
	})},
	{"segments without end", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Segs = 255 })},
	{"a write of nothing", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Segs = 0 })},
	{"a write of no bytes", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Local[0].Len = 0 })},
	{"a read of nothing", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Verb, wr.Segs = rdma.VerbRead, 0 })},
	{"no verb", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Verb = 0 })},
	{"a receive as request", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Verb = rdma.VerbReceive })},
	{"a notification as request", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Verb = rdma.VerbNotify })},
	{"a verb that is none", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Verb = 200 })},
	{"a message beyond the limit", rdma.StatusLocal, but(func(wr *rdma.WorkRequest, a, b *side) {
		b.receive(900, 0, sideBytes/2)
		wr.Verb, wr.Local[0] = rdma.VerbSend, a.seg(0, a.ad.Limits().MaxMessage+1)
	})},
}

// keyRefusals are wrong in what they name at the peer, whatever the verb.
var keyRefusals = []refusal{
	{"key unknown", rdma.StatusRemoteKey, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Key ^= 0x5a5a5a5a })},
	{"key zero", rdma.StatusRemoteKey, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Key = 0 })},
	{"own key", rdma.StatusRemoteKey, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Key = a.keys.R })},
	{"epoch after", rdma.StatusRemoteKey, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Epoch++ })},
	{"epoch before", rdma.StatusRemoteKey, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Epoch-- })},
	{"key deregistered", rdma.StatusRemoteKey, but(func(wr *rdma.WorkRequest, a, b *side) {
		m := b.register(4096, every)
		a.do(op(wr.Verb, 900, &a.memory, 0, 8, &m, 0), flush(901))
		must(b.t, b.dom.Deregister(ctx(b.t), m.keys))
		wr.Key, wr.Epoch, wr.Addr = m.keys.R, m.keys.Epoch, m.keys.Addr
	})},
	{"key of another domain", rdma.StatusRemoteKey, but(func(wr *rdma.WorkRequest, a, b *side) {
		other := &side{t: b.t, f: b.f, ad: b.ad, name: "other"}
		var err error
		other.dom, err = b.ad.NewDomain()
		must(b.t, err)
		m := other.register(4096, every)
		wr.Key, wr.Epoch, wr.Addr = m.keys.R, m.keys.Epoch, m.keys.Addr
	})},
	{"key for another connection", rdma.StatusRemoteKey, but(func(wr *rdma.WorkRequest, a, b *side) {
		if !b.ad.Limits().ConnGrants {
			wr.Key = 0 // as good as any that is not for us
			return
		}
		_, qb := join(b.t, a, b)
		m := b.registerFor(4096, every, qb)
		wr.Key, wr.Epoch, wr.Addr = m.keys.R, m.keys.Epoch, m.keys.Addr
	})},
	{"one byte beyond the end", rdma.StatusRemoteRange, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Addr = b.keys.Addr + sideBytes - 15 })},
	{"at the end", rdma.StatusRemoteRange, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Addr = b.keys.Addr + sideBytes })},
	{"far beyond the end", rdma.StatusRemoteRange, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Addr = b.keys.Addr + 1<<62 })},
	{"one byte before the start", rdma.StatusRemoteRange, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Addr = b.keys.Addr - 1 })},
	{"an end that wraps", rdma.StatusRemoteRange, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Addr = b.keys.Addr - 8 })},
	{"the last address there is", rdma.StatusRemoteRange, but(func(wr *rdma.WorkRequest, a, b *side) { wr.Addr = math.MaxUint64 - 7 })},
}

// wordRefusals are wrong for atomics.
var wordRefusals = []refusal{
	{"misaligned by 1", rdma.StatusMisaligned, func(a, b *side) rdma.WorkRequest { return word(rdma.VerbFetchAdd, 0, &b.memory, 1, 0, 1) }},
	{"misaligned by 4", rdma.StatusMisaligned, func(a, b *side) rdma.WorkRequest { return word(rdma.VerbCompareSwap, 0, &b.memory, 4, 0, 1) }},
	{"a word beyond the end", rdma.StatusRemoteRange, func(a, b *side) rdma.WorkRequest {
		return word(rdma.VerbFetchAdd, 0, &b.memory, sideBytes, 0, 1)
	}},
	{"a word across the end", rdma.StatusRemoteRange, func(a, b *side) rdma.WorkRequest {
		m := b.register(4096-4, every)
		return word(rdma.VerbFetchAdd, 0, &m, 4096-8, 0, 1)
	}},
}

// checkRefused wants each refusal refused, and nothing else to come of it.
func checkRefused(t *testing.T, f *Factory) {
	cases := slices.Concat(localRefusals, keyRefusals)
	verbs := []rdma.Verb{rdma.VerbRead, rdma.VerbWriteNotify}
	if f.NoAtomics == "" {
		cases = append(cases, wordRefusals...)
		verbs = append(verbs, rdma.VerbFetchAdd, rdma.VerbCompareSwap)
	}
	for _, c := range keyRefusals {
		for _, verb := range verbs {
			cases = append(cases, refusal{fmt.Sprintf("%v, %s", verb, c.name), c.want, func(a, b *side) rdma.WorkRequest {
				wr := c.make(a, b)
				wr.Verb = verb
				return wr
			}})
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, b := connect(t, f)
			if b.receive(800, sideBytes-64, 64); c.want == rdma.StatusLocal {
				b.receive(801, sideBytes-64, 64)
			}
			refuse(t, a, b, c.make(a, b), c.want)
		})
	}
}

// refuse posts a bad request between good ones, and looks at what comes of it.
func refuse(t *testing.T, a, b *side, bad rdma.WorkRequest, want rdma.Status) {
	t.Helper()
	fill(a.mem, 5)
	fill(b.mem, 6)
	putLittle(b.mem[64:], 0)
	first := op(rdma.VerbWrite, 1, &a.memory, 128, 8, &b.memory, 4096)
	a.do(first, flush(2))
	before, own := bytes.Clone(b.mem), bytes.Clone(a.mem)
	bad.ID = 3
	a.post(bad, flush(4), op(rdma.VerbWrite, 5, &a.memory, 0, 8, &b.memory, 8192))
	failed, passed := rdma.Status(0), false
	misaligned := (bad.Verb == rdma.VerbFetchAdd || bad.Verb == rdma.VerbCompareSwap) && bad.Addr%8 != 0
	for id := uint64(3); id <= 5; id++ {
		c := a.next()
		s := statusOf(c.Err)
		late := a.f.early(bad.Verb) && id == 3 && want != rdma.StatusLocal
		switch {
		case c.ID != id:
			t.Fatalf("completed %s, want ID %d", text(c), id)
		case failed == 0 && s == 0 && late:
			passed = true
		case failed == 0 && passed && !lateOf(c.Err, 3):
			t.Fatalf("completed %s, want it to say that it is about the request 3, which had completed", text(c))
		case failed == 0 && s != want && (s != rdma.StatusMisaligned || !misaligned):
			t.Fatalf("completed %s, want the status %q", text(c), want)
		case failed != 0 && !ended(c.Err):
			t.Fatalf("completed %s after the failure, want it flushed", text(c))
		case failed == 0 && c.Err.Error() == "":
			t.Error("the error says nothing")
		}
		failed = max(failed, s)
	}
	a.post(op(rdma.VerbWrite, 6, &a.memory, 0, 8, &b.memory, 8192))
	if c := a.next(); c.ID != 6 || !ended(c.Err) {
		t.Errorf("after the failure completed %s, want it flushed", text(c))
	}
	if a.f.Loose { // what is behind a request that fails late may have been done
		copy(before[8192:], b.mem[8192:8200])
	}
	if !bytes.Equal(b.mem, before) {
		t.Error("the peer's memory changed")
	}
	if !bytes.Equal(a.mem, own) {
		t.Error("the own memory changed")
	}
	b.mustEnd()
}

// mustEnd wants a side's queue to fail because of the peer.
func (s *side) mustEnd() {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if n, err := s.q.Post([]rdma.WorkRequest{flush(1 << 40)}); n != 1 {
			s.t.Fatalf("%s: a queue that failed took nothing: %v", s.name, err)
		}
		for {
			c := s.next()
			if c.ID == 1<<40 && c.Err == nil {
				break
			}
			if c.ID == 1<<40 {
				if !ended(c.Err) {
					s.t.Errorf("%s: completed %s, want the peer lost", s.name, text(c))
				}
				return
			}
		}
	}
	s.t.Fatalf("%s: its queue goes on, and the peer's has failed", s.name)
}

// early reports whether requests of a verb may complete before the peer has refused them.
func (f *Factory) early(verb rdma.Verb) bool {
	switch verb {
	case rdma.VerbWrite:
		return f.Loose || f.Eager
	case rdma.VerbSend, rdma.VerbWriteNotify:
		return f.Eager
	}
	return false
}

// lateOf reports whether an error says that it is about a request that had completed.
func lateOf(err error, id uint64) bool {
	s := (*rdma.StatusError)(nil)
	return errors.As(err, &s) && s.Late && s.ID == id
}

// refused wants a request refused with a status: by its own completion or, if it may complete before, by the next
// one's, which must say so. A request behind it is flushed.
func (s *side) refused(id uint64, verb rdma.Verb, want rdma.Status) {
	s.t.Helper()
	c := s.next()
	passed := c.Err == nil && s.f.early(verb)
	switch {
	case c.ID != id || !passed && statusOf(c.Err) != want:
		s.t.Errorf("%s: completed %s, want %d refused: %q", s.name, text(c), id, want)
	case passed:
		if c := s.next(); c.ID != id+1 || statusOf(c.Err) != want || !lateOf(c.Err, id) {
			s.t.Errorf("%s: completed %s, want it to say that the request %d, which had completed, was refused: %q", s.name, text(c), id, want)
		}
		return
	}
	if c := s.next(); c.ID != id+1 || !ended(c.Err) {
		s.t.Errorf("%s: completed %s, want it flushed", s.name, text(c))
	}
}

// statusOf is the status of an error: 0 of none, StatusProvider of one without a status.
func statusOf(err error) rdma.Status {
	if err == nil {
		return 0
	}
	if s := (*rdma.StatusError)(nil); errors.As(err, &s) {
		return s.Status
	}
	return rdma.StatusProvider
}

// ended reports whether an error is what outstanding requests get when the queue ends.
func ended(err error) bool {
	s := statusOf(err)
	return s == rdma.StatusFlushed || s == rdma.StatusPeerLost
}

// checkRights tries each verb on each combination of rights.
func checkRights(t *testing.T, f *Factory) {
	needs := map[rdma.Verb]barewire.Rights{
		rdma.VerbWrite: write, rdma.VerbWriteNotify: write, rdma.VerbRead: read, rdma.VerbCompareSwap: atom, rdma.VerbFetchAdd: atom,
	}
	if f.NoAtomics != "" {
		delete(needs, rdma.VerbCompareSwap)
		delete(needs, rdma.VerbFetchAdd)
	}
	for verb, need := range needs {
		for rights := barewire.Rights(1); rights <= f.grantable(every); rights++ {
			t.Run(fmt.Sprintf("%v/%v", verb, rights), func(t *testing.T) {
				a, b := connect(t, f)
				m := b.register(4096, rights)
				b.receive(800, 0, 64)
				b.receive(801, 0, 64)
				for verb, need := range needs { // the key is in use for what it grants
					if rights&need != 0 {
						b.receive(799, 0, 64)
						a.do(op(verb, 1, &a.memory, 0, 16, &m, 128), flush(2))
					}
				}
				before := bytes.Clone(m.mem)
				wr := op(verb, 3, &a.memory, 0, 16, &m, 64)
				if rights&need != 0 {
					a.do(wr, flush(4))
					return
				}
				refuse(t, a, b, wr, rdma.StatusRemoteRight)
				if !bytes.Equal(m.mem, before) {
					t.Error("the memory changed")
				}
			})
		}
	}
	a := newSide(t, f, config(), "a")
	if m := a.register(4096, nobody); m.keys.R != 0 || m.keys.L == 0 {
		t.Errorf("a registration without remote rights has the keys %+v", m.keys)
	}
}

// checkRegisterRefused wants errors where there is nothing to register.
func checkRegisterRefused(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	m := a.allocate(4096)
	for name, bad := range map[string]rdma.Memory{
		"no address":      {Len: 4096, File: m.File, Name: "nothing"},
		"no bytes":        {Base: m.Base, File: m.File, Name: "empty"},
		"negative bytes":  {Base: m.Base, Len: -1, File: m.File, Name: "negative"},
		"an odd address":  {Base: unsafe.Add(m.Base, 1), Len: 8, File: m.File, Name: "odd"},
		"no file, if one": {Base: m.Base, Len: 4096, Name: "without file"},
	} {
		if name == "no file, if one" && !a.ad.Limits().FileMemory {
			continue
		}
		if _, err := a.dom.Register(bad, every, nil); err == nil {
			t.Errorf("memory with %s was registered", name)
		}
	}
	if _, err := a.dom.Register(m, every, b.q); err == nil {
		t.Error("memory was registered for a queue of another domain")
	}
	if err := a.dom.Deregister(ctx(t), rdma.Keys{L: 12345, R: 54321}); err == nil {
		t.Error("keys that never were could be deregistered")
	}
	k := b.register(4096, every).keys
	must(t, b.dom.Deregister(ctx(t), k))
	if err := b.dom.Deregister(ctx(t), k); err == nil {
		t.Error("keys could be deregistered twice")
	}
}

// checkPrepare prepares keys that will do, and some that will not.
func checkPrepare(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	must(t, a.q.Prepare(ctx(t), b.keys.R, b.keys.Epoch))
	must(t, a.q.Prepare(ctx(t), b.keys.R, b.keys.Epoch))
	a.do(good(a, b))
	if err := a.q.Prepare(ctx(t), b.keys.R^0x5a5a5a5a, b.keys.Epoch); err == nil && !f.Eager {
		t.Error("a key that never was could be prepared")
	}
	if err := a.q.Prepare(ctx(t), b.keys.R, b.keys.Epoch+1); err == nil {
		t.Error("a key of another epoch could be prepared")
	}
	must(t, b.dom.Deregister(ctx(t), b.keys))
	if err := a.q.Prepare(ctx(t), b.keys.R, b.keys.Epoch); err == nil && !f.Eager {
		t.Error("a key that was deregistered could be prepared")
	}
	must(t, a.q.Close())
	if err := a.q.Prepare(ctx(t), b.keys.R, b.keys.Epoch); err == nil {
		t.Error("a key could be prepared for a queue that is closed")
	}
}

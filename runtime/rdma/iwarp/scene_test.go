package iwarp_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// slotSize is how much of an arena each registration has.
const slotSize = 4096

// slots are what an arena is divided into. What has no name here, and stands between the others, is memory that nobody
// registered; each write out of bounds lands there.
var slots = []string{"", "open", "", "readable", "", "writable", "", "other's", "", "inbox", "", "ended", "", "nobody's", ""}

// scene is one side with the package, and memory that peers may reach in part.
type scene struct {
	t     testing.TB
	cfg   *rdma.Config
	ad    rdma.Adapter
	pd    rdma.ProtectionDomain
	ln    rdma.Acceptor
	arena []byte
	was   []byte // the arena as it is to be
	keys  map[string]rdma.Keys

	secure *tls.Config // of both sides; nil: no TLS
}

// patience is how long anything may take on a machine that is busy with other things.
const patience = 20 * time.Second

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// newScene makes one. crc is whether this side wants checksums.
func newScene(t testing.TB, crc bool) *scene { return newSceneUnder(t, crc, nil) }

// newSceneUnder makes one under TLS, with a configuration of both sides.
func newSceneUnder(t testing.TB, crc bool, secure *tls.Config) *scene {
	s := &scene{t: t, keys: map[string]rdma.Keys{}, secure: secure}
	s.cfg = &rdma.Config{Depth: 16, MaxMessage: 4096, Credits: 32, HandshakeTimeout: patience, Logger: quiet}
	s.cfg.Transport = rdma.IWARP{NoCRC: !crc}
	if secure != nil {
		s.cfg.TLS = secure
	}
	s.ad = must(iwarp.New(iwarp.Options{}).Open(soon(t), "", s.cfg))(t)
	s.pd = must(s.ad.NewDomain())(t)
	s.ln = must(s.pd.Listen(soon(t), ""))(t)
	t.Cleanup(func() { ok(t, s.ad.Close()) })
	s.arena = make([]byte, len(slots)*slotSize)
	for i := range s.arena {
		s.arena[i] = byte(i*7 + i>>8)
	}
	for name, rights := range map[string]barewire.Rights{
		"open": region.Read | region.Write | region.Atomic, "readable": region.Read, "writable": region.Write,
		"ended": region.Read | region.Write, "inbox": 0,
	} {
		s.register(name, rights, nil)
	}
	ok(t, s.pd.Deregister(soon(t), s.keys["ended"]))
	_, bystander := s.meet(false, false, crc)
	s.register("other's", region.Read|region.Write, bystander)
	s.was = bytes.Clone(s.arena)
	return s
}

// slot is where in the arena a name's memory is.
func (s *scene) slot(name string) []byte {
	for i, n := range slots {
		if n == name {
			return s.arena[i*slotSize:][:slotSize]
		}
	}
	panic(name)
}

func (s *scene) register(name string, rights barewire.Rights, q rdma.Queue) {
	m := rdma.Memory{Base: unsafe.Pointer(&s.slot(name)[0]), Len: slotSize, Name: name}
	s.keys[name] = must(s.pd.Register(m, rights, q))(s.t)
}

// segment of a slot, for a work request.
func (s *scene) local(name string, at, n int) rdma.Segment {
	return rdma.Segment{Ptr: unsafe.Pointer(&s.slot(name)[at]), Len: n, Key: s.keys[name].L}
}

// unchanged wants the arena to be as it was, but for the slots that are named.
func (s *scene) unchanged(except ...string) {
	s.t.Helper()
	for i, name := range slots {
		off := i * slotSize
		got, want := s.arena[off:][:slotSize], s.was[off:][:slotSize]
		if name != "" && strings.Contains(" "+strings.Join(except, " ")+" ", " "+name+" ") {
			copy(got, want)
			continue
		}
		if !bytes.Equal(got, want) {
			s.t.Errorf("the memory at %d (%q) was changed", off, name)
			copy(got, want)
		}
	}
}

// ours is what the package says of itself in the private data.
var ours = []byte{'B', 'W', 'I', 1, 0, 0, 0, 1}

// depths are the first four octets of the private data: 16 reads each way, peer to peer, and a write to begin with.
// Source: RFC 6581, section 9.
var depths = []byte{0x80, 16, 0x80, 16}

// meet connects a foreign peer, which dials or listens. Where alike, it says that it is of the package's kind.
func (s *scene) meet(listens, alike, crc bool) (*foreign, rdma.Queue) {
	s.t.Helper()
	say := startup{flags: mpaEnhanced, revision: 2, private: bytes.Clone(depths)}
	if crc {
		say.flags |= mpaCRC
	}
	if alike {
		say.private = append(say.private, ours...)
	}
	f := &foreign{crc: crc}
	var q rdma.Queue
	if listens {
		q = s.dialled(f, say)
	} else {
		q = s.accepted(f, say)
	}
	s.t.Cleanup(func() { _ = f.conn.Close() })
	return f, q
}

// manySources tells whether there are addresses to come from: all of 127.0.0.0/8 on Linux.
const manySources = runtime.GOOS == "linux"

// loopback is an address of this host. Fuzzing makes more connections than one address has ports for, as those of
// ended connections stay in use for a minute.
func loopback() net.IP {
	if !manySources {
		return net.IPv4(127, 0, 0, 1)
	}
	return net.IPv4(127, byte(rand.Uint32()), byte(rand.Uint32()), 1+byte(rand.Uint32N(250)))
}

// accepted has the foreign peer dial.
func (s *scene) accepted(f *foreign, say startup) rdma.Queue {
	t := s.t
	done := make(chan rdma.Queue, 1)
	go func() {
		q, err := s.ln.Accept(soon(t), func([]byte) ([]byte, error) { return nil, nil })
		if err != nil {
			t.Error(err)
		}
		done <- q
	}()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: loopback()}}
	f.conn = must(d.Dial("tcp", s.ln.Addr()))(t)
	if s.secure != nil {
		c := s.spoken()
		c.ServerName = "127.0.0.1"
		f.conn = tls.Client(f.conn, c)
	}
	f.greet("Req", say)
	got, err := f.greeting("Rep")
	ok(t, err)
	if got.flags&^mpaCRC != mpaEnhanced || got.revision != 2 || len(got.private) < 4 || got.private[0]&0x80 == 0 {
		t.Fatalf("the reply is %+v", got)
	}
	f.put(tagged(ddpLast, opWrite, 0, 0, nil)) // what it waits for before it sends
	q := <-done
	if q == nil {
		t.FailNow()
	}
	return q
}

// spoken is the configuration of the foreign peer, which says what it speaks (docs/iwarp.md).
func (s *scene) spoken() *tls.Config {
	c := s.secure.Clone()
	c.NextProtos = []string{"barewire-iwarp/1"}
	return c
}

// dialled has it listen.
func (s *scene) dialled(f *foreign, say startup) rdma.Queue {
	t := s.t
	at := loopback()
	if s.secure != nil {
		at = net.IPv4(127, 0, 0, 1) // which its certificate names
	}
	ln := must(net.ListenTCP("tcp", &net.TCPAddr{IP: at}))(t)
	defer ln.Close()
	done := make(chan rdma.Queue, 1)
	go func() {
		q, err := s.pd.Dial(soon(t), ln.Addr().String(), nil)
		if err != nil {
			t.Error(err)
		}
		done <- q
	}()
	f.conn = must(ln.Accept())(t)
	if s.secure != nil {
		f.conn = tls.Server(f.conn, s.spoken())
	}
	must(f.greeting("Req"))(t)
	f.greet("Rep", say)
	first := must(f.next())(t)
	if first.op != opWrite || !first.last || len(first.payload) != 0 {
		t.Fatalf("the first message is %+v", first)
	}
	q := <-done
	if q == nil {
		t.FailNow()
	}
	return q
}

// next waits for a completion.
func next(t testing.TB, q rdma.Queue) rdma.Completion {
	t.Helper()
	ctx := soon(t)
	var c [1]rdma.Completion
	for q.Poll(c[:]) == 0 {
		if err := q.Wait(ctx); err != nil {
			t.Fatalf("waiting for a completion: %v", err)
		}
	}
	return c[0]
}

// failed wants a queue to have failed: what is outstanding ends with an error, and what is posted then does.
func failed(t testing.TB, q rdma.Queue, outstanding int) (last error) {
	t.Helper()
	for range outstanding {
		if c := next(t, q); c.Err == nil {
			t.Errorf("completed without an error: %+v", c)
		} else {
			last = c.Err
		}
	}
	if _, err := q.Post([]rdma.WorkRequest{{ID: 99, Verb: rdma.VerbFlush}}); err != nil {
		t.Errorf("posting after the end: %v", err)
	} else if c := next(t, q); c.Err == nil {
		t.Errorf("completed without an error, after the end: %+v", c)
	}
	ok(t, q.Close())
	return last
}

// addressOf is where memory really is.
func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }

// halfClose ends what a peer sends, and lets it hear.
func halfClose(f *foreign) { _ = f.conn.(interface{ CloseWrite() error }).CloseWrite() }

// noLeak wants no more goroutines than before, soon.
func noLeak(t testing.TB, before int) {
	t.Helper()
	for range 5000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must is the value of a call that may not fail.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(fmt.Errorf("%T: %w", v, err))
		}
		return v
	}
}

package shm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// patience is how long anything may take on a machine that is busy with other things.
const patience = 20 * time.Second

const all = region.Read | region.Write | region.Atomic

var names atomic.Int64

// address is one that no other test has.
func address() string { return fmt.Sprintf("@barewire-shm-test-%d-%d", os.Getpid(), names.Add(1)) }

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// memory makes memory as an allocator does: a sealed memfd, mapped.
func memory(t testing.TB, n int) rdma.Memory {
	t.Helper()
	m, free, err := allocate(n)
	fatal(t, err)
	t.Cleanup(free)
	return m
}

func allocate(n int) (rdma.Memory, func(), error) {
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return rdma.Memory{}, nil, err
	}
	size := (n + os.Getpagesize() - 1) &^ (os.Getpagesize() - 1)
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return rdma.Memory{}, nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW); err != nil {
		return rdma.Memory{}, nil, err
	}
	b, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return rdma.Memory{}, nil, err
	}
	f := os.NewFile(uintptr(fd), "memfd:test")
	m := rdma.Memory{Base: unsafe.Pointer(&b[0]), Len: n, Name: "region of test.T",
		File: func() (*os.File, int64, error) { return f, 0, nil }}
	return m, func() { _ = unix.Munmap(b); _ = f.Close() }, nil
}

func bytesOf(m rdma.Memory) []byte { return unsafe.Slice((*byte)(m.Base), m.Len) }

// side is one end of a pair.
type side struct {
	dom *domain
	q   *queue
	mem rdma.Memory
	k   rdma.Keys
}

func newSide(t testing.TB, cfg *rdma.Config, n int, rights barewire.Rights) *side {
	t.Helper()
	a := newAdapter(cfg)
	a.letGo, a.notReady = 300*time.Millisecond, 300*time.Millisecond
	d, err := a.NewDomain()
	fatal(t, err)
	t.Cleanup(func() { _ = a.Close() })
	s := &side{dom: d.(*domain), mem: memory(t, n)}
	s.k, err = d.Register(s.mem, rights, nil)
	fatal(t, err)
	return s
}

// pair connects two domains of this process; each has n bytes with all rights.
func pair(t testing.TB, cfg *rdma.Config, n int) (a, b *side) {
	t.Helper()
	a, b = newSide(t, cfg, n, all), newSide(t, cfg, n, all)
	connect(t, a, b)
	return a, b
}

func connect(t testing.TB, a, b *side) {
	t.Helper()
	ln, err := a.dom.Listen(within(t, patience), address())
	fatal(t, err)
	defer ln.Close()
	type accepted struct {
		q   rdma.Queue
		err error
	}
	ch := make(chan accepted, 1)
	go func() {
		q, err := ln.Accept(within(t, patience), func(hello []byte) ([]byte, error) { return append([]byte("re: "), hello...), nil })
		ch <- accepted{q, err}
	}()
	q, err := b.dom.Dial(within(t, patience), ln.Addr(), []byte("hello"))
	fatal(t, err)
	got := <-ch
	fatal(t, got.err)
	a.q, b.q = got.q.(*queue), q.(*queue)
	if string(a.q.Hello()) != "hello" || string(b.q.Hello()) != "re: hello" {
		t.Fatalf("hellos %q, %q", a.q.Hello(), b.q.Hello())
	}
}

// seg is a piece of the side's own memory.
func (s *side) seg(off, n int) rdma.Segment {
	return rdma.Segment{Ptr: unsafe.Add(s.mem.Base, off), Len: n, Key: s.k.L}
}

// one is a work request with one segment, on memory of the other side.
func (s *side) one(v rdma.Verb, id uint64, off, n int, to *side, at int) rdma.WorkRequest {
	return rdma.WorkRequest{ID: id, Verb: v, Segs: 1, Local: [rdma.MaxSegments]rdma.Segment{s.seg(off, n)},
		Key: to.k.R, Epoch: to.k.Epoch, Addr: to.k.Addr + uint64(at)}
}

func (s *side) post(t testing.TB, wrs ...rdma.WorkRequest) {
	t.Helper()
	if n, err := s.q.Post(wrs); err != nil || n != len(wrs) {
		t.Fatalf("Post: %d of %d, %v", n, len(wrs), err)
	}
}

// next waits for a completion.
func (s *side) next(t testing.TB) rdma.Completion {
	t.Helper()
	ctx := within(t, patience)
	var c [1]rdma.Completion
	for s.q.Poll(c[:]) == 0 {
		if err := s.q.Wait(ctx); err != nil {
			t.Fatalf("Wait: %v", err)
		}
	}
	return c[0]
}

func (s *side) done(t testing.TB, id uint64) rdma.Completion {
	t.Helper()
	c := s.next(t)
	if c.ID != id || c.Err != nil {
		t.Fatalf("completion %+v, want %d without error", c, id)
	}
	return c
}

func (s *side) fails(t testing.TB, id uint64, st rdma.Status) {
	t.Helper()
	c := s.next(t)
	if c.ID != id || !errors.Is(c.Err, &rdma.StatusError{Status: st}) {
		t.Fatalf("completion %d with %v, want %d with %v", c.ID, c.Err, id, st)
	}
}

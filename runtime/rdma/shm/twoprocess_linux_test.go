package shm

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Round trips between two processes: the second is a helper that answers until it is killed.

// The lines of the first process's memory that the bare exchange uses.
const lineThere, lineBack = 4096, 8192

var answers = map[string]func(e *end) error{"answer-bare": answerBare, "answer-notify": answerNotify}

// mapped is the peer's memory.
func (e *end) mapped() (unsafe.Pointer, error) {
	if err := e.q.Prepare(context.Background(), e.peer.R, e.peer.Epoch); err != nil {
		return nil, err
	}
	e.q.mu.Lock()
	defer e.q.mu.Unlock()
	return e.q.imports.find(uint32(e.peer.R), e.peer.Epoch).base, nil
}

// line is a payload and, in the same cache line, its sequence.
type line struct {
	payload [56]byte
	number  atomic.Uint64
}

func (l *line) put(p *[56]byte, n uint64) {
	l.payload = *p
	l.number.Store(n)
}

func (l *line) take(p *[56]byte, n uint64) {
	for spins := 0; l.number.Load() != n; spins++ {
		if spins == 1<<26 {
			return // killed, or stopped; the benchmark sees to it
		}
	}
	*p = l.payload
}

func answerBare(e *end) error {
	base, err := e.mapped()
	if err != nil {
		return err
	}
	ready()
	var p [56]byte
	there, back := (*line)(unsafe.Add(base, lineThere)), (*line)(unsafe.Add(base, lineBack))
	for n := uint64(1); ; n++ {
		there.take(&p, n)
		back.put(&p, n)
	}
}

func answerNotify(e *end) error {
	if _, err := e.mapped(); err != nil {
		return err
	}
	for range 16 {
		if err := e.q.PostReceive(make([]rdma.ReceiveRequest, 1)); err != nil {
			return err
		}
	}
	ready()
	for {
		if err := e.notified(); err != nil {
			return err
		}
		if err := e.notify(); err != nil {
			return err
		}
	}
}

// notify writes 64 bytes with notification.
func (e *end) notify() error {
	wrs := [1]rdma.WorkRequest{e.wr(rdma.VerbWriteNotify, 0, lineThere, 64, lineBack)}
	_, err := e.q.Post(wrs[:])
	return err
}

// notified polls until there is a notification, and posts a receive for the next.
func (e *end) notified() error {
	var out [4]rdma.Completion
	var again [1]rdma.ReceiveRequest
	for {
		for _, c := range out[:e.q.Poll(out[:])] {
			if c.Err != nil {
				return c.Err
			}
			if c.Verb == rdma.VerbNotify {
				return e.q.PostReceive(again[:])
			}
		}
	}
}

// BenchmarkTwoProcesses is a round trip of 64 bytes between two processes that poll.
func BenchmarkTwoProcesses(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		e, h := withHelper(b, "answer-bare")
		h.ready(b)
		there, back := (*line)(unsafe.Add(e.mem.Base, lineThere)), (*line)(unsafe.Add(e.mem.Base, lineBack))
		var p [56]byte
		best := window{}
		b.ResetTimer()
		for n := range uint64(b.N) {
			best.tick()
			there.put(&p, n+1)
			back.take(&p, n+1)
		}
		b.StopTimer()
		best.report(b)
	})
	b.Run("shm", func(b *testing.B) {
		e, h := withHelper(b, "answer-notify")
		fatal(b, e.q.PostReceive(make([]rdma.ReceiveRequest, 16)))
		_, err := e.mapped()
		fatal(b, err)
		h.ready(b)
		best := window{}
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			best.tick()
			if err := e.notify(); err != nil {
				b.Fatal(err)
			}
			if err := e.notified(); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		best.report(b)
	})
}

// TestTwoProcesses runs some of the benchmark's rounds, so that they do not rot. Both processes poll: where they share one processor with
// others each round waits for its turn twice.
func TestTwoProcesses(t *testing.T) {
	e, h := withHelper(t, "answer-notify")
	fatal(t, e.q.PostReceive(make([]rdma.ReceiveRequest, 16)))
	h.ready(t)
	copy(bytesOf(e.mem)[lineThere:], "to and fro")
	done := make(chan error, 1)
	go func() {
		for range 100 {
			if err := e.notify(); err != nil {
				done <- err
				return
			}
			if err := e.notified(); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		fatal(t, err)
	case <-time.After(3 * patience):
		t.Fatal("a notification was lost")
	}
}

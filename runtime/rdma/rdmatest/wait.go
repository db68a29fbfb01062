package rdmatest

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var waitChecks = []check{
	{"wait-ends", checkWaitEnds},
	{"wait-hammer", checkWaitHammer},
	{"ping-pong", checkPingPong},
}

// checkWaitEnds wants Wait to end with its context, with the queue, and with a failure.
func checkWaitEnds(t *testing.T, f *Factory) {
	a, _ := connect(t, f)
	short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	for {
		err := a.q.Wait(short)
		if err == nil {
			continue // nothing is there, but it may say so
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait ended with %v, want its deadline", err)
		}
		break
	}
	for name, end := range map[string]func(a, b *side){
		"close":      func(a, b *side) { must(t, a.q.Close()) },
		"abort":      func(a, b *side) { a.q.Abort(nil) },
		"peer-close": func(a, b *side) { must(t, b.q.Close()) },
		"peer-abort": func(a, b *side) { b.q.Abort(nil) },
	} {
		a, b := connect(t, f)
		a.receive(1, 0, 8)
		result := make(chan error, 1)
		go func() {
			c, err := take(a.q, patience)
			if err == nil && !ended(c.Err) {
				err = errors.New("completed " + text(c))
			} else if err == nil {
				err = c.Err
			}
			result <- err
		}()
		time.Sleep(2 * time.Millisecond)
		end(a, b)
		if err := <-result; errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: Wait did not end", name)
		} else if name != "close" && !ended(err) {
			t.Errorf("%s: Wait ended with %v", name, err)
		} else if err == nil {
			t.Errorf("%s: Wait ended as if nothing had happened", name)
		}
	}
}

// checkWaitHammer posts in one goroutine, in bursts of odd sizes, and waits and polls in another: a wake-up
// that is lost is a hang.
func checkWaitHammer(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	total := 20000
	if testing.Short() {
		total = 4000
	}
	room := make(chan struct{}, a.ad.Limits().Depth)
	finished := make(chan bool)
	go func() {
		defer close(finished)
		for n := 0; n < total; n++ {
			c, err := take(a.q, patience)
			if err != nil || c.Err != nil || c.ID != uint64(n) {
				t.Errorf("after %d of %d completions: %v, %s", n, total, err, text(c))
				return
			}
			<-room
		}
	}()
	for n := 0; n < total; n++ {
		select {
		case room <- struct{}{}:
		case <-finished:
			return
		}
		wr := op(rdma.VerbWrite, uint64(n), &a.memory, 0, 8, &b.memory, 0)
		if n/50%3 == 0 { // also the last stretch has one verb only: nothing else wakes for it
			wr.Verb = rdma.VerbRead
			wr.Local[0] = a.seg(64, 8)
			wr.Addr += 4096
		}
		a.post(wr)
		if n%7 == 0 {
			runtime.Gosched()
		}
	}
	<-finished
}

// checkPingPong answers each message with one, both sides waiting.
func checkPingPong(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	rounds := 3000
	if testing.Short() {
		rounds = 500
	}
	player := func(s *side, serves bool) error {
		for sent, got := 0, 0; sent < rounds || got < rounds; {
			if serves && sent < rounds {
				wr := rdma.WorkRequest{ID: uint64(sent), Verb: rdma.VerbSend, Segs: 1, Imm: uint32(sent)}
				wr.Local[0] = s.seg(0, 8)
				if n, err := s.q.Post([]rdma.WorkRequest{wr}); n != 1 {
					return err
				}
				sent++
				serves = false
				continue
			}
			c, err := take(s.q, patience)
			if err == nil {
				err = c.Err
			}
			if err != nil {
				return err
			}
			if c.Verb == rdma.VerbReceive {
				got++
				serves = true
				if err := s.q.PostReceive([]rdma.ReceiveRequest{{Buf: s.seg(64, 8)}}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, s := range []*side{a, b} {
		s.receive(0, 64, 8)
		s.receive(0, 64, 8)
	}
	results := make(chan error, 2)
	go func() { results <- player(a, true) }()
	go func() { results <- player(b, false) }()
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

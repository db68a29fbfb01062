package iwarp

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestNoAllocations does the same over and over: nothing is allocated for it, on either side, and no goroutine is made.
func TestNoAllocations(t *testing.T) {
	for _, name := range []string{"tcp", "tcp, sums", "tcp, large", "tcp, large, sums", "tcp, polled", "tcp, polled, sums"} {
		t.Run(name, func(t *testing.T) {
			a, b := connectEnds(t, shapes[name])
			small := []rdma.WorkRequest{a.request(rdma.VerbWrite, 1, 0, 64, b, 0), flushOf(2)}
			large := []rdma.WorkRequest{a.request(rdma.VerbWrite, 1, 0, 200<<10, b, 0), a.request(rdma.VerbRead, 2, 0, 200<<10, b, 0)}
			note := a.request(rdma.VerbWriteNotify, 1, 0, 64, b, 0)
			word := a.request(rdma.VerbFetchAdd, 2, 0, 0, b, 0)
			word.Segs = 0
			both := []rdma.WorkRequest{note, word}
			receive := []rdma.ReceiveRequest{{ID: 3, Buf: b.segment(0, 64)}}
			run := func(wrs []rdma.WorkRequest) {
				a.post(wrs...)
				for range wrs {
					if c, err := poll(a.q); err != nil {
						t.Errorf("completed %+v: %v", c, err)
					}
				}
			}
			for what, step := range map[string]func(){
				"small": func() { run(small) },
				"large": func() { run(large) },
				"notified": func() {
					if err := b.q.PostReceive(receive); err != nil {
						t.Error(err)
					}
					run(both)
					if c, err := poll(b.q); err != nil || c.Verb != rdma.VerbNotify {
						t.Errorf("completed %+v: %v", c, err)
					}
				},
			} {
				for range 20 { // buffers grow to what they are needed for
					step()
				}
				if n := testing.AllocsPerRun(200, step); n != 0 {
					t.Errorf("%s: %v allocations", what, n)
				}
			}
		})
	}
}

// poll waits for a completion with nothing that has to be allocated.
func poll(q *queue) (rdma.Completion, error) {
	var out [1]rdma.Completion
	for q.Poll(out[:]) == 0 {
		if err := q.Wait(never); err != nil {
			return out[0], err
		}
	}
	return out[0], out[0].Err
}

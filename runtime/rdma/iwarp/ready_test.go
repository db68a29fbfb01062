package iwarp

import (
	"bytes"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// TestReady begins connections with each message that lets the side that was dialled send (RFC 6581, section 4). It is no
// message of the program's: it takes no receive, and completes nothing. Whoever posts first, all that is posted ends.
func TestReady(t *testing.T) {
	for name, ready := range map[string]fpdu.RTR{"a write": fpdu.RTRWrite, "a read": fpdu.RTRRead, "a send": fpdu.RTRSend} {
		for _, shape := range []string{"tcp, sums", "tcp", "pipe", "pipe, tiny, sums"} {
			for _, plain := range []bool{false, true} {
				t.Run(name+", "+shape, func(t *testing.T) {
					s := shapes[shape]
					s.ready, s.plain = ready, plain
					a, b := connectEnds(t, s)
					b.receive(10, 0, 64)
					a.receive(20, 0, 64)
					copy(b.mem[128:], "from b")
					b.post(b.request(rdma.VerbSend, 1, 128, 6, a, 0), b.request(rdma.VerbRead, 2, 256, 64, a, upper), flushOf(3))
					copy(a.mem[128:], "and from a")
					a.post(a.request(rdma.VerbSend, 1, 128, 10, b, 0), a.request(rdma.VerbWrite, 2, 128, 10, b, upper), flushOf(3))
					for _, e := range []struct {
						*end
						receive uint64
						text    string
					}{{a, 20, "from b"}, {b, 10, "and from a"}} {
						next := uint64(1)
						for range 4 {
							switch c := e.next(); {
							case c.Err != nil:
								t.Fatalf("%s: %+v", e.name, c)
							case c.ID == e.receive && c.Bytes == len(e.text):
							case c.ID == next && c.Verb != rdma.VerbReceive:
								next++
							default:
								t.Fatalf("%s: completed %+v", e.name, c)
							}
						}
						if !bytes.HasPrefix(e.mem, []byte(e.text)) {
							t.Errorf("%s received %q, want %q", e.name, e.mem[:20], e.text)
						}
					}
				})
			}
		}
	}
}

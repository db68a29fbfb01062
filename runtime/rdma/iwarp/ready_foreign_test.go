package iwarp_test

import (
	"bytes"
	"net"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

// TestReadyBySend has a foreign peer dial that begins with a send of nothing, the only message it says that it can begin with
// (RFC 6581, section 9: bit B of the first word). It has a number on the queue of sends, and takes no receive.
func TestReadyBySend(t *testing.T) {
	t.Cleanup(iwarp.LongWaits(patience)) // the last message waits for its receive
	s := newScene(t, true)
	done := make(chan rdma.Queue, 1)
	go func() {
		q, err := s.ln.Accept(soon(t), func([]byte) ([]byte, error) { return nil, nil })
		if err != nil {
			t.Error(err)
		}
		done <- q
	}()
	f := &foreign{crc: true, conn: must(net.Dial("tcp", s.ln.Addr()))(t)}
	t.Cleanup(func() { _ = f.conn.Close() })
	f.greet("Req", startup{flags: mpaCRC | mpaEnhanced, revision: 2, private: []byte{0xc0, 16, 0x00, 16}})
	if got := must(f.greeting("Rep"))(t); len(got.private) < 4 || got.private[0]&0xc0 != 0xc0 || got.private[2]&0xc0 != 0 {
		t.Fatalf("the reply is %+v, want it to wait for a send", got)
	}
	q := <-done
	if q == nil {
		t.FailNow()
	}
	ok(t, q.PostReceive([]rdma.ReceiveRequest{{ID: 7, Buf: s.local("inbox", 0, 64)}}))
	wr := rdma.WorkRequest{ID: 8, Verb: rdma.VerbSend, Segs: 1}
	wr.Local[0] = s.local("inbox", 128, 5)
	must(q.Post([]rdma.WorkRequest{wr}))(t) // which is sent when the peer was heard
	f.put(f.message(opSend, 0, 0, nil))
	if got := must(f.next())(t); got.op != opSend || got.msn != 1 || !bytes.Equal(got.payload, s.slot("inbox")[128:133]) {
		t.Errorf("%+v was sent", got)
	}
	if c := next(t, q); c.ID != 8 || c.Err != nil {
		t.Errorf("completed %+v", c)
	}
	f.put(f.message(opSend, 0, 0, []byte("hello")))
	if c := next(t, q); c.ID != 7 || c.Err != nil || c.Bytes != 5 || string(s.slot("inbox")[:5]) != "hello" {
		t.Errorf("received %+v", c)
	}
	s.unchanged("inbox")
	f.put(f.message(opSend, 0, 0, nil)) // a second one is a message, and there is no receive for it
	ok(t, q.PostReceive([]rdma.ReceiveRequest{{ID: 9, Buf: s.local("inbox", 0, 64)}}))
	if c := next(t, q); c.ID != 9 || c.Err != nil || c.Bytes != 0 {
		t.Errorf("received %+v", c)
	}
	ok(t, q.Close())
}

//go:build amd64 || arm64

package verbs

import (
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// solicitedEvent has b sleep as other programs may, for events of those messages only that ask for it: a sends one that does not,
// and then one that does. mem is registered at both ends, with the keys ka and kb. Source: ibv_req_notify_cq(3), solicited_only.
func solicitedEvent(t *testing.T, a, b *queue, mem []byte, ka, kb rdma.Keys) {
	t.Helper()
	var rs [2]rdma.ReceiveRequest
	for i := range rs {
		rs[i] = rdma.ReceiveRequest{ID: uint64(i), Buf: rdma.Segment{Ptr: unsafe.Pointer(&mem[1024*(i+1)]), Len: 64, Key: kb.L}}
	}
	if err := b.PostReceive(rs[:]); err != nil {
		t.Fatal(err)
	}
	if rc := int32(dl.Fast(b.calls.reqNotify, []uintptr{b.hw.cq, 1})); rc != 0 {
		t.Fatalf("ibv_req_notify_cq: %d", rc)
	}
	// woken sends a message and reports whether b has an event then.
	woken := func(solicited bool) bool {
		wr := rdma.WorkRequest{Verb: rdma.VerbSend, Segs: 1, Solicited: solicited}
		wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&mem[0]), Len: 8, Key: ka.L}
		if n, err := a.Post([]rdma.WorkRequest{wr}); n != 1 {
			t.Fatal(err)
		}
		var out [4]rdma.Completion
		for limit := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			if n := b.Poll(out[:]); n > 0 {
				if out[0].Err != nil || out[0].Bytes != 8 {
					t.Fatalf("received %+v", out[0])
				}
				break
			}
			if time.Now().After(limit) {
				t.Fatal("the message did not come")
			}
		}
		wait := 200 * time.Millisecond
		if solicited {
			wait = 20 * time.Second // it comes, however busy the machine is
		}
		_ = b.events.SetReadDeadline(time.Now().Add(wait))
		return b.raw.Read(b.nextEvent) == nil
	}
	if woken(false) {
		t.Error("a message that did not ask for it made an event")
	}
	if !woken(true) {
		t.Error("a message that asked for it made none")
	}
}

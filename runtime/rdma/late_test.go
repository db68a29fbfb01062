package rdma_test

import (
	"errors"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// TestRefusedLate: a write that was refused after it completed is why the connection failed, though nothing
// was posted after it that could say so.
func TestRefusedLate(t *testing.T) {
	late := 0
	for seed := range uint64(20) {
		s := softWorld(t, soft.Config{Seed: seed + 1, Reorder: true}).stage(rdma.Config{})
		forged := passed(s, ticks(t, s.a.dom, 1, sample.TickRemoteRead()), func(ref *barewire.Ref) { ref.Rights = 2 }, sample.TickRemoteWrite())
		op := must(rdma.Write(s.b.conn, forged, s.local.Span(0, 1)))(t)
		if err := op.Wait(limit(t)); err != nil {
			is(t, err, rdma.ErrRights)
			continue
		}
		late++
		soon(t, func() bool { return s.b.conn.Err() != nil })
		if err := s.b.conn.Err(); !errors.Is(err, rdma.ErrRights) {
			t.Errorf("seed %d: %v", seed+1, err)
		}
	}
	if late == 0 {
		t.Error("no write was refused late")
	}
}

package cxl_test

import (
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// TestUnder: pools of a configuration's machine, at its nodes; its limit counts what regions of them take.
func TestUnder(t *testing.T) {
	m := machine(t)
	m.NUMA = platform.NUMA{Nodes: []platform.Node{{ID: 7, Kind: fact(platform.CXLMemory)}}}
	r := &platform.Resolved{Machine: m, Nodes: platform.MakeIDs(0), MemoryLimit: 100 * 64}
	_, err := cxl.Open(t.Context(), cxl.Under(r), cxl.Node(7))
	wrong(t, err, platform.ErrNotChosen, "node 7")
	far := &platform.Resolved{Machine: &platform.Machine{}, Far: []int{0}}
	_, err = cxl.Open(t.Context(), cxl.Under(far), cxl.Part(align, align))
	wrong(t, err, cxl.ErrPart, "node 0: nodes have no parts")
	p, err := cxl.Open(t.Context(), cxl.Under(nil), cxl.Under(r))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, p)
	if p.Origin().Device != "dax0.0" {
		t.Errorf("%+v", p.Origin())
	}
	one, err := cxl.New(p, placed.SensorInCXL(), 60, barewire.Under(r))
	if err != nil {
		t.Fatal(err)
	}
	_, err = cxl.New(p, placed.SensorInCXL(), 60, barewire.Under(r))
	wrong(t, err, platform.ErrMemoryLimit)
	closed(t, one)
	if r.Reserved() != 0 {
		t.Errorf("%d bytes are reserved after all was closed", r.Reserved())
	}
}

package cxl_test

import (
	"errors"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// TestNode has a pool at the node of this processor, which is taken to be of CXL: pages are made when they are given out, at the node.
func TestNode(t *testing.T) {
	_, node, err := mempolicy.Here()
	if _, aerr := mempolicy.Allowed(); errors.Is(aerr, cxl.ErrForbidden) || errors.Is(aerr, mempolicy.ErrNoNUMA) {
		t.Skipf("memory cannot be placed here: %v", aerr)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := &platform.Machine{NUMA: platform.NUMA{Nodes: []platform.Node{{ID: node, Kind: fact(platform.PlainMemory)}, {ID: 900}}}}
	_, err = cxl.Open(t.Context(), cxl.On(m), cxl.Node(node))
	wrong(t, err, cxl.ErrNotCXL, "Assume")
	_, err = cxl.Open(t.Context(), cxl.On(m), cxl.Node(900), cxl.Assume())
	wrong(t, err, cxl.ErrNoNode, "node 900")
	p := open(t, m, cxl.Node(node), cxl.Assume(), cxl.Size(1<<40))
	defer closed(t, p)
	if o := p.Origin(); o.Node != node || o.Device != "" || o.Size != 1<<40 || !o.Assumed {
		t.Errorf("%+v", o)
	}
	var all []*placed.SensorCXL[barewire.Unregistered]
	for _, n := range []int{1, 1000, 1 << 16, 5, 1 << 17} { // up to 8 MiB
		r, err := cxl.New(p, placed.SensorInCXL(), n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
		if pl, err := barewire.Placement(r); err != nil || pl.Kind != barewire.InCXL || pl.Node != node {
			t.Errorf("%d elements: %+v, %v", n, pl, err)
		}
		if err := barewire.With(r, func(w placed.SensorWindow[barewire.Unregistered]) error {
			for i := range n {
				if placed.SensorAt(w, i).Seq() != 0 {
					return errors.New("its memory is not zero")
				}
				placed.SensorAt(w, i).SetSeq(1)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if n > 1000 { // what comes next has memory of this one
			closed(t, r)
			all = all[:len(all)-1]
		}
	}
	for _, r := range all {
		closed(t, r)
	}
	_, err = cxl.Open(t.Context(), cxl.On(m), cxl.Node(node), cxl.Assume(), cxl.Size(1<<63))
	wrong(t, err, cxl.ErrPart)
	_, err = cxl.Open(t.Context(), cxl.On(m), cxl.Node(node), cxl.Assume(), cxl.Part(4096, 0))
	wrong(t, err, cxl.ErrPart)
}

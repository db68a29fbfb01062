package numa_test

import (
	"errors"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/numa"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// TestUnder: a configuration's nodes, limit and policy are used here.
func TestUnder(t *testing.T) {
	node := here(t)
	unpin, err := numa.Pin(node) // what is local stays so
	if err != nil {
		t.Fatal(err)
	}
	defer unpin()
	r := &platform.Resolved{Nodes: platform.MakeIDs(node), MemoryLimit: 100 * 64}
	one, err := numa.New(node, placed.SensorInNUMA(), 60, barewire.Under(r))
	if err != nil {
		t.Fatal(err)
	}
	_, err = numa.New(node, placed.SensorInNUMA(), 60, barewire.Under(r))
	wrong(t, err, platform.ErrMemoryLimit)
	closed(t, one)
	if r.Reserved() != 0 {
		t.Errorf("%d bytes are reserved after all was closed", r.Reserved())
	}
	other := &platform.Resolved{Nodes: platform.MakeIDs(node + 1), MemoryLimit: platform.Unlimited}
	p, under := placed.SensorInNUMA(), barewire.Under(other)
	for name, make := range map[string]func() (*placed.SensorNUMA[barewire.Unregistered], error){
		"a node": func() (*placed.SensorNUMA[barewire.Unregistered], error) { return numa.New(node, p, 1, under) },
		"local":  func() (*placed.SensorNUMA[barewire.Unregistered], error) { return numa.Local(p, 1, under) },
		"interleave": func() (*placed.SensorNUMA[barewire.Unregistered], error) {
			return numa.Interleave(p, 1, []int{node}, under)
		},
		"preferred": func() (*placed.SensorNUMA[barewire.Unregistered], error) {
			return numa.Preferred(p, 1, []int{node}, under)
		},
	} {
		_, err := make()
		if !errors.Is(err, barewire.ErrPlace) || !errors.Is(err, platform.ErrNotChosen) {
			t.Errorf("%s: %v, want ErrNotChosen", name, err)
		}
	}
	if other.Reserved() != 0 {
		t.Errorf("%d bytes are reserved for what was refused", other.Reserved())
	}
	// Where nobody names nodes, the others are left out.
	all, err := numa.Interleave(p, 1, nil, barewire.Under(r))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, all)
	pol := numa.PolicyOf(&platform.Resolved{LargeFrom: 1000, Far: []int{4}})
	if pol.Choose(999) != nil || len(pol.Choose(1000)) != 1 {
		t.Errorf("%+v", pol)
	}
	if pol := numa.PolicyOf(&platform.Resolved{LargeFrom: 1000}); pol.Choose(1<<40) != nil {
		t.Errorf("without CXL nodes: %+v", pol)
	}
}

//barewire:trust tests make what is wrong, and leave regions of calls that fail
package numa_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/numa"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// absent is a number that no machine of ours has.
const absent = 1000

// here is the node of this processor, on systems that have nodes.
func here(t *testing.T) int {
	t.Helper()
	_, err := mempolicy.Allowed()
	if errors.Is(err, numa.ErrNoNUMA) || errors.Is(err, numa.ErrForbidden) {
		t.Skipf("memory cannot be placed here: %v", err)
	}
	_, node, err := mempolicy.Here()
	if err != nil {
		t.Fatal(err)
	}
	return node
}

func closed(t *testing.T, r interface{ Close() error }) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestNew: memory of a node is there, all of it, and the region says so.
func TestNew(t *testing.T) {
	node := here(t)
	const n = 5000
	for name, c := range map[string]struct {
		mode numa.Mode
		make func() (*placed.SensorNUMA[barewire.Unregistered], error)
	}{
		"a node": {numa.Strict, func() (*placed.SensorNUMA[barewire.Unregistered], error) {
			return numa.New(node, placed.SensorInNUMA(), n, barewire.Named("sensors"))
		}},
		"huge pages": {numa.Strict, func() (*placed.SensorNUMA[barewire.Unregistered], error) {
			return numa.New(node, placed.SensorInNUMA(), n, barewire.HugePages())
		}},
		"local": {numa.Strict, func() (*placed.SensorNUMA[barewire.Unregistered], error) {
			return numa.Local(placed.SensorInNUMA(), n)
		}},
		"interleaved": {numa.Spread, func() (*placed.SensorNUMA[barewire.Unregistered], error) {
			return numa.Interleave(placed.SensorInNUMA(), n, []int{node})
		}},
		"preferred": {numa.Prefer, func() (*placed.SensorNUMA[barewire.Unregistered], error) {
			return numa.Preferred(placed.SensorInNUMA(), n, []int{node})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, r)
			b, err := barewire.Backing(r)
			if err != nil || b.Kind != barewire.InNUMA || b.Why != "" {
				t.Errorf("%+v, %v", b, err)
			}
			p, err := barewire.Placement(r)
			if err != nil || p.Kind != barewire.InNUMA {
				t.Errorf("%+v, %v", p, err)
			}
			pl, err := numa.PlacingOf(r)
			if err != nil || pl.Mode != c.mode || pl.Weaker != nil || pl.Pages[-1] != 0 {
				t.Errorf("%+v, %v", pl, err)
			}
			if name != "local" && (p.Node != node || !slices.Equal(pl.Nodes, []int{node}) || len(pl.Pages) != 1) {
				t.Errorf("%+v, %+v; want node %d", p, pl, node)
			}
			if err := barewire.With(r, func(w placed.SensorWindow[barewire.Unregistered]) error {
				if placed.SensorAt(w, n-1).Celsius() != 0 {
					t.Error("its memory is not zero")
				}
				placed.SensorAt(w, n-1).SetCelsius(21.5)
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFixed: a schema that names a node has it by Default, and another number overrides it.
func TestFixed(t *testing.T) {
	node := here(t)
	r, err := numa.New(numa.Default, placed.NearInNUMA(), 10)
	switch p, perr := placement(r, err); {
	case errors.Is(err, numa.ErrNoNode): // a machine without node 0
	case perr != nil || p.Node != 0:
		t.Errorf("%+v, %v", p, perr)
	default:
		closed(t, r)
	}
	r, err = numa.New(node, placed.NearInNUMA(), 10)
	if p, err := placement(r, err); err != nil || p.Node != node {
		t.Errorf("%+v, %v", p, err)
	} else {
		closed(t, r)
	}
	_, err = numa.New(numa.Default, placed.SensorInNUMA(), 1)
	wrong(t, err, numa.ErrNoNode, "the schema names no node")
}

func placement(r *placed.NearNUMA[barewire.Unregistered], err error) (barewire.Placed, error) {
	if err != nil {
		return barewire.Placed{}, err
	}
	return barewire.Placement(r)
}

// wrong wants an error.
func wrong(t *testing.T, err, is error, words ...string) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Errorf("%v, want %v", err, is)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v does not say %q", err, w)
		}
	}
}

// TestRefused: what cannot be had is a typed error for an exact place, and memory of the machine for one with a fallback, which says why.
func TestRefused(t *testing.T) {
	_, err := numa.New(0, barewire.Place[placed.Sensor, barewire.NUMA]{}, 1)
	wrong(t, err, barewire.ErrNoPlace)
	_, err = numa.New(0, placed.SensorInNUMA(), 0)
	wrong(t, err, barewire.ErrRange, "numa_test.go:")
	_, err = numa.New(0, sample.TickInCXLOrUnified(), 1)
	if err == nil || !strings.Contains(err.Error(), "this place of sample.Tick is cxl") {
		t.Errorf("a place behind CXL: %v", err)
	}
	for _, node := range []int{absent, 1023, 1024, -2, 1 << 30} {
		_, err = numa.New(node, placed.SensorInNUMA(), 1, barewire.Named("far"))
		wrong(t, err, barewire.ErrPlace, "region far of placed.Sensor made at numa/numa_test.go:", "it cannot be there")
	}
	u, err := numa.New(absent, placed.SensorInNUMAOrUnified(), 7)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, u)
	b, err := barewire.Backing(u)
	if err != nil || b.Kind != barewire.InCPU || b.Why == "" {
		t.Errorf("%+v, %v", b, err)
	}
	t.Logf("fallback: %s", b.Why)
	if pl, err := numa.PlacingOf(u); err == nil && pl.Mode != numa.Anywhere {
		t.Errorf("%+v", pl)
	}
	node := here(t)
	_, err = numa.New(absent, placed.SensorInNUMA(), 1)
	wrong(t, err, numa.ErrNoNode, "1000")
	_, err = numa.Interleave(placed.SensorInNUMA(), 1, []int{node, absent})
	wrong(t, err, numa.ErrNoNode, "node 1000")
	_, err = numa.Preferred(placed.SensorInNUMA(), 1, nil)
	wrong(t, err, numa.ErrNoNode, "no node was named")
	v, err := numa.New(node, placed.SensorInNUMAOrUnified(), 7)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, v)
	if b, err := barewire.Backing(v); err != nil || b.Kind != barewire.InNUMA || b.Why != "" {
		t.Errorf("%+v, %v", b, err)
	}
	all, err := numa.Interleave(placed.SensorInNUMA(), 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, all)
}

// TestMigrate: to where it is, which works on any machine, and to where nothing is, which leaves it.
func TestMigrate(t *testing.T) {
	node := here(t)
	r, err := numa.Interleave(placed.SensorInNUMA(), 1000, []int{node})
	if err != nil {
		t.Fatal(err)
	}
	w, err := barewire.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	placed.SensorAt(w, 999).SetSeq(7)
	wrong(t, numa.Migrate(r, absent), numa.ErrNoNode, "migrate: region of placed.Sensor")
	wrong(t, numa.Migrate(r, absent), barewire.ErrPlace)
	wrong(t, numa.Migrate(r, -1), numa.ErrNoNode)
	if pl, err := numa.PlacingOf(r); err != nil || pl.Mode != numa.Spread {
		t.Errorf("after a move that failed %+v, %v", pl, err)
	}
	if err := numa.Migrate(r, node); err != nil {
		t.Fatal(err)
	}
	if pl, err := numa.PlacingOf(r); err != nil || pl.Mode != numa.Strict || pl.Nodes[0] != node || len(pl.Pages) != 1 {
		t.Errorf("%+v, %v", pl, err)
	}
	if placed.SensorAt(w, 999).Seq() != 7 {
		t.Error("what was written is lost")
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	closed(t, r)
	wrong(t, numa.Migrate(r, node), barewire.ErrReleased)
	_, err = numa.PlacingOf(r)
	wrong(t, err, barewire.ErrReleased)
	wrong(t, numa.Migrate[placed.Sensor](nil, 0), barewire.ErrNoRegion)
}

// TestMigrateRegistered: memory with a sibling that is registered does not move; a registered region does not compile.
func TestMigrateRegistered(t *testing.T) {
	node := here(t)
	dev, err := rdma.Open(t.Context(), rdma.Config{Provider: soft.New(soft.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, dev)
	dom, err := dev.Domain()
	if err != nil {
		t.Fatal(err)
	}
	r, err := numa.New(node, placed.SensorInNUMA(), 100)
	if err != nil {
		t.Fatal(err)
	}
	mr, err := rdma.Register(dom, r, placed.SensorRemoteRead())
	if err != nil {
		t.Fatal(err)
	}
	also, err := rdma.Also(dom, mr, placed.SensorLocal())
	if err != nil {
		t.Fatal(err)
	}
	wrong(t, numa.Migrate(r, node), barewire.ErrMoved)
	r, err = rdma.Deregister(t.Context(), mr)
	if err != nil {
		t.Fatal(err)
	}
	wrong(t, numa.Migrate(r, node), barewire.ErrSiblings, "a device may have its pages")
	closed(t, also)
	if err := numa.Migrate(r, node); err != nil {
		t.Error(err)
	}
	closed(t, r)
}

// TestPolicy: what is larger than the limit goes to the policy's nodes.
func TestPolicy(t *testing.T) {
	p := numa.Policy{Name: "mine", Over: 100 * 64, Nodes: []int{7}}
	for bytes, want := range map[uint64]bool{0: false, 6400: false, 6401: true} {
		if got := p.Choose(bytes) != nil; got != want {
			t.Errorf("%d bytes to its nodes: %v", bytes, got)
		}
	}
	var none *platform.Machine
	all, err := numa.LargeToCXL(none)
	wrong(t, err, platform.ErrNoCXL)
	if all.Over != 512<<20 || all.Choose(1<<40) != nil {
		t.Errorf("%+v", all)
	}
	m, err := platform.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err = numa.LargeToCXL(m)
	t.Logf("on this machine: %+v, %v", all, err)
	node := here(t)
	p.Nodes = []int{node}
	for n, mode := range map[int]numa.Mode{50: numa.Strict, 51: numa.Prefer} { // of 128 bytes
		r, err := numa.ByPolicy(numa.Policy{Over: 50 * 64, Nodes: p.Nodes}, placed.SensorInNUMA(), n)
		if err != nil {
			t.Fatal(err)
		}
		if pl, err := numa.PlacingOf(r); err != nil || pl.Mode != mode {
			t.Errorf("%d elements: %+v, %v", n, pl, err)
		}
		closed(t, r)
	}
}

package barewire_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
)

// TestNew: places, and what is not one.
func TestNew(t *testing.T) {
	_, err := barewire.New(barewire.Place[sample.Tick, barewire.CPU]{}, 1)
	wantError(t, err, barewire.ErrNoPlace, "barewire.New(SampleInCPU(), n)")
	_, err = barewire.New(sample.TickInCPU(), 0)
	wantError(t, err, barewire.ErrRange, "new: region of sample.Tick made at runtime/new_test.go:", "0 elements; a region has at least one")
	_, err = barewire.New(sample.TickInCPU(), math.MaxInt, barewire.Named("blocks"))
	wantError(t, err, barewire.ErrNoMemory, "region blocks of sample.Tick")
	_, err = barewire.New(sample.TickInCXLOrUnified(), 1)
	if err == nil || !strings.Contains(err.Error(), "this place of sample.Tick is cxl: use its allocator") {
		t.Errorf("memory behind CXL: %v", err)
	}
	u, err := barewire.New(sample.TickInCPUOrUnified(), 1, barewire.HugePages())
	if err != nil {
		t.Fatal(err)
	}
	b, err := barewire.Backing(u)
	if err != nil || b.Kind != barewire.InCPU || b.Bytes != 64 || b.Align < 4096 || b.File == (b.Note != "") {
		t.Errorf("%+v, %v", b, err)
	}
	if b.File == region.Race {
		t.Errorf("under the race detector %v: %+v", region.Race, b)
	}
	t.Logf("%+v", b)
	if p, err := barewire.Placement(u); err != nil || p.Kind != barewire.InCPU || p.Node != -1 {
		t.Errorf("%+v, %v", p, err)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = barewire.Backing(u)
	wantError(t, err, barewire.ErrReleased, "backing: region of sample.Tick")
	_, err = barewire.Placement(u)
	wantError(t, err, barewire.ErrReleased, "placement")
}

// TestZero: nil and zero regions are errors everywhere, and panic nowhere.
func TestZero(t *testing.T) {
	for name, r := range map[string]*sample.TickCPU[barewire.Local]{"nil": nil, "zero": {}} {
		_, err := barewire.Open(r)
		_, berr := barewire.Backing(r)
		_, perr := barewire.Placement(r)
		for _, err := range []error{err, berr, perr, r.Close()} {
			if !errors.Is(err, barewire.ErrNoRegion) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if r.Len() != 0 || r.String() != "no region" {
			t.Errorf("%s: %d, %s", name, r.Len(), r)
		}
	}
	if r := newTicks(t, 2); !strings.HasPrefix(r.String(), "region of sample.Tick made at runtime/region_test.go:") {
		t.Errorf("its name is %s", r)
	}
}

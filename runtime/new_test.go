package barewire_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
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
	u, err := barewire.New(sample.TickInCPUOrUnified(), 1, barewire.HugePages(), nil)
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
	// Under the race detector it is a piece of the heap, which may have been touched.
	if p, err := barewire.Placement(u); err != nil || p.Kind != barewire.InCPU || p.Node != -1 && !region.Race {
		t.Errorf("%+v, %v", p, err)
	}
	if err := barewire.With(u, func(w sample.TickWindow[barewire.Unregistered]) error {
		sample.TickAt(w, 0).SetPrice(1)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	h, _ := handle(t, u)
	if p, err := barewire.Placement(u); err != nil || p.Node != h.Node() {
		t.Errorf("%+v after it was touched, want node %d, %v", p, h.Node(), err)
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

func granted[A barewire.Registered](t *testing.T, g barewire.Grant[sample.Tick, A], want string) {
	t.Helper()
	info, rights, err := barewire.GrantParts(seal.Key(), g)
	if err != nil || info.Name != "sample.Tick" || rights.String() != want || rights != barewire.RightsOf[A](seal.Key()) {
		t.Errorf("%v of %+v, %v, want %s", rights, info, err, want)
	}
}

// TestGrants: each marker's rights are what its name says.
func TestGrants(t *testing.T) {
	granted(t, sample.TickLocal(), "nothing remote")
	granted(t, sample.TickRemoteRead(), "remote_read")
	granted(t, sample.TickRemoteWrite(), "remote_write")
	granted(t, sample.TickRemoteReadWrite(), "remote_read, remote_write")
	granted(t, sample.TickRemoteAtomic(), "remote_atomic")
	granted(t, sample.TickRemoteReadAtomic(), "remote_read, remote_atomic")
	granted(t, sample.TickRemoteWriteAtomic(), "remote_write, remote_atomic")
	granted(t, sample.TickRemoteReadWriteAtomic(), "remote_read, remote_write, remote_atomic")
	if r := barewire.RightsOf[barewire.Unregistered](seal.Key()); r != 0 {
		t.Errorf("without a registration: %s", r)
	}
	if s := (barewire.ReadRight | 1<<9).String(); s != "remote_read, unknown rights" {
		t.Errorf("what no version grants: %s", s)
	}
	_, _, err := barewire.GrantParts(seal.Key(), barewire.Grant[sample.Tick, barewire.Local]{})
	wantError(t, err, barewire.ErrNoGrant)
}

// TestPlaces: allocators learn what the schema says.
func TestPlaces(t *testing.T) {
	info, kind, node, fallback, err := barewire.PlaceParts(seal.Key(), sample.TickInCXLOrUnified())
	if err != nil || info.Size != 64 || info.Align != 64 || kind != barewire.InCXL || node != -1 || !fallback {
		t.Errorf("%+v, %s, node %d, %v, %v", info, kind, node, fallback, err)
	}
	_, _, _, _, err = barewire.PlaceParts(seal.Key(), barewire.Place[sample.Tick, barewire.CPU]{})
	wantError(t, err, barewire.ErrNoPlace)
	if barewire.Kind(99).String() != "an unknown residency" || barewire.InCXLShared.String() != "cxl_shared" {
		t.Error("the names of residencies")
	}
}

// TestWords copies any number of bytes, and none beside them.
func TestWords(t *testing.T) {
	var memory, want [6]uint64
	p := unsafe.Pointer(&memory)
	in := unsafe.Slice((*byte)(p), 48)
	for n := range 41 {
		src := make([]byte, n)
		for i := range src {
			src[i] = byte(n + i + 1)
		}
		memory = want
		barewire.StoreWords(p, src)
		dst := make([]byte, n)
		barewire.LoadWords(dst, p)
		if !bytes.Equal(dst, src) || !bytes.Equal(in[:n], src) || !bytes.Equal(in[n:], make([]byte, 48-n)) {
			t.Errorf("%d bytes: % x becomes % x", n, src, in)
		}
	}
}

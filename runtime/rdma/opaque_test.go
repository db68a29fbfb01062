package rdma_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// TestOpaque registers memory that this processor cannot reach with a device that would have to: it is refused, and the region
// is as it was.
func TestOpaque(t *testing.T) {
	dev, err := rdma.Open(t.Context(), rdma.Config{Provider: soft.New(soft.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	dom, err := dev.Domain()
	if err != nil {
		t.Fatal(err)
	}
	info, _, _, _, err := barewire.PlaceParts(seal.Key(), sample.TickInCPU())
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, 1024)
	h, err := region.Adopt(region.Spec{Type: info, Count: 4}, region.Given{Base: unsafe.Pointer(&words[0]), Size: 8192, Opaque: true})
	if err != nil {
		t.Fatal(err)
	}
	r := barewire.Mint[sample.Tick, barewire.GPU, barewire.Unregistered](seal.Key(), h, h.Gen())
	_, err = rdma.Register(dom, r, sample.TickLocal())
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "dma-buf") {
		t.Errorf("registered: %v, want %v and what it would take", err, errors.ErrUnsupported)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

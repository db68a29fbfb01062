//go:build lab && (amd64 || arm64)

package verbs

import (
	"errors"
	"testing"

	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestSolicited: on a device, too.
func TestSolicited(t *testing.T) {
	a, b := domainOf(t), domainOf(t)
	qa, qb := linkedBoth(t, a, b)
	mem := mapped(t, 4096)
	ka := must(a.Register(memoryOf(mem, "both's"), 0, nil))(t)
	kb := must(b.Register(memoryOf(mem, "both's"), iregion.Read, nil))(t)
	solicitedEvent(t, qa, qb, mem, ka, kb)
}

// TestLacks: what rdma_rxe cannot is refused when it is asked for, by the device's word.
func TestLacks(t *testing.T) {
	var demand *OnDemandError
	_, err := standard.Open(t.Context(), device(t), &rdma.Config{OnDemand: true})
	if !errors.As(err, &demand) || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("memory on demand: %v, want an OnDemandError", err)
	}
	t.Log(err)
	d := domainOf(t)
	if d.adapter.Limits().DMABuf {
		t.Error("the device says that it takes a dma-buf")
	}
	m := memoryOf(mapped(t, 4096), "a buffer")
	m.Opaque, m.DMABuf = true, func() (rdma.DMABuf, error) { t.Error("the dma-buf was asked for"); return rdma.DMABuf{}, nil }
	if _, err := d.Register(m, 0, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a dma-buf: %v, want %v", err, errors.ErrUnsupported)
	} else {
		t.Log(err)
	}
}

package rdma_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/shm"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// TestTLSNeedsNetwork asks devices without a network for TLS: they must not be taken as if there were some.
func TestTLSNeedsNetwork(t *testing.T) {
	ctx := limit(t)
	for _, p := range []rdma.Provider{soft.Provider(), shm.Provider()} {
		devices := must(p.Devices(ctx))(t)
		if devices[0].State != rdma.StateActive {
			continue // its system cannot have one
		}
		_, err := p.Open(ctx, "", &rdma.Config{TLS: &tls.Config{}})
		is(t, err, rdma.ErrConfig)
		_, err = rdma.Open(ctx, rdma.Config{Provider: p, TLS: &tls.Config{}})
		is(t, err, rdma.ErrNoDevice)
		if !strings.Contains(err.Error(), "no network") {
			t.Errorf("%s: %v; it does not say why", p.Name(), err)
		}
	}
	var none *tls.Config
	for _, cfg := range []rdma.Config{{TLS: none}, {TLS: &tls.Config{}, Plain: true}} {
		_, err := rdma.Open(ctx, cfg)
		is(t, err, rdma.ErrConfig)
	}
}

//go:build !lab && (amd64 || arm64)

package verbs

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
)

// iwarpLacks is what the suite of all providers leaves out on devices of iWARP.
const iwarpLacks = "an iWARP device of Linux has no atomic operations"

// TestConformanceIWARP runs the suite of all providers on a stand-in that is a device of iWARP.
func TestConformanceIWARP(t *testing.T) {
	p := fakeOf(t, "-DIWARP")
	p = New(Options{Library: p.opts.Library, OpenSinks: true})
	a, err := p.Open(t.Context(), "", nil)
	ok(t, err)
	ok(t, a.Close())
	rdmatest.Run(t, rdmatest.Factory{Provider: p, Device: "fake0", Unheard: true, Eager: true, NotReady: 2 * notReady, NoAtomics: iwarpLacks})
}

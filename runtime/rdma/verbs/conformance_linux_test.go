//go:build amd64 || arm64

package verbs

import (
	"context"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
)

// TestConformance runs the suite of all providers on a device.
func TestConformance(t *testing.T) {
	name := device(t)
	a, err := standard.Open(context.Background(), name, nil) // what the libraries map stays, and is no leak
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	rdmatest.Run(t, rdmatest.Factory{Provider: standard, Device: name, NotReady: 5 * time.Second})
}

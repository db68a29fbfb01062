//go:build lab && (amd64 || arm64)

package verbs

import (
	"context"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
)

// The tests of this file run on a device: make lab has the kernel's rdma_rxe for them.

// device is the name of a device that can be used.
func device(t testing.TB) string {
	t.Helper()
	infos, err := standard.Devices(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		if i.State == rdma.StateActive {
			return i.Name
		}
	}
	t.Fatalf("no RDMA device that can be used: %+v", infos)
	return ""
}

// ofDevice is a provider for programs that grant atomics and read into any memory: over iWARP one that leaves the right out, and has open sinks.
func ofDevice() rdma.Provider {
	infos, _ := standard.Devices(context.Background())
	for _, i := range infos {
		if i.State == rdma.StateActive && i.Transport == kindIWARP.String() {
			return rdmatest.WithoutAtomics(New(Options{OpenSinks: true}))
		}
	}
	return standard
}

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
	rdmatest.Run(t, rdmatest.Factory{Provider: standard, Device: name, Unheard: true, NotReady: 5 * time.Second})
}

// TestDevice opens a device and makes a domain and a queue pair's objects.
func TestDevice(t *testing.T) {
	name := device(t)
	a, err := standard.Open(context.Background(), name, &rdma.Config{Depth: 16, Credits: 32})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v, %+v", a.Info(), a.Limits())
	d, err := a.NewDomain()
	if err != nil {
		t.Fatal(err)
	}
	q, err := newQueue(d.(*domain), "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("queue pair %#x, %d bytes inline", q.hw.qpn(), q.inline)
	if err := q.release(); err != nil {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

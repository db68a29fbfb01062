package cxl_test

import (
	"context"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
)

// BenchmarkNew takes a region of 4 KiB out of a pool and gives it back, beside make of the same size.
func BenchmarkNew(b *testing.B) {
	p, err := cxl.Open(context.Background(), cxl.Node(0), cxl.Assume(), cxl.Size(64<<20))
	if err != nil {
		b.Skip(err)
	}
	b.Run("pool", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			r, err := cxl.New(p, placed.SensorInCXL(), 64)
			if err != nil {
				b.Fatal(err)
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("make", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			sink = make([]byte, 4096)
		}
	})
	if err := p.Close(); err != nil {
		b.Error(err)
	}
}

var sink []byte

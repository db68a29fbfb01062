package bench

//go:generate go run ./cmd/genrows rows_test.go

import (
	"math"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/cputime"
	"google.golang.org/protobuf/proto"
)

// A benchmark is one row of the table in internal/rows.
type benchmark struct {
	name string // shape/operation/row
	run  func(*testing.B)
}

// BenchmarkRows runs all rows. Each reports the CPU time of the process for one
// operation beside the wall time.
func BenchmarkRows(b *testing.B) {
	for _, x := range benchmarks {
		b.Run(x.name, x.run)
	}
}

func cpuReport(b *testing.B, start time.Duration) {
	b.ReportMetric(float64(cputime.Self()-start)/float64(b.N), "cpu-ns/op")
}

func f64(f float64) uint64 { return math.Float64bits(f) }
func f32(f float32) uint64 { return uint64(math.Float32bits(f)) }

// popt is what protobuf rows encode with.
var popt = proto.MarshalOptions{}

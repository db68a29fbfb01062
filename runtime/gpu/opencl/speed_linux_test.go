//go:build amd64 || arm64

package opencl

import (
	"fmt"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// BenchmarkCopy copies to the device and waits, in turns by this package and by calls of the library alone, through the same
// loader: enqueue, flush, ask for the event until it has happened, release it. It reports how much longer ours takes.
func BenchmarkCopy(b *testing.B) {
	p, d := device(b)
	for _, n := range []int{1, 1 << 12, 1 << 16} { // 16 bytes, 64 KiB, 1 MiB
		b.Run(fmt.Sprintf("%d", 16*n), func(b *testing.B) {
			dev, err := gpu.Open(b.Context(), gpu.Config{Provider: p, Device: "opencl/" + d.Name})
			must(b, err)
			q, err := dev.Queue(0)
			must(b, err)
			r, err := gpu.New(dev, sample.BodyInGPU(), n)
			must(b, err)
			h, err := barewire.New(sample.BodyInCPU(), n)
			must(b, err)
			m := gpu.MemoryOf(seal.Key(), r).(*memory)
			hh, _, err := barewire.Core(seal.Key(), h)
			must(b, err)
			s := &stream{a: m.a, q: m.a.own, events: make([]uint64, 1)}
			var ours, bare time.Duration
			b.ReportAllocs()
			for b.Loop() {
				t := time.Now()
				op, err := gpu.CopyToDevice(q, gpu.All(r), gpu.All(h))
				if err == nil {
					err = op.Wait(b.Context())
				}
				ours += time.Since(t)
				t = time.Now()
				s.bare(b, m, uintptr(hh.Base()), uintptr(16*n))
				bare += time.Since(t)
				must(b, err)
			}
			b.ReportMetric(float64(ours)/float64(bare), "ours/bare")
			must(b, r.Close())
			must(b, h.Close())
			must(b, q.Close())
			must(b, dev.Close())
		})
	}
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// bare copies without anything of ours.
func (s *stream) bare(b *testing.B, m *memory, from, n uintptr) {
	l := s.a.lib
	s.args = [12]uintptr{s.q, m.buf, notBlocking, 0, n, from, 0, 0, addr(&s.events[0])}
	st := l.enqueueWrite.fast(s.args[:9])
	s.args[0] = s.q
	st |= l.flush.fast(s.args[:1])
	for s.out[0] = 1; s.out[0] != 0; {
		s.args = [12]uintptr{uintptr(s.events[0]), eventStatus, 4, addr(&s.out[0]), 0}
		st |= l.getEventInfo.fast(s.args[:5])
	}
	s.args[0] = uintptr(s.events[0])
	if st |= l.releaseEvent.fast(s.args[:1]); st != 0 {
		b.Fatalf("status %d", st)
	}
}

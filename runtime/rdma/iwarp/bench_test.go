package iwarp

import (
	"io"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// BenchmarkTCP is a round trip of 64 bytes by hand, to compare with.
func BenchmarkTCP(b *testing.B) {
	for _, n := range []int{64, 1 << 20} {
		b.Run(map[int]string{64: "64", 1 << 20: "1MiB"}[n], func(b *testing.B) {
			c, d := tcpPair(b)
			defer c.Close()
			go func() {
				defer d.Close()
				buf := make([]byte, n)
				for {
					if _, err := io.ReadFull(d, buf); err != nil {
						return
					}
					if _, err := d.Write(buf[:1]); err != nil {
						return
					}
				}
			}()
			buf := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				if _, err := c.Write(buf); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, buf[:1]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

var benchShapes = map[string]shape{
	"sums": {crc: true, mulpdu: 65408 + 14, depth: 256},
	"none": {mulpdu: 65408 + 14, depth: 256},
}

func each(b *testing.B, run func(b *testing.B, x, y *end)) {
	for _, name := range []string{"none", "sums"} {
		b.Run(name, func(b *testing.B) {
			x, y := connectEnds(b, benchShapes[name])
			b.ReportAllocs()
			run(b, x, y)
		})
	}
}

func (e *end) run(wrs []rdma.WorkRequest) {
	e.post(wrs...)
	for range wrs {
		if c, err := poll(e.q); err != nil {
			e.t.Fatalf("completed %+v: %v", c, err)
		}
	}
}

// BenchmarkWriteFlush writes and flushes, posted together.
func BenchmarkWriteFlush(b *testing.B) {
	each(b, func(b *testing.B, x, y *end) {
		wrs := []rdma.WorkRequest{x.request(rdma.VerbWrite, 1, 0, 64, y, 0), flushOf(2)}
		for b.Loop() {
			x.run(wrs)
		}
	})
}

// BenchmarkWriteThenFlush writes and flushes, one after the other.
func BenchmarkWriteThenFlush(b *testing.B) {
	each(b, func(b *testing.B, x, y *end) {
		w, f := x.request(rdma.VerbWrite, 1, 0, 64, y, 0), []rdma.WorkRequest{flushOf(2)}
		for b.Loop() {
			if _, done, err := x.q.PostNow(&w); err != nil {
				b.Fatal(err)
			} else if !done {
				_, _ = poll(x.q)
			}
			x.run(f)
		}
	})
}

// BenchmarkBatch writes 64 times and flushes once.
func BenchmarkBatch(b *testing.B) {
	each(b, func(b *testing.B, x, y *end) {
		var wrs []rdma.WorkRequest
		for i := range 64 {
			wrs = append(wrs, x.request(rdma.VerbWrite, 1, 0, 64, y, i*64))
		}
		wrs = append(wrs, flushOf(2))
		var out [64]rdma.Completion
		for b.Loop() {
			x.post(wrs...)
			for n := 0; n < len(wrs); {
				k := x.q.Poll(out[:])
				if n += k; k == 0 {
					_ = x.q.Wait(never)
				}
			}
		}
	})
}

// BenchmarkPingPong notifies, and is notified, from application to application.
func BenchmarkPingPong(b *testing.B) {
	each(b, func(b *testing.B, x, y *end) {
		player := func(from, to *end) func() error {
			wr := from.request(rdma.VerbWriteNotify, 1, 0, 64, to, 0)
			rs := []rdma.ReceiveRequest{{Buf: from.segment(0, 64)}}
			if err := from.q.PostReceive(rs); err != nil {
				b.Fatal(err)
			}
			return func() error {
				if _, _, err := from.q.PostNow(&wr); err != nil {
					return err
				}
				return from.q.PostReceive(rs)
			}
		}
		px, py := player(x, y), player(y, x)
		go func() {
			for {
				if _, err := poll(y.q); err != nil || py() != nil {
					return
				}
			}
		}()
		for b.Loop() {
			if err := px(); err != nil {
				b.Fatal(err)
			}
			if _, err := poll(x.q); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLarge moves 1 MiB.
func BenchmarkLarge(b *testing.B) {
	each(b, func(b *testing.B, x, y *end) {
		for name, wrs := range map[string][]rdma.WorkRequest{
			"write": {x.request(rdma.VerbWrite, 1, 0, 1<<20, y, 0), flushOf(2)},
			"read":  {x.request(rdma.VerbRead, 1, 0, 1<<20, y, 0)},
		} {
			b.Run(name, func(b *testing.B) {
				b.SetBytes(1 << 20)
				for b.Loop() {
					x.run(wrs)
				}
			})
		}
	})
}

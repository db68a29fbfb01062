package rdma_test

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// reordered runs a program with many seeds of a provider that uses all the
// freedom that docs/ordering.md leaves, and says how often it was wrong.
func reordered(t *testing.T, seeds uint64, program func(t *testing.T, s *scene) (right bool)) (wrong int) {
	t.Helper()
	for seed := range seeds {
		s := &scene{pair: connect(t, rdma.Config{Logger: quiet}, soft.Config{Seed: seed + 1, Reorder: true})}
		s.target = ticks(t, s.a.dom, 64, sample.TickRemoteReadWriteAtomic())
		s.local = ticks(t, s.b.dom, 64, sample.TickLocal())
		s.rem = share(t, &s.a, &s.b, "ticks", s.target, sample.TickRemoteReadWriteAtomic())
		if !program(t, s) {
			wrong++
		}
		ok(t, s.a.dev.Close())
		ok(t, s.b.dev.Close())
	}
	return wrong
}

// TestReliesOnTooMuch has programs that expect more order than all transports
// give: the provider that reorders catches each of them.
func TestReliesOnTooMuch(t *testing.T) {
	if raceEnabled {
		t.Skip("these programs are wrong on purpose, and the race detector says so itself")
	}
	programs := map[string]func(t *testing.T, s *scene) bool{
		"a flag written after the data says that the data is there": func(t *testing.T, s *scene) bool {
			prices(t, s.local, func(i int) float64 { return 1 })
			must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))(t)
			must(rdma.Write(s.b.conn, s.rem.Slice(63, 1), s.local.Span(63, 1)))(t)
			data, flag := 0.0, 0.0
			for flag == 0 { // look at the flag, then at the data
				s.b.conn.Poll()
				flag = price(t, s.target, 63)
				data = price(t, s.target, 0)
			}
			return data == 1
		},
		"a write that has completed is in place": func(t *testing.T, s *scene) bool {
			prices(t, s.local, func(i int) float64 { return 1 })
			ok(t, s.write(t).Wait(limit(t)))
			return price(t, s.target, 0) == 1
		},
		"a write does not overtake the read before it": func(t *testing.T, s *scene) bool {
			prices(t, s.local, func(i int) float64 { return 1 })
			must(rdma.Read(s.b.conn, s.local.Span(0, 1), s.rem.Slice(0, 1)))(t)
			must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(1, 1)))(t)
			ok(t, s.b.conn.Flush(limit(t)))
			return price(t, s.local, 0) == 0
		},
		"of two writes to one place the later one stays": func(t *testing.T, s *scene) bool {
			prices(t, s.local, func(i int) float64 { return float64(i) })
			must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(1, 1)))(t)
			must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(2, 1)))(t)
			ok(t, s.b.conn.Flush(limit(t)))
			return price(t, s.target, 0) == 2
		},
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			if reordered(t, 60, program) == 0 {
				t.Error("it was right with every seed, so it was not caught")
			}
		})
	}
}

// TestReliesOnWhatIsGiven has the same done right.
func TestReliesOnWhatIsGiven(t *testing.T) {
	programs := map[string]func(t *testing.T, s *scene) bool{
		"a notification says that the data is there": func(t *testing.T, s *scene) bool {
			prices(t, s.local, func(i int) float64 { return 1 })
			must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))(t)
			must(rdma.WriteNotify(s.b.conn, s.rem.Slice(63, 1), s.local.Span(63, 1), 0))(t)
			must(s.a.conn.NextNotification(limit(t)))(t)
			return price(t, s.target, 0) == 1 && price(t, s.target, 63) == 1
		},
		"a message says that the data is there": func(t *testing.T, s *scene) bool {
			prices(t, s.local, func(i int) float64 { return 1 })
			must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))(t)
			ok(t, s.b.conn.SendBytes(limit(t), []byte{1}))
			must(s.a.conn.Receive(limit(t), make([]byte, 1)))(t)
			return price(t, s.target, 0) == 1
		},
		"a flush says that it is in place": func(t *testing.T, s *scene) bool {
			prices(t, s.local, func(i int) float64 { return 1 })
			s.write(t)
			ok(t, s.b.conn.Flush(limit(t)))
			return price(t, s.target, 0) == 1
		},
		"a fence holds a write back": func(t *testing.T, s *scene) bool {
			prices(t, s.local, func(i int) float64 { return 1 })
			must(rdma.Read(s.b.conn, s.local.Span(0, 1), s.rem.Slice(0, 1)))(t)
			ok(t, s.b.conn.Fence())
			must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(1, 1)))(t)
			ok(t, s.b.conn.Flush(limit(t)))
			return price(t, s.local, 0) == 0
		},
		"a read finds earlier writes, and an atomic releases them": func(t *testing.T, s *scene) bool {
			prices(t, s.local, func(i int) float64 { return float64(i) })
			must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(1, 1)))(t)
			must(rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 8), 1))(t)
			ok(t, must(rdma.Read(s.b.conn, s.local.Span(5, 1), s.rem.Slice(0, 1)))(t).Wait(limit(t)))
			return price(t, s.local, 5) == 1 && price(t, s.target, 0) == 1
		},
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			if wrong := reordered(t, 60, program); wrong > 0 {
				t.Errorf("wrong with %d of 60 seeds", wrong)
			}
		})
	}
}

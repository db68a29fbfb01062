package rdma_test

import (
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
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
	for name, program := range sound {
		t.Run(name, func(t *testing.T) {
			if wrong := reordered(t, 60, program); wrong > 0 {
				t.Errorf("wrong with %d of 60 seeds", wrong)
			}
		})
	}
}

// sound is programs that rely on what docs/ordering.md gives, and on no more. They begin with a region of zeroes.
var sound = map[string]func(t *testing.T, s *scene) (right bool){
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
	"an atomic finds the word as a write before it left it": func(t *testing.T, s *scene) bool {
		ok(t, barewire.With(s.local, func(w sample.TickWindow[barewire.Local]) error {
			sample.TickAt(w, 0).SetSeq(40)
			return nil
		}))
		must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))(t)
		one := must(rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 0), 1))(t)
		two := must(rdma.CompareAndSwap(s.b.conn, sample.TickSeqOf(s.rem, 0), 41, 50))(t)
		must(rdma.Read(s.b.conn, s.local.Span(1, 1), s.rem.Slice(0, 1)))(t)
		ok(t, s.b.conn.Flush(limit(t)))
		var found uint64
		ok(t, barewire.With(s.local, func(w sample.TickWindow[barewire.Local]) error {
			found = sample.TickAt(w, 1).Seq()
			return nil
		}))
		return must(one.Wait(limit(t)))(t) == 40 && must(two.Wait(limit(t)))(t) == 41 && found == 50
	},
	"a fence holds a message back": func(t *testing.T, s *scene) bool {
		add := must(rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 9), 1))(t)
		must(rdma.Read(s.b.conn, s.local.Span(9, 1), s.rem.Slice(9, 1)))(t)
		ok(t, s.b.conn.Fence())
		ok(t, s.b.conn.SendBytes(limit(t), []byte{1}))
		must(s.a.conn.Receive(limit(t), make([]byte, 1)))(t)
		prices(t, s.target, func(int) float64 { return 7 })
		must(add.Wait(limit(t)))(t)
		ok(t, s.b.conn.Flush(limit(t)))
		return price(t, s.local, 9) == 0
	},
	"messages and notifications come in the order of posting": func(t *testing.T, s *scene) bool {
		ok(t, s.b.conn.SendBytes(limit(t), []byte{1}))
		must(rdma.WriteNotify(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1), 2))(t)
		ok(t, s.b.conn.SendBytes(limit(t), []byte{3}))
		must(s.a.conn.NextNotification(limit(t)))(t)
		st := s.a.conn.Stats()
		var b [2]byte
		first := must(s.a.conn.Receive(limit(t), b[:]))(t) == 1 && b[0] == 1
		return must(s.a.conn.Receive(limit(t), b[:]))(t) == 1 && b[0] == 3 && first && st.Messages >= 1
	},
}

// TestOrderElsewhere has the same programs over providers that keep time by themselves.
func TestOrderElsewhere(t *testing.T) {
	for name, open := range otherWorlds {
		for what, program := range sound {
			t.Run(name+"/"+what, func(t *testing.T) {
				for range 20 {
					if !program(t, open(t).scene(rdma.Config{})) {
						t.Fatal("wrong")
					}
				}
			})
		}
	}
}

// scene is a pair over the provider, with regions of 64 elements.
func (w *world) scene(cfg rdma.Config) *scene {
	w.Helper()
	s := &scene{pair: meet(w.T, w.config(cfg), w.address())}
	s.target = ticks(w.T, s.a.dom, 64, sample.TickRemoteReadWriteAtomic())
	s.local = ticks(w.T, s.b.dom, 64, sample.TickLocal())
	s.rem = share(w.T, &s.a, &s.b, "ticks", s.target, sample.TickRemoteReadWriteAtomic())
	return s
}

// TestReadsAreOrdered counts in a word while it is read twice, first with much behind it: what the second read
// finds is not older.
func TestReadsAreOrdered(t *testing.T) {
	for name, open := range otherWorlds {
		for what, transport := range map[string]rdma.Transport{"": nil, "/without checksums": rdma.IWARP{NoCRC: true}} {
			if transport != nil && name != "iwarp" {
				continue
			}
			t.Run(name+what, func(t *testing.T) { countAndRead(t, open(t), transport) })
		}
	}
}

func countAndRead(t *testing.T, w *world, transport rdma.Transport) {
	const n = 1024 // elements of 64 bytes
	p := meet(t, w.config(rdma.Config{Transport: transport}), w.address())
	target := ticks(t, p.a.dom, n, sample.TickRemoteReadAtomic())
	local := ticks(t, p.b.dom, n+1, sample.TickLocal())
	rem := share(t, &p.a, &p.b, "ticks", target, sample.TickRemoteReadAtomic())
	global := must(p.a.dom.GlobalAtomics())(t)
	stop, counted := make(chan struct{}), make(chan error)
	go func() {
		counted <- barewire.With(target, func(v sample.TickWindow[barewire.RemoteReadAtomic]) error {
			word := must(sample.TickSeqGlobal(v, 0, global))(t)
			for {
				select {
				case <-stop:
					return nil
				default:
				}
				for range 100 {
					word.Add(1)
				}
			}
		})
	}()
	for range 300 {
		both := p.b.conn.Batch() // so that they are answered together
		must(rdma.Read(both, local.Span(0, n), rem))(t)
		last := must(rdma.Read(both, local.Span(n, 1), rem.Slice(0, 1)))(t)
		ok(t, both.Post())
		ok(t, last.Wait(limit(t)))
		ok(t, barewire.With(local, func(v sample.TickWindow[barewire.Local]) error {
			if a, b := sample.TickAt(v, 0).Seq(), sample.TickAt(v, n).Seq(); b < a {
				t.Errorf("the first read found %d, the second %d", a, b)
			}
			return nil
		}))
		if t.Failed() {
			break
		}
	}
	close(stop)
	ok(t, <-counted)
}

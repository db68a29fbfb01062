//barewire:trust tests make zero values, and misuse what they have, to see the errors
package rdma_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// world is where a mistake is made: a provider, and how to meet there.
type world struct {
	*testing.T
	provider rdma.Provider
	fabric   *soft.Fabric  // nil over another provider
	address  func() string // one that nobody listens at
	lacks    string        // why its device has no atomics, if that is so
}

// otherWorlds are those beside soft, by name, where there are any.
var otherWorlds = map[string]func(t *testing.T) *world{}

func softWorld(t *testing.T, cfg soft.Config) *world {
	f := soft.New(cfg)
	return &world{T: t, provider: f, fabric: f, address: func() string { return "" }}
}

// config is cfg for the provider; what goes wrong on purpose is not logged.
func (w *world) config(cfg rdma.Config) rdma.Config {
	cfg.Provider, cfg.Logger = w.provider, slog.New(slog.DiscardHandler)
	return cfg
}

// stage is two connected sides with regions: target is a's, and rem is how b reaches it.
type stage struct {
	*pair
	w      *world
	ctx    context.Context
	target *barewire.Region[sample.Tick, barewire.CPU, barewire.RemoteReadWriteAtomic]
	local  *barewire.Region[sample.Tick, barewire.CPU, barewire.Local]
	rem    barewire.Remote[sample.Tick, barewire.RemoteReadWriteAtomic]
}

const stageLen = 10

func (w *world) stage(cfg rdma.Config) *stage {
	w.Helper()
	s := &stage{w: w, pair: meet(w.T, w.config(cfg), w.address()), ctx: limit(w.T)}
	s.fabric = w.fabric
	if cfg.Mode == rdma.Busy {
		pollUntilDone(w.T, s.a.conn)
	}
	s.target = ticks(w.T, s.a.dom, stageLen, sample.TickRemoteReadWriteAtomic())
	s.local = ticks(w.T, s.b.dom, stageLen, sample.TickLocal())
	s.rem = share(w.T, &s.a, &s.b, "ticks", s.target, sample.TickRemoteReadWriteAtomic())
	return s
}

// hold keeps operations of a verb from ending until what it returns is called.
func (s *stage) hold(v rdma.Verb) (release func()) {
	rule := s.fabric.Inject(soft.Fault{When: soft.When{At: soft.AtRequest, Verb: v}, Do: soft.Stall()})
	return rule.Remove
}

// TestMisuse commits each mistake of the catalogue that is caught at run time, or
// that cannot happen, through what users have.
func TestMisuse(t *testing.T) {
	for _, m := range catalogue {
		if m.commit == nil {
			continue // TestCatalogue wants it to be caught otherwise, or a reason
		}
		t.Run(fmt.Sprintf("%02d", m.n), func(t *testing.T) {
			if m.only != "iwarp" {
				t.Run("soft", func(t *testing.T) { m.try(softWorld(t, soft.Config{Seed: 1})) })
			}
			for name, open := range otherWorlds {
				if m.only == "" || m.only == name {
					t.Run(name, func(t *testing.T) { m.try(open(t)) })
				}
			}
		})
	}
}

// try commits the mistake and holds the error to what the catalogue says.
func (m *misuse) try(w *world) (text string) {
	w.Helper()
	if m.adds && w.lacks != "" {
		w.Skip(w.lacks)
	}
	err := m.commit(w)
	if len(m.is) == 0 {
		if err != nil {
			w.Errorf("%s: it was to be harmless: %v", m.mistake, err)
		}
		return ""
	}
	if err == nil {
		w.Fatalf("%s: nothing is said", m.mistake)
	}
	for _, reason := range m.is {
		if !errors.Is(err, reason) {
			w.Errorf("%v\nis not: %v", err, reason)
		}
	}
	for _, s := range m.says {
		if !strings.Contains(err.Error(), s) {
			w.Errorf("%v\nlacks %q", err, s)
		}
	}
	return err.Error()
}

// TestCatalogue: it is complete, and each entry has the test that it needs.
func TestCatalogue(t *testing.T) {
	compiled := map[int]bool{}
	for n := range refusals(t) {
		compiled[n] = true
	}
	if len(catalogue) != 51 {
		t.Errorf("%d entries, want 51", len(catalogue))
	}
	for i, m := range catalogue {
		if m.n != i+1 || m.mistake == "" || m.how == "" || len(m.ends) == 0 {
			t.Errorf("entry %d is not complete: %+v", i+1, m)
		}
		for _, e := range m.ends {
			if !slices.Contains([]string{atCompile, atRun, harmless, elsewhere}, e) && !strings.HasPrefix(e, byVet+" (BW5") {
				t.Errorf("entry %d ends in %q", m.n, e)
			}
		}
		if got := slices.Contains(m.ends, atCompile); got != compiled[m.n] {
			t.Errorf("entry %d: it says that it does not compile: %v; testdata has it: %v", m.n, got, compiled[m.n])
		}
		runs := slices.Contains(m.ends, atRun)
		if runs && (m.commit == nil || len(m.is) == 0 || len(m.says) == 0) {
			t.Errorf("entry %d is an error, and not tried, or nothing is asked of its text", m.n)
		}
		if !runs && len(m.is) > 0 || slices.Contains(m.ends, harmless) != (m.commit != nil && !runs) {
			t.Errorf("entry %d: what commits it does not fit how it ends", m.n)
		}
		if slices.Contains(m.ends, elsewhere) && len(m.ends) > 1 {
			t.Errorf("entry %d is not here, and yet is", m.n)
		}
	}
}

// ended is the first error of posting an operation, of its end, and of a flush after it.
func (s *stage) ended(op rdma.Op, err error) error {
	if err == nil {
		err = op.Wait(s.ctx)
	}
	if err == nil {
		err = s.b.conn.Flush(s.ctx)
	}
	return err
}

// passed is a reference to a region of a's, as b gets it in a message: then a does not
// know who has it.
func passed[A, B barewire.RemoteAccess](s *stage, mr *barewire.Region[sample.Tick, barewire.CPU, A], change func(ref *barewire.Ref), g barewire.Grant[sample.Tick, B]) barewire.Remote[sample.Tick, B] {
	s.w.Helper()
	b := must(barewire.AppendRemote(nil, must(rdma.RemoteOf(mr))(s.w)))(s.w)
	var ref barewire.Ref
	ok(s.w, ref.Decode(b))
	if change != nil {
		change(&ref)
	}
	return must(barewire.RemoteFrom(ref.Append(nil), g))(s.w)
}

// refusals is what the compiler says, by entry: computed once.
var compiled struct {
	once sync.Once
	by   map[int][]refusal
}

// soon calls f until it reports true.
func soon(t testing.TB, f func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen")
		}
	}
}

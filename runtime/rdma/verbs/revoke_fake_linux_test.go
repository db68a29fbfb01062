//go:build !lab && (amd64 || arm64)

package verbs

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// counting looks, when it is called, at how many registrations were made and ended since.
func counting(t testing.TB, p *Provider) (since func() (made, ended uint32)) {
	t.Helper()
	made, ended := abi.At(symbol(t, p, "fake_pinned")), abi.At(symbol(t, p, "fake_unpinned"))
	m, e := made.U32(0), ended.U32(0)
	return func() (uint32, uint32) { return made.U32(0) - m, ended.U32(0) - e }
}

// eachSettling runs a test on a device whose windows' end is all, and on one as rdma_rxe, where what is behind them has to end as well.
func eachSettling(t *testing.T, f func(t *testing.T, e *ends)) {
	for name, settles := range map[string]bool{"settles": true, "as rdma_rxe": false} {
		t.Run(name, func(t *testing.T) {
			e := connected(t, fake(t), rdma.Config{Logger: slog.New(slog.DiscardHandler)})
			e.da.adapter.settles, e.db.adapter.settles = settles, settles
			f(t, e)
		})
	}
}

// TestRevoke uses what was revoked. It costs no registration and ends none, or only the one behind the window.
func TestRevoke(t *testing.T) {
	eachSettling(t, func(t *testing.T, e *ends) {
		x := newBetween(t, e.da, e.db, mapped(t, 4096), mapped(t, 4096))
		want := uint32(0)
		if !e.db.adapter.settles {
			want = 1
		}
		spare := x.grant(t)
		since := counting(t, e.p)
		_, err := e.db.Revoke(t.Context(), spare)
		ok(t, err)
		if made, ended := since(); made != 0 || ended != want {
			t.Errorf("revoking made %d registrations and ended %d, want 0 and %d", made, ended, want)
		}
		checkRevoke(t, x, func() (a, b *queue) { return e.join(t) })
	})
}

func TestRevokeUnderTraffic(t *testing.T) {
	eachSettling(t, func(t *testing.T, e *ends) {
		x := newBetween(t, e.da, e.db, mapped(t, 4096), mapped(t, 4096))
		checkRevokeUnderTraffic(t, x, 20, func() (a, b *queue) { return e.join(t) })
	})
}

// TestRevokeTwice has the device refuse to give a window up: it is said, the peers know, and to revoke once more does it.
func TestRevokeTwice(t *testing.T) {
	eachSettling(t, func(t *testing.T, e *ends) {
		x := newBetween(t, e.da, e.db, mapped(t, 4096), mapped(t, 4096))
		ok(t, do(t.Context(), e.a, asked(rdma.VerbWrite, x.own, x.ownK, x.farK, 8)))
		held := abi.At(symbol(t, e.p, "fake_held"))
		held.Put32(0, 1)
		_, err := e.db.Revoke(t.Context(), x.farK)
		held.Put32(0, 0)
		if !errors.Is(err, syscall.EBUSY) || !strings.Contains(err.Error(), "far") {
			t.Fatalf("the device refuses: %v", err)
		}
		_, err = e.db.Revoke(t.Context(), x.farK)
		ok(t, err)
		var status *rdma.StatusError
		if err := e.a.Prepare(t.Context(), x.farK.R, x.farK.Epoch); !errors.As(err, &status) || status.Status != rdma.StatusRemoteKey {
			t.Errorf("a peer that asks for the key: %v", err)
		}
	})
}

// TestRevokeLostConnection loses a connection whose peer has used a window: the other peers use it as before, and revoking it is the same.
func TestRevokeLostConnection(t *testing.T) {
	eachSettling(t, func(t *testing.T, e *ends) {
		x := newBetween(t, e.da, e.db, mapped(t, 4096), mapped(t, 4096))
		ok(t, do(t.Context(), e.a, asked(rdma.VerbWrite, x.own, x.ownK, x.farK, 8)))
		e.b.Abort(errors.New("on purpose"))
		ok(t, e.b.Close())
		ok(t, e.a.Close())
		a, _ := e.join(t)
		ok(t, do(t.Context(), a, asked(rdma.VerbWrite, x.own, x.ownK, x.farK, 8)))
		_, err := e.db.Revoke(t.Context(), x.farK)
		ok(t, err)
		disobey(a)
		if err := do(t.Context(), a, asked(rdma.VerbWrite, x.own, x.ownK, x.farK, 8)); err == nil {
			t.Error("what was revoked is good")
		}
	})
}

// TestWindowsInOrder closes with windows of both types bound: they go before what they are bound to, that before the domain, and the queue
// pair that bound them with it.
func TestWindowsInOrder(t *testing.T) {
	for name, order := range map[string]func(e *ends, k rdma.Keys) []error{
		"domain":       func(e *ends, _ rdma.Keys) []error { return []error{e.db.Close()} },
		"device":       func(e *ends, _ rdma.Keys) []error { return []error{e.db.adapter.Close()} },
		"queue first":  func(e *ends, _ rdma.Keys) []error { return []error{e.b.Close(), e.db.Close()} },
		"region first": func(e *ends, k rdma.Keys) []error { return []error{e.db.Deregister(e.db.life, k), e.db.Close()} },
		"revoked": func(e *ends, k rdma.Keys) []error {
			_, err := e.db.Revoke(e.db.life, k)
			return []error{err, e.db.Close()}
		},
		"region after all": func(e *ends, k rdma.Keys) []error {
			return []error{e.db.Close(), e.db.Deregister(e.db.life, k), e.db.Close()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachSettling(t, func(t *testing.T, e *ends) {
				saw, since := witness(t, e.p), counting(t, e.p)
				k, err := e.db.Register(memory(mapped(t, 4096), "for all"), anyRight, nil)
				ok(t, err)
				_, err = e.db.Register(memory(mapped(t, 4096), "for one"), iregion.Read, e.b)
				ok(t, err)
				for i, err := range order(e, k) {
					if err != nil {
						t.Errorf("the step %d: %v", i, err)
					}
				}
				saw(2) // the connection's, and that which binds
				if made, ended := since(); ended != made+2 {
					t.Errorf("%d registrations were made, and %d ended, want two more: the domain's and the queue's", made, ended)
				}
			})
		})
	}
}

// TestWindowsUsedUp has no window left, and then none that can be bound: regions are registered all the same, revoking them registers them
// anew, and both is said.
func TestWindowsUsedUp(t *testing.T) {
	for name, c := range map[string]struct{ symbol, says string }{
		"none left":     {"fake_windows", "ibv_alloc_mw"},
		"none is bound": {"fake_unbound", "binding a memory window"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			var mu sync.Mutex
			var seen []rdma.Event
			p := fake(t)
			dev, err := rdma.Open(t.Context(), rdma.Config{Provider: p, Device: "fake0", Logger: slog.New(slog.NewTextHandler(&log, nil)), Observer: func(e rdma.Event) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, e)
			}})
			ok(t, err)
			defer dev.Close()
			dom, err := dev.Domain()
			ok(t, err)
			grant := func() *barewire.Region[sample.Tick, barewire.CPU, barewire.RemoteWrite] {
				r, err := barewire.New(sample.TickInCPU(), 8)
				ok(t, err)
				mr, err := rdma.Register(dom, r, sample.TickRemoteWrite())
				ok(t, err)
				return mr
			}
			limit := abi.At(symbol(t, p, c.symbol))
			first := grant()
			limit.Put32(0, 1)
			second := grant()
			grant()
			limit.Put32(0, 0)
			third := grant()
			if n := strings.Count(log.String(), "has no memory window"); n != 1 || !strings.Contains(log.String(), c.says) {
				t.Errorf("the log says it %d times: %s", n, log.String())
			}
			for i, r := range []*barewire.Region[sample.Tick, barewire.CPU, barewire.RemoteWrite]{first, second, third} {
				since := counting(t, p)
				ok(t, rdma.Revoke(t.Context(), r))
				mu.Lock()
				last := seen[len(seen)-1]
				mu.Unlock()
				made, ended := since()
				anew := i == 1
				if last.Kind != rdma.EventRevoked || errors.Is(last.Err, errors.ErrUnsupported) != anew || (made+ended > 0) != anew {
					t.Errorf("region %d: %d registrations were made, %d ended, and it said %v, %v", i, made, ended, last.Kind, last.Err)
				}
				if anew && !strings.Contains(last.Err.Error(), c.says) {
					t.Errorf("it said %v, want %q", last.Err, c.says)
				}
				ok(t, r.Close())
			}
		})
	}
}

// TestWindowsInVain has a device that says it has windows, and binds none: after some of them it is not asked any more.
func TestWindowsInVain(t *testing.T) {
	e := connected(t, fake(t), rdma.Config{Logger: slog.New(slog.DiscardHandler)})
	unbound := abi.At(symbol(t, e.p, "fake_unbound"))
	unbound.Put32(0, 1)
	defer unbound.Put32(0, 0)
	destroyed := abi.At(symbol(t, e.p, "fake_destroyed"))
	before := destroyed.U32(0)
	for range maxVain + 3 {
		k, err := e.db.Register(memory(mapped(t, 4096), "far"), iregion.Read, nil)
		ok(t, err)
		if why := e.db.find(k.L).why; !strings.Contains(why, "bind") {
			t.Errorf("it has no window since %q", why)
		}
	}
	if n := destroyed.U32(0) - before; n != maxVain {
		t.Errorf("%d queue pairs were made to bind with, want %d", n, maxVain)
	}
}

// TestRevokeWithoutWindows revokes on a device that has none, and where they cannot be: by registering anew, which says why.
func TestRevokeWithoutWindows(t *testing.T) {
	for name, c := range map[string]struct {
		variant, says string
		cfg           rdma.Config
	}{
		"none":      {"-DBARE", "the device has no memory windows", rdma.Config{}},
		"on demand": {"", "on demand", rdma.Config{OnDemand: true}},
	} {
		t.Run(name, func(t *testing.T) {
			e := connected(t, fakeOf(t, c.variant), c.cfg)
			k, err := e.db.Register(memory(mapped(t, 4096), "far"), iregion.Read, nil)
			ok(t, err)
			left, err := e.db.Revoke(t.Context(), k)
			if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), c.says) || left != (rdma.Keys{}) {
				t.Errorf("it said %v, want %q", err, c.says)
			}
			ok(t, e.db.Deregister(t.Context(), k))
		})
	}
}

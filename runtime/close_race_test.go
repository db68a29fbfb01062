package barewire_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
)

// TestCloseMeanwhile closes regions while others use them: each use is whole, or refused.
func TestCloseMeanwhile(t *testing.T) {
	for range 50 {
		r, err := barewire.New(sample.TickInCPU(), 1)
		if err != nil {
			t.Fatal(err)
		}
		var g sync.WaitGroup
		for _, use := range []func() error{
			func() error { return second(barewire.Backing(r)) },
			func() error { return second(barewire.Placement(r)) },
			func() error {
				return barewire.With(r, func(w sample.TickWindow[barewire.Unregistered]) error {
					sample.TickSeqAtomic(w, 0).Add(1)
					return nil
				})
			},
			func() error {
				_, _ = r.String(), r.Span(0, 1)
				return second(barewire.Open((*barewire.Region[sample.Tick, barewire.CPU, barewire.Unregistered])(nil)))
			},
		} {
			g.Go(func() {
				for {
					err := use()
					switch {
					case errors.Is(err, barewire.ErrReleased), errors.Is(err, barewire.ErrNoRegion):
						return
					case err != nil:
						t.Error(err)
						return
					}
				}
			})
		}
		for err = r.Close(); err != nil; err = r.Close() {
			if !errors.Is(err, barewire.ErrBorrowed) && !errors.Is(err, barewire.ErrInFlight) {
				t.Fatal(err)
			}
		}
		g.Wait()
	}
}

func second[V any](_ V, err error) error { return err }

// TestOddName: a name goes to terminals and logs, and says nothing to them but itself.
func TestOddName(t *testing.T) {
	r, err := barewire.New(sample.TickInCPU(), 1, barewire.Named("a\nb\x1b[31m\xff"))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.String(); !strings.HasPrefix(got, `region "a\nb\x1b[31m\xff" of sample.Tick made at `) {
		t.Errorf("%q", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); !errors.Is(err, barewire.ErrReleased) || strings.ContainsAny(err.Error(), "\n\x1b") || !utf8.ValidString(err.Error()) {
		t.Errorf("%q", err)
	}
}

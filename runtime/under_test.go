package barewire_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// TestUnder: a configuration's memory limit counts what regions hold, and what was closed no more.
func TestUnder(t *testing.T) {
	m, err := platform.Detect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r, err := platform.Configure(m, platform.WithMemoryLimit(1000), platform.WithHugePages(platform.HugeTry))
	if err != nil {
		t.Fatal(err)
	}
	one, err := barewire.New(sample.TickInCPU(), 10, barewire.Under(r)) // of 64 bytes
	if err != nil {
		t.Fatal(err)
	}
	_, err = barewire.New(sample.TickInCPU(), 6, barewire.Under(r), barewire.Named("second"))
	if !errors.Is(err, platform.ErrMemoryLimit) || !errors.Is(err, barewire.ErrNoMemory) || !strings.Contains(err.Error(), "second") {
		t.Errorf("640 and 384 bytes of 1000: %v", err)
	}
	if r.Reserved() != 640 {
		t.Errorf("%d bytes are reserved, want 640", r.Reserved())
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if r.Reserved() != 0 {
		t.Errorf("%d bytes are reserved after all was closed", r.Reserved())
	}
	again, err := barewire.New(sample.TickInCPU(), 15, barewire.Under(r), barewire.Under(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnderHugePages: huge pages that a configuration tries to have are those of the option.
func TestUnderHugePages(t *testing.T) {
	const elements = 8 << 20 / 64
	var got [2]string
	for i, o := range []barewire.Option{barewire.Under(&platform.Resolved{HugePages: platform.HugeTry, MemoryLimit: 1 << 40}), barewire.HugePages()} {
		r, err := barewire.New(sample.TickInCPU(), elements, o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := barewire.Backing(r)
		if err != nil {
			t.Error(err)
		}
		got[i] = b.Huge
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	own, files := platform.TransparentHugePages(os.DirFS("/"))
	some := own.Or("never") != "never" || files.Or("never") == "always"
	if got[0] != got[1] || got[0] == "" && some && !region.Race {
		t.Errorf("%q, and by the option %q; own %v, files %v", got[0], got[1], own, files)
	}
}

// TestUnderMustHave: what must have huge pages is refused where there are none, and counts for nothing.
func TestUnderMustHave(t *testing.T) {
	r := &platform.Resolved{HugePages: platform.HugeMust, MemoryLimit: 1 << 40}
	one, err := barewire.New(sample.TickInCPU(), 1, barewire.Under(r))
	if err != nil {
		if !errors.Is(err, barewire.ErrNoMemory) || !strings.Contains(err.Error(), "huge pages") || r.Reserved() != 0 {
			t.Errorf("%v, %d bytes are reserved", err, r.Reserved())
		}
		return
	}
	if b, err := barewire.Backing(one); err != nil || b.Huge != "reserved" && !region.Race {
		t.Errorf("%+v, %v", b, err)
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
}

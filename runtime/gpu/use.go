package gpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

var providers struct {
	mu   sync.Mutex
	list []Provider
}

// Use makes a provider known to [Devices] and [Open]. Providers' packages call it when they are imported. One with a name that
// is known already takes its place.
func Use(p Provider) {
	if p == nil {
		return
	}
	providers.mu.Lock()
	defer providers.mu.Unlock()
	providers.list = slices.DeleteFunc(providers.list, func(old Provider) bool { return old.Name() == p.Name() })
	providers.list = append(providers.list, p)
}

// Config says what device is wanted. The zero Config: the best that is there.
type Config struct {
	// Device is a provider ("opencl"), or a device of one ("cuda/0"). Empty: any.
	Device string
	// Provider is where the device is looked for; nil: those that were imported.
	Provider Provider
	// Patience bounds calls that take no context and have the driver do something: allocating, closing. 0: DefaultPatience; negative: they
	// wait for as long as the driver takes. Then they are [ErrHung]; what the driver has not taken back is nobody else's meanwhile.
	Patience time.Duration
}

// patience is how long that is.
func (c Config) patience() time.Duration {
	switch {
	case c.Patience == 0:
		return DefaultPatience
	case c.Patience < 0:
		return forever
	}
	return c.Patience
}

// found is a device and who has it.
type found struct {
	info DeviceInfo
	by   Provider
}

// Devices lists what the providers in use have, usable ones first and CUDA before others, also what cannot be used: State says
// why. The error joins those of providers that could not look; what the others have is listed nevertheless. It is ctx's where that has ended.
func Devices(ctx context.Context) ([]DeviceInfo, error) {
	if err := alive(ctx); err != nil {
		return nil, fmt.Errorf("gpu: devices: %w", err)
	}
	all, err := look(ctx, nil)
	infos := make([]DeviceInfo, len(all))
	for i, f := range all {
		infos[i] = f.info
	}
	return infos, err
}

// look asks a provider, or all in use, for devices, and orders them.
func look(ctx context.Context, only Provider) (all []found, err error) {
	providers.mu.Lock()
	ps := slices.Clone(providers.list)
	providers.mu.Unlock()
	if only != nil {
		ps = []Provider{only}
	}
	var errs []error
	for _, p := range ps {
		infos, err := bounded(ctx, func() ([]DeviceInfo, error) { return p.Devices(ctx) }, nil)
		if err != nil {
			errs = append(errs, fmt.Errorf("provider %s: %w", p.Name(), err))
		}
		for _, info := range infos {
			info.Provider = p.Name()
			all = append(all, found{info, p})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(rank(a.info), rank(b.info)), strings.Compare(a.info.Provider, b.info.Provider))
	})
	return all, errors.Join(errs...)
}

// rank orders devices.
func rank(d DeviceInfo) int {
	r := 0
	if d.State != StateReady {
		r += 2
	}
	if d.Provider != "cuda" {
		r++
	}
	return r
}

// Open opens the best device that is what is wanted. The error is [ErrNoDevice] and says of each device that there is why it is
// not taken; or ctx's where that has ended. Who opened it closes it.
//
//barewire:effect fresh=0 on ok
func Open(ctx context.Context, cfg Config) (*Device, error) {
	if err := alive(ctx); err != nil {
		return nil, fmt.Errorf("gpu: open: %w", err)
	}
	all, err := look(ctx, cfg.Provider)
	var why []string
	if err != nil {
		why = append(why, err.Error())
	}
	for _, f := range all {
		name := f.info.Provider + "/" + f.info.Name
		switch {
		case cfg.Device != "" && cfg.Device != f.info.Provider && cfg.Device != name:
			why = append(why, fmt.Sprintf("%s is not %q", name, cfg.Device))
			continue
		case f.info.State != StateReady:
			why = append(why, name+": "+cmp.Or(f.info.State, "in an unknown state"))
			continue
		}
		ad, err := openBy(ctx, f)
		if err != nil {
			why = append(why, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		return newDevice(ad, f.info, cfg.patience()), nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("gpu: open: %w; %s", context.Cause(ctx), strings.Join(why, "; "))
	}
	if len(why) == 0 {
		why = append(why, "no provider is in use; import runtime/gpu/cuda or runtime/gpu/opencl")
	}
	return nil, wrap(ErrNoDevice, "open: %s", strings.Join(why, "; "))
}

// openBy has a provider open a device of its own.
func openBy(ctx context.Context, f found) (Adapter, error) {
	return bounded(ctx, func() (Adapter, error) { return f.by.Open(ctx, f.info.Name) }, func(ad Adapter, err error) {
		if err == nil {
			_ = ad.Close()
		}
	})
}

package rdma

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

var providers struct {
	mu   sync.Mutex
	list []Provider
}

// Use makes a provider known to [Devices] and [Open]. Providers' packages call
// it when they are imported. One with a name that is known already takes its place.
func Use(p Provider) {
	if p == nil || isNilPointer(p) {
		return
	}
	providers.mu.Lock()
	defer providers.mu.Unlock()
	name := p.Name()
	providers.list = slices.DeleteFunc(providers.list, func(old Provider) bool { return old.Name() == name })
	providers.list = append(providers.list, p)
}

// inUse is the providers that are known now.
func inUse() []Provider {
	providers.mu.Lock()
	defer providers.mu.Unlock()
	return slices.Clone(providers.list)
}

// Devices lists what the providers in use have, best first, also what cannot be
// used now; State says why. The error joins those of providers that could not
// look; what the others have is listed nevertheless.
func Devices(ctx context.Context) ([]DeviceInfo, error) {
	found, err := look(ctx, inUse())
	infos := make([]DeviceInfo, len(found))
	for i, f := range found {
		infos[i] = f.info
	}
	return infos, err
}

// found is a device and who has it.
type found struct {
	info DeviceInfo
	by   Provider
}

// look asks providers for their devices, and orders them.
func look(ctx context.Context, ps []Provider) ([]found, error) {
	var all []found
	var errs []error
	for _, p := range ps {
		infos, err := p.Devices(ctx)
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

// rank orders devices: usable ones first, then by what they cost the processor,
// then software that reaches further before software that does not: see [Open].
func rank(d DeviceInfo) int {
	r := slices.Index([]string{"InfiniBand", "RoCEv2", "RoCEv1", "iWARP", "SoftRDMA"}, d.Transport)
	if r < 0 {
		r = 5
	}
	r *= 2
	if d.Provider == "soft" || d.Provider == "iwarp" { // and a card of the same transport before software
		r++
	}
	if d.State != StateActive {
		r += 100
	}
	return r
}

// wants reports whether a configuration would take a device, and else why not. That it could not be used anyhow is said too: of a
// provider that has no device there may be one that says why, and it has another name.
func (c *Config) wants(d DeviceInfo) (bool, string) {
	state := ""
	if d.State != StateActive {
		state = "it is " + cmp.Or(d.State, "in an unknown state")
	}
	why := ""
	if c.Device != "" && c.Device != d.Provider && c.Device != d.Name && c.Device != d.Provider+"/"+d.Name {
		why = fmt.Sprintf("it is not %q", c.Device)
	} else if c.Transport != nil && c.Transport.String() != d.Transport {
		why = fmt.Sprintf("it is %s, and %s is wanted", d.Transport, c.Transport)
	}
	switch {
	case why != "" && state != "":
		why += ", and " + state
	case state != "":
		why = state
	}
	return why == "", why
}

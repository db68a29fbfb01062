package rdma

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// Device is an open device. It may be used from several goroutines; whoever
// opened it closes it.
type Device struct {
	adapter Adapter
	cfg     Config
	info    DeviceInfo
	limits  Limits
	why     string

	closing closing
	mu      sync.Mutex
	closed  bool
	domains map[*Domain]struct{}
	past    Stats // of connections that are closed
}

// Open opens the device that the configuration asks for: the best that is
// there, software where there is nothing else. [Device.Why] says what was taken
// and why.
//
// Where several would do it takes the one that reaches furthest, since nothing says yet where the peers
// are: network cards first (InfiniBand, RoCEv2, RoCEv1, iWARP), then package iwarp, which is iWARP in software and
// reaches other hosts by TCP, then shm, for processes of this host, then soft, for this process and for tests.
// Between processes of one host shm is faster than iwarp, so a program whose peers are all here says
// Config{Device: "shm"}; one that has both kinds opens both devices, and registers its regions with both ([Also]).
//
// The error is [ErrConfig], or [ErrNoDevice] with what was seen and why
// each would not do.
func Open(ctx context.Context, cfg Config) (*Device, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, fmt.Errorf("rdma: open: %w", err)
	}
	providers := inUse()
	if cfg.Provider != nil {
		providers = []Provider{cfg.Provider}
	}
	all, lookErr := look(ctx, providers)
	var passed []string
	for i, f := range all {
		name := f.info.Provider + "/" + f.info.Name
		ok, reason := cfg.wants(f.info)
		if !ok {
			passed = append(passed, name+": "+reason)
			continue
		}
		adapter, err := openOn(ctx, f, &cfg)
		if err != nil {
			passed = append(passed, name+": "+err.Error())
			if ctx.Err() != nil {
				break
			}
			continue
		}
		d := &Device{adapter: adapter, cfg: cfg, info: adapter.Info(), limits: adapter.Limits(), domains: map[*Domain]struct{}{}}
		d.info.Provider = f.info.Provider
		d.why = reasonFor(f.info, append(passed, cfg.unusable(all[i+1:])...), cfg.behind(all[i+1:]))
		return d, nil
	}
	if lookErr != nil {
		passed = append(passed, lookErr.Error())
	}
	return nil, noDevice(ctx, &cfg, providers, passed)
}

// openOn opens a found device. Our own messages take some of the queue, so a
// little more is asked for than the user sees.
func openOn(ctx context.Context, f found, cfg *Config) (Adapter, error) {
	own := *cfg
	own.Depth += controlDepth
	a, err := f.by.Open(ctx, f.info.Name, &own)
	if err != nil {
		return nil, err
	}
	if l := a.Limits(); l.Depth < 2 || l.Segments < 1 || l.MaxTransfer < 1 || l.MaxMessage < minMessage {
		return nil, errors.Join(fmt.Errorf("its limits are too low: depth %d, segments %d, transfer %d, message %d", l.Depth, l.Segments, l.MaxTransfer, l.MaxMessage), a.Close())
	}
	return a, nil
}

// behind names the devices that would have done, and were not needed.
func (c *Config) behind(rest []found) (names []string) {
	for _, f := range rest {
		if ok, _ := c.wants(f.info); ok {
			names = append(names, f.info.Provider+"/"+f.info.Name+", which reaches "+reach(f.info))
		}
	}
	return names
}

// unusable names the devices that would have done, and perhaps better, if they could be used, and why they cannot.
func (c *Config) unusable(rest []found) (names []string) {
	for _, f := range rest {
		could := f.info
		could.State = StateActive
		if ok, why := c.wants(f.info); !ok {
			if ok, _ = c.wants(could); ok {
				names = append(names, f.info.Provider+"/"+f.info.Name+": "+why)
			}
		}
	}
	return names
}

// reach is how far a device's connections go.
func reach(d DeviceInfo) string {
	switch {
	case d.Provider == "soft":
		return "this process only"
	case d.Transport == "SoftRDMA":
		return "this host only"
	}
	return "other hosts"
}

// reasonFor says why a device was taken.
func reasonFor(info DeviceInfo, passed, behind []string) string {
	s := fmt.Sprintf("%s/%s (%s) is the best that is there", info.Provider, info.Name, info.Transport)
	if len(behind) > 0 {
		s += ", since it reaches " + reach(info) + "; Config.Device can name instead: " + strings.Join(behind, "; ")
	}
	if len(passed) > 0 {
		s += "; passed over: " + strings.Join(passed, "; ")
	}
	return s
}

// noDevice is the error of an Open that found none.
func noDevice(ctx context.Context, cfg *Config, ps []Provider, passed []string) error {
	want := "any"
	if cfg.Device != "" {
		want = fmt.Sprintf("%q", cfg.Device)
	}
	if cfg.Transport != nil {
		want += " with " + cfg.Transport.String()
	}
	var why string
	switch {
	case len(ps) == 0:
		why = "no provider is linked; import one, as in _ \"github.com/fidelityframework/barewire-gen/runtime/rdma/shm\""
	case len(passed) == 0:
		why = "the providers in use have no device"
	default:
		why = strings.Join(passed, "; ")
	}
	err := fmt.Errorf("rdma: open: %w (wanted: %s): %s", ErrNoDevice, want, why)
	if ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	return err
}

// Info is what the device is.
func (d *Device) Info() DeviceInfo {
	if d.none() {
		return DeviceInfo{}
	}
	return d.info
}

// Limits is what the device can do.
func (d *Device) Limits() Limits {
	if d.none() {
		return Limits{}
	}
	return d.limits
}

// Why says why this device was taken, and why others were not.
func (d *Device) Why() string {
	if d.none() {
		return ""
	}
	return d.why
}

// Domain makes a protection domain: regions that are registered in it and
// connections that are made in it may be used together, with no others.
//
//barewire:effect fresh=0 on ok
func (d *Device) Domain() (*Domain, error) {
	if d.none() {
		return nil, errNoDevice
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, wrap(ErrClosed, "device %s: new domain", d.info.Name)
	}
	pd, err := d.adapter.NewDomain()
	if err != nil {
		return nil, fmt.Errorf("rdma: device %s: new domain: %w", d.info.Name, err)
	}
	dom := &Domain{dev: d, pd: pd, conns: map[*Conn]struct{}{}, listeners: map[*Listener]struct{}{}}
	d.domains[dom] = struct{}{}
	return dom, nil
}

// Close closes the device with its domains, and so their connections. Closing
// again waits until it is closed, and does nothing; if that failed because a peer is still in the memory
// of a region, it tries again: see [Domain.Close].
//
//barewire:effect flushes=d
func (d *Device) Close() error {
	if d.none() {
		return errNoDevice
	}
	return d.closing.do(d.close)
}

func (d *Device) close() (done bool, err error) {
	d.mu.Lock()
	d.closed = true
	var doms []*Domain
	for dom := range d.domains {
		doms = append(doms, dom)
	}
	d.mu.Unlock()
	var errs []error
	for _, dom := range doms {
		errs = append(errs, dom.Close())
	}
	d.mu.Lock()
	done = len(d.domains) == 0
	d.mu.Unlock()
	if done {
		errs = append(errs, d.adapter.Close())
	}
	return done, errors.Join(errs...)
}

// forget takes a closed domain off the list.
func (d *Device) forget(dom *Domain) {
	d.mu.Lock()
	delete(d.domains, dom)
	d.mu.Unlock()
}

// keep counts what a connection did that is being closed.
func (d *Device) keep(s Stats) {
	d.mu.Lock()
	d.past.sum(s)
	d.mu.Unlock()
}

// GlobalAtomics is the witness that this processor's atomics and those of peers
// on one word of the domain's regions are atomic together. The error is
// [barewire.ErrNotGlobal] where the device does not say so: then local code may load such
// words, and all that changes them goes through operations.
func (dom *Domain) GlobalAtomics() (barewire.GlobalAtomics, error) {
	if dom.none() {
		return barewire.GlobalAtomics{}, errNoDomain
	}
	if !dom.dev.limits.AtomicGlobal {
		return barewire.GlobalAtomics{}, wrap(barewire.ErrNotGlobal, "device %s", dom.dev.info.Name)
	}
	return barewire.MintGlobalAtomics(friend, dom), nil
}

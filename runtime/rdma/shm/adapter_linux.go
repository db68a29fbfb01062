package shm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// maxTransfer is the longest range of one key, and of one operation.
const maxTransfer = math.MaxInt / 2

// Devices lists the host itself.
func (provider) Devices(context.Context) ([]rdma.DeviceInfo, error) {
	return []rdma.DeviceInfo{info()}, nil
}

func info() rdma.DeviceInfo {
	return rdma.DeviceInfo{
		Provider: "shm", Name: deviceName, Transport: "SoftRDMA", State: rdma.StateActive,
		Detail: "processes of one host, by shared memory",
	}
}

// Open opens the device.
func (provider) Open(_ context.Context, name string, cfg *rdma.Config) (rdma.Adapter, error) {
	if name != deviceName && name != "" {
		return nil, fmt.Errorf("shm: there is no device %q, only %q", name, deviceName)
	}
	if cfg != nil && cfg.TLS != nil {
		return nil, fmt.Errorf("shm: open: %w: there is no network here for Config.TLS to protect", rdma.ErrConfig)
	}
	if cfg != nil && cfg.Plain {
		return nil, fmt.Errorf("shm: open: %w: all its peers are programs with this package; leave Config.Plain out", rdma.ErrConfig)
	}
	return newAdapter(cfg), nil
}

// adapter is the open device: what its domains have in common.
type adapter struct {
	limits    rdma.Limits
	layout    layout
	spin      bool
	handshake time.Duration // for a hello and its answer
	notReady  time.Duration // how long a send waits for a receive
	letGo     time.Duration // how long Deregister waits for an access in progress
	trusts    func(peer unix.Ucred) bool

	mu      sync.Mutex
	closed  bool
	domains map[*domain]struct{}
}

// What a configuration without values gets, and what bounds are put on one with values.
const (
	defaultDepth     = 128
	defaultMessage   = 4096
	defaultHandshake = 10 * time.Second
	maxNotReady      = 5 * time.Second
	maxLetGo         = 2 * time.Second
	minArena         = 256 << 10
	maxKeys          = 1 << 12
)

func newAdapter(cfg *rdma.Config) *adapter {
	if cfg == nil {
		cfg = &rdma.Config{}
	}
	positive := func(v, otherwise int) int {
		if v <= 0 {
			return otherwise
		}
		return v
	}
	a := &adapter{
		limits: rdma.Limits{
			Depth:        min(positive(cfg.Depth, defaultDepth), maxEntries),
			Segments:     rdma.MaxSegments,
			MaxMessage:   min(positive(cfg.MaxMessage, defaultMessage), maxArena/2),
			MaxTransfer:  maxTransfer,
			AtomicGlobal: true,
			ConnGrants:   true,
			FileMemory:   true,
		},
		spin:      cfg.Mode == rdma.Adaptive,
		handshake: defaultHandshake,
		notReady:  maxNotReady,
		letGo:     maxLetGo,
		trusts:    sameUser,
		domains:   map[*domain]struct{}{},
	}
	if cfg.HandshakeTimeout > 0 {
		a.handshake = cfg.HandshakeTimeout
	}
	if cfg.OpTimeout > 0 {
		a.notReady = min(a.notReady, cfg.OpTimeout)
	}
	a.layout = layout{
		entries: ceilPow2(min(max(a.limits.Depth, 2*cfg.Credits), maxEntries)),
		arena:   ceilPow2(max(2*a.limits.MaxMessage, minArena)),
		slots:   maxKeys,
		longest: uint32(a.limits.MaxMessage),
	}
	return a
}

// Info describes the device.
func (a *adapter) Info() rdma.DeviceInfo { return info() }

// Limits are what it can do.
func (a *adapter) Limits() rdma.Limits { return a.limits }

// NewDomain makes a protection domain.
func (a *adapter) NewDomain() (rdma.ProtectionDomain, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, errClosed
	}
	d := newDomain(a)
	a.domains[d] = struct{}{}
	return d, nil
}

// Close ends what is left of the domains. The error says whose memory a peer is still in; then Close may be called again.
func (a *adapter) Close() error {
	a.mu.Lock()
	a.closed = true
	domains := slices.Collect(maps.Keys(a.domains))
	a.mu.Unlock()
	var errs []error
	for _, d := range domains {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// forget takes out a domain that closed.
func (a *adapter) forget(d *domain) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.domains, d)
}

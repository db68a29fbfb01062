package iwarp

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

const (
	providerName = "iwarp"
	deviceName   = "tcp"
)

// Options are what a provider connects with. The zero value is TCP of this host's.
type Options struct {
	// Dial connects to an address; nil: TCP. The connection is closed by this package, and must
	// support deadlines. Where it is a *net.TCPConn it gets the options of one, as far as they can be set once it is
	// connected: the segments of rdma.IWARP.MTU cannot.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// Listen listens at an address; nil: TCP. The listener is closed by this package. Its Accept returns
	// net.ErrClosed after that.
	Listen func(ctx context.Context, addr string) (net.Listener, error)
}

// Provider makes adapters. It may be used from several goroutines.
type Provider struct{ opts Options }

var _ rdma.Provider = (*Provider)(nil)

var standard = New(Options{})

func init() { rdma.Use(standard) }

// New makes a provider. What importing this package puts in use is New(Options{}).
func New(opts Options) *Provider { return &Provider{opts: opts} }

// Name is "iwarp".
func (*Provider) Name() string { return providerName }

// Devices is one, "tcp", which is always there.
func (*Provider) Devices(context.Context) ([]rdma.DeviceInfo, error) {
	return []rdma.DeviceInfo{device}, nil
}

var device = rdma.DeviceInfo{
	Provider: providerName, Name: deviceName, Transport: "iWARP", State: rdma.StateActive,
	Detail: "in software, over TCP",
}

// Open makes an adapter. Each call gives another one: closing it ends what was made from it, and no more. The error is
// rdma.ErrConfig where the configuration asks for what this host cannot do.
func (p *Provider) Open(ctx context.Context, name string, cfg *rdma.Config) (rdma.Adapter, error) {
	if p == nil {
		return nil, errors.New("iwarp: open: a nil Provider: New makes them")
	}
	if name != "" && name != deviceName {
		return nil, fmt.Errorf("iwarp: there is no device %q: its only one is %q", name, deviceName)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("iwarp: open: %w", err)
	}
	a, err := newAdapter(p.opts, cfg)
	if err != nil {
		return nil, fmt.Errorf("iwarp: open: %w", err)
	}
	return a, nil
}

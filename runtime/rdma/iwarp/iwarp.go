// Package iwarp is the provider of RDMA over TCP, in Go alone: RFC 5040 (RDMAP), RFC 5041 (DDP) and RFC 5044 (MPA) with
// the set-up of RFC 6581, and RFC 7306 (atomics, immediate data) between programs with this package. It needs no
// device and no privilege, and is what is used between hosts where there is nothing better. Importing it puts its device,
// "tcp", in use.
//
// # Addresses
//
// An address is host:port, of IPv4 or IPv6, as for package net. An empty one stands for a free port of 127.0.0.1; to
// be reached from other hosts give ":7471" or the address of an interface.
//
// # What is on the wire
//
// Between programs with this package the private data of the set-up are those of package rdma and 8 octets of this
// package's, at most 48 octets in all. Other programs (rping on siw, or on a network card) see none of it: with
// [rdma.Config.Plain], and in the answer to a peer that did not say it is ours, there is nothing but what the RFCs ask
// for. Markers are never used, and a peer that insists on them is refused. Checksums are used unless both sides want
// none ([rdma.IWARP.NoCRC]) and the connection stays on one host or is under TLS.
//
// # Whom it trusts
//
// Nobody. A key is random, as is the address that a peer knows a region by, and what a peer asks for is
// checked before a byte moves; but without [rdma.Config.TLS] whoever can reach the port can try, and
// whoever is on the path can read and write. The first key that is not good ends the connection, and a source that does
// such things waits longer each time. Those of the same host are let off this wait: all of 127.0.0.0/8 is
// theirs to come from.
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

package iwarp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// What a configuration without values gets, and what bounds are put on one with values.
const (
	maxTransfer      = 1 << 30 // bytes of one read or write; the wire has 32 bits for it
	maxInbound       = 128     // reads and atomics at a time, of a peer and of ours
	defaultDepth     = 128
	defaultMessage   = 4096
	defaultConns     = 1024
	defaultHandshake = 10 * time.Second
)

// adapter is the open device: what its domains have in common. All but the last group is not changed.
type adapter struct {
	opts      Options
	depth     int // work requests outstanding
	receives  int // that there is room for
	message   int // bytes of a send
	inbound   int // reads and atomics at a time
	conns     int // connections of a domain
	plain     bool
	mode      rdma.Mode
	noCRC     bool
	secure    *tls.Config // nil: no TLS
	sock      sockOptions
	handshake time.Duration
	logger    *slog.Logger

	sentry sentry

	mu      sync.Mutex
	closed  bool
	domains map[*domain]bool
}

var errClosed = errors.New("it is closed")

func newAdapter(opts Options, cfg *rdma.Config) (*adapter, error) {
	if cfg == nil {
		cfg = &rdma.Config{}
	}
	t, _ := cfg.Transport.(rdma.IWARP)
	a := &adapter{
		opts:      opts,
		depth:     positive(cfg.Depth, defaultDepth),
		message:   positive(cfg.MaxMessage, defaultMessage),
		conns:     positive(cfg.MaxConns, defaultConns),
		inbound:   maxInbound,
		plain:     cfg.Plain,
		mode:      cfg.Mode,
		noCRC:     t.NoCRC,
		handshake: positive(cfg.HandshakeTimeout, defaultHandshake),
		logger:    cmp.Or(cfg.Logger, slog.Default()),
		domains:   map[*domain]bool{},
	}
	a.receives = max(a.depth, 2*cfg.Credits)
	a.sock = sockOptions{dscp: cfg.DSCP, mtu: explicitMTU(cfg)}
	if err := a.sock.possible(); err != nil {
		return nil, fmt.Errorf("%w: %w", rdma.ErrConfig, err)
	}
	return a, a.useTLS(cfg)
}

func positive[N int | time.Duration](v, otherwise N) N {
	if v <= 0 {
		return otherwise
	}
	return v
}

// explicitMTU is the packet size that was asked for, or 0. Config.MTU is filled in where it was not: it counts only
// where it is not what rdma.IWARP fills in.
func explicitMTU(cfg *rdma.Config) int {
	const filledIn = 1500
	t, ok := cfg.Transport.(rdma.IWARP)
	if ok && t.MTU == 0 && cfg.MTU != filledIn {
		return cfg.MTU
	}
	return t.MTU
}

// Info describes the device.
func (a *adapter) Info() rdma.DeviceInfo { return device }

// Limits are what it can do.
func (a *adapter) Limits() rdma.Limits {
	return rdma.Limits{
		Depth: a.depth, Segments: rdma.MaxSegments, MaxMessage: a.message, MaxTransfer: maxTransfer,
		AtomicGlobal: true, ConnGrants: true, Solicited: true, Invalidate: true,
	}
}

// NewDomain makes a protection domain.
func (a *adapter) NewDomain() (rdma.ProtectionDomain, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, fmt.Errorf("iwarp: new domain: the adapter: %w", errClosed)
	}
	d := newDomain(a)
	a.domains[d] = true
	return d, nil
}

// Close ends the adapter and everything made from it. After an error it may be called again.
func (a *adapter) Close() error {
	a.mu.Lock()
	a.closed = true
	var domains []*domain
	for d := range a.domains {
		domains = append(domains, d)
	}
	a.mu.Unlock()
	var errs []error
	for _, d := range domains {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

func (a *adapter) forget(d *domain) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.domains, d)
}

// dial connects, with the options of the socket.
func (a *adapter) dial(ctx context.Context, addr string) (net.Conn, error) {
	var conn net.Conn
	var err error
	if a.opts.Dial != nil {
		conn, err = a.opts.Dial(ctx, addr)
		if err == nil && conn == nil {
			err = errors.New("Options.Dial returned no connection")
		}
	} else {
		d := net.Dialer{Control: a.sock.control}
		d.SetMultipathTCP(false)
		conn, err = d.DialContext(ctx, "tcp", addr)
	}
	if err != nil {
		return nil, err
	}
	if err := a.settle(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// listen listens, with the options of the socket.
func (a *adapter) listen(ctx context.Context, addr string) (net.Listener, error) {
	if a.opts.Listen != nil {
		l, err := a.opts.Listen(ctx, addr)
		if err == nil && l == nil {
			err = errors.New("Options.Listen returned no listener")
		}
		return l, err
	}
	lc := net.ListenConfig{Control: a.sock.control}
	lc.SetMultipathTCP(false) // segments are those of one path
	return lc.Listen(ctx, "tcp", cmp.Or(addr, "127.0.0.1:0"))
}

// settle sets the options of a connection that is made, where it is TCP.
func (a *adapter) settle(conn net.Conn) error {
	if tcp, ok := conn.(*net.TCPConn); ok {
		return a.sock.apply(tcp)
	}
	return nil
}

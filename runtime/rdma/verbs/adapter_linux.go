//go:build amd64 || arm64

package verbs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// What a configuration without values gets, and bounds.
const (
	defaultDepth     = 128
	defaultMessage   = 4096
	defaultHandshake = 10 * time.Second
	maxTransfer      = 1 << 30
	leastMessage     = 512
)

// adapter is an open device: an ibv_context of its own. What follows the mutex is guarded by it.
type adapter struct {
	lib       *library
	port      port
	ctx       uintptr // struct ibv_context
	index     int     // see Options.GIDIndex
	openSinks bool    // see Options.OpenSinks
	calls     calls

	depth          int // work requests outstanding of a queue
	receives       int // and receives
	message        int
	transfer       int
	mtu            uint8 // enum ibv_mtu
	class          uint8 // traffic class
	level          uint8 // service level
	demand         bool  // memory is registered on demand, and not pinned
	atomicOnDemand bool  // such memory may have atomic operations
	settles        bool  // see settles
	buffers        bool  // the device registers memory by a dma-buf
	byCM           bool  // connections are made by rdma_cm: peers are other programs
	handshake      time.Duration
	logger         *slog.Logger
	events         *events
	removals       *removals
	going          atomic.Bool // the device is being removed
	windowless     atomic.Bool // a region had no window, and it was said
	portDown       atomic.Bool // so the device said last
	observer       func(rdma.Event)
	fatal          atomic.Bool // the device has failed: what it still does is nothing

	mu      sync.Mutex
	closed  bool
	domains map[*domain]bool
	queues  map[uintptr]*queue // by struct ibv_qp
}

// calls are the functions of the data path, and of windows: those of the device's own library, which the inline functions of the header call.
type calls struct{ pollCQ, reqNotify, postSend, postRecv, allocMW, bindMW, deallocMW uintptr }

var errClosed = errors.New("it is closed")

// Open opens a device by its name; an empty name stands for the first that can be used. Each call gives an
// adapter of its own: closing it ends what was made from it, and no more.
func (p *Provider) Open(ctx context.Context, name string, cfg *rdma.Config) (rdma.Adapter, error) {
	if cfg == nil {
		cfg = &rdma.Config{}
	}
	if cfg.TLS != nil {
		return nil, fmt.Errorf("verbs: open: %w: what a device sends is not under Config.TLS; use iwarp, or leave it out", rdma.ErrConfig)
	}
	var a *adapter
	var state string
	err := p.visit(ctx, func(c uintptr, ports []port) error {
		for i := range ports {
			q := &ports[i]
			if name != "" && name != q.name() {
				continue
			}
			if state = q.stateText(); state != rdma.StateActive {
				continue
			}
			a = &adapter{port: *q, ctx: c, index: p.opts.GIDIndex, openSinks: p.opts.OpenSinks, domains: map[*domain]bool{}, queues: map[uintptr]*queue{}}
			return errFound
		}
		return nil
	})
	switch {
	case a != nil:
	case err != nil:
		return nil, fmt.Errorf("verbs: open: %w", err)
	case state != "":
		return nil, fmt.Errorf("verbs: open: %w: the device %s is %s", ErrNoVerbs, name, state)
	default:
		return nil, fmt.Errorf("verbs: there is no device %q", name)
	}
	a.lib, _ = load(p.opts.Library)
	a.configure(cfg)
	if err := a.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("verbs: open %s: %w", a.port.name(), err), a.lib.do("ibv_close_device", a.lib.closeDevice, a.ctx))
	}
	return a, nil
}

// start makes fork safe and listens to the device.
func (a *adapter) start() error {
	if err := a.lib.forkSafe(); err != nil {
		return err
	}
	c := abi.At(a.ctx)
	a.calls = calls{
		pollCQ: uintptr(c.U64(abi.ContextPollCQ)), reqNotify: uintptr(c.U64(abi.ContextReqNotifyCQ)),
		postSend: uintptr(c.U64(abi.ContextPostSend)), postRecv: uintptr(c.U64(abi.ContextPostRecv)),
		allocMW: uintptr(c.U64(abi.ContextAllocMW)), bindMW: uintptr(c.U64(abi.ContextBindMW)), deallocMW: uintptr(c.U64(abi.ContextDeallocMW)),
	}
	if a.calls.allocMW == 0 || a.calls.deallocMW == 0 {
		a.port.caps &^= abi.CapWindow
	}
	if a.calls.pollCQ == 0 || a.calls.reqNotify == 0 || a.calls.postSend == 0 || a.calls.postRecv == 0 {
		return errors.New("the device's library has no functions to post and poll")
	}
	if a.demand {
		if err := a.wantOnDemand(); err != nil {
			return err
		}
	}
	a.buffers, a.settles = a.takesDMABuf(), settles(sysfs, a.port.device)
	var err error
	if a.events, err = listenEvents(a, int(int32(c.U32(abi.ContextAsyncFD)))); err != nil {
		return err
	}
	a.removals = listenRemovals(a)
	return nil
}

// configure lowers what the configuration asks for to what the device can.
func (a *adapter) configure(cfg *rdma.Config) {
	a.byCM = cfg.Plain
	w := a.width()
	a.depth = max(min(positive(cfg.Depth, defaultDepth), (a.port.maxWR-bindRoom)/w), 1)
	a.receives = max(min(max(a.depth, 2*cfg.Credits), a.port.maxWR), 1)
	if over := w*a.depth + a.receives + bindRoom + cqSpare - a.port.maxCQE; over > 0 {
		a.receives = max(a.receives-over, a.receives/2)
		a.receives = min(a.receives, max((a.port.maxCQE-bindRoom-cqSpare)/2, 2*cfg.Credits)) // receives leave requests room
		a.depth = max((a.port.maxCQE-bindRoom-cqSpare-a.receives)/w, 1)
	}
	a.message = max(min(positive(cfg.MaxMessage, defaultMessage), int(a.port.maxMsg)-headSize), leastMessage)
	a.transfer = min(int(a.port.maxMsg), maxTransfer)
	a.mtu = a.port.mtu
	for a.mtu > 1 && 128<<a.mtu > positive(cfg.MTU, 4096) {
		a.mtu--
	}
	dscp := cfg.DSCP
	if dscp == 0 && a.port.kind == kindRoCEv2 && cfg.Transport == nil {
		dscp = 26 // as rdma.RoCEv2 has it
	}
	if a.port.kind == kindRoCEv2 || a.port.kind == kindIWARP {
		a.class = dscp.TrafficClass()
	}
	switch t := cfg.Transport.(type) {
	case rdma.InfiniBand:
		a.level = t.ServiceLevel
	case rdma.RoCEv1:
		a.level = t.Priority
	}
	a.observer = cfg.Observer
	a.demand = cfg.OnDemand
	a.handshake = positive(cfg.HandshakeTimeout, defaultHandshake)
	if a.logger = cfg.Logger; a.logger == nil {
		a.logger = slog.Default()
	}
}

// segments is how many local ones a request may have.
func (a *adapter) segments() int {
	if a.framed() { // one is the head's
		return max(min(a.port.maxSGE, a.port.sendSGE-1, rdma.MaxSegments-1), 1)
	}
	return min(a.port.maxSGE, rdma.MaxSegments)
}

// cqSpare is room in completion queues beyond what can complete.
const cqSpare = 2

func positive[N int | time.Duration](v, otherwise N) N {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Info describes the device.
func (a *adapter) Info() rdma.DeviceInfo { return a.port.info() }

// Limits are what it can do.
func (a *adapter) Limits() rdma.Limits {
	return rdma.Limits{
		Depth: a.depth, Segments: a.segments(), MaxMessage: a.message, MaxTransfer: a.transfer,
		AtomicGlobal: a.port.atomic == abi.AtomicGlobal,
		ConnGrants:   a.port.windows(), Invalidate: a.port.windows(), Solicited: true, DMABuf: a.buffers,
	}
}

// NewDomain makes a protection domain.
func (a *adapter) NewDomain() (rdma.ProtectionDomain, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, fmt.Errorf("verbs: new domain: the adapter: %w", errClosed)
	}
	d, err := newDomain(a)
	if err != nil {
		return nil, fmt.Errorf("verbs: new domain: %w", err)
	}
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
	c := a.ctx
	a.mu.Unlock()
	var errs []error
	for _, d := range domains {
		errs = append(errs, d.Close())
	}
	if err := errors.Join(errs...); err != nil || c == 0 {
		return err
	}
	a.events.close()
	a.removals.close()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx == 0 {
		return nil
	}
	if err := a.undo("ibv_close_device", a.lib.closeDevice, a.ctx); err != nil {
		return fmt.Errorf("verbs: close %s: %w", a.port.name(), err)
	}
	a.ctx = 0
	return nil
}

func (a *adapter) forget(d *domain) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.domains, d)
}

// know and unknow keep queues findable by their struct ibv_qp, for events.
func (a *adapter) know(q *queue, qp uintptr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queues[qp] = q
}

func (a *adapter) unknow(qp uintptr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.queues, qp)
}

//go:build amd64 || arm64

package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// The key that a region grants to all connections of its domain is a memory window of type 1 where the device has them: peers of every queue pair of
// the domain may use it, and it can be ended without the registration that it is bound to, whose local key stays good. Ending it
// (ibv_dealloc_mw) should wait for what is in progress with it, as ending a registration does (InfiniBand volume 1, section 10.6.7.2). On network cards that is
// untested; in drivers/infiniband/hw/mlx5/mr.c it destroys the window's memory key.

// noWindows is why regions for all connections have no windows on a device, empty where they have.
func (a *adapter) noWindows() string {
	switch {
	case a.port.caps&abi.CapWindow == 0:
		return "the device has no memory windows"
	case a.calls.bindMW == 0:
		return "the device's library does not bind memory windows of type 1"
	case a.iwarp():
		return "the queue pairs of iWARP devices cannot be connected with themselves, to bind memory windows"
	case a.demand:
		return "windows are not bound to memory on demand"
	}
	return ""
}

// settles reports whether nothing of a peer's is in progress with a key when ending its window has returned. rdma_rxe looks the window up for each packet,
// and counts then on the registration only (drivers/infiniband/sw/rxe/rxe_resp.c, check_rkey): the packet that it is copying may
// land a little later, and in the lab it did. What is waited for there is the registration's end, so windows have one of their own behind them.
func settles(sys fs.FS, device string) bool {
	_, err := fs.Stat(sys, device+"/parent") // which rdma_rxe alone has, for its network interface
	return err != nil
}

// shareWindow gives a region a key for all connections of the domain, by a window.
func (d *domain) shareWindow(r *region, m *rdma.Memory) error {
	a := d.adapter
	mr, addr := r.mr, r.addr
	if !a.settles {
		var err error
		if r.back, addr, err = d.take(m, abi.AccessLocalWrite|abi.AccessBindWindow); err != nil {
			return err
		}
		mr = r.back
	}
	mw, err := a.lib.make("ibv_alloc_mw", a.calls.allocMW, d.pd, abi.MWType1)
	if err != nil {
		return err
	}
	r.mw = mw
	key, err := d.binder.bind(d, mw, mr, addr, r.len, remoteAccess(r.rights))
	if err != nil {
		return err
	}
	r.keys.R, r.keys.Addr = key, addr
	return nil
}

// remoteAccess is the rights as windows have them.
func remoteAccess(rights barewire.Rights) uint32 {
	return uint32(access(rights) &^ abi.AccessLocalWrite)
}

var _ rdma.Revoker = (*domain)(nil)

// Revoke ends what a registration grants to all connections, by ending its window: the registration, its local key and what is in progress
// with that are as before. Where it has no window the error wraps [errors.ErrUnsupported] and says why, and nothing is done.
func (d *domain) Revoke(_ context.Context, k rdma.Keys) (rdma.Keys, error) {
	r, err := d.withdraw(k)
	if err != nil {
		return rdma.Keys{}, fmt.Errorf("verbs: revoke: %w", err)
	}
	if err := d.closeWindow(r); err != nil {
		return rdma.Keys{}, fmt.Errorf("verbs: revoke %s: %w", r.name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r.keys.R, k.R = 0, 0
	return k, nil
}

// withdraw tells the peers who know a key that it has ended, and nobody else is told that it is good.
func (d *domain) withdraw(k rdma.Keys) (*region, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.local[k.L]
	switch {
	case r == nil || r.keys != k || k.R == 0:
		return nil, fmt.Errorf("the keys %#x and %#x are not registered here", uint32(k.L), uint32(k.R))
	case r.dead.Load():
		return nil, fmt.Errorf("%s: it is deregistered, or the domain: %w", r.name, cmp.Or(d.ended, errClosed))
	case r.only != nil || r.why != "":
		return nil, fmt.Errorf("%w: %s", errors.ErrUnsupported, cmp.Or(r.why, "it is for one connection"))
	}
	d.tellEnded(r)
	return r, nil
}

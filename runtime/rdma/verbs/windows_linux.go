//go:build amd64 || arm64

package verbs

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// What a region grants to all connections of its domain is a window of type 1: see revoke_linux.go. Keys for one connection are memory windows of type 2: the device lets nobody use such a key but the peer of the queue pair that
// bound it, and that peer may end it by a send. Each has a registration of its own behind it, without remote rights: when that
// is deregistered, nothing that the key was used for is in progress. Source: ibv_alloc_mw(3), ibv_bind_mw(3).

// isBind marks the work request IDs of requests that bind windows: nobody else posted them.
const isBind = 1 << 62

const (
	bindRoom     = 1                // such a request that a queue may have outstanding
	bindPatience = 10 * time.Second // for what stands before it
)

// windows reports whether the device has memory windows of type 2.
func (p *port) windows() bool { return p.caps&abi.CapWindow != 0 && p.caps&abi.CapWindow2 != 0 }

// openWindow binds a window of a region's memory to the queue that the region is for, and gives the region its key.
func (d *domain) openWindow(r *region) error {
	q, a := r.only, d.adapter
	mw, err := a.lib.make("ibv_alloc_mw", a.calls.allocMW, d.pd, abi.MWType2)
	if err != nil {
		return err
	}
	r.mw = mw
	if !q.own(r) {
		return errors.Join(fmt.Errorf("the connection: %w", errClosed), d.closeWindow(r))
	}
	key, err := q.bind(r)
	if err != nil {
		return errors.Join(fmt.Errorf("binding a memory window: %w", err), d.closeWindow(r))
	}
	r.keys.R = key
	return nil
}

// closeWindow ends a region's window, if it has one, and the registration that is behind it alone: from then on the device refuses its key.
func (d *domain) closeWindow(r *region) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mw != 0 {
		if err := d.adapter.undo("ibv_dealloc_mw", d.adapter.calls.deallocMW, r.mw); err != nil {
			return err
		}
		r.mw = 0
	}
	if r.back != 0 {
		if err := d.unpin(r.back); err != nil {
			return err
		}
		r.back = 0
	}
	if r.only != nil {
		r.only.disown(r)
	}
	return nil
}

// own notes that a window is the queue's, unless these have ended.
func (q *queue) own(r *region) bool {
	q.windowMu.Lock()
	defer q.windowMu.Unlock()
	if q.windowsOver {
		return false
	}
	if q.windows == nil {
		q.windows = map[*region]bool{}
	}
	q.windows[r] = true
	return true
}

func (q *queue) disown(r *region) {
	q.windowMu.Lock()
	defer q.windowMu.Unlock()
	delete(q.windows, r)
}

// endWindows ends the queue's windows, which must be before its queue pair does.
func (q *queue) endWindows() error {
	q.windowMu.Lock()
	q.windowsOver = true
	var rs []*region
	for r := range q.windows {
		rs = append(rs, r)
	}
	q.windowMu.Unlock()
	var errs []error
	for _, r := range rs {
		errs = append(errs, q.dom.closeWindow(r))
	}
	return errors.Join(errs...)
}

// bind has the queue pair make a window's key, and waits until it is good. It polls what completes meanwhile, and leaves it
// for Poll.
func (q *queue) bind(r *region) (rdma.RKey, error) {
	q.bindMu.Lock()
	defer q.bindMu.Unlock()
	key, id, err := q.postBind(r)
	if err != nil {
		return 0, err
	}
	end, pause := time.Now().Add(bindPatience), 10*time.Microsecond
	for {
		status, done, err := q.bound(id)
		switch {
		case err != nil:
			return 0, err
		case done && status != abi.WCSuccess:
			return 0, fmt.Errorf("the device's status is %s", statusText(status))
		case done:
			return key, nil
		case time.Now().After(end):
			err := fmt.Errorf("%w: what was posted before has not ended within %v", rdma.ErrTimeout, bindPatience)
			q.fail(q.lost("binding a memory window: %v", err), "it binds a memory window in vain")
			return 0, err
		}
		time.Sleep(pause)
		pause = min(2*pause, time.Millisecond)
	}
}

// postBind hands over the request. The key has the window's number, and another last octet than the window had.
func (q *queue) postBind(r *region) (key rdma.RKey, id uint64, err error) {
	q.postMu.Lock()
	defer q.postMu.Unlock()
	if err := q.usable(); err != nil {
		return 0, 0, err
	}
	old := abi.At(r.mw).U32(abi.MWRKey)
	key = rdma.RKey(old&^0xff | (old+1)&0xff)
	q.bindSeq++
	id = isBind | q.bindSeq
	b, at := q.out.block, sendsAt
	b.Clear(at+abi.SendNumSGE, abi.SendSize-abi.SendNumSGE) // what other requests left there is refused by librxe
	b.Put64(at+abi.SendID, id)
	b.Put64(at+abi.SendNext, 0)
	b.Put32(at+abi.SendOpcode, abi.OpBindMW)
	b.Put32(at+abi.SendFlags, abi.FlagSignaled)
	b.Put64(at+abi.SendBindMW, uint64(r.mw))
	b.Put32(at+abi.SendBindRKey, uint32(key))
	b.Put64(at+abi.SendBindMR, uint64(r.mr))
	b.Put64(at+abi.SendBindAddr, r.addr)
	b.Put64(at+abi.SendBindLength, r.len)
	b.Put32(at+abi.SendBindAccess, remoteAccess(r.rights))
	q.out.args = [3]uintptr{q.hw.qp, b.Addr(at), b.Addr(badAt)}
	rc := int32(dl.Fast(q.calls.postSend, q.out.args[:]))
	b.Clear(at+abi.SendBindMW, abi.SendSize-abi.SendBindMW)
	b.Put64(at+abi.SendNext, uint64(b.Addr(at+abi.SendSize)))
	if rc != 0 {
		return 0, 0, fmt.Errorf("the device does not take it: %w", syscall.Errno(max(rc, -rc)))
	}
	return key, id, nil
}

// bound reports how a request that binds a window has ended, if it has.
func (q *queue) bound(id uint64) (status uint32, done bool, err error) {
	q.pollMu.Lock()
	defer q.pollMu.Unlock()
	if q.closed.Load() {
		return 0, false, q.usable()
	}
	if !q.hw.gone.Load() {
		q.in.stash(q)
	}
	q.in.sift()
	if q.in.bindID == id {
		return q.in.bindStatus, true, nil
	}
	if q.hw.gone.Load() {
		return 0, false, q.usable()
	}
	return 0, false, nil
}

// sift takes the ends of requests that bind windows out of what was polled, and notes the last. The poll lock is held.
func (in *inbox) sift() {
	to := in.from
	for i := in.from; i < in.to; i++ {
		at := i * abi.WCSize
		if in.notes(at) {
			continue
		}
		if to != i {
			copy(in.block.Bytes(to*abi.WCSize, abi.WCSize), in.block.Bytes(at, abi.WCSize))
		}
		to++
	}
	in.to = to
}

// notes reports whether a completion at an offset is of a request that binds a window, and if so notes how it ended.
func (in *inbox) notes(at int) bool {
	id := in.block.U64(at + abi.WCID)
	if id&(isReceive|isBind) != isBind {
		return false
	}
	in.bindID, in.bindStatus = id, in.block.U32(at+abi.WCStatus)
	return true
}

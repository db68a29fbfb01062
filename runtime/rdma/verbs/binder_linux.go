//go:build amd64 || arm64

package verbs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// binder is a queue pair of a domain's own, which is connected with itself and sends nothing: it binds the windows of type 1, whose
// keys are good for all connections of the domain. Any queue pair of the domain could (ibv_bind_mw(3)), but regions are registered before
// there is a connection, and what a program has posted there would have to end first. It is made with the first window.
type binder struct {
	mu    sync.Mutex // guards what follows
	hw    hardware
	block abi.Block // a struct ibv_mw_bind, and a completion
	args  [3]uintptr
	seq   uint64
	vain  int  // how many times, one after the other, it bound in vain
	over  bool // it is closed
}

// maxVain is how often the device may refuse to bind a window, one time after the other, until the domain asks for none any more: each time costs a
// queue pair.
const maxVain = 4

var errVain = fmt.Errorf("the device refused to bind %d memory windows, one after the other", maxVain)

// Where in the block.
const (
	bindAt = 0
	doneAt = 64
)

// bind binds a window to memory of a registration, and returns the key that it has then.
func (b *binder) bind(d *domain, mw, mr uintptr, addr, length uint64, access uint32) (rdma.RKey, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.vain >= maxVain {
		return 0, errVain
	}
	b.vain++
	if err := b.ready(d); err != nil {
		return 0, fmt.Errorf("a queue pair to bind memory windows: %w", err)
	}
	b.seq++
	b.block.Clear(bindAt, abi.BindSize)
	b.block.Put64(bindAt+abi.BindID, b.seq)
	b.block.Put32(bindAt+abi.BindFlags, abi.FlagSignaled)
	b.block.Put64(bindAt+abi.BindMR, uint64(mr))
	b.block.Put64(bindAt+abi.BindAddr, addr)
	b.block.Put64(bindAt+abi.BindLength, length)
	b.block.Put32(bindAt+abi.BindAccess, access)
	b.args = [3]uintptr{b.hw.qp, mw, b.block.Addr(bindAt)}
	if rc := int32(dl.Fast(d.adapter.calls.bindMW, b.args[:])); rc != 0 {
		return 0, &callError{"ibv_bind_mw", syscall.Errno(max(rc, -rc))}
	}
	if err := b.await(d); err != nil {
		return 0, errors.Join(fmt.Errorf("binding a memory window: %w", err), b.end(d)) // in its error state it binds nothing any more
	}
	b.vain = 0
	return rdma.RKey(abi.At(mw).U32(abi.MWRKey)), nil
}

// await waits for the end of what was posted last.
func (b *binder) await(d *domain) error {
	end, pause := time.Now().Add(bindPatience), 10*time.Microsecond
	for {
		b.args = [3]uintptr{b.hw.cq, 1, b.block.Addr(doneAt)}
		switch got := int32(dl.Fast(d.adapter.calls.pollCQ, b.args[:])); {
		case got < 0:
			return fmt.Errorf("the device does not say what has completed (ibv_poll_cq: %d)", got)
		case got > 0 && b.block.U64(doneAt+abi.WCID) == b.seq:
			if s := b.block.U32(doneAt + abi.WCStatus); s != abi.WCSuccess {
				return fmt.Errorf("the device's status is %s", statusText(s))
			}
			return nil
		case d.adapter.fatal.Load() || d.adapter.going.Load():
			return errors.New(d.adapter.trouble())
		case time.Now().After(end):
			return fmt.Errorf("%w: the device has not done it within %v", rdma.ErrTimeout, bindPatience)
		}
		time.Sleep(pause)
		pause = min(2*pause, time.Millisecond)
	}
}

// ready makes the queue pair, if there is none.
func (b *binder) ready(d *domain) error {
	switch a := d.adapter; {
	case b.over:
		return errClosed
	case a.fatal.Load() || a.going.Load():
		return errors.New(a.trouble())
	case b.hw.qp != 0:
		return nil
	}
	if err := b.make(d); err != nil {
		return errors.Join(err, b.end(d))
	}
	return nil
}

func (b *binder) make(d *domain) error {
	a, h := d.adapter, &b.hw
	own, err := choose(a.port.gids, a.port.kind, a.index, netip.Addr{}, nil)
	if err != nil {
		return err
	}
	h.gone.Store(false)
	if b.block, err = abi.NewBlock(4096); err != nil {
		return err
	}
	if err := h.makeCQ(d, 2+cqSpare); err != nil {
		return err
	}
	scratch, err := abi.NewBlock(4096)
	if err != nil {
		return err
	}
	defer scratch.Free()
	if err := h.makeQP(d, scratch, 1, 1); err != nil {
		return err
	}
	h.psn = rand.Uint32() & 0xffffff
	if err := h.init(d, scratch); err != nil {
		return err
	}
	return h.connect(d, &far{
		gid: own.raw, lid: a.port.lid, qpn: h.qpn(), psn: h.psn, mtu: a.mtu, serves: a.port.serves, asks: a.port.asks, own: own,
	})
}

// end takes the queue pair back, if there is one.
func (b *binder) end(d *domain) error {
	if err := b.hw.destroy(d); err != nil {
		return err
	}
	b.block.Free()
	b.block = abi.Block{}
	return nil
}

// close ends it for good. Windows that it bound are not its own, and stay.
func (b *binder) close(d *domain) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	return b.end(d)
}

//go:build amd64 || arm64

package verbs

import (
	"fmt"
	"syscall"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// postReceive takes all receives or none. The post lock is held.
func (q *queue) postReceive(rs []rdma.ReceiveRequest) error {
	if q.closed.Load() {
		return q.usable()
	}
	tail := q.took.Load()
	room := uint64(q.dom.adapter.receives) - (tail - q.rhead.Load())
	if uint64(len(rs)) > room {
		return fmt.Errorf("verbs: %d receives, and there is room for %d", len(rs), room)
	}
	for i := range rs {
		if why := q.checkReceive(&rs[i]); why != "" {
			return fmt.Errorf("verbs: the receive %d of %d: %s", i, len(rs), why)
		}
	}
	defer q.acceptNow() // an iWARP device wants them before
	defer q.announce()
	for len(rs) > 0 {
		n := min(len(rs), atOnce)
		q.giveReceives(rs[:n])
		rs = rs[n:]
	}
	q.ready.posted.Store(q.took.Load())
	return nil
}

func (q *queue) checkReceive(r *rdma.ReceiveRequest) string {
	g := q.local(r.Buf.Key)
	if g == nil {
		return fmt.Sprintf("the local key %#x is not of memory that is registered here", uint32(r.Buf.Key))
	}
	off := uint64(uintptr(r.Buf.Ptr)) - uint64(g.base)
	if r.Buf.Len <= 0 || off > g.len || uint64(r.Buf.Len) > g.len-off {
		return fmt.Sprintf("its buffer is not within the %d bytes of its key", g.len)
	}
	return ""
}

// giveReceives gives the device at most atOnce receives. Those that it does not take, as when the queue has failed, end here.
func (q *queue) giveReceives(rs []rdma.ReceiveRequest) {
	b, from := q.out.block, q.took.Load()
	for i := range rs {
		r := &q.recvs[(from+uint64(i))&q.rmask]
		r.id = rs[i].ID
		r.here.Store(false)
		g := q.local(rs[i].Buf.Key)
		r.mem = g
		b.Put64(recvsAt+i*abi.RecvSize+abi.RecvID, isReceive|(from+uint64(i)))
		addr := uint64(uintptr(rs[i].Buf.Ptr))
		if g != nil {
			addr += g.addr - uint64(g.base)
		}
		at := bufsAt + 2*i*abi.SGESize
		if q.framed {
			h := &q.hw.heads
			h.segment(b, at, (h.sends+int((from+uint64(i))&q.rmask))*headSize)
			at += abi.SGESize
		}
		b.Put64(at+abi.SGEAddr, addr)
		b.Put32(at+abi.SGELength, uint32(rs[i].Buf.Len))
		b.Put32(at+abi.SGELKey, uint32(rs[i].Buf.Key))
	}
	n, took := len(rs), 0
	q.took.Store(from + uint64(n))
	if q.failed.Load() == nil && !q.hw.gone.Load() {
		last := recvsAt + (n-1)*abi.RecvSize
		b.Put64(last+abi.RecvNext, 0)
		q.out.args = [3]uintptr{q.hw.qp, b.Addr(recvsAt), b.Addr(badAt)}
		rc := int32(dl.Fast(q.calls.postRecv, q.out.args[:]))
		if n < atOnce {
			b.Put64(last+abi.RecvNext, uint64(b.Addr(recvsAt+n*abi.RecvSize)))
		}
		if took = n; rc != 0 {
			took = min(max((int(b.U64(badAt))-int(b.Addr(recvsAt)))/abi.RecvSize, 0), n-1)
			why := syscall.Errno(max(rc, -rc))
			q.fail(q.lost("the device does not take a receive: %v", why), "its device takes no receives")
		}
	}
	for i := took; i < n; i++ {
		q.recvs[(from+uint64(i))&q.rmask].here.Store(true)
	}
	if took < n {
		q.kick()
	}
}

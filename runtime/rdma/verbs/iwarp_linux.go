//go:build amd64 || arm64

package verbs

import (
	"sync"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// What is different with iWARP devices. Their connections are TCP's, made by rdma_cm, which moves the queue pair by itself, and:
//
//   - there are neither immediate data nor, on Linux, atomic operations;
//   - a message that finds no receive ends the connection: receives must be posted before it is accepted;
//   - the side that accepts must not speak first (RFC 5044, section 7.1);
//   - the answer to a read is written to memory by a key of this side's, which the device takes only where peers may write
//     (RFC 5040, section 5.2: the sink of a read has remote write access);
//   - siw answers a read of nothing with something: flushes read an octet, see writeProbe;
//   - siw takes no address of one's own choice for memory: it goes by that of the process.

// How long a queue that was accepted waits before it is accepted without a receive, for programs that want none; and before it speaks
// though the peer has sent no message, since that may only write and read. Tests change them.
var (
	acceptAnyway = 100 * time.Millisecond
	speakAnyway  = time.Second
)

// opening is the end of making a connection on an iWARP device, which the side that accepts puts off. The post lock guards it.
type opening struct {
	accept func() error // nil: it is accepted, or was never to be
	mute   bool         // the peer is to speak first
}

// place is where a request goes at the peer.
type place struct {
	key   rdma.RKey
	epoch uint32
	addr  uint64
}

// probe is the place that the peer let this side read last: a flush reads an octet there, behind the writes.
type probe struct {
	mu sync.Mutex
	at place
}

func (p *probe) learn(at place) {
	p.mu.Lock()
	p.at = at
	p.mu.Unlock()
}

func (p *probe) known() place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

// writeProbe makes the i-th request, a flush, read an octet that the peer lets this side read, as it did before. Where it has let this
// side read nothing yet it is a read of nothing, which siw answers with what it sent last, if there was something
// (drivers/infiniband/sw/siw/siw_qp.c, siw_activate_tx: the length of the response is then that of the request before). The post lock is held.
func (q *queue) writeProbe(i int) {
	b, at, length := q.out.block, q.probe.known(), uint32(0)
	if at.key != 0 {
		length = 1
		b.Put64(sendsAt+i*abi.SendSize+abi.SendRemoteAddr, at.addr)
		b.Put32(sendsAt+i*abi.SendSize+abi.SendRKey, uint32(at.key))
	}
	q.land(i, 0) // siw wants a segment with a read
	b.Put32(segsAt+i*rdma.MaxSegments*abi.SGESize+abi.SGELength, length)
}

// iwarp reports whether the device is one of iWARP.
func (a *adapter) iwarp() bool { return a.port.kind == kindIWARP }

// sinkAccess is what registrations have beside their rights, so that reads may land there.
func (a *adapter) sinkAccess() uintptr {
	if a.iwarp() && a.openSinks {
		return abi.AccessRemoteWrite
	}
	return 0
}

// Lacks is why an iWARP device cannot do requests of a verb.
func (q *queue) Lacks(v rdma.Verb) string {
	if !q.iwarp {
		return ""
	}
	switch v {
	case rdma.VerbWriteNotify:
		if !q.framed {
			return "an iWARP device has no immediate data"
		}
	case rdma.VerbCompareSwap, rdma.VerbFetchAdd:
		return "an iWARP device has no atomic operations"
	}
	return ""
}

// settlePatience is how long the peer has to answer a read, when a key that it had has ended. Tests change it.
var settlePatience = 5 * time.Second

// settle waits until what the peer had under way with a key that was just deregistered is over: siw still places what comes of a segment that it
// has begun with (drivers/infiniband/sw/siw/siw_qp_rx.c, siw_proc_write). The answer to a read of this side's comes behind that, on the one connection of
// TCP. Where there is none the queue fails, and moving its queue pair to ERR waits for what is being placed. So it is, too, where the connection has
// ended: the peer may have used the key meanwhile, and siw takes a request in its error state, and never ends it (siw_verbs.c, siw_post_send, which
// flushes those of the kernel's users alone).
func (q *queue) settle() {
	if !q.framed {
		return
	}
	q.bindMu.Lock()
	defer q.bindMu.Unlock()
	id, err := q.postProbe()
	end, pause := time.Now().Add(settlePatience), 10*time.Microsecond
	for ; err == nil; pause = min(2*pause, time.Millisecond) {
		status, done, wrong := q.bound(id)
		switch {
		case wrong != nil || done && status != abi.WCSuccess:
			err = errGone
		case done:
			return
		case q.failed.Load() != nil, q.parting.gone.Load():
			err = errGone
		case time.Now().After(end):
			err = rdma.ErrTimeout
			q.fail(q.lost("it did not answer a read within %v", settlePatience), "it does not answer")
		}
		time.Sleep(pause)
	}
	q.hw.toError(q.dom)
}

// postProbe reads the peer's word for this side alone.
func (q *queue) postProbe() (id uint64, err error) {
	q.postMu.Lock()
	defer q.postMu.Unlock()
	if err := q.usable(); err != nil {
		return 0, err
	}
	q.bindSeq++
	id = isBind | q.bindSeq
	b, at := q.out.block, sendsAt
	b.Put64(at+abi.SendID, id)
	b.Put64(at+abi.SendNext, 0)
	b.Put32(at+abi.SendOpcode, abi.OpRead)
	b.Put32(at+abi.SendFlags, abi.FlagSignaled)
	b.Put64(at+abi.SendRemoteAddr, q.keys.flushAddr)
	b.Put32(at+abi.SendRKey, q.keys.flushKey)
	q.land(0, 0)
	q.out.args = [3]uintptr{q.hw.qp, b.Addr(at), b.Addr(badAt)}
	rc := int32(dl.Fast(q.calls.postSend, q.out.args[:]))
	b.Put64(at+abi.SendNext, uint64(b.Addr(at+abi.SendSize)))
	if rc != 0 {
		return 0, syscall.Errno(max(rc, -rc))
	}
	return id, nil
}

// putOff has the queue be accepted with its first receives, or a little later without.
func (q *queue) putOff(accept func() error) {
	q.postMu.Lock()
	q.opening = opening{accept: accept, mute: true}
	q.postMu.Unlock()
	time.AfterFunc(acceptAnyway, func() {
		q.postMu.Lock()
		defer q.postMu.Unlock()
		q.acceptNow()
	})
	time.AfterFunc(speakAnyway, q.unmute)
}

// acceptNow accepts the connection, if it is not yet. The post lock is held.
func (q *queue) acceptNow() {
	accept := q.opening.accept
	if accept == nil || q.closed.Load() || q.failed.Load() != nil {
		return
	}
	q.opening.accept = nil
	if err := accept(); err != nil {
		q.fail(q.lost("accepting the connection: %v", err), "it cannot be accepted")
	}
}

// unmute lets this side speak, and hands over what waited for that.
func (q *queue) unmute() {
	q.postMu.Lock()
	defer q.postMu.Unlock()
	if q.opening.mute {
		q.opening.mute = false
		q.resume()
	}
}

//go:build amd64 || arm64

package verbs

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// Times and counts after which a device gives up. None stands for "for ever".
const (
	ackTimeout = 16 // 4.096 µs << 16: 268 ms for an answer (ibv_modify_qp(3), InfiniBand volume 1, section 9.7.6.1.3)
	retries    = 6  // times that it is sent again then; rdma_rxe takes 7 for ever (drivers/infiniband/sw/rxe/rxe_comp.c)
	rnrTimer   = 28 // the peer's receive is waited for 164 ms (InfiniBand volume 1, table 45)
	rnrRetries = 6  // times; 7 would be for ever
	hopLimit   = 64
)

// hardware is the objects of the library that a queue has.
type hardware struct {
	mu      sync.Mutex // changes of the queue pair's state against its end
	channel uintptr
	cq      uintptr
	qp      uintptr
	heads   heads     // of messages, where they have some
	landing abi.Block // where results and flushes land
	event   abi.Block // where the library says whose an event is
	mr      uintptr
	addr    uint64
	lkey    uint32
	psn     uint32
	inline  int
	acks    uint32      // events of the completion queue that are to be acknowledged
	gone    atomic.Bool // the queue pair is destroyed
}

// The landing page begins with the word that flushes read into; results of atomics are behind it.
const resultsAt = 8

// make makes all of it, the queue pair in the state INIT. After an error destroy takes back what was made.
func (h *hardware) make(d *domain) error {
	a, lib := d.adapter, d.adapter.lib
	ring, rring := 1<<bits.Len(uint(a.depth-1)), 1<<bits.Len(uint(a.receives-1)) // as the queue's
	var err error
	if h.landing, err = abi.NewBlock(resultsAt + 8*ring); err != nil {
		return err
	}
	if h.event, err = abi.NewBlock(16); err != nil {
		return err
	}
	acc := uintptr(abi.AccessLocalWrite)
	if a.iwarp() {
		acc |= abi.AccessRemoteWrite // flushes read into it
	}
	if h.mr, h.addr, err = d.pin(h.landing.Ptr(0), h.landing.Len(), acc); err != nil {
		return explain(err, uint64(h.landing.Len()))
	}
	h.lkey = abi.At(h.mr).U32(abi.MRLKey)
	if a.framed() {
		if err := h.heads.make(d, ring, rring); err != nil {
			return err
		}
	}
	if h.channel, err = lib.make("ibv_create_comp_channel", lib.createChannel, a.ctx); err != nil {
		return err
	}
	if err := h.makeCQ(d, a.width()*a.depth+a.receives+bindRoom+cqSpare); err != nil {
		return err
	}
	scratch, err := abi.NewBlock(4096)
	if err != nil {
		return err
	}
	defer scratch.Free()
	if err := h.makeQP(d, scratch, a.width()*a.depth+bindRoom, a.receives); err != nil {
		return err
	}
	h.psn = rand.Uint32() & 0xffffff
	if a.byCM || a.iwarp() {
		return nil // it knows the port later
	}
	return h.init(d, scratch)
}

// makeCQ makes the completion queue, whose events go to the channel if there is one.
func (h *hardware) makeCQ(d *domain, entries int) (err error) {
	a, lib := d.adapter, d.adapter.lib
	if h.cq, err = lib.make(fmt.Sprintf("ibv_create_cq of %d entries", entries), lib.createCQ, a.ctx, uintptr(entries), 0, h.channel, 0); err != nil {
		return err
	}
	if have := abi.At(h.cq).U32(abi.CQEntries); int(have) < entries-cqSpare {
		return fmt.Errorf("the device made a completion queue of %d entries, and %d were asked for: completions would be lost", have, entries)
	}
	return nil
}

// makeQP makes the queue pair, with as much room for data inside requests as the device gives.
func (h *hardware) makeQP(d *domain, b abi.Block, sends, receives int) error {
	a, lib := d.adapter, d.adapter.lib
	var err error
	for _, inline := range []int{128, 64, 32, 0} {
		b.Clear(0, abi.InitAttrSize)
		b.Put64(abi.InitAttrSendCQ, uint64(h.cq))
		b.Put64(abi.InitAttrRecvCQ, uint64(h.cq))
		b.Put32(abi.InitAttrMaxSend, uint32(sends))
		b.Put32(abi.InitAttrMaxRecv, uint32(receives))
		b.Put32(abi.InitAttrSendSGE, uint32(a.segments()+a.width()-1))
		b.Put32(abi.InitAttrRecvSGE, uint32(a.width()))
		b.Put32(abi.InitAttrMaxInline, uint32(inline))
		b.Put32(abi.InitAttrQPType, abi.TypeRC)
		b.Put32(abi.InitAttrSigAll, 1)
		if h.qp, err = lib.make("ibv_create_qp", lib.createQP, d.pd, b.Addr(0)); err == nil {
			h.inline = min(int(b.U32(abi.InitAttrMaxInline)), 256)
			return nil
		}
	}
	return fmt.Errorf("%w (%d requests, %d receives)", err, sends, receives)
}

func (h *hardware) qpn() uint32 { return abi.At(h.qp).U32(abi.QPNum) }

func (h *hardware) channelFD() int { return int(int32(abi.At(h.channel).U32(abi.ChannelFD))) }

// init moves the queue pair to INIT: peers may ask for what regions grant, and the device can.
func (h *hardware) init(d *domain, b abi.Block) error {
	b.Clear(0, abi.QPAttrSize)
	b.Put32(abi.QPAttrState, abi.StateInit)
	b.Put8(abi.QPAttrPort, d.adapter.port.num)
	b.Put32(abi.QPAttrAccess, h.rights(d))
	return h.modify(d, "INIT", b, abi.MaskState|abi.MaskPKeyIndex|abi.MaskPort|abi.MaskAccess)
}

// rights are what peers may ask for, as far as regions grant it and the device can.
func (*hardware) rights(d *domain) uint32 {
	if d.adapter.port.atomic == abi.AtomicNone {
		return abi.AccessRemoteRead | abi.AccessRemoteWrite
	}
	return abi.AccessRemoteRead | abi.AccessRemoteWrite | abi.AccessRemoteAtomic
}

func (h *hardware) modify(d *domain, to string, b abi.Block, mask uintptr) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.qp == 0 {
		return errClosed
	}
	return d.adapter.lib.do("ibv_modify_qp to "+to, d.adapter.lib.modifyQP, h.qp, b.Addr(0), mask)
}

// far is what is known of the peer's queue pair, and the way to it.
type far struct {
	gid    [16]byte
	lid    uint16
	qpn    uint32
	psn    uint32
	mtu    uint8
	serves uint8
	asks   uint8
	own    gid // this side's
}

// connect moves the queue pair to RTR and RTS.
func (h *hardware) connect(d *domain, f *far) error {
	a := d.adapter
	b, err := abi.NewBlock(4096)
	if err != nil {
		return err
	}
	defer b.Free()
	b.Put32(abi.QPAttrState, abi.StateRTR)
	b.Put32(abi.QPAttrPathMTU, uint32(min(a.mtu, f.mtu)))
	b.Put32(abi.QPAttrDestQPN, f.qpn)
	b.Put32(abi.QPAttrRQPSN, f.psn)
	b.Put8(abi.QPAttrMaxDest, min(a.port.serves, f.asks))
	b.Put8(abi.QPAttrMinRNR, rnrTimer)
	b.Put8(abi.QPAttrAHPort, a.port.num)
	b.Put8(abi.QPAttrServiceLevel, a.level)
	if a.port.kind == kindInfiniBand {
		b.Put16(abi.QPAttrLID, f.lid)
	}
	if a.port.kind != kindInfiniBand || [8]byte(f.gid[:8]) != [8]byte(f.own.raw[:8]) {
		b.Put8(abi.QPAttrIsGlobal, 1)
		copy(b.Bytes(abi.QPAttrGID, 16), f.gid[:])
		b.Put8(abi.QPAttrGIDIndex, uint8(f.own.index))
		b.Put8(abi.QPAttrHopLimit, hopLimit)
		b.Put8(abi.QPAttrTrafficClass, a.class)
	}
	if err := h.modify(d, "RTR", b, abi.MaskState|abi.MaskAV|abi.MaskPathMTU|abi.MaskDestQPN|abi.MaskRQPSN|abi.MaskMaxDest|abi.MaskMinRNR); err != nil {
		return err
	}
	b.Clear(0, abi.QPAttrSize)
	b.Put32(abi.QPAttrState, abi.StateRTS)
	b.Put32(abi.QPAttrSQPSN, h.psn)
	b.Put8(abi.QPAttrTimeout, ackTimeout)
	b.Put8(abi.QPAttrRetry, retries)
	b.Put8(abi.QPAttrRNRRetry, rnrRetries)
	b.Put8(abi.QPAttrMaxRdAtomic, min(a.port.asks, f.serves))
	return h.modify(d, "RTS", b, abi.MaskState|abi.MaskSQPSN|abi.MaskTimeout|abi.MaskRetry|abi.MaskRNRRetry|abi.MaskMaxRdAtomic)
}

// toError moves the queue pair to ERR: the device flushes what it has.
func (h *hardware) toError(d *domain) {
	b, err := abi.NewBlock(abi.QPAttrSize)
	if err != nil {
		return // what is outstanding is taken from the device later
	}
	defer b.Free()
	b.Put32(abi.QPAttrState, abi.StateErr)
	if err := h.modify(d, "ERR", b, abi.MaskState); err != nil && !errors.Is(err, errClosed) {
		d.adapter.logger.Debug("verbs: a queue pair does not go to its error state", "reason", err)
	}
}

// endQP destroys the queue pair. The locks of posting and polling are held.
func (h *hardware) endQP(d *domain) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.qp == 0 {
		return nil
	}
	if err := d.adapter.undo("ibv_destroy_qp", d.adapter.lib.destroyQP, h.qp); err != nil {
		return err
	}
	h.qp = 0
	h.gone.Store(true)
	return nil
}

// destroy takes back what was made, children first. After an error what is left stays, so that the device uses no memory
// that is free.
func (h *hardware) destroy(d *domain) error {
	lib := d.adapter.lib
	if err := h.endQP(d); err != nil {
		return err
	}
	if h.cq != 0 {
		if h.acks > 0 { // or ibv_destroy_cq waits for ever
			dl.Call(lib.ackCQEvents, h.cq, uintptr(h.acks))
			h.acks = 0
		}
		if err := d.adapter.undo("ibv_destroy_cq", lib.destroyCQ, h.cq); err != nil {
			return err
		}
		h.cq = 0
	}
	if h.channel != 0 {
		if err := d.adapter.undo("ibv_destroy_comp_channel", lib.destroyChannel, h.channel); err != nil {
			return err
		}
		h.channel = 0
	}
	if h.mr != 0 {
		if err := d.unpin(h.mr); err != nil {
			return err
		}
		h.mr = 0
	}
	if err := h.heads.free(d); err != nil {
		return err
	}
	h.landing.Free()
	h.event.Free()
	h.landing, h.event = abi.Block{}, abi.Block{}
	return nil
}

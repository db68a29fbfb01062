//go:build amd64 || arm64

package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// cmLibrary is the functions of librdmacm, by which other programs connect. Source: rdma_cm(7).
type cmLibrary struct {
	createChannel, destroyChannel, getEvent, ackEvent uintptr
	createID, destroyID, migrateID, bindAddr          uintptr
	resolveAddr, resolveRoute, listen, srcPort        uintptr
	connect, accept, reject, establish, disconnect    uintptr
	initQPAttr, setOption                             uintptr
}

// manager opens the library of rdma_cm, once: librdmacm, unless what stands for libibverbs has its functions, too.
func (lib *library) manager() (*cmLibrary, error) {
	lib.cmOnce.Do(func() { lib.cm, lib.cmErr = openCM(lib.path) })
	return lib.cm, lib.cmErr
}

func openCM(verbs string) (*cmLibrary, error) {
	l, err := dl.Open(verbs)
	if err == nil {
		if _, none := l.Func("rdma_create_id", ""); none != nil {
			l, err = dl.Open("librdmacm.so.1")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoVerbs, err)
	}
	cm := &cmLibrary{}
	for _, f := range []struct {
		at   *uintptr
		name string
	}{
		{&cm.createChannel, "rdma_create_event_channel"}, {&cm.destroyChannel, "rdma_destroy_event_channel"},
		{&cm.getEvent, "rdma_get_cm_event"}, {&cm.ackEvent, "rdma_ack_cm_event"},
		{&cm.createID, "rdma_create_id"}, {&cm.destroyID, "rdma_destroy_id"}, {&cm.migrateID, "rdma_migrate_id"},
		{&cm.bindAddr, "rdma_bind_addr"}, {&cm.resolveAddr, "rdma_resolve_addr"}, {&cm.resolveRoute, "rdma_resolve_route"},
		{&cm.listen, "rdma_listen"}, {&cm.srcPort, "rdma_get_src_port"}, {&cm.connect, "rdma_connect"}, {&cm.accept, "rdma_accept"},
		{&cm.reject, "rdma_reject"}, {&cm.establish, "rdma_establish"}, {&cm.disconnect, "rdma_disconnect"}, {&cm.initQPAttr, "rdma_init_qp_attr"},
		{&cm.setOption, "rdma_set_option"},
	} {
		if *f.at, err = l.Func(f.name, ""); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoVerbs, err)
		}
	}
	return cm, nil
}

// meeting is an identifier of rdma_cm's with an event channel of its own: one that listens, or a connection.
type meeting struct {
	cm      *cmLibrary
	lib     *library
	channel uintptr // struct rdma_event_channel
	file    *os.File
	raw     syscall.RawConn
	block   abi.Block

	mu sync.Mutex
	id uintptr // struct rdma_cm_id; 0 when it is closed
}

// Where in a meeting's block: what calls fill in, an address, parameters of a connection with their private data, attributes of a queue pair.
const (
	answerAt = 0
	sockAt   = 64
	paramAt  = 256
	dataAt   = 320
	attrAt   = 1024
	maskAt   = 1536
)

// newMeeting makes an event channel, and an identifier unless it is given one, which moves to this channel.
func newMeeting(lib *library, id uintptr) (*meeting, error) {
	cm, err := lib.manager()
	if err != nil {
		return nil, err
	}
	m := &meeting{cm: cm, lib: lib, id: id}
	if m.block, err = abi.NewBlock(4096); err != nil {
		return nil, err
	}
	if m.channel, err = lib.make("rdma_create_event_channel", cm.createChannel); err == nil {
		if m.file, err = pollable(int(int32(abi.At(m.channel).U32(abi.CMChannelFD))), "events of rdma_cm"); err == nil {
			m.raw, err = m.file.SyscallConn()
		}
	}
	switch {
	case err != nil:
	case id != 0:
		err = lib.do("rdma_migrate_id", cm.migrateID, id, m.channel)
	default:
		if err = lib.do("rdma_create_id", cm.createID, m.channel, m.block.Addr(answerAt), 0, abi.CMPortSpaceTCP); err == nil {
			m.id = uintptr(m.block.U64(answerAt))
		}
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// close ends it, and the connection with it. Whoever waits for an event is gone then: the file is closed first.
func (m *meeting) close() {
	if m == nil {
		return
	}
	if m.file != nil {
		_ = m.file.Close()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.id != 0 {
		_ = m.lib.do("rdma_destroy_id", m.cm.destroyID, m.id)
		m.id = 0
	}
	if m.channel != 0 {
		dl.Call(m.cm.destroyChannel, m.channel)
		m.channel = 0
	}
	m.block.Free()
	m.block = abi.Block{}
}

// leave tells the peer that the connection ends.
func (m *meeting) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.id != 0 {
		_ = m.lib.do("rdma_disconnect", m.cm.disconnect, m.id)
	}
}

// cmEvent is an event, copied: the library has its own back.
type cmEvent struct {
	kind   uint32
	status int32
	id     uintptr // of a connection that is asked for
	data   []byte  // private data
	serves uint8   // reads and atomics that the peer would have outstanding here
	asks   uint8   // and serves itself
}

// next waits for an event. It ends with the context, and when the meeting is closed.
func (m *meeting) next(ctx context.Context) (e cmEvent, err error) {
	_ = m.file.SetReadDeadline(noDeadline)
	defer context.AfterFunc(ctx, func() { _ = m.file.SetReadDeadline(past) })()
	var failed syscall.Errno
	got := false
	err = m.raw.Read(func(uintptr) bool {
		r, errno := dl.Call(m.cm.getEvent, m.channel, m.block.Addr(answerAt))
		if got = r == 0; !got && errno != unix.EAGAIN {
			failed = errno
		}
		return got || failed != 0
	})
	switch {
	case got:
	case ctx.Err() != nil:
		return e, ctx.Err()
	case err != nil:
		return e, err
	default:
		return e, &callError{"rdma_get_cm_event", failed}
	}
	at := uintptr(m.block.U64(answerAt))
	b := abi.At(at)
	e = cmEvent{kind: b.U32(abi.CMEventType), status: int32(b.U32(abi.CMEventStatus)), id: uintptr(b.U64(abi.CMEventID))}
	if n, data := int(b.U8(abi.CMEventDataLen)), uintptr(b.U64(abi.CMEventData)); n > 0 && data != 0 {
		e.data = bytes.Clone(abi.At(data).Bytes(0, n))
	}
	e.serves, e.asks = b.U8(abi.CMEventNumResources), b.U8(abi.CMEventNumResources+1)
	dl.Call(m.cm.ackEvent, at)
	return e, nil
}

// expect waits for an event of some kind; another one is an error.
func (m *meeting) expect(ctx context.Context, kinds ...uint32) (cmEvent, error) {
	e, err := m.next(ctx)
	if err != nil {
		return e, err
	}
	for _, k := range kinds {
		if e.kind == k && e.status == 0 {
			return e, nil
		}
	}
	return e, e.error()
}

func (e *cmEvent) error() error {
	texts := map[uint32]string{
		abi.CMAddrError: "there is no way to the address by an RDMA device", abi.CMRouteError: "there is no route to the address",
		abi.CMConnectError: "connecting failed", abi.CMUnreachable: "nobody answers there", abi.CMRejected: "it was refused there",
		abi.CMDisconnected: "the peer has disconnected", abi.CMDeviceRemoval: "the device is gone",
	}
	text := texts[e.kind]
	if text == "" {
		text = fmt.Sprintf("event %d (enum rdma_cm_event_type)", e.kind)
	}
	if e.status < 0 {
		return fmt.Errorf("%s: %w", text, syscall.Errno(-e.status))
	}
	if e.status > 0 {
		return fmt.Errorf("%s (status %d)", text, e.status)
	}
	return errors.New(text)
}

// call calls a function with the identifier and arguments.
func (m *meeting) call(what string, fn uintptr, args ...uintptr) error {
	return m.lib.do(what, fn, append([]uintptr{m.id}, args...)...)
}

// port is the port that a listening identifier got.
func (m *meeting) port() uint16 {
	r, _ := dl.Call(m.cm.srcPort, m.id)
	return uint16(r)>>8 | uint16(r)<<8 // from network order
}

// address writes a socket address into the block, in the form of the system's. Source: ip(7), ipv6(7).
func (m *meeting) address(a netip.AddrPort) uintptr {
	m.block.Clear(sockAt, 64)
	port := a.Port()>>8 | a.Port()<<8
	if ip := a.Addr().Unmap(); ip.Is4() {
		m.block.Put16(sockAt, unix.AF_INET)
		m.block.Put16(sockAt+2, port)
		v4 := ip.As4()
		copy(m.block.Bytes(sockAt+4, 4), v4[:])
	} else {
		m.block.Put16(sockAt, unix.AF_INET6)
		m.block.Put16(sockAt+2, port)
		v6 := ip.As16()
		copy(m.block.Bytes(sockAt+8, 16), v6[:])
		if i, err := interfaceByName(ip.Zone()); err == nil {
			m.block.Put32(sockAt+24, uint32(i))
		}
	}
	return m.block.Addr(sockAt)
}

// parameters writes those of a connection into the block.
func (m *meeting) parameters(qpn uint32, data []byte, serves, asks uint8) uintptr {
	b := m.block
	b.Clear(paramAt, abi.ConnParamSize)
	if len(data) > 0 {
		copy(b.Bytes(dataAt, len(data)), data)
		b.Put64(paramAt+abi.ConnParamData, uint64(b.Addr(dataAt)))
		b.Put8(paramAt+abi.ConnParamDataLen, uint8(len(data)))
	}
	b.Put8(paramAt+abi.ConnParamResources, serves)
	b.Put8(paramAt+abi.ConnParamDepth, asks)
	b.Put8(paramAt+abi.ConnParamRetry, retries)
	b.Put8(paramAt+abi.ConnParamRNRRetry, rnrRetries)
	b.Put32(paramAt+abi.ConnParamQPN, qpn)
	return b.Addr(paramAt)
}

// classify sets the class of service of packets, where the connection is one of TCP: elsewhere the queue pair has it. Source:
// rdma_set_option(3), RDMA_OPTION_ID_TOS.
func (m *meeting) classify(a *adapter) error {
	if !a.iwarp() || a.class == 0 {
		return nil
	}
	m.block.Put8(answerAt, a.class)
	return m.call("rdma_set_option (class of service)", m.cm.setOption, abi.CMOptionID, abi.CMOptionTOS, m.block.Addr(answerAt), 1)
}

// deviceName is the name of the device that the identifier is bound to.
func deviceName(id uintptr) string {
	verbs := uintptr(abi.At(id).U64(abi.CMIDVerbs))
	if verbs == 0 {
		return ""
	}
	return abi.At(uintptr(abi.At(verbs).U64(0))).Text(abi.DeviceName, abi.DeviceNameLen)
}

// on reports why the identifier's device is not that of a port.
func (m *meeting) on(p *port) error {
	switch name := deviceName(m.id); name {
	case p.device:
	case "":
		return fmt.Errorf("no device is bound to the address, as none is to loopback's: give one of the network interface of %q, or 0.0.0.0 to listen at all", p.device)
	default:
		return fmt.Errorf("the address is reached by the device %q, and this is %q", name, p.device)
	}
	return nil
}

// move moves a queue pair to a state, with the attributes that rdma_cm knows and some of ours.
func (m *meeting) move(q *queue, state uint32, ours func(b abi.Block)) error {
	b := m.block
	b.Clear(attrAt, abi.QPAttrSize)
	b.Put32(attrAt+abi.QPAttrState, state)
	b.Put32(maskAt, 0)
	if err := m.call("rdma_init_qp_attr", m.cm.initQPAttr, b.Addr(attrAt), b.Addr(maskAt)); err != nil {
		return err
	}
	b.Put32(attrAt+abi.QPAttrState, state)
	at := abi.At(b.Addr(attrAt))
	ours(at)
	names := [...]string{abi.StateInit: "INIT", abi.StateRTR: "RTR", abi.StateRTS: "RTS"}
	return q.hw.modify(q.dom, names[state], at, uintptr(b.U32(maskAt)))
}

// prepare moves a new queue pair to INIT, for the port that the identifier is bound to.
func (m *meeting) prepare(q *queue) error {
	return m.move(q, abi.StateInit, func(b abi.Block) { b.Put32(abi.QPAttrAccess, q.hw.rights(q.dom)) })
}

// connectQP moves a queue pair to RTR and RTS.
func (m *meeting) connectQP(q *queue, serves, asks uint8) error {
	if err := m.prepare(q); err != nil { // what was agreed on since then counts
		return err
	}
	if err := m.move(q, abi.StateRTR, func(b abi.Block) {
		b.Put8(abi.QPAttrMaxDest, serves)
		b.Put8(abi.QPAttrMinRNR, rnrTimer)
		b.Put8(abi.QPAttrTrafficClass, q.dom.adapter.class)
	}); err != nil {
		return err
	}
	return m.move(q, abi.StateRTS, func(b abi.Block) {
		b.Put8(abi.QPAttrMaxRdAtomic, asks)
		b.Put8(abi.QPAttrTimeout, ackTimeout)
		b.Put8(abi.QPAttrRetry, retries)
		b.Put8(abi.QPAttrRNRRetry, rnrRetries)
	})
}

// watch fails the queue when the peer leaves.
func (m *meeting) watch(q *queue) {
	for {
		e, err := m.next(context.Background())
		if err != nil {
			return // closed
		}
		switch e.kind {
		case abi.CMDisconnected, abi.CMDeviceRemoval, abi.CMConnectError, abi.CMUnreachable, abi.CMRejected:
			if q.framed {
				q.parted(e.error())
				continue
			}
			q.fail(q.lost("%v", e.error()), "")
		}
	}
}

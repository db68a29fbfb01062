//go:build amd64 || arm64

package verbs

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// Registering that is not by pinning this process' memory: on demand, and by a dma-buf. What a device can of it is asked before
// it is used: what a device cannot it refuses in its own way, or takes and forgets.

// onDemand is what a device can do with memory that is not pinned.
type onDemand struct {
	known bool   // somebody said
	can   bool   // anything
	rc    uint32 // by reliable connections, as enum ibv_odp_transport_cap_bits
}

// onDemand asks an open device. Source: ibv_query_device_ex(3), section odp_caps.
func (lib *library) onDemand(c uintptr) (o onDemand, err error) {
	x := abi.At(c)
	if x.U64(abi.ContextABI) != abi.ExtendedABI || x.U64(abi.ExtendedSize) < abi.ExtendedQueryDeviceIn || x.U64(abi.ExtendedQueryDevice) == 0 {
		return o, nil
	}
	b, err := abi.NewBlock(abi.DeviceAttrExRoom)
	if err != nil {
		return o, err
	}
	defer b.Free()
	if err := lib.do("ibv_query_device_ex", uintptr(x.U64(abi.ExtendedQueryDevice)), c, 0, b.Addr(0), abi.DeviceAttrExSize); err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			return o, nil
		}
		return o, err
	}
	return onDemand{true, b.U64(abi.DeviceAttrExODP)&abi.ODPSupport != 0, b.U32(abi.DeviceAttrExRC)}, nil
}

// lacks is what is wanting for all that connections do with memory, empty where nothing is.
func (o onDemand) lacks() string {
	switch {
	case !o.known:
		return "its library does not say what it can"
	case !o.can:
		return "it has no on-demand paging"
	}
	var s []string
	for _, v := range []struct {
		bit  uint32
		name string
	}{{abi.ODPSend, "send"}, {abi.ODPRecv, "receive"}, {abi.ODPWrite, "write"}, {abi.ODPRead, "read"}} {
		if o.rc&v.bit == 0 {
			s = append(s, v.name)
		}
	}
	if len(s) == 0 {
		return ""
	}
	return "it has none for reliable connections to " + strings.Join(s, " and ")
}

// wantOnDemand asks whether the device can register on demand, which the configuration wants.
func (a *adapter) wantOnDemand() error {
	o, err := a.lib.onDemand(a.ctx)
	if err != nil {
		return err
	}
	if why := o.lacks(); why != "" {
		return &OnDemandError{Device: a.port.name(), Lacks: why}
	}
	a.atomicOnDemand = o.rc&abi.ODPAtomic != 0
	return nil
}

// mayOnDemand reports why memory cannot be registered on demand with such rights.
func (a *adapter) mayOnDemand(rights barewire.Rights) error {
	if a.demand && rights&iregion.Atomic != 0 && !a.atomicOnDemand {
		return &OnDemandError{Device: a.port.name(), Lacks: "it has none for atomic operations"}
	}
	return nil
}

// noFile is the number of a descriptor that no process has: what sysctl fs.nr_open allows is far below, unless somebody raised it a thousandfold.
const noFile = 1<<30 - 1

// takesDMABuf reports whether the device registers memory by a dma-buf: then it is the descriptor that it does
// not like. Nothing else says so. Source: ibv_reg_dmabuf_mr(3); drivers/infiniband/core/uverbs_std_types_mr.c.
func (a *adapter) takesDMABuf() bool {
	lib := a.lib
	if lib.regDMABuf == 0 {
		return false
	}
	pd, err := lib.make("ibv_alloc_pd", lib.allocPD, a.ctx)
	if err != nil {
		return false
	}
	mr, err := lib.make("ibv_reg_dmabuf_mr", lib.regDMABuf, pd, 0, 4096, 0, noFile, abi.AccessLocalWrite)
	if err == nil { // it takes anything, and so nothing
		_ = lib.do("ibv_dereg_mr", lib.deregMR, mr)
	}
	_ = lib.do("ibv_dealloc_pd", lib.deallocPD, pd)
	return errors.Is(err, syscall.EBADF)
}

// pinBuffer registers memory of another device by its dma-buf, at an address of no process.
func (d *domain) pinBuffer(m *rdma.Memory, acc uintptr) (mr uintptr, addr uint64, err error) {
	if m.DMABuf == nil {
		return 0, 0, fmt.Errorf("%w: nobody can export it as a dma-buf", errors.ErrUnsupported)
	}
	buf, err := m.DMABuf()
	if err != nil {
		return 0, 0, err
	}
	if buf.File == nil {
		return 0, 0, errors.New("its dma-buf has no file")
	}
	defer buf.File.Close()
	lib := d.adapter.lib
	addr = randomAddress(uintptr(buf.Off))
	mr, err = lib.make("ibv_reg_dmabuf_mr", lib.regDMABuf, d.pd, uintptr(buf.Off), uintptr(m.Len), uintptr(addr), buf.File.Fd(), acc)
	return mr, addr, err
}

//go:build amd64 || arm64

package verbs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// kind is the kind of a port's network. Both ends must have the same. The numbers are those of exchange.Setup.
type kind uint8

const (
	kindInfiniBand kind = iota + 1
	kindRoCEv1
	kindRoCEv2
	kindIWARP
)

func (k kind) String() string {
	return [...]string{"unknown", "InfiniBand", "RoCEv1", "RoCEv2", "iWARP"}[min(k, 4)]
}

// port is a port of a device, and what it can do.
type port struct {
	device string
	num    uint8
	kind   kind
	state  uint32
	mtu    uint8 // enum ibv_mtu
	lid    uint16
	maxMsg uint32
	gids   []gid

	firmware string
	maxWR    int
	maxSGE   int // of any request
	sendSGE  int // of those that are no reads
	maxCQE   int
	serves   uint8 // reads and atomics of peers at a time
	asks     uint8 // of ours
	atomic   uint32
	caps     uint32 // device_cap_flags
	maxMR    uint64
}

// name is the device's name, with the port where that is not the first.
func (p *port) name() string {
	if p.num == 1 {
		return p.device
	}
	return fmt.Sprintf("%s:%d", p.device, p.num)
}

func (p *port) info() rdma.DeviceInfo {
	return rdma.DeviceInfo{Provider: providerName, Name: p.name(), Transport: p.kind.String(), State: p.stateText(), Detail: p.detail()}
}

// stateText is "active", or why the port cannot be used.
func (p *port) stateText() string {
	switch {
	case p.state == abi.PortActive && len(p.gids) == 0 && p.kind != kindIWARP:
		return "active but without an address: its GID table is empty; give the network interface an address"
	case p.state == abi.PortActive:
		return rdma.StateActive
	case p.state == abi.PortDown:
		return "down: no link"
	}
	return "in state " + strconv.Itoa(int(p.state)) + " (enum ibv_port_state)"
}

func (p *port) detail() string {
	s := fmt.Sprintf("port %d, MTU %d", p.num, 128<<p.mtu)
	if p.firmware != "" {
		s += ", firmware " + p.firmware
	}
	switch {
	case p.windows():
		s += ", memory windows"
	case p.caps&abi.CapWindow != 0:
		s += ", memory windows but not of type 2"
	default:
		s += ", no memory windows"
	}
	for _, g := range p.gids {
		if g.dev != "" {
			return s + ", interface " + g.dev
		}
	}
	return s
}

// Devices lists the ports of the devices that the library finds. Where there is no library, or none, it lists one that cannot be
// used, which says why.
func (p *Provider) Devices(ctx context.Context) ([]rdma.DeviceInfo, error) {
	var infos []rdma.DeviceInfo
	err := p.visit(ctx, func(_ uintptr, ports []port) error {
		for i := range ports {
			infos = append(infos, ports[i].info())
		}
		return nil
	})
	if len(infos) == 0 && err != nil && !errors.Is(err, ErrNoVerbs) {
		return nil, fmt.Errorf("verbs: %w", err)
	}
	if len(infos) == 0 {
		return []rdma.DeviceInfo{{Provider: providerName, Name: "none", Transport: kindRoCEv2.String(), State: "not there: " + err.Error()}}, nil
	}
	return infos, nil
}

// errFound ends a visit.
var errFound = errors.New("found")

// visit opens each device and hands it over with its ports. If f returns errFound the device stays open, and is f's.
func (p *Provider) visit(ctx context.Context, f func(device uintptr, ports []port) error) error {
	if p == nil {
		return errors.New("a nil Provider: New makes them")
	}
	lib, err := load(p.opts.Library)
	if err != nil {
		return err
	}
	scratch, err := abi.NewBlock(4096)
	if err != nil {
		return err
	}
	defer scratch.Free()
	list, err := lib.make("ibv_get_device_list", lib.getDeviceList, scratch.Addr(0))
	if err != nil {
		if errors.Is(err, syscall.ENOSYS) {
			err = fmt.Errorf("the kernel has no RDMA (module ib_uverbs): %w", err)
		}
		return fmt.Errorf("%w: %w", ErrNoVerbs, err)
	}
	defer lib.do("ibv_free_device_list", lib.freeDeviceList, list)
	n := int(scratch.U32(0))
	if n == 0 {
		return fmt.Errorf("%w: the kernel has no RDMA device; a software one: rdma link add rxe0 type rxe netdev INTERFACE", ErrNoVerbs)
	}
	var errs []error
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		device := uintptr(abi.At(list).U64(8 * i))
		name := abi.At(device).Text(abi.DeviceName, abi.DeviceNameLen)
		c, err := lib.make("ibv_open_device of "+name, lib.openDevice, device)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		ports, err := lib.ports(c, device, name, scratch)
		if err == nil {
			err = f(c, ports)
		}
		if errors.Is(err, errFound) {
			return nil
		}
		errs = append(errs, err, lib.do("ibv_close_device", lib.closeDevice, c))
	}
	return errors.Join(errs...)
}

// ports asks an open device for its ports.
func (lib *library) ports(c, device uintptr, name string, scratch abi.Block) ([]port, error) {
	const attr, portAttr = 1024, 2048
	scratch.Clear(attr, abi.DeviceAttrSize)
	if err := lib.do("ibv_query_device of "+name, lib.queryDevice, c, scratch.Addr(attr)); err != nil {
		return nil, err
	}
	one := port{
		device:   name,
		firmware: strings.TrimSpace(scratch.Text(attr+abi.DeviceAttrFirmware, 64)),
		maxWR:    int(scratch.U32(attr + abi.DeviceAttrMaxQPWR)),
		maxSGE:   int(min(scratch.U32(attr+abi.DeviceAttrMaxSGE), scratch.U32(attr+abi.DeviceAttrMaxSGERead))),
		sendSGE:  int(scratch.U32(attr + abi.DeviceAttrMaxSGE)),
		maxCQE:   int(scratch.U32(attr + abi.DeviceAttrMaxCQE)),
		serves:   uint8(min(scratch.U32(attr+abi.DeviceAttrMaxQPRdAtom), 255)),
		asks:     uint8(min(scratch.U32(attr+abi.DeviceAttrMaxInitRdAtom), 255)),
		atomic:   scratch.U32(attr + abi.DeviceAttrAtomicCap),
		caps:     scratch.U32(attr + abi.DeviceAttrCapFlags),
		maxMR:    scratch.U64(attr + abi.DeviceAttrMaxMRSize),
	}
	one.maxSGE = max(one.maxSGE, 1)
	var ports []port
	for num := 1; num <= int(scratch.U8(attr+abi.DeviceAttrPorts)); num++ {
		p := one
		p.num = uint8(num)
		scratch.Clear(portAttr, abi.PortAttrRoom)
		if err := lib.do(fmt.Sprintf("ibv_query_port %d of %s", num, name), lib.queryPort, c, uintptr(num), scratch.Addr(portAttr)); err != nil {
			return nil, err
		}
		p.state = scratch.U32(portAttr + abi.PortAttrState)
		p.mtu = uint8(min(max(scratch.U32(portAttr+abi.PortAttrActiveMTU), 1), 5))
		p.lid = scratch.U16(portAttr + abi.PortAttrLID)
		p.maxMsg = scratch.U32(portAttr + abi.PortAttrMaxMsg)
		p.gids = lib.gids(c, name, num, int(scratch.U32(portAttr+abi.PortAttrGIDs)))
		p.kind = kindOf(abi.At(device).U32(abi.DeviceNodeType) == abi.NodeRNIC, scratch.U8(portAttr+abi.PortAttrLinkLayer), p.gids)
		ports = append(ports, p)
	}
	return ports, nil
}

// kindOf is what network a port is on.
func kindOf(rnic bool, linkLayer uint8, gids []gid) kind {
	switch {
	case rnic:
		return kindIWARP
	case linkLayer != abi.LinkEthernet:
		return kindInfiniBand
	}
	for _, g := range gids {
		if g.kind == kindRoCEv2 {
			return kindRoCEv2
		}
	}
	if len(gids) > 0 {
		return kindRoCEv1
	}
	return kindRoCEv2
}

package gpu

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// Near is the node of NUMA that a device is nearest to: see [Device.Node].
const Near = -1

// NewHostAt is [NewHost] with all of the memory at one node of NUMA: [Near] is the device's, where copies take the shortest way. Its pages are
// looked for when the device has them pinned, since pinning may move them.
//
// Beside the errors of [NewHost] it is [barewire.ErrPlace] around a reason of package numa's where the memory cannot be at the node,
// [barewire.ErrPlacementLost] where pinning took it away from there, and [ErrNotHere] where the provider pins only what it allocates itself.
//
//barewire:effect fresh=0 on ok, node=0 of node, carves=0 of dev on ok
func NewHostAt[T barewire.Fixed[T]](dev *Device, node int, p barewire.Place[T, barewire.CPU], n int, opts ...barewire.Option) (*barewire.Region[T, barewire.CPU, barewire.Unregistered], error) {
	if dev.none() {
		return nil, wrap(ErrNoDevice, "new")
	}
	if !dev.info.Facts.HostMapped {
		return nil, wrap(ErrNotHere, "new: %s maps no host memory; use gpu.New, and copies", dev.name)
	}
	info, in, _, _, err := barewire.PlaceParts(friend, p)
	if err != nil {
		return nil, err
	}
	if in != barewire.InCPU {
		return nil, fmt.Errorf("gpu: new: this place of %s is %s, and this allocator gives %s: use the place's allocator", info.Name, in, HostMemory)
	}
	if node == Near {
		if node, err = dev.Node(); err != nil {
			return nil, err
		}
	}
	h, err := dev.allocateAt(node, barewire.Gather(friend, info, n, opts))
	if err != nil {
		return nil, err
	}
	return barewire.Mint[T, barewire.CPU, barewire.Unregistered](friend, h, region.FirstGen), nil
}

// allocateAt makes a region of pinned memory at a node.
func (d *Device) allocateAt(node int, spec region.Spec) (*region.Handle, error) {
	pin, ok := d.ad.(Pinner)
	if !ok {
		return nil, wrap(ErrNotHere, "new: %s pins only memory that its driver allocates, at no node of one's choice; use gpu.NewHost", d.name)
	}
	if _, err := mempolicy.SetOf(node); err != nil {
		return nil, region.Refused(spec, err)
	}
	if spec.MayLie != nil {
		if err := spec.MayLie(node); err != nil {
			return nil, region.Refused(spec, err)
		}
	}
	var why atomic.Pointer[error] // where it cannot be at the node; the call may go on when this has returned
	h, err := d.allocateBy(HostMemory, spec, func(m *memory, n, align uintptr) (Memory, error) {
		mem, no, err := m.pinAt(pin, node, n, align)
		why.Store(&no)
		return mem, err
	})
	if no := why.Load(); err != nil && no != nil && *no != nil {
		return nil, region.Refused(spec, *no)
	}
	return h, err
}

// pinAt places memory at a node, has a device pin it, and looks whether it stayed. why is the reason where it cannot be there.
func (m *memory) pinAt(pin Pinner, node int, n, align uintptr) (mem Memory, why, err error) {
	room, err := reserve(n, align)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", barewire.ErrNoMemory, err)
	}
	if why := mempolicy.Strict(room.base, room.size, node); why != nil {
		return nil, why, errors.Join(why, room.free())
	}
	if mem, err = pin.Pin(room.base, room.size); err != nil {
		return nil, nil, errors.Join(err, room.free())
	}
	m.room, m.node = &room, node
	if err := stays(room.base, room.size, node); err != nil {
		return nil, nil, errors.Join(err, m.free(mem))
	}
	return mem, nil, nil
}

// stays reports that pages are at another node than they were placed at.
func stays(base unsafe.Pointer, size uintptr, node int) error {
	pages, err := mempolicy.Pages(base, size)
	if err != nil {
		return err
	}
	for at, n := range pages {
		if at != node {
			return fmt.Errorf("%w: when it was pinned the kernel moved %d pages from node %d to %d (memory that is online as movable cannot be pinned)",
				barewire.ErrPlacementLost, n, node, at)
		}
	}
	return nil
}

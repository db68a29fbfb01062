package gpu

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// memory is what this package knows of memory that it allocated: the Extra of its regions.
type memory struct {
	dev  *Device
	mem  Memory
	kind Kind
	use  gate      // operations, or the host's turn
	room *reserved // of the host's, where this package placed it; nil where the driver did
	node int       // where

	mu  sync.Mutex
	has hostHas    // what the host does with it
	at  where.Mark // since when
}

// hostHas is why operations have to wait for the host.
type hostHas uint8

const (
	hostNot   hostHas = iota
	hostTakes         // it waits for operations to end, or for the driver
	hostAcquired
	hostMapped
	hostYields // it looks whether windows are open, and waits for the driver
)

// memoryOf is what this package knows of a handle's memory; nil where it did not allocate it.
func memoryOf(h *region.Handle) *memory {
	m, _ := h.Extra().(*memory)
	return m
}

// homes are the residencies of the kinds of memory.
var homes = map[Kind]barewire.Kind{
	DeviceMemory: barewire.InGPU, HostMemory: barewire.InCPU, ManagedMemory: barewire.InManaged, UnifiedMemory: barewire.InUnified,
}

// allocate makes a region's memory on a device.
func (d *Device) allocate(kind Kind, spec region.Spec) (*region.Handle, error) {
	return d.allocateBy(kind, spec, func(_ *memory, n, align uintptr) (Memory, error) { return d.ad.Alloc(kind, n, align) })
}

// allocateBy makes a region of memory that alloc gives.
func (d *Device) allocateBy(kind Kind, spec region.Spec, alloc func(m *memory, n, align uintptr) (Memory, error)) (*region.Handle, error) {
	size, align := spec.Type.Size, max(spec.Type.Align, 1)
	if spec.Count <= 0 || size == 0 || uint64(spec.Count) > (1<<47)/size {
		return nil, wrap(barewire.ErrRange, "new: %s of %d bytes of %s on %s: a region has at least one, and fits into an address space",
			region.Elements(spec.Count), size, spec.Type.Name, d.name)
	}
	n := uintptr(spec.Count) * uintptr(size)
	m := &memory{dev: d, kind: kind}
	if err := d.enter(func() { d.regions[m] = spec.Type.Name }); err != nil {
		return nil, err
	}
	mem, err := d.take(m, func() (Memory, error) { return alloc(m, n, uintptr(align)) })
	if err != nil {
		return nil, fmt.Errorf("gpu: new: %s of %s as %s on %s: %w", region.Elements(spec.Count), spec.Type.Name, kind, d.name, err)
	}
	m.mem = mem
	spec.Home, spec.Extra = uint8(homes[kind]), m
	h, err := region.Adopt(spec, m.given(n))
	if err != nil {
		d.forget(m)
		if ferr := m.free(mem); ferr != nil {
			err = fmt.Errorf("%w; and it is not given back: %w", err, ferr)
		}
		return nil, err
	}
	d.rename(m, h.Name())
	return h, nil
}

// take has the driver allocate memory, and forgets what it is for where that fails.
func (d *Device) take(m *memory, alloc func() (Memory, error)) (Memory, error) {
	ctx, cancel := d.patiently()
	defer cancel()
	mem, err := bounded(ctx, alloc, func(mem Memory, err error) {
		if err == nil { // nobody waits for it any more
			_ = m.free(mem)
		}
		d.forget(m)
	})
	switch {
	case goesOn(err):
		d.rename(m, "memory that the driver has not given yet")
	case err != nil:
		d.forget(m)
	}
	return mem, err
}

// rename changes what memory is called while it is there.
func (d *Device) rename(m *memory, name string) {
	d.mu.Lock()
	if _, ok := d.regions[m]; ok {
		d.regions[m] = name
	}
	d.mu.Unlock()
}

// free gives memory back, and what it lay in. What the driver does not give back it may have still.
func (m *memory) free(mem Memory) error {
	if err := mem.Free(); err != nil || m.room == nil {
		return err
	}
	return m.room.free()
}

// how says which way was taken.
func (m *memory) how() string {
	if m.room == nil {
		return m.mem.How()
	}
	return fmt.Sprintf("%s, at node %d", m.mem.How(), m.node)
}

// forget ends what enter counted for memory.
func (d *Device) forget(m *memory) {
	d.mu.Lock()
	delete(d.regions, m)
	d.mu.Unlock()
}

// given is the memory as regions take it.
func (m *memory) given(n uintptr) region.Given {
	g := region.Given{Base: m.mem.Host(), Size: n, Release: m.release, NoFile: fmt.Errorf("it is %s of %s", m.kind, m.dev.name)}
	if m.kind != DeviceMemory {
		return g
	}
	g.Opaque = true
	g.Nodes = func() []int { return nil }
	addr := uintptr(m.mem.Device())
	g.Base = *(*unsafe.Pointer)(unsafe.Pointer(&addr)) // the device's memory, which no pointer of Go's reaches
	g.DMABuf = m.export
	return g
}

// export gives the memory to another device.
func (m *memory) export() (region.DMABuf, error) {
	x, ok := m.mem.(Exporter)
	if !ok || !m.dev.info.Facts.DMABuf {
		return region.DMABuf{}, fmt.Errorf("%w: %s exports none as a dma-buf; register memory of gpu.NewHost, which kernels reach in place, and copy: %w",
			ErrNotExportable, m.dev.name, errors.ErrUnsupported)
	}
	f, off, err := x.Export()
	if err != nil {
		return region.DMABuf{}, fmt.Errorf("%s: %w", m.dev.name, err)
	}
	return region.DMABuf{File: f, Off: off}, nil
}

// release gives the memory back, with the last handle. Of a device that is lost there is nothing to give back. Drivers may wait with that
// for all that runs on the device: memory that one has not taken back is nobody's, and the device knows of it.
func (m *memory) release() error {
	m.mu.Lock()
	acquired := m.has == hostAcquired
	m.mu.Unlock()
	err := m.dev.call(func() error {
		if acquired {
			_ = m.mem.(Acquirer).Yield()
			m.handBack()
		}
		return m.free(m.mem)
	}, func(error) { m.dev.forget(m) })
	if goesOn(err) {
		m.dev.rename(m, "memory that the driver has not taken back")
		return fmt.Errorf("gpu: close: %s of %s is not taken back; nothing else gets it meanwhile: %w", m.kind, m.dev.name, err)
	}
	m.dev.forget(m)
	if err != nil && m.dev.ad.Lost() != nil {
		return nil
	}
	return err
}

// enter lets an operation have the memory until leave. The error says why the host keeps it from that.
func (m *memory) enter() error {
	if m.use.enter() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.has {
	case hostMapped:
		return fmt.Errorf("%w, at %s: close it first", ErrMapped, m.at)
	case hostNot:
		return fmt.Errorf("%w for this moment: try again", ErrHostHas)
	case hostTakes:
		return fmt.Errorf("%w, or will have: it is taken at %s", ErrHostHas, m.at)
	}
	return fmt.Errorf("%w, which acquired it at %s: release it first", ErrHostHas, m.at)
}

// MemoryOf is for tests of providers: the provider's memory of a region; nil where it has none.
func MemoryOf[T barewire.Fixed[T], R barewire.Residency, A barewire.Access](f seal.Friend, r *barewire.Region[T, R, A]) Memory {
	h, _, err := barewire.Core(f, r)
	if err != nil {
		return nil
	}
	if m := memoryOf(h); m != nil {
		return m.mem
	}
	return nil
}

package gpu_test

import (
	"context"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

// plain is a provider without a device: its memory is the program's, and what is posted is done at once. It says of itself what a test wants.
type plain struct{ infos []gpu.DeviceInfo }

func (plain) Name() string { return "plain" }

func (p plain) Devices(context.Context) ([]gpu.DeviceInfo, error) { return p.infos, nil }

func (p plain) Open(_ context.Context, name string) (gpu.Adapter, error) {
	for _, d := range p.infos {
		if d.Name == name {
			return &plainDevice{info: d}, nil
		}
	}
	return nil, gpu.ErrNoDevice
}

type plainDevice struct{ info gpu.DeviceInfo }

func (d *plainDevice) Info() gpu.DeviceInfo { return d.info }

func (d *plainDevice) Alloc(kind gpu.Kind, n, align uintptr) (gpu.Memory, error) {
	if n > 1<<30 || align > 1<<20 {
		return nil, gpu.ErrArgs
	}
	b := make([]byte, n+align)
	skew := -uintptr(unsafe.Pointer(&b[0])) & (align - 1)
	return &plainMemory{kind: kind, at: unsafe.Pointer(&b[skew])}, nil
}

// Pin pins nothing: the memory stays where it is.
func (d *plainDevice) Pin(base unsafe.Pointer, _ uintptr) (gpu.Memory, error) {
	return &plainMemory{kind: gpu.HostMemory, at: base}, nil
}

func (d *plainDevice) Stream(depth int) (gpu.Stream, error)    { return plainStream{}, nil }
func (d *plainDevice) Load(source []byte) (gpu.Program, error) { return nil, gpu.ErrNotHere }
func (d *plainDevice) Arrived() error                          { return nil }
func (d *plainDevice) Lost() error                             { return nil }
func (d *plainDevice) Close() error                            { return nil }

type plainMemory struct {
	kind gpu.Kind
	at   unsafe.Pointer
}

func (m *plainMemory) Host() unsafe.Pointer {
	if m.kind == gpu.DeviceMemory {
		return nil
	}
	return m.at
}

func (m *plainMemory) Device() uint64 { return uint64(uintptr(m.at)) }
func (m *plainMemory) How() string    { return "plain" }
func (m *plainMemory) Free() error    { return nil }

type plainStream struct{}

func (plainStream) Copy(_ int, c *gpu.CopyWork) error {
	at := func(s *gpu.Side) unsafe.Pointer {
		if s.Host != nil {
			return s.Host
		}
		return unsafe.Add(s.Mem.(*plainMemory).at, s.Off)
	}
	copy(unsafe.Slice((*byte)(at(&c.Dst)), c.Bytes), unsafe.Slice((*byte)(at(&c.Src)), c.Bytes))
	return nil
}

func (plainStream) Launch(int, *gpu.LaunchWork) error { return gpu.ErrNotHere }
func (plainStream) Done(int) (bool, error)            { return true, nil }
func (plainStream) Close() error                      { return nil }

//go:build amd64 || arm64

package opencl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
)

// What devices are asked. Source: CL/cl.h.
const (
	typeAll          = 0xFFFFFFFF
	infoType         = 0x1000
	infoBaseAlign    = 0x1019 // bits
	infoGlobalMemory = 0x101F
	infoAvailable    = 0x1027
	infoCompiler     = 0x1028
	infoName         = 0x102B
	infoVersion      = 0x102F
	infoHostUnified  = 0x1035
	infoSVM          = 0x1053
	svmCoarse        = 1 << 0
	svmFine          = 1 << 1
	svmSystem        = 1 << 2
	platformNotFound = -1001
	deviceNotFound   = -1
	mostPlatforms    = 64
	mostDevices      = 64
	longest          = 1024 // bytes of a text
)

// found is a device of the library.
type found struct {
	id   uintptr
	info gpu.DeviceInfo
	// align is of what the beginning of a buffer within a buffer is a multiple, in bytes.
	align uintptr
}

// Devices lists the devices of all platforms, numbered in the order in which the library has them.
func (p *Provider) Devices(context.Context) ([]gpu.DeviceInfo, error) {
	lib, err := load(p.opts.Library)
	if err != nil {
		return []gpu.DeviceInfo{{Name: "0", State: err.Error()}}, nil
	}
	all, err := lib.devices()
	infos := make([]gpu.DeviceInfo, len(all))
	for i, f := range all {
		infos[i] = f.info
	}
	if len(infos) == 0 && err == nil {
		infos = []gpu.DeviceInfo{{Name: "0", State: "OpenCL has no device (Debian: pocl-opencl-icd has one, the processor; it takes a home directory that can be written)"}}
	}
	return infos, err
}

// Open opens a device by its number.
func (p *Provider) Open(_ context.Context, name string) (gpu.Adapter, error) {
	lib, err := load(p.opts.Library)
	if err != nil {
		return nil, err
	}
	all, err := lib.devices()
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		if f.info.Name == name {
			return lib.openDevice(f)
		}
	}
	return nil, fmt.Errorf("OpenCL has %d devices, and none is %q", len(all), name)
}

// devices asks for all there are.
func (l *library) devices() (all []found, err error) {
	ids := words(mostPlatforms)
	n := heap()
	err = l.getPlatformIDs.do("", mostPlatforms, addr(&ids[0]), addr(n))
	if e, ok := err.(*gpu.CallError); ok && e.Code == platformNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, platform := range ids[:min(int(uint32(n[0])), len(ids))] {
		devs := words(mostDevices)
		err := l.getDeviceIDs.do("", platform, typeAll, mostDevices, addr(&devs[0]), addr(n))
		if e, ok := err.(*gpu.CallError); ok && e.Code == deviceNotFound {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, id := range devs[:min(int(uint32(n[0])), len(devs))] {
			all = append(all, l.describe(id, len(all)))
		}
	}
	runtime.KeepAlive(ids)
	return all, errors.Join(errs...)
}

// describe asks a device what it is.
func (l *library) describe(id uintptr, i int) found {
	var f gpu.Facts
	ask := func(name string, what uintptr, bytes uintptr) uint64 {
		out := heap()
		if l.getDeviceInfo.do(name, id, what, bytes, addr(out), 0) != nil {
			return 0
		}
		f.Read = append(f.Read, gpu.Fact{Name: name, Value: int64(out[0]), From: "clGetDeviceInfo"})
		return out[0]
	}
	svm := ask("CL_DEVICE_SVM_CAPABILITIES", infoSVM, 8)
	f.Integrated = ask("CL_DEVICE_HOST_UNIFIED_MEMORY", infoHostUnified, 4) != 0
	f.Managed, f.FineGrain, f.Pageable = svm&svmCoarse != 0, svm&svmFine != 0, svm&svmSystem != 0
	f.HostMapped, f.SameAddress = f.FineGrain, f.FineGrain
	f.Window = "clEnqueueMapBuffer"
	info := gpu.DeviceInfo{Name: strconv.Itoa(i), Model: l.text(id, infoName), Memory: ask("CL_DEVICE_GLOBAL_MEM_SIZE", infoGlobalMemory, 8)}
	ask("CL_DEVICE_TYPE", infoType, 8)
	align := ask("CL_DEVICE_MEM_BASE_ADDR_ALIGN", infoBaseAlign, 4) / 8
	available := ask("CL_DEVICE_AVAILABLE", infoAvailable, 4) != 0
	compiler := ask("CL_DEVICE_COMPILER_AVAILABLE", infoCompiler, 4) != 0
	version := l.text(id, infoVersion)
	info.Facts = f
	switch {
	case !available:
		info.State = "not available (CL_DEVICE_AVAILABLE)"
	case !compiler:
		info.State = "it has no compiler (CL_DEVICE_COMPILER_AVAILABLE)"
	case strings.HasPrefix(version, "OpenCL 1."):
		info.State = version + ": 2.0 at least is needed"
	default:
		info.State = gpu.StateReady
	}
	return found{id, info, max(uintptr(align), 1)}
}

// text asks a device for a text.
func (l *library) text(id, what uintptr) string {
	b := bytes(longest)
	if l.getDeviceInfo.do("", id, what, longest, addr(&b[0]), 0) != nil {
		return ""
	}
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(s)
}

// adapter is an open device: a context with it alone.
type adapter struct {
	lib   *library
	found found
	ctx   uintptr

	mu   sync.Mutex            // for own
	own  uintptr               // a queue for what is not posted: filling, mapping
	lost atomic.Pointer[error] // not under mu, which is held while the device is waited for
}

func (l *library) openDevice(f found) (gpu.Adapter, error) {
	if f.info.State != gpu.StateReady {
		return nil, errors.New(f.info.State)
	}
	out, dev := heap(), heap()
	dev[0] = uint64(f.id)
	ctx, err := l.createContext.make(f.info.Model, out, 0, 1, addr(dev), 0, 0, addr(out))
	runtime.KeepAlive(dev)
	if err != nil {
		return nil, err
	}
	a := &adapter{lib: l, found: f, ctx: ctx}
	if a.own, err = a.queue(); err != nil {
		return nil, errors.Join(err, l.releaseContext.do("", ctx))
	}
	return a, nil
}

// queue makes a queue that does things in order.
func (a *adapter) queue() (uintptr, error) {
	out := heap()
	return a.lib.createQueue.make("", out, a.ctx, a.found.id, 0, addr(out))
}

// Info is what is known of the device.
func (a *adapter) Info() gpu.DeviceInfo { return a.found.info }

// Arrived has nothing to do: no other device writes to its memory.
func (a *adapter) Arrived() error { return nil }

// Lost is why the device cannot be used any more.
func (a *adapter) Lost() error {
	if lost := a.lost.Load(); lost != nil {
		return *lost
	}
	return nil
}

// see notes that the device is lost where an error says so, and gives the error.
func (a *adapter) see(err error) error {
	if errors.Is(err, gpu.ErrLost) {
		a.lost.CompareAndSwap(nil, &err)
	}
	return err
}

// Close releases the context.
func (a *adapter) Close() error {
	err := a.lib.releaseQueue.do("", a.own)
	return errors.Join(err, a.lib.releaseContext.do("", a.ctx))
}

// addr is where something is that the library reads or writes while it is called: on the heap, which does not move.
func addr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// fast calls a function whose arguments stand in memory of the caller's.
func (c call) fast(args []uintptr) int32 { return int32(dl.Fast(c.fn, args)) }

//go:build amd64 || arm64

package cuda

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

// attributes are what devices are asked. Source: CUDA Driver API, CUdevice_attribute.
var attributes = []struct {
	name string
	n    uintptr
}{
	{"INTEGRATED", attrIntegrated}, {"CAN_MAP_HOST_MEMORY", attrMapHost}, {"UNIFIED_ADDRESSING", 41}, {"MANAGED_MEMORY", attrManaged},
	{"HOST_NATIVE_ATOMIC_SUPPORTED", 86}, {"PAGEABLE_MEMORY_ACCESS", attrPageable}, {"CONCURRENT_MANAGED_ACCESS", attrConcurrent},
	{"CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM", attrSameAddress}, {"PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES", attrHostTables},
	{"DIRECT_MANAGED_MEM_ACCESS_FROM_HOST", 101}, {"GPU_DIRECT_RDMA_SUPPORTED", 116},
	{"GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS", attrFlushOptions}, {"GPU_DIRECT_RDMA_WRITES_ORDERING", attrOrdering},
	{"DMA_BUF_SUPPORTED", attrDMABuf}, {"HOST_NUMA_ID", attrHostNode},
}

const (
	attrIntegrated   = 18
	attrMapHost      = 19
	attrManaged      = 83
	attrPageable     = 88
	attrConcurrent   = 89
	attrSameAddress  = 91
	attrHostTables   = 100
	attrFlushOptions = 117
	attrOrdering     = 118
	attrDMABuf       = 124
	attrHostNode     = 134

	flushByHost  = 1   // CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST
	orderedOwner = 100 // CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER

	mapsDMABuf  = 13030 // the first driver that maps its dma-bufs for the host
	mostDevices = 256
)

// Devices lists the devices of the driver.
func (p *Provider) Devices(context.Context) ([]gpu.DeviceInfo, error) {
	l, err := load(p.opts.Library)
	if err != nil {
		return []gpu.DeviceInfo{{Name: "0", State: err.Error()}}, nil
	}
	n, err := l.count()
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return []gpu.DeviceInfo{{Name: "0", State: "the driver has no device (CUDA_VISIBLE_DEVICES may hide them)"}}, nil
	}
	infos := make([]gpu.DeviceInfo, n)
	for i := range infos {
		if infos[i], _, err = l.describe(i); err != nil {
			infos[i] = gpu.DeviceInfo{Name: strconv.Itoa(i), State: err.Error()}
		}
	}
	return infos, nil
}

// count is how many devices there are.
func (l *library) count() (int, error) {
	out := heap()
	if err := l.deviceCount.do("", addr(out)); err != nil {
		return 0, err
	}
	return min(max(int(int32(out[0])), 0), mostDevices), nil
}

// describe asks a device what it is.
func (l *library) describe(i int) (info gpu.DeviceInfo, dev uintptr, err error) {
	out := heap()
	if err := l.deviceGet.do("", addr(out), uintptr(i)); err != nil {
		return info, 0, err
	}
	dev = uintptr(uint32(out[0]))
	const longest = 256
	b := bytes(longest)
	if err := l.deviceName.do("", addr(&b[0]), longest, dev); err != nil {
		return info, 0, err
	}
	info = gpu.DeviceInfo{Name: strconv.Itoa(i), Model: until0(b), State: gpu.StateReady}
	if err := l.deviceMem.do("", addr(out), dev); err != nil {
		return info, 0, err
	}
	info.Memory = out[0]
	if l.pci.do("", addr(&b[0]), longest, dev) == nil {
		info.PCI = strings.ToLower(until0(b))
	}
	info.Facts = l.facts(dev)
	return info, dev, nil
}

func until0(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// facts asks a device for its attributes. Those that the driver does not know are no.
func (l *library) facts(dev uintptr) (f gpu.Facts) {
	has, known := map[uintptr]int32{}, map[uintptr]bool{}
	for _, a := range attributes {
		out := heap()
		if l.deviceAttr.do(a.name, addr(out), a.n, dev) == nil {
			has[a.n], known[a.n] = int32(out[0]), true
			f.Read = append(f.Read, gpu.Fact{Name: a.name, Value: int64(int32(out[0])), From: "cuDeviceGetAttribute"})
		}
	}
	yes := func(a uintptr) bool { return has[a] > 0 }
	f.Integrated, f.HostMapped, f.SameAddress = yes(attrIntegrated), yes(attrMapHost), yes(attrSameAddress)
	f.Managed, f.Concurrent = yes(attrManaged), yes(attrConcurrent)
	f.Pageable, f.HostTables = yes(attrPageable), yes(attrHostTables)
	f.Exclusive = f.Managed && !f.Concurrent
	f.DMABuf = yes(attrDMABuf) && l.exportRange.fn != 0
	f.FlushNeeded = has[attrOrdering] < orderedOwner
	switch {
	case !f.DMABuf:
		f.NoWindow = "It exports no memory as a dma-buf, which is what is mapped"
	case l.version < mapsDMABuf:
		f.NoWindow = fmt.Sprintf("The driver is of CUDA %d.%d, and only those of 13.3 and later have the host map a dma-buf", l.version/1000, l.version%1000/10)
	default:
		f.Window = "mmap of its dma-buf, write-combined"
	}
	if n := int(has[attrHostNode]); n >= 0 && known[attrHostNode] {
		f.HostNode = &n
	}
	return f
}

// adapter is an open device: its primary context, retained.
type adapter struct {
	lib  *library
	dev  uintptr
	ctx  uintptr
	args [2]uintptr // of pushing ctx, and of popping it: here, so that no call has to allocate them
	info gpu.DeviceInfo
	lost atomic.Pointer[error]
	mu   sync.Mutex // for own
	own  uintptr    // a stream for what is not posted: zeroing
}

// Open opens a device by its number.
func (p *Provider) Open(_ context.Context, name string) (gpu.Adapter, error) {
	l, err := load(p.opts.Library)
	if err != nil {
		return nil, err
	}
	n, err := l.count()
	if err != nil {
		return nil, err
	}
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i >= n {
		return nil, fmt.Errorf("the driver has %d devices, and none is %q", n, name)
	}
	a := &adapter{lib: l}
	if a.info, a.dev, err = l.describe(i); err != nil {
		return nil, err
	}
	out := heap()
	if err := l.retain.do(a.info.Model, addr(out), a.dev); err != nil {
		return nil, err
	}
	a.ctx = uintptr(out[0])
	a.args[0] = a.ctx
	if a.own, err = a.stream(); err != nil {
		_ = l.release.do("", a.dev)
		return nil, err
	}
	return a, nil
}

// enter makes the context current to the thread, which the goroutine keeps until leave.
func (a *adapter) enter() error {
	if lost := a.lost.Load(); lost != nil {
		return *lost
	}
	runtime.LockOSThread()
	if r := a.lib.push.fast(a.args[:1]); r != success {
		runtime.UnlockOSThread()
		return a.see(a.lib.push.failed(r, ""))
	}
	return nil
}

// leave ends what enter began.
func (a *adapter) leave() {
	_ = a.lib.pop.fast(a.args[1:])
	runtime.UnlockOSThread()
}

// see notes that the device is lost where an error says so, and gives the error.
func (a *adapter) see(err error) error {
	if e, ok := err.(*gpu.CallError); ok && e.Err == gpu.ErrLost {
		a.lost.CompareAndSwap(nil, &err)
	}
	return err
}

// in calls a function with the context current.
func (a *adapter) in(c *call, asked string, args ...uintptr) error {
	if err := a.enter(); err != nil {
		return err
	}
	defer a.leave()
	return a.see(c.do(asked, args...))
}

// stream makes a stream that waits for no other.
func (a *adapter) stream() (uintptr, error) {
	const nonBlocking = 1 // CU_STREAM_NON_BLOCKING
	out := heap()
	err := a.in(&a.lib.streamCreate, "", addr(out), nonBlocking)
	return uintptr(out[0]), err
}

// Info is what is known of the device.
func (a *adapter) Info() gpu.DeviceInfo { return a.info }

// Lost is why the device cannot be used any more.
func (a *adapter) Lost() error {
	if lost := a.lost.Load(); lost != nil {
		return *lost
	}
	return nil
}

// Arrived flushes what other devices wrote, up to what this device's own work sees.
func (a *adapter) Arrived() error {
	const currentContext, toOwner = 0, 100
	for _, f := range a.info.Facts.Read {
		if f.Name == "GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS" && f.Value&flushByHost == 0 {
			return fmt.Errorf("%w: it takes flushes from within streams only (attribute %s is %d)", gpu.ErrNotHere, f.Name, f.Value)
		}
	}
	if a.lib.flushWrites.fn == 0 {
		return fmt.Errorf("%w: the driver has no cuFlushGPUDirectRDMAWrites", gpu.ErrNotHere)
	}
	return a.in(&a.lib.flushWrites, "", currentContext, toOwner)
}

// Close gives the primary context up.
func (a *adapter) Close() error {
	lost := a.Lost()
	if lost == nil {
		if err := a.in(&a.lib.streamDestroy, "", a.own); err != nil {
			return err
		}
	}
	if err := a.lib.release.do("", a.dev); err != nil && lost == nil {
		return err
	}
	return nil
}

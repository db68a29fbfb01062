package gpu

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// MaxArgs is how many arguments a kernel takes here at most.
const MaxArgs = 32

// Module is a program that was loaded onto a device.
//
//barewire:type handle
type Module struct {
	dev    *Device
	p      Program
	closed atomic.Bool
}

// Kernel is a function of a module that runs on the device. It is good as long as the module is.
//
//barewire:type view
type Kernel struct {
	m    *Module
	name string
	code Code
}

// Module loads a program: for CUDA a module's image (PTX, cubin or fatbin), for OpenCL its source. What the driver says of a source with
// mistakes is in the error; or ctx's error is, if it ends before the program is compiled and loaded. Who loaded it closes it.
//
//barewire:effect fresh=0 on ok, carves=0 of d on ok
func (d *Device) Module(ctx context.Context, source []byte) (*Module, error) {
	if d.none() {
		return nil, wrap(ErrNoDevice, "module")
	}
	if err := alive(ctx); err != nil {
		return nil, fmt.Errorf("gpu: module: %s: %w", d.name, err)
	}
	if len(source) == 0 {
		return nil, wrap(ErrEmpty, "module: %s: the program has no bytes", d.name)
	}
	if err := d.enter(func() { d.modules++ }); err != nil {
		return nil, err
	}
	p, err := bounded(ctx, func() (Program, error) { return d.ad.Load(source) }, func(p Program, err error) {
		if err == nil {
			_ = p.Close()
		}
		d.unload()
	})
	if err != nil {
		if !goesOn(err) {
			d.unload()
		}
		return nil, fmt.Errorf("gpu: module: %s: %w", d.name, err)
	}
	return &Module{dev: d, p: p}, nil
}

// unload counts a module that is no more.
func (d *Device) unload() {
	d.mu.Lock()
	d.modules--
	d.mu.Unlock()
}

// Kernel finds a kernel by its name. The error is [ErrNoKernel] and what the driver says.
//
//barewire:effect views=0 of m on ok
func (m *Module) Kernel(name string) (*Kernel, error) {
	if m == nil || m.dev == nil || m.closed.Load() {
		return nil, wrap(ErrClosed, "kernel %q: its module", name)
	}
	if strings.ContainsRune(name, 0) { // which ends it for the driver
		return nil, wrap(ErrNoKernel, "kernel %q on %s", name, m.dev.name)
	}
	ctx, cancel := m.dev.patiently()
	defer cancel()
	code, err := bounded(ctx, func() (Code, error) { return m.p.Kernel(name) }, nil)
	if goesOn(err) {
		return nil, fmt.Errorf("gpu: kernel %q on %s: %w", name, m.dev.name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("gpu: kernel %q on %s: %w: %w", name, m.dev.name, ErrNoKernel, err)
	}
	return &Kernel{m, name, code}, nil
}

// Close unloads the program. Its kernels must not run: it waits for all queues of the device, until ctx ends.
//
//barewire:effect releases=m on ok, flushes=m
func (m *Module) Close(ctx context.Context) error {
	if m == nil || m.dev == nil {
		return wrap(ErrClosed, "close: no module")
	}
	if err := alive(ctx); err != nil {
		return fmt.Errorf("gpu: close: a module of %s: %w", m.dev.name, err)
	}
	for _, q := range m.dev.all() { // what failed, the queues say
		if err := q.Flush(ctx); err != nil && ctx.Err() != nil {
			return fmt.Errorf("gpu: close: a module of %s: %w", m.dev.name, err)
		}
	}
	if m.closed.Swap(true) {
		return wrap(ErrClosed, "close: a module of %s", m.dev.name)
	}
	err := callIn(ctx, m.p.Close, func(error) { m.dev.unload() })
	if !goesOn(err) {
		m.dev.unload()
	}
	if err != nil && (goesOn(err) || m.dev.ad.Lost() == nil) {
		return fmt.Errorf("gpu: close: a module of %s: %w", m.dev.name, err)
	}
	return nil
}

// String is the kernel's name.
//
//barewire:effect looks=k
func (k *Kernel) String() string {
	if k == nil {
		return "no kernel"
	}
	return k.name
}

// Reachable is memory that kernels may be given. Of CPU memory it is what [NewHost] allocated, or any where the device reaches all memory of the
// process; other is refused with [ErrNotMapped] when the kernel is launched.
type Reachable interface {
	barewire.CPU | barewire.GPU | barewire.Managed | barewire.Unified
}

// Number is what a kernel takes beside memory.
type Number interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// Arg is an argument of a kernel.
//
//barewire:type view
type Arg struct {
	end
	err error
	num bool
	val uint64
}

// Mem is elements as an argument: the kernel gets their address, and may read and write them. Until it has ended they are its own: the host
// neither reads nor writes them, which go vet with our analyzers finds. For what is meant otherwise there are [In] and [Shared].
//
//barewire:effect views=0 of p at all
func Mem[T barewire.Fixed[T], R Reachable, A barewire.Access](p Part[T, R, A]) Arg {
	e, err := endOf(p.span)
	return Arg{end: e, err: err}
}

// In is [Mem] for a kernel that only reads the elements: the host may read them, too, while it runs. Nothing keeps a kernel from writing them.
//
//barewire:effect views=0 of p
func In[T barewire.Fixed[T], R Reachable, A barewire.Access](p Part[T, R, A]) Arg {
	e, err := endOf(p.span)
	return Arg{end: e, err: err}
}

// Shared is [Mem] for memory that host and kernel reach coherently at any time, and that the host touches while the kernel runs: to hand
// it work, say, or to look how far it is. By which atomics and fences the two come to agree is for the program and its kernel.
//
//barewire:effect views=0 of p
func Shared[T barewire.Fixed[T], A barewire.Access](p Part[T, barewire.Unified, A]) Arg {
	e, err := endOf(p.span)
	return Arg{end: e, err: err}
}

// Num is a number as an argument. Its size is that of its type: the kernel's parameter has the same.
func Num[N Number](v N) Arg {
	a := Arg{num: true}
	a.bytes = int(unsafe.Sizeof(v))
	*(*N)(unsafe.Pointer(&a.val)) = v
	return a
}

// Launch starts a kernel with arguments, behind what was posted on the queue before. Until it has ended ([Op.Wait]) the host must touch
// none of its memory, but as [In] and [Shared] say. Nobody checks that the arguments are those that the kernel was written for, but OpenCL
// how many they are, and how long, and where its driver tells what is memory and what a number (PoCL does), that they are that.
//
// It is refused, and nothing is posted, where memory is closed, mapped, acquired by the host, or another device's, or the kernel is. The error is
// an [*OpError] around the reason.
//
//go:noinline
//barewire:effect fills=0 of args on ok, fresh=0 on ok, uses=q, uses=k, excludes=args
func Launch(q *Queue, k *Kernel, grid Grid, args ...Arg) (Op, error) {
	if q.none() {
		return Op{}, errNoQueue
	}
	if k == nil || k.m == nil {
		return Op{}, q.refuse("kernel", 0, nil, ErrNoKernel)
	}
	if k.m.closed.Load() {
		return Op{}, q.refuse("kernel "+k.name, 0, nil, fmt.Errorf("its module: %w", ErrClosed))
	}
	if k.m.dev != q.dev {
		return Op{}, q.refuse("kernel "+k.name, 0, nil, fmt.Errorf("%w: it was loaded on %s", ErrOtherDevice, k.m.dev.name))
	}
	if grid.wrong != nil {
		return Op{}, q.refuse("kernel "+k.name, 0, nil, grid.wrong)
	}
	if len(args) > MaxArgs {
		return Op{}, q.refuse("kernel "+k.name, 0, nil, fmt.Errorf("%w: %d, and there can be %d", ErrArgs, len(args), MaxArgs))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.launch(k, grid, args)
}

// launch does what Launch does. The lock is held.
func (q *Queue) launch(k *Kernel, grid Grid, args []Arg) (Op, error) {
	r, err := q.begin()
	if err != nil {
		return Op{}, q.refuse("kernel "+k.name, 0, nil, err)
	}
	r.kernel, r.code = true, k.name
	l := &r.launch
	l.Code, l.Grid, l.Args = k.code, grid.whole(), l.Args[:0]
	if err := q.gate(r); err != nil {
		return Op{}, q.refuse("kernel "+k.name, 0, nil, err)
	}
	for i := range args {
		work, err := q.arg(r, &args[i])
		if err != nil {
			q.letGo(r)
			return Op{}, q.refuse("kernel "+k.name, 0, args[i].h, fmt.Errorf("argument %d: %w", i, err))
		}
		l.Args = append(l.Args, work)
	}
	if err := q.s.Launch(int(r.seq&uint64(len(q.ring)-1)), l); err != nil {
		q.letGo(r)
		return Op{}, q.refuse("kernel "+k.name, 0, nil, err)
	}
	r.at.Fill()
	return q.commit(), nil
}

// gate counts an operation at the device's gate for kernels, where there is one: kernels, and copies of managed memory. Source: CUDA C++
// Programming Guide, GPU exclusive access to managed memory.
func (q *Queue) gate(r *record) error {
	if !q.dev.info.Facts.Exclusive {
		return nil
	}
	if r.gated = q.dev.kernels.enter(); !r.gated {
		return fmt.Errorf("%w: managed memory of %s is acquired, and the device runs no kernel meanwhile; release it first", ErrHostHas, q.dev.name)
	}
	return nil
}

// arg holds what an argument is, and says where.
func (q *Queue) arg(r *record, a *Arg) (ArgWork, error) {
	switch {
	case a.err != nil:
		return ArgWork{}, a.err
	case a.num:
		return ArgWork{Bytes: uintptr(a.bytes), Bits: a.val}, nil
	case a.h == nil:
		return ArgWork{}, fmt.Errorf("%w: the zero Arg", ErrArgs)
	case a.bytes == 0:
		return ArgWork{}, ErrEmpty
	}
	m, err := q.take(r, a.h, a.gen)
	if err != nil {
		return ArgWork{}, err
	}
	w := ArgWork{Off: uintptr(a.off), Bytes: uintptr(a.bytes)}
	switch {
	case m != nil && m.dev == q.dev:
		w.Mem = m.mem
	case m != nil && !q.reaches(a):
		return ArgWork{}, q.foreign(m)
	case !q.reaches(a):
		return ArgWork{}, fmt.Errorf("%w: memory of barewire.New is not mapped into %s; use gpu.NewHost", ErrNotMapped, q.dev.name)
	default:
		w.Off, w.Host = 0, unsafe.Add(a.h.Base(), a.off)
	}
	return w, nil
}

// reaches reports whether kernels reach an argument that is not the device's own.
func (q *Queue) reaches(a *Arg) bool { return q.dev.info.Facts.Pageable && !a.h.Opaque() }

// whole is the grid with each dimension 1 at least.
func (g Grid) whole() Grid {
	for i := range g.Groups {
		g.Groups[i], g.Threads[i] = max(g.Groups[i], 1), max(g.Threads[i], 1)
	}
	return g
}

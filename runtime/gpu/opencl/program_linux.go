//go:build amd64 || arm64

package opencl

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

const (
	buildLog      = 0x1183 // CL_PROGRAM_BUILD_LOG
	kernelNumArgs = 0x1191 // CL_KERNEL_NUM_ARGS
	argAddress    = 0x1196 // CL_KERNEL_ARG_ADDRESS_QUALIFIER
	logBytes      = 16 << 10

	// Without it a driver need not keep what a kernel's parameters are.
	keepArgInfo = "-cl-kernel-arg-info"
)

// What a kernel's parameter is: CL_KERNEL_ARG_ADDRESS_GLOBAL and the others. 0: the driver does not say.
const (
	argGlobal   = 0x119b
	argLocal    = 0x119c
	argConstant = 0x119d
	argPrivate  = 0x119e
)

// program is a program that was built.
type program struct {
	a  *adapter
	id uintptr
	mu sync.Mutex
	ks []*kernel
}

// kernel is one of its functions. Its arguments are set before each start: one at a time.
type kernel struct {
	id   uintptr
	args []uint32 // what each parameter is
	mu   sync.Mutex
}

// Load builds a program of OpenCL C.
func (a *adapter) Load(source []byte) (gpu.Program, error) {
	l := a.lib
	c := strings.TrimRight(string(source), "\x00")
	if i := strings.IndexByte(c, 0); i >= 0 { // drivers (PoCL) end there without a word
		return nil, fmt.Errorf("%w: a zero byte at %d of a program of OpenCL C", gpu.ErrArgs, i)
	}
	src := text(c)
	at := words(2)
	at[0], at[1] = addr(&src[0]), uintptr(len(c))
	out := heap()
	id, err := l.createProgram.make("", out, a.ctx, 1, addr(&at[0]), addr(&at[1]), addr(out))
	runtime.KeepAlive(src)
	if err != nil {
		return nil, a.see(err)
	}
	dev, opt := heap(), text(keepArgInfo)
	dev[0] = uint64(a.found.id)
	err = l.buildProgram.do("", id, 1, addr(dev), addr(&opt[0]), 0, 0)
	runtime.KeepAlive(dev)
	runtime.KeepAlive(opt)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, a.log(id))
		_ = l.releaseProgram.do("", id)
		return nil, a.see(err)
	}
	return &program{a: a, id: id}, nil
}

// log is what the compiler said of a program.
func (a *adapter) log(id uintptr) string {
	b := bytes(logBytes)
	if err := a.lib.getBuildInfo.do("", id, a.found.id, buildLog, logBytes, addr(&b[0]), 0); err != nil {
		return "no log: " + err.Error()
	}
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(s)
}

// Kernel finds a kernel.
func (p *program) Kernel(name string) (gpu.Code, error) {
	l := p.a.lib
	n, out := text(name), heap()
	id, err := l.createKernel.make(name, out, p.id, addr(&n[0]), addr(out))
	runtime.KeepAlive(n)
	if err != nil {
		return nil, p.a.see(err)
	}
	k := &kernel{id: id}
	if err := l.getKernelInfo.do(name, id, kernelNumArgs, 4, addr(out), 0); err != nil {
		_ = l.releaseKernel.do("", id)
		return nil, err
	}
	k.args = make([]uint32, uint32(out[0]))
	for i := range k.args {
		if l.getArgInfo.do(name, id, uintptr(i), argAddress, 4, addr(out), 0) == nil {
			k.args[i] = uint32(out[0])
		}
	}
	p.mu.Lock()
	p.ks = append(p.ks, k)
	p.mu.Unlock()
	return k, nil
}

// takes is an error where a parameter is of another kind than the argument. OpenCL looks at sizes only, and an address is as long as a number
// of 8 bytes: drivers take the one for the other.
func (k *kernel) takes(i int, a *gpu.ArgWork) error {
	mem := a.Mem != nil || a.Host != nil
	switch at := k.args[i]; {
	case at == argLocal:
		return fmt.Errorf("%w: the kernel takes memory of a group there, which nothing here gives: have it declare that itself", gpu.ErrArgs)
	case mem && at == argPrivate:
		return fmt.Errorf("%w: memory, and the kernel takes a number there", gpu.ErrArgs)
	case !mem && (at == argGlobal || at == argConstant):
		return fmt.Errorf("%w: a number, and the kernel takes memory there", gpu.ErrArgs)
	}
	return nil
}

// Close releases the program, and its kernels.
func (p *program) Close() error {
	var first error
	for _, k := range p.ks {
		if err := p.a.lib.releaseKernel.do("", k.id); first == nil {
			first = err
		}
	}
	if err := p.a.lib.releaseProgram.do("", p.id); first == nil {
		first = err
	}
	return first
}

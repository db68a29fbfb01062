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
	logBytes      = 16 << 10
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
	args int
	mu   sync.Mutex
}

// Load builds a program of OpenCL C.
func (a *adapter) Load(source []byte) (gpu.Program, error) {
	l := a.lib
	src := text(string(source))
	at := words(2)
	at[0], at[1] = addr(&src[0]), uintptr(len(source))
	out := heap()
	id, err := l.createProgram.make("", out, a.ctx, 1, addr(&at[0]), addr(&at[1]), addr(out))
	runtime.KeepAlive(src)
	if err != nil {
		return nil, a.see(err)
	}
	dev := heap()
	dev[0] = uint64(a.found.id)
	err = l.buildProgram.do("", id, 1, addr(dev), 0, 0, 0)
	runtime.KeepAlive(dev)
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
	k.args = int(uint32(out[0]))
	p.mu.Lock()
	p.ks = append(p.ks, k)
	p.mu.Unlock()
	return k, nil
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

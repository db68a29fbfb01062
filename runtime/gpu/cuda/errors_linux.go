//go:build amd64 || arm64

package cuda

import (
	"fmt"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
)

// The results that are told apart. Source: CUDA Driver API, CUresult.
const (
	success  = 0
	notReady = 600
)

// reasons are what results mean to package gpu. Those that are ErrLost leave the context unusable.
var reasons = map[int32]error{
	2: barewire.ErrNoMemory, 200: gpu.ErrArgs, 218: gpu.ErrArgs, 222: gpu.ErrNotHere, 300: gpu.ErrArgs, 500: gpu.ErrNoKernel,
	701: gpu.ErrArgs, 801: gpu.ErrNotHere,
	46: gpu.ErrLost, 214: gpu.ErrLost, 220: gpu.ErrLost, 700: gpu.ErrLost, 702: gpu.ErrLost, 709: gpu.ErrLost, 710: gpu.ErrLost, 714: gpu.ErrLost,
	715: gpu.ErrLost, 716: gpu.ErrLost, 717: gpu.ErrLost, 718: gpu.ErrLost, 719: gpu.ErrLost, 999: gpu.ErrLost,
}

// failed is the error of a result.
func (c *call) failed(r int32, asked string) error {
	name := c.lib.say(&c.lib.errorName, r)
	if name == "" {
		name = fmt.Sprintf("result %d", r)
	}
	return &gpu.CallError{Call: c.name, Name: name, Code: int(r), Asked: asked, Err: reasons[r]}
}

// say asks the driver for a text about a result.
func (l *library) say(c *call, r int32) string {
	out := heap()
	if c.fn == 0 || dl.Fast(c.fn, []uintptr{uintptr(r), addr(out)}) != success || out[0] == 0 {
		return ""
	}
	p := pointer(uintptr(out[0]))
	for n := range 256 {
		if *(*byte)(unsafe.Add(p, n)) == 0 {
			return string(unsafe.Slice((*byte)(p), n))
		}
	}
	return ""
}

//go:build amd64 || arm64

package opencl

import (
	"fmt"
	"sync"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
)

// call is a function of the library.
type call struct {
	name string
	fn   uintptr
}

// library is the functions of the ICD loader that are used. They are those of OpenCL 2.0.
type library struct {
	path string

	getPlatformIDs, getPlatformInfo, getDeviceIDs, getDeviceInfo      call
	createContext, releaseContext                                     call
	createQueue, releaseQueue, flush, finish                          call
	createBuffer, createSubBuffer, releaseMem                         call
	enqueueRead, enqueueWrite, enqueueCopy, enqueueFill               call
	enqueueMap, enqueueUnmap                                          call
	svmAlloc, svmFree, enqueueSVMMap, enqueueSVMUnmap, enqueueSVMFill call
	enqueueSVMCopy                                                    call
	createProgram, buildProgram, getBuildInfo, releaseProgram         call
	createKernel, releaseKernel, getKernelInfo, getArgInfo            call
	setArg, setArgSVM                                                 call
	enqueueKernel, getEventInfo, releaseEvent                         call
}

var libraries struct {
	mu   sync.Mutex
	open map[string]*library
}

// load opens a library, once.
func load(path string) (*library, error) {
	if path == "" {
		path = "libOpenCL.so.1"
	}
	libraries.mu.Lock()
	defer libraries.mu.Unlock()
	if l := libraries.open[path]; l != nil {
		return l, nil
	}
	l, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("OpenCL cannot be used (Debian: ocl-icd-libopencl1, and a driver, as pocl-opencl-icd): %w", err)
	}
	if libraries.open == nil {
		libraries.open = map[string]*library{}
	}
	libraries.open[path] = l
	return l, nil
}

func open(path string) (*library, error) {
	so, err := dl.Open(path)
	if err != nil {
		return nil, err
	}
	l := &library{path: path}
	for _, f := range []struct {
		at   *call
		name string
	}{
		{&l.getPlatformIDs, "clGetPlatformIDs"}, {&l.getPlatformInfo, "clGetPlatformInfo"},
		{&l.getDeviceIDs, "clGetDeviceIDs"}, {&l.getDeviceInfo, "clGetDeviceInfo"},
		{&l.createContext, "clCreateContext"}, {&l.releaseContext, "clReleaseContext"},
		{&l.createQueue, "clCreateCommandQueueWithProperties"}, {&l.releaseQueue, "clReleaseCommandQueue"},
		{&l.flush, "clFlush"}, {&l.finish, "clFinish"},
		{&l.createBuffer, "clCreateBuffer"}, {&l.createSubBuffer, "clCreateSubBuffer"}, {&l.releaseMem, "clReleaseMemObject"},
		{&l.enqueueRead, "clEnqueueReadBuffer"}, {&l.enqueueWrite, "clEnqueueWriteBuffer"},
		{&l.enqueueCopy, "clEnqueueCopyBuffer"}, {&l.enqueueFill, "clEnqueueFillBuffer"},
		{&l.enqueueMap, "clEnqueueMapBuffer"}, {&l.enqueueUnmap, "clEnqueueUnmapMemObject"},
		{&l.svmAlloc, "clSVMAlloc"}, {&l.svmFree, "clSVMFree"},
		{&l.enqueueSVMMap, "clEnqueueSVMMap"}, {&l.enqueueSVMUnmap, "clEnqueueSVMUnmap"}, {&l.enqueueSVMFill, "clEnqueueSVMMemFill"},
		{&l.enqueueSVMCopy, "clEnqueueSVMMemcpy"},
		{&l.createProgram, "clCreateProgramWithSource"}, {&l.buildProgram, "clBuildProgram"},
		{&l.getBuildInfo, "clGetProgramBuildInfo"}, {&l.releaseProgram, "clReleaseProgram"},
		{&l.createKernel, "clCreateKernel"}, {&l.releaseKernel, "clReleaseKernel"}, {&l.getKernelInfo, "clGetKernelInfo"},
		{&l.getArgInfo, "clGetKernelArgInfo"},
		{&l.setArg, "clSetKernelArg"}, {&l.setArgSVM, "clSetKernelArgSVMPointer"},
		{&l.enqueueKernel, "clEnqueueNDRangeKernel"}, {&l.getEventInfo, "clGetEventInfo"}, {&l.releaseEvent, "clReleaseEvent"},
	} {
		fn, err := so.Func(f.name, "")
		if err != nil {
			return nil, err
		}
		*f.at = call{f.name, fn}
	}
	return l, nil
}

// do calls a function that returns its status.
func (c call) do(asked string, args ...uintptr) error {
	return c.failed(int32(dl.Fast(c.fn, args)), asked)
}

// make calls a function that returns an object, and has its status in out.
func (c call) make(asked string, out *scratch, args ...uintptr) (uintptr, error) {
	out[0] = 0
	r := dl.Fast(c.fn, args)
	if err := c.failed(int32(out[0]), asked); err != nil {
		return 0, err
	}
	if r == 0 {
		return 0, c.failed(-5, asked)
	}
	return r, nil
}

// scratch is memory that the library writes to.
type scratch [8]uint64

// heap gives zeroed scratch on the heap, which does not move: stacks do.
//
//go:noinline
func heap() *scratch { return new(scratch) }

// words and bytes give zeroed memory on the heap, too.
//
//go:noinline
func words(n int) []uintptr { return make([]uintptr, n) }

//go:noinline
func bytes(n int) []byte { return make([]byte, n) }

// text is a string as C has it, on the heap.
func text(s string) []byte {
	b := bytes(len(s) + 1)
	copy(b, s)
	return b
}

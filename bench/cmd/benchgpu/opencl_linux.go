//go:build amd64 || arm64

package main

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/fidelityframework/barewire-gen/bench/regions"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/opencl"
)

// clBare is OpenCL without anything of ours: a context, and a queue that does things in order. Source: CL/cl.h.
type clBare struct {
	bare
	ctx, queue                                           uintptr
	write, read, flush, event, wait, release, freeObject uintptr
	args                                                 [12]uintptr
	out                                                  *out
}

func openCLBare() (*clBare, error) {
	b, err := openBare("libOpenCL.so.1",
		"clCreateBuffer", "clCreateCommandQueueWithProperties", "clCreateContext", "clEnqueueReadBuffer",
		"clEnqueueWriteBuffer", "clFlush", "clGetDeviceIDs", "clGetEventInfo",
		"clGetPlatformIDs", "clReleaseEvent", "clReleaseMemObject", "clWaitForEvents")
	if err != nil {
		return nil, err
	}
	c := &clBare{bare: b, out: newOut()}
	o := newOut()
	const all = 0xFFFFFFFF // CL_DEVICE_TYPE_ALL
	if err := status("clGetPlatformIDs", call(b.fn("clGetPlatformIDs"), []uintptr{1, addr(&o[0]), 0})); err != nil {
		return nil, err
	}
	if err := status("clGetDeviceIDs", call(b.fn("clGetDeviceIDs"), []uintptr{uintptr(o[0]), all, 1, addr(&o[1]), 0})); err != nil {
		return nil, err
	}
	c.ctx = call(b.fn("clCreateContext"), []uintptr{0, 1, addr(&o[1]), 0, 0, addr(&o[2])})
	c.queue = call(b.fn("clCreateCommandQueueWithProperties"), []uintptr{c.ctx, uintptr(o[1]), 0, addr(&o[3])})
	c.write, c.read, c.flush = b.fn("clEnqueueWriteBuffer"), b.fn("clEnqueueReadBuffer"), b.fn("clFlush")
	c.event, c.wait, c.release, c.freeObject = b.fn("clGetEventInfo"), b.fn("clWaitForEvents"), b.fn("clReleaseEvent"), b.fn("clReleaseMemObject")
	return c, errors.Join(status("clCreateContext", uintptr(o[2])), status("clCreateCommandQueueWithProperties", uintptr(o[3])))
}

// buffer makes a buffer.
func (c *clBare) buffer(n int) (uintptr, error) {
	const readWrite = 1
	o := newOut()
	buf := call(c.fn("clCreateBuffer"), []uintptr{c.ctx, readWrite, uintptr(n), 0, addr(o)})
	return buf, status("clCreateBuffer", uintptr(o[0]))
}

// copies copies n bytes by one of the two functions, and waits by asking, or by clWaitForEvents.
func (c *clBare) copies(name string, f, buf, host uintptr, n int, asks bool) *copies {
	const statusOf = 0x11D3 // CL_EVENT_COMMAND_EXECUTION_STATUS
	one := func() error {
		c.args = [12]uintptr{c.queue, buf, 0, 0, uintptr(n), host, 0, 0, addr(&c.out[0])}
		r := call(f, c.args[:9])
		c.args[0] = c.queue
		r |= call(c.flush, c.args[:1])
		if asks {
			for c.out[1] = 1; c.out[1] != 0 && r == 0; {
				c.args = [12]uintptr{uintptr(c.out[0]), statusOf, 4, addr(&c.out[1]), 0}
				if r |= call(c.event, c.args[:5]); c.out[1] != 0 {
					runtime.Gosched()
				}
			}
		} else {
			c.args = [12]uintptr{1, addr(&c.out[0])}
			r |= call(c.wait, c.args[:2])
		}
		c.args[0] = uintptr(c.out[0])
		return status("a copy", r|call(c.release, c.args[:1]))
	}
	return &copies{name: name, run: func(n int) error {
		return locked(func() error {
			for range n {
				if err := one(); err != nil {
					return err
				}
			}
			return nil
		})
	}}
}

// openCL has the tables of OpenCL. Both use the same host memory.
func openCL() (tables []*table, device string, end func() error, err error) {
	var ends cleanup
	defer ends.failed(&err)
	o, err := openOurs(opencl.New(opencl.Options{}))
	if err != nil {
		return nil, "", nil, err
	}
	ends.add(o.close)
	c, err := openCLBare()
	if err != nil {
		return nil, "", nil, err
	}
	for _, n := range sizes {
		host, err := barewire.New(regions.PageInCPU(), n)
		if err != nil {
			return nil, "", nil, err
		}
		ends.add(host.Close)
		both, err := c.tables(o, n, host, &ends)
		if err != nil {
			return nil, "", nil, err
		}
		tables = append(tables, both...)
	}
	return tables, o.dev.Info().Model, ends.close, nil
}

// tables are those of n pages.
func (c *clBare) tables(o *ours, n int, host *barewire.Region[regions.Page, barewire.CPU, barewire.Unregistered], ends *cleanup) ([]*table, error) {
	at, err := open(host, ends)
	if err != nil {
		return nil, err
	}
	to, from, close, err := o.copies(n, host)
	if err != nil {
		return nil, err
	}
	ends.add(close)
	size := n * pageSize
	buf, err := c.buffer(size)
	if err != nil {
		return nil, err
	}
	ends.add(func() error { return status("clReleaseMemObject", call(c.freeObject, []uintptr{buf})) })
	return []*table{
		{title: fmt.Sprintf("%d KiB to the device", 4*n), rows: []*copies{to,
			c.copies("clEnqueueWriteBuffer, asked for", c.write, buf, at, size, true), c.copies("clEnqueueWriteBuffer, clWaitForEvents", c.write, buf, at, size, false)}},
		{title: fmt.Sprintf("%d KiB to the host", 4*n), rows: []*copies{from,
			c.copies("clEnqueueReadBuffer, asked for", c.read, buf, at, size, true), c.copies("clEnqueueReadBuffer, clWaitForEvents", c.read, buf, at, size, false)}},
	}, nil
}

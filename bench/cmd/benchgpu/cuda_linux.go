//go:build amd64 || arm64

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/fidelityframework/barewire-gen/bench/regions"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/cuda"
)

// standIn compiles the stand-in for CUDA's library.
func standIn() (path string, remove func() error, err error) {
	const module = "github.com/fidelityframework/barewire-gen/runtime/gpu/cuda"
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", nil, fmt.Errorf("go list %s: %w", module, err)
	}
	to, err := os.MkdirTemp("", "benchgpu")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(to) }
	path = filepath.Join(to, "libfakecuda.so")
	source := filepath.Join(strings.TrimSpace(string(dir)), "testdata", "fake.c")
	if text, err := exec.Command("cc", "-shared", "-fPIC", "-O2", "-pthread", "-Wl,-Bsymbolic", "-o", path, source).CombinedOutput(); err != nil {
		return "", nil, errors.Join(fmt.Errorf("cc: %w: %s", err, text), remove())
	}
	return path, remove, nil
}

// cuBare is the driver API without anything of ours: a context, a stream and an event. Source: CUDA Driver API.
type cuBare struct {
	bare
	ctx, stream, event                               uintptr
	toDevice, toHost, record, query, sync, push, pop uintptr
	args                                             [8]uintptr
}

func openCUDABare(path string) (*cuBare, error) {
	b, err := openBare(path,
		"cuCtxPopCurrent_v2", "cuCtxPushCurrent_v2", "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRetain",
		"cuEventCreate", "cuEventDestroy_v2", "cuEventQuery", "cuEventRecord",
		"cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2",
		"cuStreamCreate", "cuStreamDestroy_v2", "cuStreamSynchronize")
	if err != nil {
		return nil, err
	}
	c := &cuBare{bare: b}
	c.toDevice, c.toHost, c.record = b.fn("cuMemcpyHtoDAsync_v2"), b.fn("cuMemcpyDtoHAsync_v2"), b.fn("cuEventRecord")
	c.query, c.sync, c.push, c.pop = b.fn("cuEventQuery"), b.fn("cuStreamSynchronize"), b.fn("cuCtxPushCurrent_v2"), b.fn("cuCtxPopCurrent_v2")
	o := newOut()
	if err := status("cuDevicePrimaryCtxRetain", call(b.fn("cuDevicePrimaryCtxRetain"), []uintptr{addr(&o[0]), 0})); err != nil {
		return nil, err
	}
	c.ctx = uintptr(o[0])
	err = c.in(func() error {
		const nonBlocking, noTiming = 1, 2
		return errors.Join(status("cuStreamCreate", call(b.fn("cuStreamCreate"), []uintptr{addr(&o[1]), nonBlocking})),
			status("cuEventCreate", call(b.fn("cuEventCreate"), []uintptr{addr(&o[2]), noTiming})))
	})
	c.stream, c.event = uintptr(o[1]), uintptr(o[2])
	return c, err
}

// in does something with the context current.
func (c *cuBare) in(f func() error) error {
	return locked(func() error {
		if err := status("cuCtxPushCurrent", call(c.push, []uintptr{c.ctx})); err != nil {
			return err
		}
		defer call(c.pop, []uintptr{0})
		return f()
	})
}

// close gives all back.
func (c *cuBare) close() error {
	return errors.Join(c.in(func() error {
		return errors.Join(status("cuEventDestroy", call(c.fn("cuEventDestroy_v2"), []uintptr{c.event})),
			status("cuStreamDestroy", call(c.fn("cuStreamDestroy_v2"), []uintptr{c.stream})))
	}), status("cuDevicePrimaryCtxRelease", call(c.fn("cuDevicePrimaryCtxRelease_v2"), []uintptr{0})))
}

// copies copies n bytes, and waits by asking for an event, or by cuStreamSynchronize. The context is current throughout, as a program in C has it.
func (c *cuBare) copies(name string, f, dst, src uintptr, n int, asks bool) *copies {
	one := func() error {
		c.args = [8]uintptr{dst, src, uintptr(n), c.stream}
		r := call(f, c.args[:4])
		if !asks {
			c.args[0] = c.stream
			return status("a copy", r|call(c.sync, c.args[:1]))
		}
		c.args[0], c.args[1] = c.event, c.stream
		r |= call(c.record, c.args[:2])
		const notReady = 600
		for r == 0 {
			c.args[0] = c.event
			q := call(c.query, c.args[:1])
			if int32(q) != notReady {
				r |= q
				break
			}
			runtime.Gosched()
		}
		return status("a copy", r)
	}
	return &copies{name: name, run: func(n int) error {
		return c.in(func() error {
			for range n {
				if err := one(); err != nil {
					return err
				}
			}
			return nil
		})
	}}
}

// openCUDA has the tables of CUDA's stand-in. Both use the same pinned memory.
func openCUDA() (tables []*table, device string, end func() error, err error) {
	var ends cleanup
	defer ends.failed(&err)
	path, remove, err := standIn()
	if err != nil {
		return nil, "", nil, err
	}
	ends.add(remove)
	o, err := openOurs(cuda.New(cuda.Options{Library: path}))
	if err != nil {
		return nil, "", nil, err
	}
	ends.add(o.close)
	c, err := openCUDABare(path)
	if err != nil {
		return nil, "", nil, err
	}
	ends.add(c.close)
	for _, n := range sizes {
		host, err := gpu.NewHost(o.dev, regions.PageInCPU(), n)
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
	return tables, o.dev.Info().Model + ", the stand-in", ends.close, nil
}

// tables are those of n pages.
func (c *cuBare) tables(o *ours, n int, host *barewire.Region[regions.Page, barewire.CPU, barewire.Unregistered], ends *cleanup) ([]*table, error) {
	at, err := open(host, ends)
	if err != nil {
		return nil, err
	}
	to, from, close, err := o.copies(n, host)
	if err != nil {
		return nil, err
	}
	ends.add(close)
	mem, size := newOut(), n*pageSize
	if err := c.in(func() error {
		return status("cuMemAlloc", call(c.fn("cuMemAlloc_v2"), []uintptr{addr(&mem[0]), uintptr(size)}))
	}); err != nil {
		return nil, err
	}
	dev := uintptr(mem[0])
	ends.add(func() error {
		return c.in(func() error { return status("cuMemFree", call(c.fn("cuMemFree_v2"), []uintptr{dev})) })
	})
	return []*table{
		{title: fmt.Sprintf("%d KiB to the device", 4*n), rows: []*copies{to,
			c.copies("cuMemcpyHtoDAsync, cuEventQuery", c.toDevice, dev, at, size, true), c.copies("cuMemcpyHtoDAsync, cuStreamSync…", c.toDevice, dev, at, size, false)}},
		{title: fmt.Sprintf("%d KiB to the host", 4*n), rows: []*copies{from,
			c.copies("cuMemcpyDtoHAsync, cuEventQuery", c.toHost, at, dev, size, true), c.copies("cuMemcpyDtoHAsync, cuStreamSync…", c.toHost, at, dev, size, false)}},
	}, nil
}

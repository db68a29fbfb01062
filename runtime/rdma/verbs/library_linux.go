//go:build amd64 || arm64

package verbs

import (
	"fmt"
	"sync"
	"syscall"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
)

// library is the functions of libibverbs. Those that may be absent are 0 then.
type library struct {
	path string

	getDeviceList, freeDeviceList, openDevice, closeDevice uintptr
	queryDevice, queryPort, queryGIDs                      uintptr
	allocPD, deallocPD                                     uintptr
	regMR, regMRIova, regDMABuf, deregMR                   uintptr
	createChannel, destroyChannel                          uintptr
	createCQ, destroyCQ, getCQEvent, ackCQEvents           uintptr
	createQP, modifyQP, destroyQP                          uintptr
	getAsyncEvent, ackAsyncEvent                           uintptr
	forkInit, isForkInitialized                            uintptr

	cmOnce sync.Once
	cm     *cmLibrary // of rdma_cm
	cmErr  error

	fork sync.Once
	safe error // whether fork is
}

var libraries struct {
	mu   sync.Mutex
	open map[string]*library
}

// load opens a library, once.
func load(path string) (*library, error) {
	if path == "" {
		path = "libibverbs.so.1"
	}
	libraries.mu.Lock()
	defer libraries.mu.Unlock()
	if lib := libraries.open[path]; lib != nil {
		return lib, nil
	}
	lib, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoVerbs, err)
	}
	if libraries.open == nil {
		libraries.open = map[string]*library{}
	}
	libraries.open[path] = lib
	return lib, nil
}

// open opens a library and finds its functions in the versions whose structures package abi has.
func open(path string) (*library, error) {
	l, err := dl.Open(path)
	if err != nil {
		return nil, err
	}
	lib := &library{path: path}
	for _, f := range []struct {
		at            *uintptr
		name, version string
		optional      bool
	}{
		{&lib.getDeviceList, "ibv_get_device_list", "1.1", false},
		{&lib.freeDeviceList, "ibv_free_device_list", "1.1", false},
		{&lib.openDevice, "ibv_open_device", "1.1", false},
		{&lib.closeDevice, "ibv_close_device", "1.1", false},
		{&lib.queryDevice, "ibv_query_device", "1.1", false},
		{&lib.queryPort, "ibv_query_port", "1.1", false},
		{&lib.queryGIDs, "_ibv_query_gid_table", "1.11", true},
		{&lib.allocPD, "ibv_alloc_pd", "1.1", false},
		{&lib.deallocPD, "ibv_dealloc_pd", "1.1", false},
		{&lib.regMR, "ibv_reg_mr", "1.1", false},
		{&lib.regMRIova, "ibv_reg_mr_iova", "1.7", true},
		{&lib.regDMABuf, "ibv_reg_dmabuf_mr", "1.12", true},
		{&lib.deregMR, "ibv_dereg_mr", "1.1", false},
		{&lib.createChannel, "ibv_create_comp_channel", "1.0", false},
		{&lib.destroyChannel, "ibv_destroy_comp_channel", "1.0", false},
		{&lib.createCQ, "ibv_create_cq", "1.1", false},
		{&lib.destroyCQ, "ibv_destroy_cq", "1.1", false},
		{&lib.getCQEvent, "ibv_get_cq_event", "1.1", false},
		{&lib.ackCQEvents, "ibv_ack_cq_events", "1.1", false},
		{&lib.createQP, "ibv_create_qp", "1.1", false},
		{&lib.modifyQP, "ibv_modify_qp", "1.1", false},
		{&lib.destroyQP, "ibv_destroy_qp", "1.1", false},
		{&lib.getAsyncEvent, "ibv_get_async_event", "1.1", false},
		{&lib.ackAsyncEvent, "ibv_ack_async_event", "1.1", false},
		{&lib.forkInit, "ibv_fork_init", "1.1", false},
		{&lib.isForkInitialized, "ibv_is_fork_initialized", "1.13", true},
	} {
		if *f.at, err = l.Func(f.name, "IBVERBS_"+f.version); err != nil && !f.optional {
			return nil, err
		}
	}
	return lib, nil
}

// make calls a function that returns an object's address, or none and errno.
func (*library) make(what string, fn uintptr, args ...uintptr) (uintptr, error) {
	r, errno := dl.Call(fn, args...)
	if r == 0 {
		return 0, &callError{what, errno}
	}
	return r, nil
}

// do calls a function that returns 0, or else errno, or -1 and errno.
func (*library) do(what string, fn uintptr, args ...uintptr) error {
	r, errno := dl.Call(fn, args...)
	n := int32(r)
	switch {
	case n == 0:
		return nil
	case n > 0:
		return &callError{what, syscall.Errno(n)}
	case errno == 0:
		errno = syscall.Errno(-n)
	}
	return &callError{what, errno}
}

// callError is a call that failed.
type callError struct {
	what  string
	errno syscall.Errno
}

func (e *callError) Error() string {
	if e.errno == 0 {
		return e.what + " failed, and gave no reason"
	}
	return fmt.Sprintf("%s: %v (%d)", e.what, e.errno, int(e.errno))
}

func (e *callError) Unwrap() error {
	if e.errno == 0 {
		return nil
	}
	return e.errno
}

//go:build amd64 || arm64

package opencl

import (
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

// The statuses that are told apart. Source: CL/cl.h of the Khronos registry, as the names below.
const (
	deviceNotAvailable   = -2
	memAllocationFailure = -4
	outOfResources       = -5
	outOfHostMemory      = -6
	buildProgramFailure  = -11
	misalignedSubBuffer  = -13
	invalidBufferSize    = -61
)

var names = map[int32]string{
	-1: "CL_DEVICE_NOT_FOUND", -2: "CL_DEVICE_NOT_AVAILABLE", -3: "CL_COMPILER_NOT_AVAILABLE", -4: "CL_MEM_OBJECT_ALLOCATION_FAILURE",
	-5: "CL_OUT_OF_RESOURCES", -6: "CL_OUT_OF_HOST_MEMORY", -8: "CL_MEM_COPY_OVERLAP", -11: "CL_BUILD_PROGRAM_FAILURE", -12: "CL_MAP_FAILURE",
	-13: "CL_MISALIGNED_SUB_BUFFER_OFFSET", -14: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
	-30: "CL_INVALID_VALUE", -31: "CL_INVALID_DEVICE_TYPE", -32: "CL_INVALID_PLATFORM", -33: "CL_INVALID_DEVICE", -34: "CL_INVALID_CONTEXT",
	-35: "CL_INVALID_QUEUE_PROPERTIES", -36: "CL_INVALID_COMMAND_QUEUE", -37: "CL_INVALID_HOST_PTR", -38: "CL_INVALID_MEM_OBJECT",
	-44: "CL_INVALID_PROGRAM", -45: "CL_INVALID_PROGRAM_EXECUTABLE", -46: "CL_INVALID_KERNEL_NAME", -48: "CL_INVALID_KERNEL",
	-49: "CL_INVALID_ARG_INDEX", -50: "CL_INVALID_ARG_VALUE", -51: "CL_INVALID_ARG_SIZE", -52: "CL_INVALID_KERNEL_ARGS",
	-53: "CL_INVALID_WORK_DIMENSION", -54: "CL_INVALID_WORK_GROUP_SIZE", -55: "CL_INVALID_WORK_ITEM_SIZE", -57: "CL_INVALID_EVENT_WAIT_LIST",
	-58: "CL_INVALID_EVENT", -59: "CL_INVALID_OPERATION", -61: "CL_INVALID_BUFFER_SIZE", -63: "CL_INVALID_GLOBAL_WORK_SIZE",
	-64: "CL_INVALID_PROPERTY", -1001: "CL_PLATFORM_NOT_FOUND_KHR",
}

// reasons are what statuses mean to package gpu.
var reasons = map[int32]error{
	deviceNotAvailable: gpu.ErrLost, memAllocationFailure: barewire.ErrNoMemory, outOfResources: barewire.ErrNoMemory,
	outOfHostMemory: barewire.ErrNoMemory, invalidBufferSize: barewire.ErrNoMemory,
	-46: gpu.ErrNoKernel, -49: gpu.ErrArgs, -50: gpu.ErrArgs, -51: gpu.ErrArgs, -52: gpu.ErrArgs, misalignedSubBuffer: gpu.ErrArgs,
	-53: gpu.ErrArgs, -54: gpu.ErrArgs, -55: gpu.ErrArgs, -63: gpu.ErrArgs,
}

// failed is the error of a status, nil for success.
func (c call) failed(status int32, asked string) error {
	if status == 0 {
		return nil
	}
	name := names[status]
	if name == "" {
		name = fmt.Sprintf("status %d", status)
	}
	return &gpu.CallError{Call: c.name, Name: name, Code: int(status), Asked: asked, Err: reasons[status]}
}

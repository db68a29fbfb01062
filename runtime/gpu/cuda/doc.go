// Package cuda is the provider of NVIDIA's GPUs by the CUDA driver API: libcuda.so.1, which comes with the driver, is opened at run time, without
// cgo and without the toolkit, so that programs that import this build with CGO_ENABLED=0, and run where there is no such library, which
// [gpu.Devices] then says. It is for Linux on amd64 and arm64; elsewhere its only device is one that cannot be used. Importing it puts its
// devices in use. It asks for a driver of CUDA 11.0 or later.
//
// # What its memory is
//
//	GPU      cuMemAlloc: the host has no pointer to it
//	CPU      cuMemHostAlloc, mapped: its device address is another than the host's where CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM is 0
//	         At a node of NUMA (gpu.NewHostAt) it is memory of this process that is placed there, and then pinned: cuMemHostRegister
//	Managed  cuMemAllocManaged. Where CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS is 0 no kernel may run while the host has any
//	Unified  the same, where host and device may touch it at any time: the attributes for concurrent and for pageable access are the witness
//
// What was allocated is held against cuPointerGetAttribute before it is given out. Memory of the device begins at multiples of 64 KiB where it can be
// exported as a dma-buf (cuMemGetHandleForAddressRange takes whole pages of the host, which are that large on Grace).
//
// # Threads and contexts
//
// A context is current to a thread, and goroutines move between threads. Each sequence of calls keeps its thread, makes the device's primary context
// current, and takes it away again. The device's other users in the process (another runtime, an inference library) share the
// primary context, and see nothing of this.
//
// # Errors
//
// Errors of kernels come late, from any call, and ruin the context: all of its memory is lost ([gpu.ErrLost]). The operation that is
// blamed is the first that was seen to have failed; the driver does not say which it was. compute-sanitizer does.
//
// # Ordering
//
// What a network card writes into a GPU's memory the GPU need not see when the card says that it is there. [gpu.Arrived] calls
// cuFlushGPUDirectRDMAWrites where the attribute for the ordering of such writes says that it is needed, and the one for ways to flush that the host may.
//
// # Windows
//
// [gpu.Map] maps the memory's dma-buf, which drivers of CUDA 13.3 and later allow. It is write-combined. A great BAR (resizable BAR) is no way by itself.
//
// # What it was tested on
//
// A stand-in for libcuda.so.1 that the tests compile (testdata/fake.c): it is strict about handles, contexts, threads and lives; memory of its devices cannot be
// touched by the host. On no GPU so far: go test ./runtime/gpu/... -gpu runs the same suite on one.
package cuda

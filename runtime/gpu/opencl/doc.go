// Package opencl is the provider of GPUs by OpenCL: the ICD loader libOpenCL.so.1 is opened at run time, without cgo, so that programs that
// import it build with CGO_ENABLED=0, and run where there is no such library, which [gpu.Devices] then says. It is for Linux on amd64 and arm64;
// elsewhere its only device is one that cannot be used. Importing it puts its devices in use. It asks for OpenCL 2.0 or later.
//
// # What its memory is
//
//	GPU      a buffer (clCreateBuffer). The host has no pointer to it; Map gives one by clEnqueueMapBuffer
//	Managed  shared virtual memory of coarse grain (clSVMAlloc); Acquire and Release are clEnqueueSVMMap and clEnqueueSVMUnmap
//	Unified  shared virtual memory of fine grain, where the device has it: that is the witness
//	CPU      the same. Where the device has none it maps no host memory
//
// Buffers have no address that a host could name; a kernel that is given elements from the middle of one gets a buffer within the buffer, which begins
// at a multiple of CL_DEVICE_MEM_BASE_ADDR_ALIGN only: the error says of how many bytes.
//
// OpenCL exports no memory to other devices here: it has no dma-buf.
//
// # What it was tested on
//
// PoCL 3.1, whose device is the processor (Debian: pocl-opencl-icd, ocl-icd-libopencl1): all of it, in each run of the tests. No GPU so far.
package opencl

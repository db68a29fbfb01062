// Package gpu has typed memory of GPUs, copies to and from it, and kernels that work on it.
//
// What memory is says its type, so that the processor cannot touch what it must not:
//
//	GPU      the device's own memory: no pointer of Go's. [New]; [CopyToDevice], [CopyToHost], [Copy], [Map]
//	CPU      host memory that is pinned and mapped into the GPU: the zero-copy buffer of any machine. [NewHost]; [NewHostAt] at a node of NUMA
//	Managed  memory that the driver moves: the host's between [Acquire] and [Release] only. [NewManaged]
//	Unified  memory that both reach coherently at any time, where probing the device said so. [NewUnified] takes the [Witness]
//
// Programs import a provider besides, gpu/cuda or gpu/opencl, and open a device:
//
//	dev, err := gpu.Open(ctx, gpu.Config{})
//	q, err := dev.Queue(0)
//	in, err := gpu.NewHost(dev, SampleInCPU(), 1024)   // *Region[Sample, CPU, Unregistered]
//	r, err := gpu.New(dev, SampleInGPU(), 1024)        // *Region[Sample, GPU, Unregistered]
//	op, err := gpu.CopyToDevice(q, gpu.All(r), gpu.All(in))
//	err = op.Wait(ctx)
//
// # Operations
//
// A queue does what is posted on it in order, as a stream of CUDA does. An [Op] is a value, its queue and its number: nothing is
// allocated for it, no goroutine belongs to it. Until it has ended its regions can be neither closed nor registered
// ([barewire.ErrInFlight], which names the place where it was posted). Who waits polls the device, first often and then less so, at
// least every millisecond or two; what nobody waits for is noticed when its queue is used, or a region of it is to be closed.
//
// The first operation that fails fails its queue: those behind it end with [ErrFlushed], and nothing more can be posted. When the device
// is lost ([ErrLost]) all operations end, on all queues, and regions and queues can be closed; then open the device again.
//
// # What is copied to what
//
//	CopyToDevice  from CPU, NUMA, CXL and Unified memory, whoever allocated it, to GPU
//	CopyToHost    from GPU to those
//	Copy          GPU and Managed to GPU and Managed, of the queue's device, while the host has not acquired it
//
// Between two devices nothing is copied, be they of one provider ([ErrOtherDevice]): copy to memory of [NewHost], and from there. Between Managed memory
// and the host's the processor copies, between Acquire and Release. What is none of these does not compile.
//
// # Network cards
//
// Memory of a GPU is registered (rdma.Register) with a device that takes memory by a dma-buf, as some network cards do, where the GPU exports it: peers then
// write and read it, and the processor takes no part. Call [Arrived] between what they wrote and the work on it. Transports in software refuse it,
// with errors.ErrUnsupported, as does all that cannot; pinned host memory is registered with any, but for package shm, which takes memory of barewire.New only.
//
// # A device that hangs
//
// No driver takes back from a device what it was given, so there is no Abort. Waits end with their contexts; [Queue.Abandon] ends those of
// others. What an operation has that has not ended can be neither closed nor registered, so no memory that the device may still write becomes
// somebody else's. Calls of the driver that wait for the device themselves, as freeing memory does, and take no context, end with [ErrHung] after
// Config.Patience; they go on behind it, and what they were for is done when they return. Only to post is not bounded: a driver may wait for the device
// when it is given a copy of host memory that is not pinned. Others that wait for that queue are not held up by it. The way out of a hang is the process's end.
//
// # Host memory in copies
//
// The host's side of a copy is a region that the processor may address, wherever it was allocated: it lies outside the Go heap, so
// that a copy which runs after the call cannot meet memory that was freed. Memory of [NewHost] is pinned: copies of it are the
// fastest. What a copy reads must not be written, and what it writes must not be read, until it has ended; go vet with our
// analyzers finds where that is done.
//
//barewire:trust what a call does to a handle is in its generation, which its type does not show
package gpu

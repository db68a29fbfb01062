// Package rdma has typed verbs: it reads and writes the memory of other
// processes and machines, with regions of package barewire.
//
//	dev, err := rdma.Open(ctx, rdma.Config{})          // the best that is there
//	dom, err := dev.Domain()
//	mr, err := rdma.Register(dom, region, SampleRemoteRead())
//	ln, err := dom.Listen(ctx, addr)                   // one side
//	conn, err := ln.Accept(ctx)
//	conn, err := dom.Dial(ctx, addr)                   // the other
//
//	err = rdma.Offer(ctx, conn, "samples", mr)         // who has the region
//	rem, err := rdma.Import(ctx, conn, "samples", SampleRemoteRead()) // who wants it
//
//	op, err := rdma.Read(conn, dst.Span(0, n), rem.Slice(i, n))
//	err = op.Wait(ctx)
//
// What an operation needs is in its types: a region that is not registered, or a
// reference without the right, does not compile. What types cannot say is checked before
// anything is posted, and the error names the region, the operation, and the
// place where it was posted; see [OpError].
//
// An [Op] is a value. When it has ended, the local memory may be used again; a
// write is in place at the peer when [Conn.Flush] returns. The file docs/ordering.md of this
// module has, for each pair of operations, the order that all transports keep.
//
// Devices come from providers, which are linked by importing their packages:
// rdma/verbs is for network cards and the kernel's own devices, rdma/iwarp for other hosts, over TCP, rdma/shm for processes of
// one machine, and rdma/soft for one process and for tests. A provider of one's own implements [Provider]; package rdmatest has the tests for it.
//
//barewire:trust what a call does to a handle is in its generation, which its type does not show
package rdma

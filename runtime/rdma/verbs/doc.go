// Package verbs is the provider of RDMA by devices: network cards of InfiniBand, RoCE and iWARP, and the kernel's own
// rdma_rxe and siw. It opens rdma-core's libibverbs.so.1 at run time, without cgo: programs that import it build with
// CGO_ENABLED=0, and run where there is no such library, which [rdma.Devices] then says. It is for Linux on amd64 and
// arm64; elsewhere its only device is one that cannot be used. Importing it puts its devices in use.
//
// # Devices
//
// A device's name is the kernel's, as "mlx5_0", with its port behind a colon where that is not the first, as "mlx5_0:2".
//
// # iWARP devices
//
// An iWARP device has neither immediate data nor, under Linux, atomic operations, and its queue pairs connect by rdma_cm alone. Between programs with
// this package:
//
//   - They tell each other over TCP what they are, as over other networks. Then the side that was dialed says where it waits for this one peer by
//     rdma_cm, with a token: at the address of TCP if the device has it, else at the first of this host's that it has, and at a port of rdma_cm's
//     choice, which a firewall must let through.
//   - The side that dials reads a word of the peer's before the connection is anybody's, since it must be the first to send.
//   - A message has a head of 16 octets in front, which stands for the number that a send has elsewhere. A notification is a write with a message of
//     nothing but its head behind it, which is delivered when the write is placed (RFC 5040, section 5.5). One local segment less may be had for that.
//   - A message that finds no receive would end the connection: so each side tells how many it has posted, and what none is there for waits, three
//     seconds at most.
//   - There are no atomic operations: they are refused before they are posted, and so is granting them, with [errors.ErrUnsupported]. Package iwarp,
//     which needs no device, has them.
//   - Writes, messages and notifications complete when they are handed to TCP. If the peer's device refuses one, since its key has ended meanwhile, or
//     its receive is too short, the connection ends, and its next completion says which it was, if it can be told ([rdma.StatusError.Late]). A flush is
//     a read of a word of the peer's, as elsewhere.
//   - A read of at most 32 octets across the end of a page is two, since siw answers one with octets of elsewhere.
//
// For peers that are other programs, with [rdma.Config.Plain], there are no notifications, and:
//
//   - The side that accepts has its receives posted before the connection is there, since a message without one ends it; what it
//     posts waits until the other side has sent its first message, at most a second.
//   - A flush reads an octet that the peer has let this side read before, since siw answers a read of nothing wrongly. Where there was
//     no read it is one of nothing all the same, and siw ends the connection if it had sent something.
//   - Short reads across the end of a page are posted as they are.
//
// For both:
//
//   - A read needs local memory that peers may write to: into any other it is refused, [ErrSink], unless [Options].OpenSinks is set.
//   - Addresses are those of the process, as siw knows no others.
//   - [rdma.Config.DSCP] is what rdma_cm is asked for (RDMA_OPTION_ID_TOS). siw does not look at it: its packets have class 0.
//
// # Addresses, and what the two sides tell each other
//
// An address is host:port of TCP; an empty one stands for a free port of 127.0.0.1. Over TCP the queue pairs tell each other what
// they are, and which address of the network (GID) each uses: of the kinds that the port has, the one whose
// address the TCP connection has too, else the first of the same kind. The connection stays open beside the queue pair, and
// says what devices do not: that the other end failed, and why; and whether a key is good. Over iWARP see above.
//
// With [rdma.Config.Plain] connections are made by rdma_cm instead (librdmacm.so.1), to programs that are not ours: an address is
// an IP address of the device's network interface, and a port of rdma_cm's. Nothing is exchanged beside it; what the peer refuses, the
// device's status says, and no more.
//
// # Keys
//
// The device checks scope, bounds and rights of each access, and so does this side before it posts: the first use of a key, or
// Prepare, asks the peer what the key is good for. So a request that cannot succeed fails with the reason, and not
// with a device's status code, which differs from device to device; it never reaches the device. What the device refuses nevertheless
// was deregistered in between. Addresses are random where the library can register memory at addresses of one's
// own choice (ibv_reg_mr_iova, rdma-core 24), else they are those of the process.
//
// A key for one connection only ([rdma.Grant]) is a memory window of type 2, where the device has them (Limits.ConnGrants): the device lets the peer of that connection use it, and nobody else, and the peer may give it back by a send
// ([rdma.SendInvalidate]). Revoking such a grant ends its window, and the registration behind it.
//
// What a region grants to all connections of its domain is a memory window of type 1, where the device has them: [rdma.Revoke] ends the window, and
// leaves the registration, what its own side has in flight, and other grants as they are. rdma_rxe may still be copying a packet when its
// window has ended, so the window has a registration of its own behind it there, which ends too; memory with remote rights is pinned twice on it, which
// the limit of locked memory counts. A domain has one queue pair more then, connected with itself, which binds these windows.
//
// There are no windows on a device that has none (DeviceInfo.Detail), on iWARP devices, on memory on demand, and when the device has no more of them, which
// the log says. Revoking then registers the memory anew without remote rights and ends the registration before; [rdma.EventRevoked] says why. Where there are none of
// type 2 there are no keys for one connection. The device refuses what still comes, either way.
//
// A send may ask for the event of its receiver ([rdma.Conn.SendSolicited]). Devices wake the receiver, and do not tell it which sends
// asked: completions of this package do not say it.
//
// # When requests complete
//
// A write completes when the peer's device has acknowledged it, or over iWARP when TCP has it. A Flush reads a word of the peer's behind the writes: its response
// comes when they are placed; where the peer is another program it is a read of nothing, behind the writes (for iWARP see above). Messages that find no receive are tried again for about a second. A peer that
// does not answer is given up after some seconds. Nothing is tried for ever.
//
// # What the device says beside that
//
// That a port is down or up, that a queue pair or the device has failed, that the table of addresses has changed: the log has it, and
// [rdma.Config].Observer sees each as an [rdma.EventDevice]. What a queue does not survive ends it, and its operations say why. So does a port that
// is down for five seconds; what fails before, since nothing is acknowledged, says that the port is down. When the device is
// being removed (rdma link delete) the kernel waits until all programs have closed it, and what runs stands still: this package hears it
// from the kernel's messages, and ends all its queues.
//
// # Memory
//
// Registering pins the memory, which the limit of locked memory (ulimit -l) bounds for users without CAP_IPC_LOCK: the error
// [MemlockError] says how much is needed. It can also move it: see [barewire.ErrPlacementLost]. With [rdma.Config.OnDemand]
// nothing is pinned but a page or two of each connection and domain: the device is asked first what it can, and what it cannot is an [OnDemandError].
// Memory of another device, as a GPU's, is registered by its dma-buf, where the device takes one (Limits.DMABuf).
// Programs may start others: Linux 5.12 and later copy pinned pages at fork, and for older ones the library is told.
//
// # What it was tested on
//
// The kernel's rdma_rxe, Linux 6.1 and 6.12, in the virtual machines of make lab: the suite of all providers, the catalogue of mistakes,
// peers that are killed, a port that goes down and a device that is removed in the midst of traffic, memory of device-dax and of CXL, rping,
// ibv_rc_pingpong and perftest's ib_write_lat, ib_write_bw, ib_read_bw and ib_send_bw as the peers. The kernel's siw, the same kernels: two ends of this package, and rping. The suite also runs on a stand-in for the
// library, with the race detector; there memory on demand and by a dma-buf were tested, which neither driver has. No network card so
// far, no InfiniBand, no RoCEv1.
package verbs

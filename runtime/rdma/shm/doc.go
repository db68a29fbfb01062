// Package shm is the provider for processes of one host, with nothing but a
// kernel: one-sided operations are loads, stores and atomics on a shared mapping of the
// peer's memory, so the peer's processor takes no part. Import it for its effect:
//
//	import _ "github.com/fidelityframework/barewire-gen/runtime/rdma/shm"
//
// # How it works
//
// Two processes meet at a Unix socket (SOCK_SEQPACKET): a path, or a name
// without a file that begins with @. Over it they pass descriptors (unix(7), SCM_RIGHTS):
//
//   - Each side's outbox, a memfd that only its owner can write (F_SEAL_FUTURE_WRITE): what
//     it sends, which keys are still good, and whether it is just now inside the peer's
//     memory. Every word that is read from the peer's is checked before use.
//   - For each key, at its first use or at Prepare, the memfd of the region:
//     opened read-only where the grant has neither write nor atomic, so that the kernel refuses
//     the rest.
//
// Who may connect to a path is up to its file's permissions, as the umask leaves them. To a name with
// @, and an empty address makes one, any process may that shares the network namespace, of whatever user:
// rdma.Config.Authorize sees the peer's process, user and group (rdma.Request.Process), and decides.
//
// Where a process has no room for the descriptor of a key (RLIMIT_NOFILE), it or the owner, that import
// fails and says so, and the connection goes on. An operation on a key that was not imported before fails then,
// and with it the connection, as with any operation that fails.
//
// A side that sleeps is woken through a pair of sockets that it waits for itself. The end of the first
// socket is how the death of a peer is noticed, which wakes it, too.
//
// # What protects
//
// A process without a grant has no descriptor, hence no access. With a
// read-only grant, stores fault. The kernel knows no finer rights: a grant of write or
// of atomics alone gives a mapping that may be read and stored to at will,
// and only the runtime of the importing process holds to the rights and the bounds.
// A descriptor covers the whole file of the region, page-rounded.
//
// This holds for peers of other users that have no privileges. It does not hold for:
//
//   - Root, and who has CAP_DAC_OVERRIDE: through /proc they open again for writing
//     what they were given for reading.
//   - Processes of the same user: the memory is their user's, so they may do that too
//     (chmod(2)), and reach each other by other means (ptrace(2), /proc/PID/mem). Who
//     must not trust a peer runs it as another user.
//
// Deregister takes a key back: the word that says that it is good is cleared,
// peers check that word before each access, and Deregister waits for the
// access that is in progress. A peer that has stopped in the middle of an
// access (SIGSTOP) cannot be made to let go: Deregister then ends the
// connection and returns an error, and succeeds when called again after the
// peer has gone on or ended.
//
// That is how this package behaves as a peer, which then unmaps the memory too. A peer
// that does as it likes keeps its mapping and need not look at the word: it goes on
// reading what was granted for reading, and storing where it had write or atomic. So if a
// process of another user has had the memory, package rdma moves the region's elements
// to new memory at Deregister, and what that peer has kept is no longer the
// region's. It costs a copy, and for its time the memory twice. Peers of the same user, as
// the kernel tells it (unix(7), SO_PEERCRED), are believed, and no copy is made. There is
// no such cure for rdma.Revoke and the end of a scoped grant, which leave the region
// registered and in use where it is: against a peer of another user that does not keep
// to the rules they take effect at Deregister.
//
// The memory of a process that has died stays as long as somebody has it
// mapped: [View] gives it for reading, beyond the end of the connection.
//
// # Completion
//
// An operation on a mapped key is done when Post returns. Writes are placed
// then, so Flush never waits for the peer. A Send completes when the message is in
// the ring; it is held back while the peer has posted no receive for it, and fails
// with StatusNotReady if that lasts. Atomics are the processor's, so those of
// peers and of local code are atomic together.
package shm

// # What is standard, and what is between ourselves
//
// Write is tagged segments (RFC 5040, section 4.2), Read a read request and its response, Send one of the four sends.
// A Flush is a read of no bytes behind the writes: its response is not sent before they are placed (RFC 5040, section 5.5,
// rules 12 and 17). Where a read or an atomic that was posted later than the last write is under way, or nothing was written,
// a Flush sends nothing: completions come in order. Atomics are RFC 7306, on whole words of 8 bytes, which stand in memory
// as everything in a region does: little-endian.
//
// Between programs with this package there is more, and none of it is seen by others:
//
//   - a WriteNotify is a write and then immediate data (RFC 7306, section 6), whose 8 octets are the number of bytes that were
//     written and the number that the program gave;
//   - a Send has the program's number where a Send with Invalidate has its key, and RFC 5040 reserves the field;
//   - the low 8 bits of a key are those of its epoch, so that this side can refuse one of another registration;
//   - segments of reads' responses go between those of own requests, in turns of 64 KiB. To others messages are sent
//     one after the other.
//
// # When requests complete
//
// A Write, a WriteNotify and a Send complete when TCP has all of it: the memory is the program's again. If the peer
// refuses it later, its Terminate says which segment that was about, and the next completion is an error that names the
// request ([rdma.StatusError.Late]), if it can be told: where several writes to one place are under way, the oldest
// is named. A Read, an atomic and a Flush complete when the response is here.
//
// A message that finds no receive waits for one for a second, and with it all that the peer sent behind it; then the
// connection ends. Package rdma counts receives, so that it does not come to that.
//
// # How it is done
//
// Each queue has two goroutines. One reads, and does what frames ask for. Sending is a role, of whoever has something
// to send when nobody has it: who posts makes the system call, and what others post meanwhile goes with the next one. What
// the socket has no room for is left to the second goroutine. On connections that are not TCP of this system's, TLS among
// them, it writes all.
//
// Payloads are copied once on each side, into the send buffer and out of the receive buffer, each time together with
// the checksum or right after it: the memory may change while it is sent, and the sum is of what is sent. Without checksums long
// payloads go between the socket and the memory with no copy by this package. An aligned word of 8 bytes that is
// written or read by itself is moved whole; a longer transfer has no order within itself (docs/ordering.md).
//
// No lock is held and no key is in use while anybody waits: so Deregister and Close are quick, whatever a peer does.
package iwarp

// Package iwarp is the provider of RDMA over TCP, in Go alone: RFC 5040 (RDMAP), RFC 5041 (DDP) and RFC 5044 (MPA) with
// the set-up of RFC 6581, and RFC 7306 (atomics, immediate data) between programs with this package. It needs no
// device and no privilege, and is what is used between hosts where there is nothing better. Importing it puts its device,
// "tcp", in use.
//
// # Addresses
//
// An address is host:port, of IPv4 or IPv6, as for package net. An empty one stands for a free port of 127.0.0.1; to
// be reached from other hosts give ":7471" or the address of an interface.
//
// # What is on the wire
//
// Between programs with this package the private data of the set-up are those of package rdma and 8 octets of this
// package's, at most 48 octets in all. Other programs (rping on siw, or on a network card) see none of it: with
// [rdma.Config.Plain], and in the answer to a peer that did not say it is ours, there is nothing but what the RFCs ask
// for. Markers are never used, and a peer that insists on them is refused. Checksums are used unless both sides want
// none ([rdma.IWARP.NoCRC]) and the connection stays on one host or is under TLS.
//
// # Whom it trusts
//
// Nobody. A key is random, as is the address that a peer knows a region by, and what a peer asks for is
// checked before a byte moves; but without [rdma.Config.TLS] whoever can reach the port can try, and
// whoever is on the path can read and write. The first key that is not good ends the connection, and a source that does
// such things waits longer each time. Those of the same host are let off this wait: all of 127.0.0.0/8 is
// theirs to come from. Who uses a key that its owner has revoked since the connection was made loses the connection, too: the
// operation says rdma.ErrRevoked there. But that is no breach, as the peer may not have known.
//
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
//   - where flushes have come right after writes that were sent alone, the next such write is sent together with the read of the
//     flush that is likely to follow: the flush sends nothing then. It costs the peer an answer where none follows, and stops
//     with that;
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
// A listener has places for 256 connections of one host that are not accepted yet; more are ended without a word. Dial tries again
// then, for about 3 s and as long as its context allows.
//
// A message that finds no receive waits for one for a second, and with it all that the peer sent behind it; then the
// connection ends. Package rdma counts receives, so that it does not come to that.
//
// # How it is done
//
// Each queue has two goroutines. One reads, and does what frames ask for, where nobody else does. On TCP who sleeps for
// something of the queue's reads in its place, by events, and so does whoever polls, in the modes [rdma.Adaptive] and [rdma.Busy]:
// what comes needs no hop from goroutine to goroutine then. Who polls needs no processor that is free for
// the runtime's poller either, which is looked at each 10 ms only while programs that spin keep all of them busy. By events
// the reader is back at work when something comes that nobody waits for; on Linux, where a descriptor for each device tells
// (epoll), else it never leaves. Sending is a role, of whoever has something to send
// when nobody has it: who posts makes the system call, and what others post meanwhile goes with the next one. What
// the socket has no room for is left to the second goroutine, which needs the poller. On connections that are not TCP of
// this system's, TLS among them, it writes all, and the first one reads all: to spin there is of little use.
//
// Payloads are copied once on each side, into the send buffer and out of the receive buffer, each time together with
// the checksum or right after it: the memory may change while it is sent, and the sum is of what is sent. Without checksums long
// payloads go between the socket and the memory with no copy by this package. An aligned word of 8 bytes that is
// written or read by itself is moved whole; a longer transfer has no order within itself (docs/ordering.md).
//
// No lock is held and no key is in use while anybody waits: so Deregister and Close are quick, whatever a peer does.
package iwarp

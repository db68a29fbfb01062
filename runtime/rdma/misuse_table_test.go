package rdma_test

import (
	"context"
	"errors"
	"strings"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// How a mistake ends.
const (
	atCompile = "does not compile" // testdata/misuse has it
	atRun     = "error"            // commit gives it
	harmless  = "cannot happen"    // commit tries, and nothing is wrong
	byVet     = "vet"              // the analyzers find it, with those codes: see vetted
	elsewhere = "not here"         // soft, shm and iwarp have nothing of the kind
)

// vetted is byVet with the codes. The corpus of the analyzers has a wrong function for each entry, and a test there holds it to this
// page.
func vetted(codes ...string) string { return byVet + " (" + strings.Join(codes, ", ") + ")" }

// misuse is a mistake that programs with RDMA were found to have.
type misuse struct {
	n       int
	mistake string
	ends    []string
	how     string // how it is caught, or why it need not be
	adds    bool   // commit needs atomics
	only    string // the provider that commit is for, if not all; soft holds operations up
	commit  func(w *world) error
	is      []error  // that commit's error is
	says    []string // that its text has
}

// made is in each text about a region.
const made = "region of sample.Tick made at rdma/"

// catalogue is mistakes from issue trackers of programs and libraries that use RDMA,
// docs/misuse.md for people.
var catalogue = []misuse{
	{n: 1, mistake: "memory is posted that is not registered, or a range beyond it", ends: []string{atCompile, atRun},
		how:    "Operations take spans of registered regions; a span knows its region's length.",
		commit: beyondRegion, is: []error{barewire.ErrRange}, says: []string{made, "2 elements from 9 on, and it has 10"}},
	{n: 2, mistake: "local memory is used after it was deregistered", ends: []string{atRun, vetted("BW5103", "BW5111")},
		how:    "Deregister moves the region: each handle has a generation.",
		commit: useDeregistered, is: []error{barewire.ErrMoved}, says: []string{made, "it was moved at rdma/misuse_"}},
	{n: 3, mistake: "a peer's memory is used after it was deregistered there", ends: []string{atRun},
		how:    "Keys are never used again. A peer that imported the region is told, so that its operations are mostly refused before they are posted.",
		commit: staleKey, is: []error{rdma.ErrRevoked}, says: []string{made, "write of 64 bytes", "posted at rdma/misuse_", "import it again"}},
	{n: 4, mistake: "memory of another protection domain is used", ends: []string{atRun, vetted("BW5116")},
		how:    "A registration knows its domain, and so does a connection.",
		commit: otherDomain, is: []error{rdma.ErrDomain}, says: []string{made, "another domain", "see Also"}},
	{n: 5, mistake: "a remote key is computed before the memory is bound to the device", ends: []string{atCompile},
		how: "Only a region that was registered, on an opened device, has a reference."},
	{n: 6, mistake: "the local key is sent to the peer in place of the remote one", ends: []string{atCompile},
		how: "Programs see no keys but in references; for providers they are two types."},
	{n: 7, mistake: "remote write or atomics are granted without local write", ends: []string{harmless},
		how:    "There is no such grant: the owner of a region may always write it.",
		commit: everyGrantReceives, adds: true},
	{n: 8, mistake: "memory that cannot be written is registered for writing", ends: []string{atCompile},
		how: "Only regions are registered, and their memory comes from an allocator that makes it writable."},
	{n: 9, mistake: "remote rights are given on memory that was to be local", ends: []string{atCompile},
		how: "A region with Local access has no reference and cannot be offered."},
	{n: 10, mistake: "a peer's memory is read or written without that right", ends: []string{atCompile, atRun},
		how:    "The right is in the reference's type; who forges the bytes of one is refused by the peer's side.",
		commit: writeReadOnly, is: []error{rdma.ErrRights}, says: []string{made, "write of 64 bytes", "posted at rdma/misuse_", "did not grant"}},
	{n: 11, mistake: "atomics on memory that does not grant them", ends: []string{atCompile, atRun},
		how:    "As 10.",
		commit: atomicWithoutRight, adds: true, is: []error{rdma.ErrRights}, says: []string{"fetch-and-add", "posted at rdma/misuse_", "did not grant"}},
	{n: 12, mistake: "the connection lacks the access flag that the memory grants", ends: []string{harmless},
		how:    "Connections have no flags of their own: what a region grants can be used.",
		commit: connectionNeedsNoFlags, adds: true},
	{n: 13, mistake: "memory is deregistered right after posting", ends: []string{atRun, vetted("BW5108")}, only: "soft",
		how:    "Operations in flight are counted at the region.",
		commit: deregisterInFlight, is: []error{barewire.ErrInFlight}, says: []string{made, "posted at rdma/misuse_", "wait for them first"}},
	{n: 14, mistake: "memory is freed before the operation completed", ends: []string{atRun, vetted("BW5108")}, only: "soft",
		how:    "As 13. Closing the connection first ends what is in flight.",
		commit: closeInFlight, is: []error{barewire.ErrInFlight}, says: []string{made, "posted at rdma/misuse_", "wait for them first"}},
	{n: 15, mistake: "after a timeout the buffer is reused while the device still writes it", ends: []string{atRun, vetted("BW5108", "BW5114")}, only: "soft",
		how:    "A wait that ends early abandons the wait, not the operation: its regions stay busy until it ended. Abort and Drain end it.",
		commit: reuseAfterTimeout, is: []error{barewire.ErrInFlight}, says: []string{made, "posted at rdma/misuse_"}},
	{n: 16, mistake: "a server reads a client's buffer late, when it holds something else", ends: []string{atRun},
		how:    "Revoke: when it returns no peer reaches the memory, and late operations fail.",
		commit: lateRead, is: []error{rdma.ErrRevoked}, says: []string{made, "read of 64 bytes", "import it again"}},
	{n: 17, mistake: "a send buffer is reused before the send completed", ends: []string{atRun, vetted("BW5114")}, only: "soft",
		how:    "SendBytes copies. Send keeps the region busy; a write through a window meanwhile is no error at run time.",
		commit: reuseSendBuffer, is: []error{barewire.ErrInFlight}, says: []string{made, "posted at rdma/misuse_"}},
	{n: 18, mistake: "a reply is sent before the write that it announces completed", ends: []string{harmless},
		how:    "On one connection a message, like a notification, arrives after earlier writes are in place.",
		commit: replyAfterWrite},
	{n: 19, mistake: "all pieces are written to the first element, or with another's length", ends: []string{atCompile, atRun},
		how:    "Elements and fields have types with their offsets and sizes; both sides of an operation must be as long.",
		commit: wrongLength, is: []error{rdma.ErrLength}, says: []string{made, "640 bytes here", "64 bytes, there"}},
	{n: 20, mistake: "the garbage collector frees registered memory", ends: []string{atCompile, harmless},
		how:    "Memory of regions is not the Go heap's, no slice can be registered, and what is in flight holds its region.",
		commit: collectInFlight},
	{n: 21, mistake: "a registration outlives its memory", ends: []string{atRun},
		how:    "Closing a region ends its registration first, and the memory goes after; then a peer's operation fails, and never reaches memory of others.",
		commit: useClosedRemote, is: []error{rdma.ErrRevoked}, says: []string{made, "import it again"}},
	{n: 22, mistake: "memory is never deregistered", ends: []string{vetted("BW5104")},
		how: "A region that is never closed stays allocated; closing the domain ends its registration. Config.Observer sees each begin and end."},
	{n: 23, mistake: "the send queue overflows", ends: []string{atRun}, only: "soft",
		how:    "Operations are counted, and each is seen to complete: nothing is unsignalled.",
		commit: overflowQueue, is: []error{rdma.ErrQueueFull}, says: []string{"4 operations are outstanding", "the oldest a write posted at rdma/misuse_", "Depth"}},
	{n: 24, mistake: "an event of the completion queue is lost, and the program hangs", ends: []string{harmless},
		how:    "Waiting is the library's: it looks again after it asked for an event.",
		commit: pingPong},
	{n: 25, mistake: "the completion queue overflows, and completions are lost", ends: []string{harmless},
		how:    "There is none to size: each operation that was taken completes, and no more are taken than have room.",
		commit: neverPolled},
	{n: 26, mistake: "a message is sent before the peer posted a receive", ends: []string{atRun},
		how:    "The connection posts receives before it is ready, and counts the peer's. SendBytes waits for one, as long as its context allows. A plain peer counts nothing: over iWARP its message waits a second for a receive, and then its connection ends.",
		commit: noReceive, is: []error{rdma.ErrNoCredit}, says: []string{made, "messages and notifications wait to be taken there", "Credits"}},
	{n: 27, mistake: "one busy peer uses up the receives of all", ends: []string{harmless},
		how:    "Each connection has receives of its own.",
		commit: starveOthers},
	{n: 28, mistake: "receives are posted on a connection that failed, and leak", ends: []string{atRun},
		how:    "Receives are the connection's. After a failure Receive gives what had arrived, and then says what failed.",
		commit: receiveAfterFailure, is: []error{rdma.ErrFlushed, rdma.ErrRights}, says: []string{"write of 64 bytes", "posted at rdma/misuse_"}},
	{n: 29, mistake: "a connection is destroyed before its operations were seen to end", ends: []string{atRun}, only: "soft",
		how:    "Close ends them first; an Op of before still says how it ended, and numbers are never used again.",
		commit: closeWithOutstanding, is: []error{rdma.ErrFlushed, rdma.ErrClosed}, says: []string{made, "posted at rdma/misuse_", "closed"}},
	{n: 30, mistake: "the wrong GID index, or an entry of RoCEv1 for RoCEv2", ends: []string{elsewhere},
		how: "They have no GIDs: the provider of real devices chooses. A transport that the device is not is refused by Open."},
	{n: 31, mistake: "the path MTU is assumed and not negotiated", ends: []string{harmless},
		how:    "Both sides say theirs when they connect, and the smaller one counts. iWARP asks TCP, which follows the path.",
		commit: otherMTU},
	{n: 32, mistake: "the class of service is set wrongly, or ignored", ends: []string{atCompile, atRun},
		how:    "DSCP is a type and a setting of transports that have it, 0 to 63; the traffic class is worked out. iwarp sets it on its sockets, or says that it cannot.",
		commit: badDSCP, is: []error{rdma.ErrConfig}, says: []string{"DSCP is 104", "63"}},
	{n: 33, mistake: "more inline data than the device takes", ends: []string{elsewhere},
		how: "Inline data is no part of the interface: a provider that has it uses it as far as it goes."},
	{n: 34, mistake: "more segments than the device takes", ends: []string{atRun},
		how:    "An operation has one; only WriteGather takes more, and counts them.",
		commit: tooManySegments, is: []error{rdma.ErrLength}, says: []string{made, "5 spans", "this device takes 1 to"}},
	{n: 35, mistake: "more reads and atomics outstanding than the device takes", ends: []string{harmless},
		how:    "soft and shm have no such limit. Over iWARP the sides tell each other theirs when they connect, and what is beyond waits in the queue.",
		commit: manyReads, adds: true},
	{n: 36, mistake: "an atomic on a word that is not aligned, or of another size", ends: []string{atCompile, atRun},
		how:    "Atomics take references to fields of 8 bytes; fields with #@atomic are aligned, and the generator warns of a type that grants atomics and has none (BW3011).",
		commit: misalignedAtomic, is: []error{rdma.ErrMisaligned}, says: []string{"fetch-and-add", "#@atomic"}},
	{n: 37, mistake: "iWARP: the sink of a read lacks remote write", ends: []string{harmless}, only: "iwarp",
		how:    "Any registered region can receive a read, and no peer may write there for that: the response goes by a key made for it, good for that one response and its range.",
		commit: sinkNeedsNoRight},
	{n: 38, mistake: "iWARP: immediate data or atomics that it does not have", ends: []string{atRun}, only: "iwarp",
		how:    "They are RFC 7306's, which programs with this package have between them. A plain connection refuses them before they are posted, and lives.",
		commit: beyondTheirs, is: []error{errors.ErrUnsupported}, says: []string{made, "write with notification", "RFC 7306"}},
	{n: 39, mistake: "iWARP: a peer of MPA version 1 takes no reads", ends: []string{atRun}, only: "iwarp",
		how:    "A plain connection takes such a peer; reads, and flushes, which are reads, are refused before they are posted. The rest works.",
		commit: readOfRevision1, is: []error{errors.ErrUnsupported}, says: []string{made, "read of 64 bytes", "answers no reads"}},
	{n: 40, mistake: "memory of a GPU is used like the host's", ends: []string{atCompile},
		how: "Where memory lives is in the region's type: what the host cannot load from has no windows, and what cannot be registered is refused."},
	{n: 41, mistake: "the limit of locked memory is exceeded", ends: []string{elsewhere},
		how: "They lock no memory."},
	{n: 42, mistake: "a fork takes pages away from the device", ends: []string{harmless},
		how:    "Regions are shared mappings, which a fork does not copy, and their descriptors are closed on exec.",
		commit: forkInBetween},
	{n: 43, mistake: "files on persistent memory are registered", ends: []string{elsewhere},
		how: "There is no such residency: a region's memory is an allocator's."},
	{n: 44, mistake: "the last byte is polled to see whether data is complete", ends: []string{atCompile},
		how: "Memory that a peer may write has no slices, and plain atomics only where the peer has none; there are notifications, snapshots and atomic loads."},
	{n: 45, mistake: "a slot is overwritten that was not consumed yet", ends: []string{harmless},
		how:    "A receive is given back when its message was taken, and only then counts as free.",
		commit: slowReader},
	{n: 46, mistake: "an error is not looked at", ends: []string{atRun, vetted("BW5109", "BW5110")},
		how:    "A failed operation fails the connection: the next post, wait or flush names it. Over iWARP, where a write ends before the peer has looked at it, a flush at the latest.",
		commit: ignoredError, is: []error{rdma.ErrRights}, says: []string{"write of 64 bytes", "posted at rdma/misuse_"}},
	{n: 47, mistake: "a context of the GPU that belongs to a thread is used from another", ends: []string{elsewhere},
		how: "They use no GPU."},
	{n: 48, mistake: "things are closed in the wrong order", ends: []string{harmless},
		how:    "Closing what contains others closes them first; regions may be closed before or after.",
		commit: anyOrder},
	{n: 49, mistake: "an operation of no bytes, whose key nobody checks", ends: []string{atRun},
		how:    "It is refused.",
		commit: nothing, is: []error{rdma.ErrEmpty}, says: []string{made}},
	{n: 50, mistake: "the same memory is registered once for each thread", ends: []string{atRun, vetted("BW5103")},
		how:    "Register moves the region, so a second time is an error. A registration is for all goroutines; Also makes another on purpose.",
		commit: registerTwice, is: []error{barewire.ErrMoved}, says: []string{made, "register", "it was moved at rdma/misuse_"}},
	{n: 51, mistake: "an element is read or written as a whole while the other side changes it, and has parts of two versions", ends: []string{atCompile, atRun},
		how:    "ReadWhole and WriteWhole go by the sequence of the type, and want one; an element that is never whole is an error. Read and Write look at no sequence: that nobody changes meanwhile what they copy is for the programs to see to.",
		commit: neverWhole, is: []error{barewire.ErrUnstable, context.DeadlineExceeded}, says: []string{made, `element 3 of "ticks"`, "posted at rdma/misuse_", "its sequence was 1 at last"}},
}

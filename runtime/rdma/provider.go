package rdma

import (
	"context"
	"os"
	"sync"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// Provider is a way to reach the memory of others: a kind of device, or
// software in its place. Packages of providers register one with [Use] when they
// are imported. Everything that is typed, counted and checked is done above this
// interface, once for all; a provider moves bytes and enforces what it was told
// to grant. The package rdmatest has the tests that any provider must pass.
type Provider interface {
	// Name is one word: "soft", "shm", "verbs".
	Name() string
	// Devices lists what is there, best first. None is no error.
	Devices(ctx context.Context) ([]DeviceInfo, error)
	// Open opens the device of that name. The configuration is valid and has its
	// defaults; the provider lowers in Adapter.Limits what it cannot do.
	Open(ctx context.Context, name string, cfg *Config) (Adapter, error)
}

// Adapter is an open device.
type Adapter interface {
	Info() DeviceInfo
	Limits() Limits
	// NewDomain makes a protection domain: keys are good in one domain only.
	NewDomain() (ProtectionDomain, error)
	Close() error
}

// Limits are what an adapter can do. A request beyond one completes with StatusLocal.
type Limits struct {
	Depth        int  // work requests outstanding on a queue: taken, and not polled
	Segments     int  // local segments of one work request, at least 1
	MaxMessage   int  // bytes of one send
	MaxTransfer  int  // bytes of one read or write
	AtomicGlobal bool // atomics of peers and of this processor on one word are atomic together
	ConnGrants   bool // keys can be scoped to one connection
	FileMemory   bool // registering needs memory that has a file (Memory.File)
	DMABuf       bool // registers memory by its dma-buf (Memory.DMABuf)
	Solicited    bool // sends can ask for the receiver's event (WorkRequest.Solicited)
	Invalidate   bool // sends can end a key at the peer (WorkRequest.Invalidate), and those of a peer are obeyed
}

// ProtectionDomain is memory and queues that may be used together. Its methods
// may be called from several goroutines.
type ProtectionDomain interface {
	// Register makes memory known. It stays mapped, and is not moved, until
	// Deregister has returned nil. conn is not nil where the key is for that
	// queue only.
	Register(m Memory, rights barewire.Rights, conn Queue) (Keys, error)
	// Deregister makes keys invalid. When it returns nil no access of a peer is
	// in progress, and none comes; after an error the memory must not be freed. Keys
	// of a domain that was closed can be deregistered still, and so must those be whose remote
	// half a peer has ended (WorkRequest.Invalidate).
	Deregister(ctx context.Context, k Keys) error
	// Listen accepts queues at an address in the provider's form.
	Listen(ctx context.Context, addr string) (Acceptor, error)
	// Dial connects a queue. hello is shown to the peer, which answers with its own.
	Dial(ctx context.Context, addr string, hello []byte) (Queue, error)
	// Close ends what is left: queues, listeners, keys.
	Close() error
}

// Revoker is a [ProtectionDomain] that can end what a registration grants and leave the registration whole. It is optional:
// without it the memory is registered anew.
type Revoker interface {
	// Revoke ends the remote key of a registration for good, as Deregister does, and nothing else: its local key, what is in progress with
	// it, and other registrations of the memory are as before. It returns the keys that the registration has from
	// then on, the same but for R, which is zero. An error that wraps errors.ErrUnsupported says why this
	// one cannot be ended so: then nothing was done. After another error call again.
	Revoke(ctx context.Context, k Keys) (Keys, error)
}

// Acceptor is a listening address.
type Acceptor interface {
	Addr() string
	// Accept waits for a peer. answer is given the peer's hello and returns ours, empty where one of the
	// two speaks no barewire;
	// its error refuses the peer, which is told the text, and Accept waits for the next.
	Accept(ctx context.Context, answer func(hello []byte) ([]byte, error)) (Queue, error)
	Close() error
}

// Introducing is an [Acceptor] that knows who a peer is before that is answered. It is optional: without it a peer that
// [Config.Authorize] refuses finds its connection made, and then ended.
type Introducing interface {
	// AcceptFrom is Accept; answer is also told who the peer is: Peer, and Process and TLS where they are known.
	AcceptFrom(ctx context.Context, answer func(who Request, hello []byte) ([]byte, error)) (Queue, error)
}

// Memory is what a provider is given to register.
type Memory struct {
	Base unsafe.Pointer // page-aligned; where it is Opaque, what segments' Ptr count from, and nobody touches
	Len  int            // bytes
	// Opaque says that this processor cannot load from the memory or store to it, as a GPU's. Only
	// providers whose Limits.DMABuf is set are asked to register such.
	Opaque bool
	// DMABuf exports the memory for the provider's device; nil where nobody can. The file is the caller's to close,
	// when the device has the memory.
	DMABuf func() (DMABuf, error)
	// File returns the file that the memory is a shared mapping of, and the
	// offset there. The file stays the region's: duplicate it to keep it. The
	// error says why the memory has none.
	File func() (*os.File, int64, error)
	// Exposed is called, where it is not nil, before a peer is given the file that may
	// keep a mapping of it beyond Deregister and is not trusted not to use it: the
	// elements then move to other memory after Deregister.
	Exposed func()
	// Name is for errors: the region's type and where it was made.
	Name string
}

// DMABuf is memory of a device as the kernel lends it to another one: a file of the kernel's dma-buf, and where in it the memory begins.
type DMABuf = region.DMABuf

// LKey is a local key: it names registered memory to the own device.
type LKey uint32

// RKey is a remote key: it names registered memory to a peer. A registration
// that grants nothing remote has none: zero.
type RKey uint32

// Keys are what a registration has.
type Keys struct {
	L     LKey
	R     RKey
	Addr  uint64 // where the memory begins in the space of R
	Epoch uint32 // which registration of R this is
}

// Queue is a connected queue pair. A request that fails moves it to its error state, as
// Abort does, and the peer's too: each request and receive that is outstanding completes
// with StatusFlushed, or with StatusPeerLost where the other end was the
// cause, after completions that were there before and after the request that failed. Where that request had completed
// already, because the provider completes when it hands over, the first completion with an error tells,
// a receive's too: StatusError.Late and ID. Post and PostReceive are called by one
// goroutine at a time, and so is Poll; the two groups may run side by side.
// Everything else may be called at any time.
type Queue interface {
	// Hello is what the peer said when it connected.
	Hello() []byte
	// Peer is the peer's address, for errors.
	Peer() string
	// Prepare makes ready to use a key of the peer: a call before the first
	// use saves time then. The error says why the key will not do.
	Prepare(ctx context.Context, key RKey, epoch uint32) error
	// Post hands over work requests in order and rings once. It returns how many
	// were taken, and why the rest was not: the queue is full, or closed. Each taken
	// request completes exactly once, in order, with the memory of its segments in use until then.
	Post(wrs []WorkRequest) (int, error)
	// PostReceive hands over buffers for what the peer sends: one is used, in
	// order, by each Send and each WriteNotify, which leaves it as it is. It takes all or, with an
	// error, none. There is room for Limits.Depth and for twice Config.Credits at least.
	PostReceive(rs []ReceiveRequest) error
	// Poll takes completions, as many as there are and have room. It does not wait.
	Poll(out []Completion) int
	// Wait returns when Poll may have something, when ctx ends or when the queue is closed. Spurious
	// returns are allowed, lost ones are not. One goroutine at a time waits here;
	// another may poll meanwhile, if the one that waits wants nothing for itself.
	Wait(ctx context.Context) error
	// Abort moves the queue to its error state and tells the peer if it can: all that
	// is outstanding completes, with an error, receives too, and so does all that is
	// posted after. That wakes who waits. It does not wait.
	Abort(cause error)
	// Close ends the queue. Nothing completes after it, no memory is accessed through
	// the queue in either direction, and Post, PostReceive and Wait fail.
	// To close it again does nothing.
	Close() error
}

// Immediate is a [Queue] whose requests may end as they are posted, so that there is nothing to poll for. It is
// optional.
type Immediate interface {
	// PostNow is Post of one request; the same goroutine may call it. Where nothing is
	// outstanding, and the request can be done now and succeeds, it reports done, and there
	// is no other completion of it: result is an atomic's. Otherwise it was taken as by Post, and
	// completes by Poll, or the error says why it was not. A request that fails is never done: its
	// completion says why.
	PostNow(wr *WorkRequest) (result uint64, done bool, err error)
}

// Direct is a [Queue], or a [Held], whose requests are done by the goroutine that posts them: those that can be
// done now need not even be noted. It is optional, and goes before [Immediate].
type Direct interface {
	// Now does a request, if nothing is outstanding and it can be done now and succeeds:
	// then it has ended for good, there is no completion of it, and result is an atomic's. Otherwise it has
	// done nothing that doing it again would not do, and the request is to be posted. It is called as Post is.
	Now(wr *WorkRequest) (result uint64, done bool)
}

// Lender is a [Queue] that lends its locks, so that who posts and polls need not have locks
// of its own beside them. It is optional.
type Lender interface {
	// Lend gives the lock that Post and PostReceive take, that which Poll takes, and the queue for
	// who has them. Who takes both takes poll first. Whoever has one calls no method of the queue that takes it, or
	// waits; Abort is no such method for who has poll.
	Lend() (post, poll *sync.Mutex, q Held)
}

// Held is a [Queue] for who has its locks: that of posting for Post and PostReceive, and Now if it is
// [Direct], and that of polling for Poll. None of them gives a lock up.
type Held interface {
	Post(wrs []WorkRequest) (int, error)
	PostReceive(rs []ReceiveRequest) error
	Poll(out []Completion) int
}

// Lacking is a [Queue] that may be unable to do some verbs, or whose peer may. It is optional.
type Lacking interface {
	// Lacks is why requests of a verb cannot be done on this queue, empty where they can. It is the same
	// as long as the queue lives; such requests are refused before they are posted.
	Lacks(Verb) string
}

// Verb is what a work request does.
type Verb uint8

// The verbs. Notify is never posted: it is how a peer's WriteNotify completes a
// receive; Receive is how a peer's Send does.
const (
	VerbWrite Verb = iota + 1
	VerbWriteNotify
	VerbRead
	VerbSend
	VerbCompareSwap
	VerbFetchAdd
	VerbFlush // completes when all earlier writes are placed at the peer
	VerbReceive
	VerbNotify
)

// MaxSegments is the most local segments that a work request has room for.
const MaxSegments = 4

// WorkRequest is one operation. The provider does not keep it after Post. A write
// or a read of no bytes fails with StatusLocal; a WriteNotify of none is a bare
// notification, and its key is not looked at. Atomics are of an aligned word of eight
// bytes, little-endian as everything in a region, and use no segments.
type WorkRequest struct {
	ID    uint64 // comes back in the completion
	Verb  Verb
	Fence bool  // wait for earlier reads and atomics of this queue
	Segs  uint8 // of Local in use
	// Solicited, of a Send, asks for the event of a receiver that waits for such sends only, as
	// ibv_req_notify_cq(3) lets it. Providers here wake whoever waits for each completion.
	Solicited bool
	Epoch     uint32 // of Key; not looked at where Accept's answer was empty: who is no barewire knows none
	Key       RKey
	// Invalidate, of a Send, ends this key at the peer, 0: none; Epoch is its epoch. The peer obeys if the key is
	// for this queue only (ProtectionDomain.Register with it) and is good: otherwise others would lose what
	// they were granted, and the queue fails, with StatusRemoteRight for a key of the whole domain and
	// with StatusRemoteKey for one that is unknown, ended or for another queue. When the
	// receive completes, nothing of the peer's is in progress with the key, and nothing comes.
	// Source: RFC 5040, section 5.3 (Send with Invalidate); RFC 5042 on keys that several streams share.
	Invalidate RKey
	Addr       uint64               // in the space of Key
	Local      [MaxSegments]Segment // from (Write, Send) or to (Read)
	Imm        uint32               // WriteNotify: for the peer's notification; Send without Invalidate: for its receive
	Compare    uint64               // CompareSwap
	Operand    uint64               // CompareSwap: the new value; FetchAdd: what to add
}

// Segment is a piece of registered local memory.
type Segment struct {
	Ptr unsafe.Pointer
	Len int
	Key LKey
}

// ReceiveRequest is a buffer for one message.
type ReceiveRequest struct {
	ID  uint64
	Buf Segment
}

// Completion is the end of a work request or of a receive.
type Completion struct {
	ID          uint64
	Verb        Verb
	Solicited   bool   // of a receive: the peer asked for the event, where the provider hears of that
	Err         error  // nil: done; a *StatusError, else a reason of the provider's
	Bytes       int    // of a receive or a notification
	Imm         uint32 // of a receive or a notification
	Invalidated RKey   // of a receive: the key of ours that the peer ended by it, 0: none
	Result      uint64 // of an atomic: the word before
}

// Status is the kind of failure of a completion, alike for all providers as far as
// they can tell.
type Status uint8

// The statuses.
const (
	StatusLocal       Status = iota + 1 // the local segment is not registered, or too short
	StatusRemoteKey                     // the peer knows no such key, or no longer, or not for us
	StatusRemoteRange                   // outside what the key names
	StatusRemoteRight                   // the key does not grant it
	StatusMisaligned                    // an atomic on a word that is not aligned
	StatusNotReady                      // no receive was posted in time
	StatusTooLong                       // the message is longer than the receive
	StatusPeerLost                      // the peer ended or cannot be reached
	StatusTimeout                       // no answer in time
	StatusFlushed                       // an earlier operation failed, or the queue was aborted
	StatusProvider                      // anything else
)

// StatusError is the error of a completion.
type StatusError struct {
	Status Status
	Detail string // what the provider knows beyond the status; may be empty
	Late   bool   // it is about a request that had completed, and not about the one that completes with it
	ID     uint64 // of that request
}

package rdma

import (
	"errors"
	"fmt"
	"strings"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// The reasons of this package, for errors.Is. What is returned wraps them and
// says which region, operation, place and peer it is about, and what to do.
var (
	ErrConfig        = errors.New("the configuration cannot be used")
	ErrNoDevice      = errors.New("no device")
	ErrClosed        = errors.New("it is closed")
	ErrNotRegistered = errors.New("it is not registered")
	ErrDomain        = errors.New("another domain's")
	ErrLength        = errors.New("the lengths differ")
	ErrEmpty         = errors.New("nothing to move: an operation has at least one byte")
	ErrTooLong       = errors.New("too long")
	ErrRights        = errors.New("a right that was not granted")
	ErrSchema        = errors.New("another schema")
	ErrMisaligned    = errors.New("not aligned to 8 bytes")
	ErrQueueFull     = errors.New("the queue is full")
	ErrNoCredit      = errors.New("the peer has no receive left")
	ErrFailed        = errors.New("the connection failed")
	ErrFlushed       = errors.New("not done: an earlier operation failed")
	ErrTimeout       = errors.New("no completion in time")
	ErrAborted       = errors.New("the connection was aborted")
	ErrPeerLost      = errors.New("the peer is gone")
	ErrRefused       = errors.New("the peer refuses")
	ErrRevoked       = errors.New("it was revoked")
	ErrName          = errors.New("not a name for an offer")
	ErrOffered       = errors.New("it is offered already")
	ErrTooMany       = errors.New("too many")
	ErrPlain         = errors.New("the peer does not speak barewire, so there are no names and no credits")
	ErrBarewire      = errors.New("the peer speaks barewire, and bare addresses and keys are for those who do not")
	ErrNoScope       = errors.New("the device cannot scope a key to a connection")
	ErrCollected     = errors.New("the result is gone")
	ErrOp            = errors.New("it is no operation")
	ErrProtocol      = errors.New("the peer broke the protocol")
)

// OpError says why an operation could not be posted, or failed.
type OpError struct {
	Op     string // "write", "read", "compare-and-swap", …; "the connection's own message"
	Region string // the local region: its type, where it was made, and, once posted, what it granted then; empty where there is none
	Remote string // the peer's elements: which of what was imported, and what it grants; or their key. Empty where there are none
	Bytes  int    // moved
	At     string // dir/file.go:12, where it was posted; empty for the connection's own
	Peer   string // the peer's address; empty before there is one
	Seq    uint64 // the operation's number on its connection, from 0
	Err    error  // the reason
}

// Error is the message.
func (e *OpError) Error() string { return "rdma: " + e.text("") }

// text is the message where it is known which peer it is about.
func (e *OpError) text(peer string) string {
	var s strings.Builder
	s.WriteString(e.Op)
	if e.Bytes > 0 {
		fmt.Fprintf(&s, " of %d bytes", e.Bytes)
	}
	if e.Region != "" {
		s.WriteString(" with " + e.Region)
	}
	switch {
	case e.Remote == "":
	case e.Region == "":
		s.WriteString(" on " + e.Remote)
	default:
		s.WriteString(" and " + e.Remote)
	}
	if e.Peer != "" && e.Peer != peer {
		s.WriteString(" at " + e.Peer)
	}
	if e.At != "" {
		s.WriteString(", posted at " + e.At)
	}
	return s.String() + ": " + reasonAt(e.Peer, e.Err)
}

// Unwrap gives errors.Is and errors.As the reason.
func (e *OpError) Unwrap() error { return e.Err }

// flushError is the error of an operation that was posted after one that failed,
// or that is posted now.
type flushError struct {
	cause error // of the one that failed; an *OpError if one is known
}

// Error is the message.
func (e *flushError) Error() string { return e.text("") }

func (e *flushError) text(peer string) string {
	why := ErrFlushed.Error()
	if _, ok := e.cause.(*connError); ok {
		why = "not done"
	}
	return why + ": " + reasonAt(peer, e.cause)
}

// Is makes it ErrFlushed and ErrFailed; the cause is found by unwrapping.
func (e *flushError) Is(target error) bool { return target == ErrFlushed || target == ErrFailed }

// Unwrap is the cause.
func (e *flushError) Unwrap() error { return e.cause }

// connError is why a connection ended, where that was no operation.
type connError struct {
	peer string
	err  error
}

// Error is the message.
func (e *connError) Error() string { return "rdma: " + e.text("") }

func (e *connError) text(peer string) string {
	if e.peer == peer {
		return "the connection: " + reason(e.err)
	}
	return "the connection with " + e.peer + ": " + reason(e.err)
}

// Unwrap is the reason.
func (e *connError) Unwrap() error { return e.err }

// ended is why the connection ended, where that was no operation.
func (c *Conn) ended(why error) error { return &connError{c.peer, why} }

// ownMessage is what connections say to each other.
const ownMessage = "the connection's own message"

// forPeer is an error as a provider tells it to the peer: why this side gave the connection up, in
// one clause. What the peer knows, and what is nobody's business there, is left out: the connection,
// regions, and places in this program.
func forPeer(err error) error {
	var op *OpError
	var conn *connError
	switch {
	case errors.As(err, &op):
		what := strings.TrimPrefix(op.Op, "the connection's ")
		if op.Bytes > 0 {
			what = fmt.Sprintf("%s of %d bytes", what, op.Bytes)
		}
		return fmt.Errorf("its %s failed: %s", what, reason(op.Err))
	case errors.As(err, &conn) && conn.err == ErrClosed:
		return errors.New("its program closed it")
	case errors.As(err, &conn):
		err = conn.err
	}
	return errors.New(reason(err))
}

// reasonAt is [reason] in a text that names the peer already.
func reasonAt(peer string, err error) string {
	if e, ok := err.(interface{ text(peer string) string }); ok {
		return e.text(peer)
	}
	return reason(err)
}

// reason is an error's text without what each of ours begins with.
func reason(err error) string {
	if err == nil {
		return "no reason was given"
	}
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "rdma: "), "barewire: ")
}

// wrap is a reason with what a person needs beside it.
func wrap(why error, format string, args ...any) error {
	return fmt.Errorf("rdma: %s: %w", fmt.Sprintf(format, args...), why)
}

// statusTexts say what the statuses mean and what to do.
var statusTexts = [...]string{
	StatusLocal:       "the local memory is not registered, or too short",
	StatusRemoteKey:   "the peer knows no such key, or no longer: its region was deregistered or revoked, or the key is another connection's; import it again",
	StatusRemoteRange: "the range is not in what the peer registered",
	StatusRemoteRight: "the peer did not grant that right on its region",
	StatusMisaligned:  "the word is not aligned to 8 bytes",
	StatusNotReady:    "the peer had no receive posted in time",
	StatusTooLong:     "the message is longer than the peer's receive",
	StatusPeerLost:    "the peer ended or cannot be reached",
	StatusTimeout:     "no answer of the peer in time",
	StatusFlushed:     "an earlier operation failed, or the connection was aborted",
	StatusProvider:    "the provider failed",
}

// statusReasons are the reasons of this package that statuses are too.
var statusReasons = [...]error{
	StatusRemoteKey:   ErrRevoked,
	StatusRemoteRange: barewire.ErrRange,
	StatusRemoteRight: ErrRights,
	StatusMisaligned:  ErrMisaligned,
	StatusNotReady:    ErrNoCredit,
	StatusTooLong:     ErrTooLong,
	StatusPeerLost:    ErrPeerLost,
	StatusTimeout:     ErrTimeout,
	StatusFlushed:     ErrFlushed,
	StatusProvider:    nil,
}

// String says what a status means.
func (s Status) String() string {
	if int(s) < len(statusTexts) && statusTexts[s] != "" {
		return statusTexts[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// Error is what the status means and what the provider knows.
func (e *StatusError) Error() string {
	text := e.Status.String()
	if e.Late {
		text = fmt.Sprintf("request %d, which had completed, was refused after: %s", e.ID, text)
	}
	if e.Detail == "" {
		return text
	}
	return text + " (" + e.Detail + ")"
}

// Is reports whether target is this package's reason for the status, or a
// StatusError with the same status.
func (e *StatusError) Is(target error) bool {
	if t, ok := target.(*StatusError); ok {
		return t.Status == e.Status
	}
	return target != nil && int(e.Status) < len(statusReasons) && statusReasons[e.Status] == target
}

// verbNames are how errors and statistics call the verbs.
var verbNames = [...]string{
	VerbWrite: "write", VerbWriteNotify: "write with notification", VerbRead: "read", VerbSend: "send",
	VerbCompareSwap: "compare-and-swap", VerbFetchAdd: "fetch-and-add", VerbFlush: "flush",
	VerbReceive: "receive", VerbNotify: "notification",
}

// String is the verb's name.
func (v Verb) String() string {
	if int(v) < len(verbNames) && verbNames[v] != "" {
		return verbNames[v]
	}
	return fmt.Sprintf("verb %d", uint8(v))
}

// rightsText is how messages call rights.
func rightsText(r barewire.Rights) string {
	var s []string
	for i, name := range []string{"remote_read", "remote_write", "remote_atomic"} {
		if r&(1<<i) != 0 {
			s = append(s, name)
		}
	}
	if len(s) == 0 {
		return "local"
	}
	return strings.Join(s, "|")
}

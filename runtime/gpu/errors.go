package gpu

import (
	"errors"
	"fmt"
	"strings"
)

// The reasons of this package, for errors.Is. What is returned wraps them, and says which region, device and operation it
// is about, and what to do.
var (
	ErrNoDevice      = errors.New("no GPU")
	ErrClosed        = errors.New("it is closed")
	ErrBusy          = errors.New("it is in use")
	ErrOtherDevice   = errors.New("another device's")
	ErrNotCoherent   = errors.New("the device is not coherent with the host")
	ErrNotHere       = errors.New("the device has nothing like it")
	ErrNotMapped     = errors.New("kernels do not reach it")
	ErrNotAcquired   = errors.New("the host has not acquired it")
	ErrHostHas       = errors.New("the host has it")
	ErrMapped        = errors.New("a window of the host's is mapped onto it")
	ErrNoWindow      = errors.New("the host cannot map memory of the device")
	ErrNotExportable = errors.New("the device gives its memory to no other device")
	ErrLength        = errors.New("the lengths differ")
	ErrEmpty         = errors.New("nothing to do: an operation has at least one element")
	ErrQueueFull     = errors.New("the queue is full")
	ErrFailed        = errors.New("an earlier operation of the queue failed")
	ErrFlushed       = errors.New("not known to be done: an earlier operation failed")
	ErrLost          = errors.New("the device is lost")
	ErrHung          = errors.New("it seems to hang")
	ErrAbandoned     = errors.New("the queue was given up")
	ErrNoKernel      = errors.New("no such kernel")
	ErrArgs          = errors.New("wrong arguments")
	ErrOp            = errors.New("it is no operation")
)

// CallError is a call of the driver's that failed.
type CallError struct {
	Call  string // as "cuMemAlloc_v2"
	Name  string // as "CUDA_ERROR_OUT_OF_MEMORY"
	Code  int    // as the call returned it
	Asked string // of the call: "67108864 bytes"; may be empty
	Err   error  // the reason, for errors.Is; may be nil
}

// Error is the call, what was asked, and what it said.
func (e *CallError) Error() string {
	asked := ""
	if e.Asked != "" {
		asked = " (" + e.Asked + ")"
	}
	text := fmt.Sprintf("%s%s: %s (%d)", e.Call, asked, e.Name, e.Code)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives errors.Is the reason.
func (e *CallError) Unwrap() error { return e.Err }

// OpError says why an operation could not be posted, or failed.
type OpError struct {
	Op     string // "copy to host", "kernel scale"
	Region string // the region that is in the way, else the first of the operation: its type, and where it was made
	Device string // cuda/0
	Bytes  int    // to be moved; 0 for kernels
	At     string // dir/file.go:12, where it was posted
	Err    error  // the reason
}

// Error is the message.
func (e *OpError) Error() string {
	var s strings.Builder
	s.WriteString("gpu: " + e.Op)
	if e.Bytes > 0 {
		fmt.Fprintf(&s, " of %d bytes", e.Bytes)
	}
	if e.Region != "" {
		s.WriteString(" with " + e.Region)
	}
	if e.Device != "" {
		s.WriteString(" on " + e.Device)
	}
	if e.At != "" {
		s.WriteString(", posted at " + e.At)
	}
	if e.Err == nil {
		return s.String() + ": no reason was given"
	}
	return s.String() + ": " + e.Err.Error()
}

// Unwrap gives errors.Is the reason.
func (e *OpError) Unwrap() error { return e.Err }

// wrap is a reason with what it is about in front of it.
func wrap(reason error, format string, args ...any) error {
	return fmt.Errorf("gpu: "+format+": %w", append(args, reason)...)
}

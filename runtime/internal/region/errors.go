package region

import (
	"errors"
	"strconv"
	"strings"
)

// The reasons that an [Error] wraps.
var (
	ErrMoved    = errors.New("it was moved")
	ErrReleased = errors.New("it was released")
	ErrBorrowed = errors.New("a window on it is open")
	ErrInFlight = errors.New("operations on it are in flight")
	ErrRange    = errors.New("out of range")
	ErrNoMemory = errors.New("no memory")
	ErrShared   = errors.New("it has siblings")
	ErrClosed   = errors.New("the window is closed")
	ErrMemory   = errors.New("its memory failed")
	ErrPlace    = errors.New("it cannot be there")

	ErrRegistered = errors.New("its registration has not ended")
)

// Error says why something could not be done with a region.
type Error struct {
	Op     string // what was asked: "open", "close", "register"; may be empty
	Region string // the name it was given, if any
	Type   string // of its elements: kvcache.KvBlock
	Made   string // dir/file.go:12, where it was made
	At     string // where what is in the way happened; empty where there is no such place
	Detail string // numbers, or what the system said; may be empty
	Err    error  // the reason, for errors.Is
	Cause  error  // what the device said, where it is why; for errors.Is, too
}

// words are what goes before the place of what is in the way, and what to do, by reason.
var words = map[error]struct{ at, do string }{
	ErrMoved:    {" at ", "use the region that the move returned"},
	ErrReleased: {" at ", "it cannot be used after Close"},
	ErrBorrowed: {", opened at ", "close the window first"},
	ErrInFlight: {", posted at ", "wait for them first"},
	ErrShared:   {"", "close them first"},
	ErrClosed:   {", closed at ", "open another"},

	ErrRegistered: {" by its close at ", "it is as it was: close it again"},
}

// Error is the message: what was asked, the region, the reason and its place, what to do.
func (e *Error) Error() string {
	var s strings.Builder
	s.WriteString("barewire: ")
	if e.Op != "" {
		s.WriteString(e.Op + ": ")
	}
	s.WriteString(name(e.Region, e.Type, e.Made))
	if e.Err == nil {
		return s.String() + ": no reason was given"
	}
	s.WriteString(": " + e.Err.Error())
	if e.Detail != "" {
		s.WriteString(": " + e.Detail)
	}
	if e.At != "" {
		s.WriteString(words[e.Err].at + e.At)
	}
	if do := words[e.Err].do; do != "" {
		s.WriteString("; " + do)
	}
	if e.Cause != nil {
		s.WriteString(": " + e.Cause.Error())
	}
	return s.String()
}

// Unwrap gives errors.Is the reason, and its cause.
func (e *Error) Unwrap() []error { return []error{e.Err, e.Cause} }

// Doing puts into an error of this package what was asked. Others it leaves alone.
func Doing(op string, err error) error {
	if e, ok := err.(*Error); ok && e.Op == "" {
		e.Op = op
	}
	return err
}

// name is how errors call a region. A given name may be anything, and goes to terminals and logs.
func name(given, typ, made string) string {
	if q := strconv.Quote(given); q != `"`+given+`"` {
		given = q
	}
	if given != "" {
		return "region " + given + " of " + typ + " made at " + made
	}
	return "region of " + typ + " made at " + made
}

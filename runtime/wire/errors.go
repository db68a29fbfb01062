package wire

import (
	"strconv"
	"strings"
)

// What an Error can be; errors.Is tells them apart.
var (
	ErrShort         error = &kind{"input ends early"}
	ErrTrailing      error = &kind{"bytes left over after the message"}
	ErrVarint        error = &kind{"invalid varint"}
	ErrBool          error = &kind{"invalid bool"}
	ErrOptional      error = &kind{"invalid optional"}
	ErrEnum          error = &kind{"value is not in the enum"}
	ErrTag           error = &kind{"tag is not in the union"}
	ErrUTF8          error = &kind{"invalid UTF-8"}
	ErrDuplicateKey  error = &kind{"duplicate map key"}
	ErrLength        error = &kind{"length exceeds the input"}
	ErrMax           error = &kind{"over #@max"}
	ErrLimit         error = &kind{"over the size limit"}
	ErrNilUnion      error = &kind{"union without a value"}
	ErrForeignMember error = &kind{"value is no member of the union"}
	ErrRead          error = &kind{"reading failed"}
	// ErrInternal is a fault of ours: please report it.
	ErrInternal error = &kind{"generated code and its description disagree (please report it)"}
)

// kind is one of the errors above.
type kind struct{ text string }

func (k *kind) Error() string { return "bare: " + k.text }

// Error is what encoding and decoding give: what is wrong, and where.
type Error struct {
	Kind   error  // one of the Err… variables
	Path   string // Customer.orders[3].name: the schema's names, indices from 0
	Offset int    // of the first byte in question, from the message's first; -1 when encoding
	Detail string // what was found and what was wanted; may be empty
	Cause  error  // what an io.Reader said; nil otherwise
}

// Error is the message: `bare: Customer.orders[3].name at byte 57: invalid UTF-8`.
func (e *Error) Error() string {
	var s strings.Builder
	s.WriteString("bare: ")
	if e.Path != "" {
		s.WriteString(e.Path)
	} else {
		s.WriteString("message")
	}
	if e.Offset >= 0 {
		s.WriteString(" at byte ")
		s.WriteString(strconv.Itoa(e.Offset))
	}
	s.WriteString(": ")
	if k, ok := e.Kind.(*kind); ok {
		s.WriteString(k.text)
	} else if e.Kind != nil {
		s.WriteString(e.Kind.Error())
	}
	if e.Detail != "" {
		s.WriteString(": ")
		s.WriteString(e.Detail)
	}
	if e.Cause != nil {
		s.WriteString(": ")
		s.WriteString(e.Cause.Error())
	}
	return s.String()
}

// Unwrap gives errors.Is and errors.As the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause != nil {
		return []error{e.Kind, e.Cause}
	}
	return []error{e.Kind}
}

// In puts a field's name before the path and returns the error. It is for
// generated code.
func (e *Error) In(name string) *Error {
	if e.Path == "" || e.Path[0] == '[' {
		e.Path = name + e.Path
	} else {
		e.Path = name + "." + e.Path
	}
	return e
}

// At puts an element's index before the path and returns the error. It is for
// generated code.
func (e *Error) At(i int) *Error { return e.In("[" + strconv.Itoa(i) + "]") }

// The functions below make the errors of encoding. They are for generated code.

// BadUTF8 is the error of a string that is not UTF-8.
func BadUTF8() *Error { return &Error{Kind: ErrUTF8, Offset: -1} }

// BadEnum is the error of a value that its enum does not have.
func BadEnum(v uint64) *Error {
	return &Error{Kind: ErrEnum, Offset: -1, Detail: strconv.FormatUint(v, 10)}
}

// BadMax is the error of n elements or bytes where at most max may be.
func BadMax(n int, max uint64) *Error {
	return overMax(uint64(n), max, -1)
}

// NilUnion is the error of a union whose value is nil, or a nil pointer.
func NilUnion() *Error { return &Error{Kind: ErrNilUnion, Offset: -1} }

// Foreign is the error of a union whose value is of a type outside it, such
// as one that embeds a member.
func Foreign() *Error { return &Error{Kind: ErrForeignMember, Offset: -1} }

func overMax(n, max uint64, at int) *Error {
	return &Error{Kind: ErrMax, Offset: at,
		Detail: strconv.FormatUint(n, 10) + ", at most " + strconv.FormatUint(max, 10)}
}

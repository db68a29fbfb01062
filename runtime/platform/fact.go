package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// The typed answers of absent hardware.
var (
	ErrNotLinux = errors.New("platform: this system is not Linux, whose files say what there is")
	ErrNoNUMA   = errors.New("platform: the system shows no NUMA nodes")
	ErrNoCXL    = errors.New("platform: no CXL memory device")
	ErrNoRDMA   = errors.New("platform: no RDMA device")
	ErrNoGPU    = errors.New("platform: no GPU")

	// ErrNoSysfs is wrapped by each of those, on Linux, where the tree that would say what there is is missing or empty: there may be anything.
	ErrNoSysfs = errors.New("platform: sysfs is not mounted at sys, so nothing tells what there is")

	// ErrMalformed is a file that has not the form that the kernel gives it.
	ErrMalformed = errors.New("malformed")
	// ErrTooLarge is a file, a list or a directory with more in it than any machine has.
	ErrTooLarge = errors.New("more than any machine has")
	// ErrNotTold is a fact that no file of the system states.
	ErrNotTold = errors.New("no file tells")
)

// Fact is one fact about a machine, and where it was read. The zero Fact is not known.
type Fact[T any] struct {
	Value T
	// From is the file, directory or link below the root that says so, without a leading slash; where Err is
	// set, the one that should have.
	From string
	// Inferred is how the value was concluded, where no file states it; else empty.
	Inferred string
	// Err is why the value is not known: fs.ErrNotExist where the file is not there, fs.ErrPermission,
	// [ErrMalformed], [ErrTooLarge], [ErrNotTold], or what reading gave. Nil where it is known.
	Err error
}

// Known reports whether the value is known.
func (f Fact[T]) Known() bool { return f.Err == nil && f.From != "" }

// Or is the value, or another where it is not known.
func (f Fact[T]) Or(other T) T {
	if f.Known() {
		return f.Value
	}
	return other
}

// Why says why the value is not known, with the file; empty where it is.
func (f Fact[T]) Why() string {
	switch {
	case f.Known():
		return ""
	case f.From == "" && f.Err == nil:
		return "not looked for"
	case f.From == "":
		return plain(f.Err)
	case f.Err == nil:
		return ""
	}
	return f.From + ": " + plain(f.Err)
}

// String is the value, or "unknown" and why.
func (f Fact[T]) String() string {
	if f.Known() {
		return fmt.Sprint(f.Value)
	}
	return "unknown (" + f.Why() + ")"
}

// MarshalJSON writes {"value": …, "from": …}, with "inferred" where it was concluded, or {"unknown": why, "from": …}.
func (f Fact[T]) MarshalJSON() ([]byte, error) {
	if f.Known() {
		return json.Marshal(struct {
			Value    T      `json:"value"`
			From     string `json:"from"`
			Inferred string `json:"inferred,omitempty"`
		}{f.Value, f.From, f.Inferred})
	}
	why := "not looked for"
	if f.Err != nil {
		why = plain(f.Err)
	}
	return json.Marshal(struct {
		Unknown string `json:"unknown"`
		From    string `json:"from,omitempty"`
	}{why, f.From})
}

// plain is what an error says to people, without a path: the fact has it.
func plain(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "not there"
	case errors.Is(err, fs.ErrPermission):
		return "not permitted"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), "platform: ")
}

// known is a fact that was read.
func known[T any](v T, from string) Fact[T] { return Fact[T]{Value: v, From: from} }

// unknown is a fact that was not.
func unknown[T any](from string, err error) Fact[T] { return Fact[T]{From: from, Err: bare(err)} }

// bare is an error without the path that a file system puts around it: the fact has it.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// then is a fact that another one is read from; what is not known stays so.
func then[T, U any](f Fact[T], parse func(T) (U, error)) Fact[U] {
	if !f.Known() {
		return Fact[U]{From: f.From, Err: f.Err}
	}
	v, err := parse(f.Value)
	if err != nil {
		return Fact[U]{From: f.From, Err: err}
	}
	return Fact[U]{Value: v, From: f.From, Inferred: f.Inferred}
}

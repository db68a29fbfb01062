// Package fault touches memory that may fail under the hand: it is poisoned, has gone offline, or is a mapping of a file that was cut
// short. The processor then says SIGBUS, which ends a Go program as a rule; here it is an error.
//
// What can be caught is a fault of a load or a store that the goroutine itself makes, within these functions. A fault within a
// system call is an error of the call (EFAULT, EHWPOISON); one elsewhere in the program ends it, unless it has
// debug.SetPanicOnFault on. Source: runtime/debug; the kernel's Documentation/mm/hwpoison.rst.
package fault

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// Error is an access that failed.
type Error struct {
	Off int // bytes from the beginning of the range that failed; -1 where the system does not tell
}

func (e *Error) Error() string {
	const why = "the memory is poisoned, has gone offline, or its file was cut short"
	if e.Off < 0 {
		return "an access failed: " + why
	}
	return fmt.Sprintf("the access %d bytes from its beginning failed: %s", e.Off, why)
}

// Read copies from memory that may fail. What dst has after an error is not known.
func Read(dst, mem []byte) error { return try(mem, func() { copy(dst, mem) }) }

// Write copies to memory that may fail. What mem has after an error is not known.
func Write(mem, src []byte) error { return try(mem, func() { copy(mem, src) }) }

// Clear makes memory zero that may fail.
func Clear(mem []byte) error { return try(mem, func() { clear(mem) }) }

// Try calls a function that touches mem, and nothing else that may fail.
func Try(mem []byte, touch func()) error { return try(mem, touch) }

// try turns faults in mem into an error; others go on as panics.
func try(mem []byte, touch func()) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		switch e := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			off := e.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
			if off >= uintptr(len(mem)) && e.Addr() != 0 {
				panic(e)
			}
			if e.Addr() == 0 {
				err = &Error{Off: -1}
				return
			}
			err = &Error{Off: int(off)}
		default:
			panic(e)
		}
	}()
	touch()
	return nil
}

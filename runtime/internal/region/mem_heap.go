package region

import (
	"errors"
	"unsafe"
)

// fromHeap takes memory from the Go heap.
func fromHeap(a ask, why error) (m memory, err error) {
	const page = 4096
	align := max(a.align, page)
	size := (a.size + page - 1) &^ (page - 1)
	defer func() {
		// make panics for what is beyond the address space.
		if recover() != nil {
			err = errors.New("more than the heap can have")
		}
	}()
	words := make([]uint64, (size+align)/8)
	at := uintptr(unsafe.Pointer(&words[0]))
	skip := (at+align-1)&^(align-1) - at
	return memory{base: unsafe.Pointer(&words[skip/8]), size: size, heap: words, noFile: why}, nil
}

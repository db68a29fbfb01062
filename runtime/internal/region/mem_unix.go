//go:build unix

package region

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

var errRaceHeap = errors.New("under the race detector regions are on the Go heap")

// obtain maps memory, with a file where the system can, or takes it from the
// heap where races are looked for: the detector sees no other memory.
func obtain(a ask) (memory, error) {
	if Race && a.prepare == nil {
		return fromHeap(a, errRaceHeap)
	}
	if a.huge {
		if m, err := obtainHuge(a); err == nil {
			return m, nil
		}
		a.tried = true
	}
	m, err := obtainFile(a)
	if _, ok := err.(*placeError); err == nil || ok {
		return m, err
	}
	return mapAnonymous(a, err)
}

// mapAnonymous maps memory that has no file, because of why.
func mapAnonymous(a ask, why error) (memory, error) {
	huge := NotHuge
	m, err := mapAround(a, pageSize(), func(at unsafe.Pointer, size uintptr) error {
		err := mapAt(at, size, -1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err == nil && a.huge && advise(at, size, false) {
			huge = HugeAdvised
		}
		return err
	})
	if err != nil {
		return memory{}, err
	}
	m.noFile, m.huge = why, huge
	return m, nil
}

func pageSize() uintptr { return uintptr(os.Getpagesize()) }

// mapAround reserves address space without access for memory and a guard page at
// either end, and lets fill map what is between them, rounded to page.
func mapAround(a ask, page uintptr, fill func(at unsafe.Pointer, size uintptr) error) (memory, error) {
	guard := pageSize()
	align := max(a.align, page)
	size := (a.size + page - 1) &^ (page - 1)
	room := size + align + guard
	if room < size {
		return memory{}, fmt.Errorf("%d bytes are more than the address space", a.size)
	}
	base, err := unix.MmapPtr(-1, 0, nil, room, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return memory{}, fmt.Errorf("reserving %d bytes of address space: %w", room, err)
	}
	whole := span{base, room}
	// align is a multiple of the guard page, so at least that is left before.
	skip := align - uintptr(base)&(align-1)
	at := unsafe.Add(base, skip)
	err = fill(at, size)
	if err == nil && a.prepare != nil {
		if err = a.prepare(at, size); err != nil {
			err = &placeError{err}
		}
	}
	if err != nil {
		_ = unix.MunmapPtr(whole.base, whole.size)
		return memory{}, err
	}
	return memory{base: at, size: size, whole: whole}, nil
}

// mapAt maps over a part of a reservation.
func mapAt(at unsafe.Pointer, size uintptr, fd int, prot, flags int) error {
	_, err := unix.MmapPtr(fd, 0, at, size, prot, flags|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	return nil
}

// release gives the memory back and keeps its address range without access for
// a while: a stray pointer faults there and meets nobody else's memory.
func (m memory) release() error {
	if m.heap != nil {
		return nil
	}
	err := mapAt(m.base, m.size, -1, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if m.file != nil {
		if cerr := m.file.Close(); err == nil {
			err = cerr
		}
	}
	for _, old := range graveyard.bury(m.whole) {
		if uerr := unix.MunmapPtr(old.base, old.size); err == nil {
			err = uerr
		}
	}
	return err
}

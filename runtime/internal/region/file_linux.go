package region

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/unix"
)

// obtainFile maps a file that exists in memory only, memfd_create(2), shared, so
// that it can be mapped into other processes. Its size is sealed.
func obtainFile(a ask) (memory, error) {
	if a.huge {
		if !a.tried {
			if m, err := mapReserved(a); err == nil {
				return m, nil
			}
		}
		// There are too few, or none where they were wanted. Transparent huge pages need the alignment too.
		a.align = max(a.align, hugePage)
	}
	return mapMemfd(a, pageSize(), 0)
}

// mapReserved maps a file whose pages are of those that are reserved to be huge.
func mapReserved(a ask) (memory, error) {
	m, err := mapMemfd(a, hugePage, unix.MFD_HUGETLB|unix.MFD_HUGE_2MB)
	m.huge = HugeReserved
	return m, err
}

// seals keep the size, and the seals: who is given the file to write to could else
// forbid all others to map it for writing (F_SEAL_FUTURE_WRITE).
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// fileName is what a memory file is called: the system shows that in /proc/PID/maps and
// takes 249 bytes (memfd_create(2)). The name that it is made of may be anything.
func fileName(name string) string {
	const prefix, longest = "barewire:", 249 - len("barewire:")
	return prefix + strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) { // a rune that was cut in two is the former
			return '?'
		}
		return r
	}, name[:min(len(name), longest)])
}

// memfd makes a file that no program can be run from: systems may ask for that
// (vm.memfd_noexec). Kernels before 6.3 do not know the flag.
func memfd(name string, flags int) (int, error) {
	flags |= unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate(name, flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate(name, flags)
	}
	return fd, err
}

func mapMemfd(a ask, page uintptr, flags int) (m memory, err error) {
	name := fileName(a.name)
	fd, err := memfd(name, flags)
	if err != nil {
		return memory{}, fmt.Errorf("memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), name)
	huge := NotHuge
	m, err = mapAround(a, page, func(at unsafe.Pointer, size uintptr) error {
		if err := unix.Ftruncate(fd, int64(size)); err != nil {
			return fmt.Errorf("memfd of %d bytes: %w", size, err)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
			return fmt.Errorf("sealing a memfd's size: %w", err)
		}
		if err := mapAt(at, size, fd, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
			return err
		}
		if a.huge && flags == 0 && advise(at, size, true) {
			huge = HugeAdvised
		}
		return nil
	})
	if err != nil {
		file.Close()
		return memory{}, err
	}
	m.file, m.huge = file, huge
	return m, nil
}

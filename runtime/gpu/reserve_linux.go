package gpu

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reserved is a new mapping that nobody has touched, with a page without access at either end.
type reserved struct {
	base  unsafe.Pointer
	size  uintptr // whole pages
	whole unsafe.Pointer
	room  uintptr
}

// reserve maps n bytes aligned as asked.
func reserve(n, align uintptr) (reserved, error) {
	page := uintptr(os.Getpagesize())
	align = max(align, page)
	size := (n + page - 1) &^ (page - 1)
	if size < n || size+align+2*page < size {
		return reserved{}, fmt.Errorf("mapping %d bytes: %w", n, unix.ENOMEM)
	}
	r := reserved{size: size, room: size + align + page}
	var err error
	if r.whole, err = unix.MmapPtr(-1, 0, nil, r.room, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE); err != nil {
		return reserved{}, fmt.Errorf("mapping %d bytes: %w", r.room, err)
	}
	at := (uintptr(r.whole) + page + align - 1) &^ (align - 1)
	if r.base, err = unix.MmapPtr(-1, 0, unsafe.Add(r.whole, at-uintptr(r.whole)), size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED); err != nil {
		_ = r.free()
		return reserved{}, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	return r, nil
}

// free unmaps it.
func (r reserved) free() error { return unix.MunmapPtr(r.whole, r.room) }

package mempolicy

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Flags of mbind(2) and get_mempolicy(2).
const (
	strict = 1 << 0 // MPOL_MF_STRICT: an error where pages are elsewhere
	move   = 1 << 1 // MPOL_MF_MOVE: pages of this process alone are moved

	flagAddr    = 1 << 1 // MPOL_F_ADDR
	flagAllowed = 1 << 2 // MPOL_F_MEMS_ALLOWED
)

// mbind sets the policy of a range, which begins at a page.
func mbind(base unsafe.Pointer, size uintptr, m Mode, s *Set, flags uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_MBIND, uintptr(base), size, uintptr(m), uintptr(unsafe.Pointer(s)), maxNode, flags)
	runtime.KeepAlive(s)
	return Means("mbind", errno)
}

// Means gives an errno of a call about memory or processors its sense. 0 is no error.
func Means(call string, errno unix.Errno) error {
	switch errno {
	case 0:
		return nil
	case unix.ENOSYS:
		return fmt.Errorf("%s: %w: %w", call, errno, ErrNoNUMA)
	case unix.EPERM:
		return fmt.Errorf("%s: %w: %w", call, errno, ErrForbidden)
	case unix.EIO:
		return fmt.Errorf("%s: %w", call, ErrElsewhere)
	}
	return fmt.Errorf("%s: %w", call, errno)
}

// Allowed are the nodes where this process may have memory: its cpuset's, which have memory. The error is [ErrNoNUMA] or [ErrForbidden], or
// the kernel's.
func Allowed() (Set, error) {
	var s Set
	_, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, 0, uintptr(unsafe.Pointer(&s)), maxNode, 0, flagAllowed, 0)
	return s, Means("get_mempolicy", errno)
}

// PolicyOf is the policy of the memory at an address.
func PolicyOf(at unsafe.Pointer) (Mode, Set, error) {
	var s Set
	mode := int32(0)
	_, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&mode)), uintptr(unsafe.Pointer(&s)), maxNode, uintptr(at), flagAddr, 0)
	return Mode(mode & 0xff), s, Means("get_mempolicy", errno)
}

// Here is the processor that this thread runs on, and its node. They may be others at once, unless the thread is pinned.
func Here() (cpu, node int, err error) {
	var c, n uint32
	_, _, errno := unix.Syscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(&n)), 0)
	return int(c), int(n), Means("getcpu", errno)
}

// atOnce is how many pages the kernel is asked about in one call.
const atOnce = 4096

// unset is no node and no error of move_pages: kernels leave some entries as they were.
const unset = -4095

// Pages counts the pages of a range by node; those that were never touched, and those that the kernel knows nothing of, are
// counted at -1. The error wraps [ErrUntold].
func Pages(base unsafe.Pointer, size uintptr) (map[int]int, error) {
	page := uintptr(os.Getpagesize())
	first := unsafe.Add(base, -int(uintptr(base)%page))
	count := (uintptr(base)%page + size + page - 1) / page
	n := min(count, atOnce)
	at, status := make([]unsafe.Pointer, n), make([]int32, n)
	found := map[int]int{}
	for from := uintptr(0); from < count; from += n {
		n = min(n, count-from)
		for i := range n {
			at[i], status[i] = unsafe.Add(first, (from+i)*page), unset
		}
		if errno := movePages(at[:n], nil, status, 0); errno != 0 {
			return nil, fmt.Errorf("move_pages: %w: %w", errno, ErrUntold)
		}
		for _, s := range status[:n] {
			found[max(int(s), -1)]++
		}
	}
	return found, nil
}

// NodesOf are the nodes of pages, each told by an address in it; negative for one that was never touched, or that the kernel knows nothing
// of. The error wraps [ErrUntold].
func NodesOf(pages []unsafe.Pointer) ([]int32, error) {
	nodes := make([]int32, len(pages))
	for i := range nodes {
		nodes[i] = unset
	}
	if errno := movePages(pages, nil, nodes, 0); errno != 0 {
		return nil, fmt.Errorf("move_pages: %w: %w", errno, ErrUntold)
	}
	return nodes, nil
}

// MoveEach asks the kernel to take pages to nodes, each to its own. Pages that are not there, that others have mapped too, or that are pinned stay
// where they are, without a word: [NodesOf] tells. The error is of a call that did nothing.
func MoveEach(pages []unsafe.Pointer, nodes []int32) error {
	errno := movePages(pages, nodes, make([]int32, len(pages)), move)
	return Means("move_pages", errno)
}

// movePages is move_pages(2) of this process. Nil nodes ask where pages are; status has room for as many as there are pages.
func movePages(pages []unsafe.Pointer, nodes, status []int32, flags uintptr) unix.Errno {
	if len(pages) == 0 {
		return 0
	}
	_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(len(pages)), uintptr(unsafe.Pointer(&pages[0])),
		uintptr(unsafe.Pointer(unsafe.SliceData(nodes))), uintptr(unsafe.Pointer(&status[0])), flags)
	return errno
}

// touch has all pages of a new mapping made. An error comes where a touch would kill: no huge page is left, the memory is
// poisoned. Source: madvise(2), MADV_POPULATE_WRITE, from Linux 5.14 on; before, pages are touched one by one.
func touch(base unsafe.Pointer, size uintptr) error {
	err := unix.Madvise(unsafe.Slice((*byte)(base), size), unix.MADV_POPULATE_WRITE)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, unix.EINVAL):
		return fmt.Errorf("touching %d bytes: %w", size, err)
	}
	for at := uintptr(0); at < size; at += uintptr(os.Getpagesize()) {
		*(*byte)(unsafe.Add(base, at)) = 0
	}
	return nil
}

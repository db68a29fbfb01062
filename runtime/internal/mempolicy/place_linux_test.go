package mempolicy

import (
	"errors"
	"os"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapped maps memory, with a file or without.
func mapped(t *testing.T, size int, file bool) unsafe.Pointer {
	t.Helper()
	fd, flags := -1, unix.MAP_PRIVATE|unix.MAP_ANON
	if file {
		var err error
		if fd, err = unix.MemfdCreate("test", 0); err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := unix.Ftruncate(fd, int64(size)); err != nil {
			t.Fatal(err)
		}
		flags = unix.MAP_SHARED
	}
	base, err := unix.MmapPtr(fd, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.MunmapPtr(base, uintptr(size)) })
	return base
}

// possible skips the test where the kernel, or what this process runs in, does not place memory.
func possible(t *testing.T) {
	t.Helper()
	if _, err := Allowed(); errors.Is(err, ErrForbidden) || errors.Is(err, ErrNoNUMA) {
		t.Skipf("memory cannot be placed here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// TestPlace places memory at the node of this processor, which any machine has, and asks where it is.
func TestPlace(t *testing.T) {
	possible(t)
	cpu, node, err := Here()
	if err != nil || cpu < 0 {
		t.Fatalf("processor %d of node %d, %v", cpu, node, err)
	}
	const pages = 5000 // more than are asked about at once
	size := pages * os.Getpagesize()
	for name, place := range map[string]func(unsafe.Pointer, uintptr) error{
		"strict": func(b unsafe.Pointer, n uintptr) error { return Strict(b, n, node) },
		"spread": func(b unsafe.Pointer, n uintptr) error { return Spread(b, n, node) },
		"prefer": func(b unsafe.Pointer, n uintptr) error {
			weaker, err := Prefer(b, n, node)
			return errors.Join(weaker, err)
		},
	} {
		for _, file := range []bool{false, true} {
			base := mapped(t, size, file)
			at, err := Pages(base, uintptr(size))
			if err != nil || at[-1] != pages || len(at) != 1 {
				t.Fatalf("untouched pages by node: %v, %v", at, err)
			}
			if err := place(base, uintptr(size)); err != nil {
				t.Errorf("%s, file %v: %v", name, file, err)
				continue
			}
			if at, err = Pages(base, uintptr(size)); err != nil || at[node] != pages {
				t.Errorf("%s, file %v: pages by node %v, %v; want all at %d", name, file, at, err, node)
			}
			_, s, err := PolicyOf(base)
			if err != nil || !slices.Equal(s.All(), []int{node}) {
				t.Errorf("%s, file %v: the policy names %v, %v", name, file, s.All(), err)
			}
		}
	}
	// A part of a page is a page.
	base := mapped(t, size, false)
	*(*byte)(base) = 1
	if at, err := Pages(unsafe.Add(base, 4000), 200); err != nil || at[node] != 1 || at[-1] != 1 {
		t.Errorf("two pages by node: %v, %v", at, err)
	}
}

// TestNoNode: nodes that are not there are an error, alone and beside others.
func TestNoNode(t *testing.T) {
	possible(t)
	_, node, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	size := os.Getpagesize()
	base := mapped(t, size, false)
	const absent = 1000
	for name, err := range map[string]error{
		"negative":    Strict(base, uintptr(size), -1),
		"beyond":      Strict(base, uintptr(size), MaxNodes),
		"absent":      Strict(base, uintptr(size), absent),
		"the last":    Strict(base, uintptr(size), MaxNodes-1),
		"no node":     Spread(base, uintptr(size)),
		"one of two":  Spread(base, uintptr(size), node, absent),
		"preferred":   errOf(Prefer(base, uintptr(size), absent)),
		"many of two": errOf(Prefer(base, uintptr(size), node, absent)),
	} {
		if !errors.Is(err, ErrNoNode) {
			t.Errorf("%s: %v, want %v", name, err, ErrNoNode)
		}
	}
}

func errOf(_, err error) error { return err }

// TestMeans: an errno is one reason only.
func TestMeans(t *testing.T) {
	reasons := []error{ErrNoNUMA, ErrForbidden, ErrNoNode, ErrElsewhere, ErrUntold}
	for errno, want := range map[unix.Errno]error{unix.ENOSYS: ErrNoNUMA, unix.EPERM: ErrForbidden, unix.EIO: ErrElsewhere, unix.EINVAL: nil, unix.EFAULT: nil} {
		err := Means("mbind", errno)
		for _, r := range reasons {
			if errors.Is(err, r) != (r == want) {
				t.Errorf("%v is %v: %v", errno, r, errors.Is(err, r))
			}
		}
	}
	if Means("mbind", 0) != nil {
		t.Error("success is an error")
	}
}

func TestSet(t *testing.T) {
	want := []int{0, 31, 32, 63, 64, 700, 1023}
	s, err := SetOf(want...)
	if err != nil || !slices.Equal(s.All(), want) {
		t.Fatalf("%v, %v", s.All(), err)
	}
	for _, n := range []int{-1, 1, 33, 1024, 1 << 30} {
		if s.Has(n) {
			t.Errorf("it has %d", n)
		}
	}
	if got := Text(s.All()); got != "0, 31, 32, 63, 64, 700, 1023" {
		t.Error(got)
	}
}

// TestEach asks where single pages are, and has them go where they are, in no order and more than once.
func TestEach(t *testing.T) {
	possible(t)
	page := os.Getpagesize()
	base := mapped(t, 4*page, false)
	*(*byte)(base), *(*byte)(unsafe.Add(base, 2*page+5)) = 1, 2
	pages := []unsafe.Pointer{unsafe.Add(base, 2*page), base, unsafe.Add(base, 3*page), base}
	nodes, err := NodesOf(pages)
	if err != nil || nodes[0] < 0 || nodes[1] < 0 || nodes[2] >= 0 || nodes[3] != nodes[1] {
		t.Fatalf("the nodes are %v, %v", nodes, err)
	}
	if err := MoveEach(pages[:2], nodes[:2]); err != nil {
		t.Error(err)
	}
	if now, err := NodesOf(pages[:2]); err != nil || !slices.Equal(now, nodes[:2]) {
		t.Errorf("the nodes were %v, and are %v, %v", nodes[:2], now, err)
	}
	if none, err := NodesOf(nil); err != nil || len(none) != 0 {
		t.Errorf("of no pages: %v, %v", none, err)
	}
}

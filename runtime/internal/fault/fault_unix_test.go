//go:build unix

package fault

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cut maps a file, of which only the first page stays.
func cut(t *testing.T) []byte {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "memory"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page := os.Getpagesize()
	if err := f.Truncate(int64(4 * page)); err != nil {
		t.Fatal(err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, 4*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	if err := f.Truncate(int64(page)); err != nil {
		t.Fatal(err)
	}
	return mem
}

// TestCut: each access beyond the end is an error that says where, and the program goes on.
func TestCut(t *testing.T) {
	mem, page := cut(t), os.Getpagesize()
	other := make([]byte, len(mem))
	for name, c := range map[string]struct {
		got error
		off int
	}{
		"read":       {Read(other, mem), page},
		"write":      {Write(mem, other), page},
		"clear":      {Clear(mem[page:]), 0},
		"a later":    {Read(other, mem[2*page:]), 0},
		"fine read":  {Read(other, mem[:page]), -1},
		"fine write": {Write(mem[:page], other), -1},
	} {
		var e *Error
		switch {
		case c.off < 0 && c.got != nil:
			t.Errorf("%s: %v", name, c.got)
		case c.off >= 0 && (!errors.As(c.got, &e) || e.Off < c.off || e.Off >= len(mem)):
			t.Errorf("%s: %v, want an error from %d on", name, c.got, c.off)
		}
	}
}

// TestPages: of device-dax the kernel tells no more than the large page that failed, which may begin before the range.
func TestPages(t *testing.T) {
	page := os.Getpagesize()
	const large = 2 << 20
	whole := make([]byte, 4*large)
	whole = whole[-uintptr(unsafe.Pointer(&whole[0]))&(large-1):][:3*large]
	for name, c := range map[string]struct {
		from, to, addr int
		want           *Error
	}{
		"a byte":                   {100, 1000, 300, &Error{200, 1}},
		"a page":                   {100, 3 * page, page, &Error{page - 100, page}},
		"a page's rest":            {100, page + 10, page, &Error{page - 100, 10}},
		"a page begun before":      {page + 64, 4 * page, page, &Error{0, page - 64}},
		"all within a page":        {page + 64, page + 128, page, &Error{0, 64}},
		"a large page":             {100, 2*large + 1, large, &Error{large - 100, large}},
		"a large page's rest":      {100, large + page, large, &Error{large - 100, page}},
		"a large page before":      {large + 3*page + 64, 2 * large, large, &Error{0, large - 3*page - 64}},
		"a byte before":            {page + 64, 2 * page, page + 1, nil},
		"another page before":      {2*page + 64, 3 * page, page, nil},
		"a byte behind":            {0, 100, 100, nil},
		"a page behind":            {0, page, page, nil},
		"a large page behind it":   {large, large + 1, 2 * large, nil},
		"the large page before it": {2 * large, 2*large + 1, large, nil},
	} {
		got, ok := of(whole[c.from:c.to], uintptr(unsafe.Pointer(&whole[c.addr])))
		if ok != (c.want != nil) || ok && *got != *c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, ok, c.want)
		}
	}
	if e, ok := of(whole, 0); !ok || e.Off != -1 {
		t.Errorf("where the system does not tell: %+v, %v", e, ok)
	}
	mem := cut(t)
	var e *Error
	if err := Try(mem[page+64:], func() { mem[page]++ }); !errors.As(err, &e) || e.Off != 0 || e.Len != page-64 || !strings.Contains(err.Error(), "one of") {
		t.Error(err)
	}
}

// TestOthers: a fault elsewhere is a panic of whoever made it, and so is any other.
func TestOthers(t *testing.T) {
	mem := cut(t)
	for name, touch := range map[string]func(){
		"a fault elsewhere": func() { _ = Try(make([]byte, 8), func() { mem[len(mem)-1]++ }) },
		"an index":          func() { _ = Try(mem, func() { i := len(mem); mem[i]++ }) },
		"its own":           func() { _ = Try(mem, func() { panic("mine") }) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			touch()
		}()
	}
}

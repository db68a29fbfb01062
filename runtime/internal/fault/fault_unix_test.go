//go:build unix

package fault

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

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

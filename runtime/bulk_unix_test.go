//go:build unix

//barewire:trust tests misuse what they have, to see the errors
package barewire_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// TestBulk copies elements in and out of memory that is there, and of memory that fails in the midst.
func TestBulk(t *testing.T) {
	page := os.Getpagesize()
	f, err := os.Create(filepath.Join(t.TempDir(), "memory"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(4 * page)); err != nil {
		t.Fatal(err)
	}
	base, err := unix.MmapPtr(int(f.Fd()), 0, nil, uintptr(4*page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, _, err = barewire.PlaceParts(seal.Key(), sample.TickInCXL())
	if err != nil {
		t.Fatal(err)
	}
	info := region.Type{Name: "sample.Tick", Size: 64, Align: 64}
	n := 4 * page / 64
	h, err := region.Adopt(region.Spec{Type: &info, Count: n, Name: "cut"}, region.Given{
		Base: base, Size: uintptr(4 * page), Release: func() error { return unix.MunmapPtr(base, uintptr(4*page)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := barewire.Mint[sample.Tick, barewire.CXL, barewire.Unregistered](seal.Key(), h, region.FirstGen)
	src, dst := bytes.Repeat([]byte{7}, 128), make([]byte, 128)
	if err := barewire.CopyIn(r, n-2, src); err != nil {
		t.Fatal(err)
	}
	if err := barewire.CopyOut(r, n-2, dst); err != nil || !bytes.Equal(src, dst) {
		t.Errorf("%v, %v", dst, err)
	}
	for _, c := range []struct{ i, bytes int }{{-1, 64}, {n, 64}, {n - 1, 128}, {0, 63}, {n + 1, 0}} {
		wantError(t, barewire.CopyOut(r, c.i, make([]byte, c.bytes)), barewire.ErrRange, "copy out: region cut of sample.Tick")
	}
	if err := barewire.CopyOut(r, n, nil); err != nil {
		t.Errorf("nothing: %v", err)
	}
	if err := f.Truncate(int64(page)); err != nil {
		t.Fatal(err)
	}
	wantError(t, barewire.CopyOut(r, n-2, dst), barewire.ErrMemory, "copy out: region cut of sample.Tick made at runtime/bulk_unix_test.go:", "its memory failed: element ", "poisoned")
	wantError(t, barewire.CopyIn(r, n-2, src), barewire.ErrMemory, "copy in: region cut")
	if err := barewire.CopyOut(r, 0, dst); err != nil {
		t.Errorf("what is left of it: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	wantError(t, barewire.CopyOut(r, 0, dst), barewire.ErrReleased, "copy out")
}

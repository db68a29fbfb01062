package region

import (
	"errors"
	"os"
	"testing"
	"unsafe"
)

// TestAdopt makes handles of memory that an allocator has: it goes back once, with the last of them.
func TestAdopt(t *testing.T) {
	words := make([]uint64, 1024)
	released := 0
	given := Given{Base: unsafe.Pointer(&words[0]), Size: 8192, Release: func() error { released++; return nil }}
	typ := Type{Name: "test.T", Size: 16, Align: 8}
	h, err := Adopt(Spec{Type: &typ, Count: 512, Name: "lent"}, given)
	if err != nil {
		t.Fatal(err)
	}
	base, n, file := h.Memory()
	if base != given.Base || n != 8192 || h.Opaque() || h.Count() != 512 {
		t.Errorf("memory %p of %d bytes, %d elements, opaque %v", base, n, h.Count(), h.Opaque())
	}
	if _, _, err := file(); err == nil || h.NoFile() == nil {
		t.Error("memory without a file has one")
	}
	if err := h.Share(); !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, ErrNoMemory) {
		t.Errorf("a file for memory that has none: %v, want %v", err, errors.ErrUnsupported)
	}
	if _, err := h.DMABuf(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a dma-buf of memory that has none: %v, want %v", err, errors.ErrUnsupported)
	}
	sib, err := h.Sibling()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(h.Gen()); err != nil || released != 0 {
		t.Errorf("closed one of two: %v; released %d times", err, released)
	}
	if err := sib.Close(sib.Gen()); err != nil || released != 1 {
		t.Errorf("closed the other: %v; released %d times, want 1", err, released)
	}
	for name, c := range map[string]struct {
		count int
		given Given
	}{
		"no elements":  {0, given},
		"too many":     {513, given},
		"far too many": {1 << 60, given},
		"no base":      {1, Given{Size: 4096}},
		"an odd base":  {1, Given{Base: unsafe.Add(given.Base, 1), Size: 4096}},
	} {
		if _, err := Adopt(Spec{Type: &typ, Count: c.count}, c.given); !errors.Is(err, ErrRange) {
			t.Errorf("%s: got %v, want %v", name, err, ErrRange)
		}
	}
	if released != 1 {
		t.Error("memory that was not adopted was released")
	}
}

// TestAdoptShared gives memory with a file and a dma-buf: both are its allocator's.
func TestAdoptShared(t *testing.T) {
	words := make([]uint64, 8)
	typ := Type{Name: "test.T", Size: 8, Align: 8}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	asked := errors.New("not today")
	export := func() (DMABuf, error) { return DMABuf{File: f, Off: 4096}, nil }
	h, err := Adopt(Spec{Type: &typ, Count: 8}, Given{Base: unsafe.Pointer(&words[0]), Size: 64, Opaque: true,
		File:   func() (*os.File, int64, error) { return f, 64, nil },
		DMABuf: func() (DMABuf, error) { return export() },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _, file := h.Memory()
	if got, off, err := file(); got != f || off != 64 || err != nil || h.NoFile() != nil || h.Share() != nil || !h.Opaque() {
		t.Errorf("its file is %v at %d, %v; opaque %v", got, off, err, h.Opaque())
	}
	if d, err := h.DMABuf(); d.File != f || d.Off != 4096 || err != nil {
		t.Errorf("its dma-buf is %+v, %v", d, err)
	}
	export = func() (DMABuf, error) { return DMABuf{}, asked }
	if _, err := h.DMABuf(); !errors.Is(err, asked) {
		t.Errorf("got %v, want %v", err, asked)
	}
	h.Expose()
	if err := h.Renew(); !errors.Is(err, ErrShared) {
		t.Errorf("memory of an allocator's was replaced: %v, want %v", err, ErrShared)
	}
	if err := h.Close(h.Gen()); err != nil {
		t.Error(err)
	}
}

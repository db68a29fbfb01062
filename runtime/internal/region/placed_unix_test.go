//go:build unix

package region

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// TestPrepare: a new mapping is prepared before anybody touches it, again when the elements move to a file, and what refuses
// it is in the error.
func TestPrepare(t *testing.T) {
	var got []uintptr
	spec := Spec{Type: ticks, Count: 100, Home: 3, Why: "because", Extra: 7, Prepare: func(base unsafe.Pointer, size uintptr) error {
		if base == nil || *(*byte)(base) != 0 {
			t.Error("the memory was touched before")
		}
		got = append(got, size)
		return nil
	}}
	h := newRegion(t, spec)
	if h.block.mem.heap != nil {
		t.Error("memory that is placed is on the heap")
	}
	if h.Home() != 3 || h.Why() != "because" || h.Extra() != 7 || !h.Alone() {
		t.Errorf("%d, %q, %v, alone %v", h.Home(), h.Why(), h.Extra(), h.Alone())
	}
	bytesOf(h)[99] = 9
	h.Expose()
	if err := h.Renew(); err != nil {
		t.Fatal(err)
	}
	if want := (100*64 + pageSize() - 1) &^ (pageSize() - 1); h.NoFile() == nil && (len(got) != 2 || got[0] != want || got[1] != want) {
		t.Errorf("%d bytes were prepared, want %d twice", got, want)
	}
	if bytesOf(h)[99] != 9 {
		t.Error("the element is lost")
	}
	mustClose(t, h)
	why := errors.New("no room there")
	spec.Prepare = func(unsafe.Pointer, uintptr) error { return why }
	_, err := New(spec)
	if !errors.Is(err, ErrPlace) || !errors.Is(err, why) || !strings.Contains(err.Error(), "placed_unix_test.go:") || !strings.Contains(err.Error(), ": it cannot be there: no room there") {
		t.Errorf("refused: %v", err)
	}
}

// TestPlacedElsewhere: an allocator says where its memory is and why it has no file, and its refusals have a reason.
func TestPlacedElsewhere(t *testing.T) {
	pool := make([]uint64, 64)
	spec := Spec{Type: &Type{Name: "test.Word", Size: 8, Align: 8}, Count: 4, Home: 3}
	h, err := Adopt(spec, Given{
		Base: unsafe.Pointer(&pool[0]), Size: 32, NoFile: errors.New("it is of a pool"), Nodes: func() []int { return []int{5} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if h.Home() != 3 || runtime.GOOS == "linux" && h.Node() != 5 {
		t.Errorf("residency %d at %d", h.Home(), h.Node())
	}
	if err := h.NoFile(); err == nil || err.Error() != "it is of a pool" {
		t.Errorf("its file: %v", err)
	}
	mustClose(t, h)
	full := errors.New("the pool is full")
	if err := Refused(spec, full); !errors.Is(err, ErrPlace) || !errors.Is(err, full) || !strings.Contains(err.Error(), "placed_unix_test.go:") {
		t.Errorf("refused: %v", err)
	}
	if n, err := spec.Bytes(); n != 32 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	for _, c := range []struct {
		typ   *Type
		count int
		is    error
	}{{ticks, 0, ErrRange}, {&Type{Size: 3, Align: 3}, 1, ErrRange}, {&Type{}, 1, ErrRange}, {ticks, 1 << 60, ErrNoMemory}} {
		if _, err := (Spec{Type: c.typ, Count: c.count}).Bytes(); !errors.Is(err, c.is) {
			t.Errorf("%d of %+v: %v, want %v", c.count, c.typ, err, c.is)
		}
	}
}

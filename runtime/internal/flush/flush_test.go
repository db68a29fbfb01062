package flush

import (
	"runtime"
	"testing"
	"unsafe"
)

// TestKeeps: what is flushed is still there, at every offset and length, and so is what lies beside it.
func TestKeeps(t *testing.T) {
	if err := Supported(); err != nil {
		if runtime.GOARCH == "amd64" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Log(Method())
	b := make([]byte, 64*20)
	for i := range b {
		b[i] = byte(i * 7)
	}
	for off := range 130 {
		for _, n := range []int{0, 1, 63, 64, 65, 128, 1000} {
			Clean(unsafe.Pointer(&b[off]), n)
			Drop(unsafe.Pointer(&b[off]), n)
		}
	}
	for i := range b {
		if b[i] != byte(i*7) {
			t.Fatalf("byte %d has changed", i)
		}
	}
	Clean(nil, 0)
	Drop(nil, -1)
}

// TestLines: the lines that bytes touch.
func TestLines(t *testing.T) {
	var b [4 * Line]byte
	base := uintptr(unsafe.Pointer(&b[0]))
	at := (Line - base%Line) % Line
	for _, c := range []struct {
		off   uintptr
		n     int
		count uintptr
	}{{0, 1, 1}, {0, 64, 1}, {0, 65, 2}, {63, 1, 1}, {63, 2, 2}, {1, 64, 2}} {
		first, count := lines(unsafe.Pointer(&b[at+c.off]), c.n)
		if count != c.count || uintptr(first)%Line != 0 || uintptr(first) != base+at+c.off&^(Line-1) {
			t.Errorf("%d bytes from %d on: %d lines", c.n, c.off, count)
		}
	}
}

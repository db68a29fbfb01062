package words_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/words"
)

// TestCopies copies pieces of all small sizes between all alignments, and looks at what is around them.
func TestCopies(t *testing.T) {
	for name, move := range map[string]func(dst, src unsafe.Pointer, n int){"place": words.Place, "fetch": words.Fetch} {
		src := make([]uint64, 16)
		for i := range src {
			src[i] = 0x0807060504030201 * uint64(i+1)
		}
		from := unsafe.Slice((*byte)(unsafe.Pointer(&src[0])), 128)
		for n := 1; n <= 40; n++ {
			for a := range 9 {
				for b := range 9 {
					dst := make([]uint64, 16)
					to := unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 128)
					want := make([]byte, 128)
					copy(want[b:b+n], from[a:])
					move(unsafe.Pointer(&to[b]), unsafe.Pointer(&from[a]), n)
					if !bytes.Equal(to, want) {
						t.Fatalf("%s of %d bytes from %d to %d: got %x", name, n, a, b, to)
					}
				}
			}
		}
	}
}

// TestWords changes a word as it is in memory: little-endian.
func TestWords(t *testing.T) {
	w := new(uint64)
	b := unsafe.Slice((*byte)(unsafe.Pointer(w)), 8)
	binary.LittleEndian.PutUint64(b, 5)
	if old := words.Add(w, 1<<40); old != 5 || binary.LittleEndian.Uint64(b) != 5+1<<40 {
		t.Errorf("added to %d, left %x", old, b)
	}
	if old := words.Swap(w, 7, 8); old != 5+1<<40 || binary.LittleEndian.Uint64(b) != old {
		t.Errorf("a swap that must not happen found %d, left %x", old, b)
	}
	if old := words.Swap(w, 5+1<<40, 8); old != 5+1<<40 || binary.LittleEndian.Uint64(b) != 8 {
		t.Errorf("a swap found %d, left %x", old, b)
	}
}

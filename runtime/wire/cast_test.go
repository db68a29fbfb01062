package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// aligned returns n bytes at a multiple of 8.
func aligned(n int) []byte {
	s := make([]uint64, n/8+2)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), n)
}

type pair struct {
	A uint64
	B uint32
	C uint32
}

func TestOver(t *testing.T) {
	if !LittleEndian {
		if _, err := Over[pair](aligned(16)); !errors.Is(err, ErrBigEndian) {
			t.Errorf("on a big-endian machine: %v", err)
		}
		return
	}
	b := aligned(40)
	b[0], b[8], b[12] = 1, 2, 3
	p, err := Over[pair](b)
	if err != nil || *p != (pair{1, 2, 3}) {
		t.Fatalf("got %v, %v", p, err)
	}
	p.A = 0x0201
	if b[0] != 1 || b[1] != 2 {
		t.Error("the value is not the memory")
	}
	if _, err := Over[pair](b[:15]); !errors.Is(err, ErrCastSize) {
		t.Errorf("15 bytes: %v", err)
	}
	// Less memory than the type needs, to its very end: with -d=checkptr, as
	// under the race detector, a pointer that straddles it would be fatal.
	if _, err := Over[[4096]uint64](aligned(8)); !errors.Is(err, ErrCastSize) {
		t.Errorf("8 bytes for 32 KiB: %v", err)
	}
	for r := 1; r < 8; r++ {
		_, err := Over[pair](b[r:])
		var ae *AlignError
		if !errors.Is(err, ErrAlign) || !errors.As(err, &ae) || ae.Align != 8 || ae.Remainder != r {
			t.Errorf("%d bytes off: %v", r, err)
		}
		if want := "is " + string(rune('0'+r)) + " past"; err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestSliceOver(t *testing.T) {
	if !LittleEndian {
		t.Skip("a big-endian machine has no casts")
	}
	b := aligned(48)
	s, err := SliceOver[pair](b)
	if err != nil || len(s) != 3 || cap(s) != 3 {
		t.Fatalf("got %v, %v", s, err)
	}
	if _, err := SliceOver[pair](b[:40]); !errors.Is(err, ErrCastSize) {
		t.Errorf("40 bytes: %v", err)
	}
	if _, err := SliceOver[uint32](b[2:10]); !errors.Is(err, ErrAlign) {
		t.Errorf("2 bytes off: %v", err)
	}
	if s, err := SliceOver[uint64](nil); err != nil || len(s) != 0 {
		t.Errorf("nothing: %v, %v", s, err)
	}
}

func TestNumberLists(t *testing.T) {
	b := aligned(16)
	l := F64List(PackedOf(b))
	l.Set(1, -2.5)
	if l.Len() != 2 || l.At(0) != 0 || l.At(1) != -2.5 {
		t.Errorf("got %v, %v of %d", l.At(0), l.At(1), l.Len())
	}
	var got []float64
	for i, x := range l.All() {
		if i != len(got) {
			t.Errorf("index %d, want %d", i, len(got))
		}
		got = append(got, x)
	}
	if !slices.Equal(got, []float64{0, -2.5}) {
		t.Errorf("All gives %v", got)
	}
	if s, err := l.Slice(); LittleEndian && (err != nil || !slices.Equal(s, got)) {
		t.Errorf("Slice gives %v, %v", s, err)
	}
	i := I16List(PackedOf(b[1:9]))
	i.Set(3, -7)
	if i.At(3) != -7 || b[7] != 0xf9 || b[8] != 0xff {
		t.Errorf("an i16 is written as % x", b[7:9])
	}
	if _, err := i.Slice(); LittleEndian && !errors.Is(err, ErrAlign) {
		t.Errorf("a slice at an odd address: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("an index out of range does not panic")
		}
	}()
	i.At(4)
}

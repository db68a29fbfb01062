package wire

import (
	"bytes"
	"encoding/hex"
	"math"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every border at which a varint changes its length, and the draft's own.
var varints = []struct {
	x   uint64
	hex string
}{
	{0, "00"}, {1, "01"}, {126, "7e"}, {127, "7f"}, {128, "8001"}, {129, "8101"}, {255, "ff01"},
	{1<<14 - 1, "ff7f"}, {1 << 14, "808001"}, {1<<21 - 1, "ffff7f"}, {1 << 21, "80808001"},
	{1 << 28, "8080808001"}, {1<<32 - 1, "ffffffff0f"}, {1 << 35, "808080808001"}, {1 << 42, "80808080808001"},
	{1 << 49, "8080808080808001"}, {1 << 56, "808080808080808001"}, {1<<63 - 1, "ffffffffffffffff7f"},
	{1 << 63, "80808080808080808001"}, {math.MaxUint64, "ffffffffffffffffff01"},
}

func TestUint(t *testing.T) {
	for _, c := range varints {
		want := unhex(t, c.hex)
		if got := AppendUint(nil, c.x); !bytes.Equal(got, want) {
			t.Errorf("AppendUint(%d) = %x", c.x, got)
		}
		put := make([]byte, len(want)+1)
		if end := PutUint(put, 1, c.x); end != len(put) || !bytes.Equal(put[1:], want) {
			t.Errorf("PutUint(%d) = %x, %d", c.x, put, end)
		}
		if n := SizeUint(c.x); n != len(want) {
			t.Errorf("SizeUint(%d) = %d", c.x, n)
		}
		in := append([]byte{0xff}, append(want, 0x55)...)
		if x, end := Uint(in, 1); x != c.x || end != 1+len(want) {
			t.Errorf("Uint(%s) = %d, %d", c.hex, x, end)
		}
		for cut := range want {
			if _, end := Uint(want[:cut], 0); end != -1 {
				t.Errorf("Uint(%x) ends at %d", want[:cut], end)
			}
			if _, _, why := readUint(want[:cut], 0); why != ErrShort {
				t.Errorf("Uint(%x): %v", want[:cut], why)
			}
		}
	}
	for _, bad := range []string{
		"ffffffffffffffffff02", "ffffffffffffffffff7f", "ffffffffffffffffffff01", "8000", "80808080808080808000",
		"ff00", "80808080808080808080", "80808080808080808002",
	} {
		if _, end, why := readUint(unhex(t, bad), 0); end != -1 || why != ErrVarint {
			t.Errorf("Uint(%s) = %d, %v", bad, end, why)
		}
	}
	if _, end := Uint([]byte{1}, 5); end != -1 {
		t.Error("Uint behind the end")
	}
}

func TestInt(t *testing.T) {
	for _, c := range []struct {
		x   int64
		hex string
	}{
		{0, "00"}, {1, "02"}, {-1, "01"}, {63, "7e"}, {-63, "7d"}, {64, "8001"}, {-64, "7f"}, {65, "8201"}, {-65, "8101"},
		{255, "fe03"}, {-255, "fd03"}, {math.MaxInt64, "feffffffffffffffff01"}, {math.MinInt64, "ffffffffffffffffff01"},
	} {
		want := unhex(t, c.hex)
		if got := AppendInt(nil, c.x); !bytes.Equal(got, want) || SizeInt(c.x) != len(want) {
			t.Errorf("AppendInt(%d) = %x, size %d", c.x, got, SizeInt(c.x))
		}
		if x, end := Int(want, 0); x != c.x || end != len(want) {
			t.Errorf("Int(%s) = %d, %d", c.hex, x, end)
		}
	}
}

func TestLen(t *testing.T) {
	if n, end := Len([]byte{2, 1, 1}, 0); n != 2 || end != 1 {
		t.Errorf("2 of 2: %d, %d", n, end)
	}
	if _, end := Len([]byte{3, 1, 1}, 0); end != -1 {
		t.Errorf("3 of 2: %d", end)
	}
	// A length that is negative, or small, as an int must not pass.
	for _, long := range []string{"ffffffffffffffffff01", "80808080808080808001", "8080808010", "ffffffff7f"} {
		if _, end := Len(append(unhex(t, long), 1, 2, 3), 0); end != -1 {
			t.Errorf("length %s: %d", long, end)
		}
	}
}

func FuzzUint(f *testing.F) {
	for _, c := range varints {
		f.Add(unhex(f, c.hex))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, end := Uint(b, 0)
		if end < 0 {
			return
		}
		if got := AppendUint(nil, x); !bytes.Equal(got, b[:end]) {
			t.Errorf("%x is %d, which is %x", b[:end], x, got)
		}
	})
}

package crc32c

import (
	"bytes"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// TestSums holds sums, in one piece and in two, to those of hash/crc32, at all lengths
// around the blocks and at all alignments.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]byte, 70<<10)
	for i := range all {
		all[i] = byte(r.Uint32())
	}
	var lengths []int
	for n := range 2100 {
		lengths = append(lengths, n)
	}
	lengths = append(lengths, 65535, 65536, 65537)
	dst := make([]byte, 140<<10)
	for _, n := range lengths {
		at, cut := r.IntN(65), 0
		p := all[at : at+n]
		if n > 0 {
			cut = r.IntN(n)
		}
		want := crc32.Checksum(p, table)
		if got := Update(0, p); got != want {
			t.Fatalf("%d bytes: %08x, want %08x", n, got, want)
		}
		if got := Update(Update(0, p[:cut]), p[cut:]); got != want {
			t.Fatalf("%d bytes cut at %d: %08x, want %08x", n, cut, got, want)
		}
		clear(dst)
		to := r.IntN(65)
		if got := Copy(dst[to:], p[cut:], Copy(dst[to+n:], p[:cut], 0)); got != want {
			t.Fatalf("%d bytes copied in two pieces, cut at %d: %08x, want %08x", n, cut, got, want)
		}
		clear(dst)
		if got := Copy(dst[to:], p, 0); got != want {
			t.Fatalf("%d bytes copied: %08x, want %08x", n, got, want)
		}
		if !bytes.Equal(dst[to:to+n], p) || bytes.ContainsFunc(dst[:to], notZero) || bytes.ContainsFunc(dst[to+n:], notZero) {
			t.Fatalf("%d bytes are not copied as they are, or others too", n)
		}
	}
}

func notZero(r rune) bool { return r != 0 }

// TestVectors are those of RFC 3720, appendix B.4.
func TestVectors(t *testing.T) {
	ascending := make([]byte, 32)
	for i := range ascending {
		ascending[i] = byte(i)
	}
	for _, v := range []struct {
		p    []byte
		want uint32
	}{
		{make([]byte, 32), 0x8a9136aa},
		{bytes.Repeat([]byte{0xff}, 32), 0x62a8ab43},
		{ascending, 0x46dd794e},
	} {
		if got := Update(0, v.p); got != v.want {
			t.Errorf("% x: %08x, want %08x", v.p, got, v.want)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	p, dst := make([]byte, 64<<10), make([]byte, 64<<10)
	if n := testing.AllocsPerRun(10, func() { Copy(dst, p, Update(0, p)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkUpdate(b *testing.B) {
	p := make([]byte, 64<<10)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		Update(0, p)
	}
}

func BenchmarkUpdateShort(b *testing.B) {
	p := make([]byte, 80)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		Update(0, p)
	}
}

func BenchmarkCopy(b *testing.B) {
	p, dst := make([]byte, 64<<10), make([]byte, 64<<10)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		Copy(dst, p, 0)
	}
}

func BenchmarkStandard(b *testing.B) {
	p := make([]byte, 64<<10)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		crc32.Checksum(p, table)
	}
}

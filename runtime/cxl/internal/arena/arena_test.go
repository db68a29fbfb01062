package arena

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// check holds the parts to what they are to be: the range without a gap, no two neighbours free, each free one in its list.
func (a *Arena) check() error {
	off, last, free, taken := uint64(0), false, uint64(0), 0
	for p, before := int32(0), none; p != none && a.whole > 0; before, p = p, a.parts[p].next {
		q := a.parts[p]
		if q.off != off || q.before != before || q.size == 0 || q.size%Line != 0 {
			return fmt.Errorf("part %d is %+v, behind %d at %d", p, q, before, off)
		}
		if q.free && last {
			return fmt.Errorf("part %d is free as the one before", p)
		}
		if q.free {
			free += q.size
			i, j := listOf(q.size)
			at := a.lists[i][j]
			for at != none && at != p {
				at = a.parts[at].follow
			}
			if at != p {
				return fmt.Errorf("part %d of %d bytes is not in its list", p, q.size)
			}
		} else {
			taken++
		}
		off, last = off+q.size, q.free
	}
	if off != a.whole || free != a.free || taken != a.taken {
		return fmt.Errorf("%d of %d bytes, %d free, %d parts taken; it says %d, %d", off, a.whole, free, taken, a.free, a.taken)
	}
	for i := range a.lists {
		for j, head := range a.lists[i] {
			if (head != none) != (a.second[i]>>j&1 == 1) || (a.second[i] != 0) != (a.first>>i&1 == 1) {
				return fmt.Errorf("list %d, %d and its bits differ", i, j)
			}
		}
	}
	return nil
}

// TestRandom takes and gives back in any order: parts never overlap, and all becomes one piece again.
func TestRandom(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		a := New(1 << 20)
		type taken struct {
			off, size uint64
			name      int32
		}
		var have []taken
		for range 3000 {
			if rnd.IntN(5) < 3 {
				size, align := uint64(1)<<rnd.IntN(16)+rnd.Uint64N(200), uint64(1)<<rnd.IntN(14)
				off, name, err := a.Take(size, align)
				if err != nil {
					if !errors.Is(err, ErrFull) {
						t.Fatal(err)
					}
					continue
				}
				if off%align != 0 || off%Line != 0 || off+size > 1<<20 {
					t.Fatalf("%d bytes at %d, aligned to %d", size, off, align)
				}
				for _, h := range have {
					if off < h.off+h.size && h.off < off+size {
						t.Fatalf("%d bytes at %d overlap %+v", size, off, h)
					}
				}
				have = append(have, taken{off, size, name})
			} else if len(have) > 0 {
				i := rnd.IntN(len(have))
				if !a.Give(have[i].name) {
					t.Fatalf("%+v cannot be given back", have[i])
				}
				have[i] = have[len(have)-1]
				have = have[:len(have)-1]
			}
			if err := a.check(); err != nil {
				t.Fatal(err)
			}
		}
		for _, h := range have {
			a.Give(h.name)
		}
		if a.Free() != 1<<20 || a.Largest() != 1<<20 || a.Taken() != 0 {
			t.Errorf("%d bytes free, %d in one piece", a.Free(), a.Largest())
		}
	}
}

// TestWhole: all of it can be taken at once, by a size that is between two lists, and nothing more.
func TestWhole(t *testing.T) {
	for _, size := range []uint64{64, 1024, 1<<20 - 64, 1 << 30, 5<<20 + 192} {
		a := New(size + 63)
		off, name, err := a.Take(size, 1)
		if err != nil || off != 0 {
			t.Fatalf("%d bytes: %d, %v", size, off, err)
		}
		if _, _, err := a.Take(1, 1); !errors.Is(err, ErrFull) {
			t.Errorf("one more byte: %v", err)
		}
		if !a.Give(name) || a.Give(name) {
			t.Error("giving back works once")
		}
		for _, n := range []uint64{0, size + 1, ^uint64(0), ^uint64(0) - 64} {
			if _, _, err := a.Take(n, 1); !errors.Is(err, ErrFull) {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
		if _, _, err := a.Take(64, 1<<63); size < 1<<62 && !errors.Is(err, ErrFull) {
			t.Errorf("aligned to half of all: %v", err)
		}
	}
	a := New(0)
	if _, _, err := a.Take(1, 1); !errors.Is(err, ErrFull) || a.Give(0) || a.Give(-1) || a.Largest() != 0 {
		t.Errorf("of nothing: %v", err)
	}
}

func FuzzArena(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200, 100, 7})
	f.Fuzz(func(t *testing.T, ops []byte) {
		a := New(1 << 16)
		for _, op := range ops[:min(len(ops), 400)] {
			if op&1 == 0 {
				_, _, _ = a.Take(uint64(op)*uint64(op), 1<<(op%13))
			} else {
				a.Give(int32(op >> 1))
			}
			if err := a.check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

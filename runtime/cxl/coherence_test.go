package cxl

import (
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/flush"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// host is a machine whose caches know nothing of others: what it stores stays in its lines, and what it loads comes from them, until they are
// cleaned and dropped. Lines may be lost to memory, or filled from it, at any time, as processors do.
type host struct {
	memory, lines []byte
	forgets       map[int]bool // lines, by number, that drop leaves as they were: a fault of the hardware, or of a program that forgets
}

func (h *host) each(p unsafe.Pointer, n int, f func(line int)) {
	off := int(uintptr(p) - uintptr(unsafe.Pointer(&h.lines[0])))
	for line := off / flush.Line; line*flush.Line < off+n; line++ {
		f(line)
	}
}

func (h *host) clean(p unsafe.Pointer, n int) {
	h.each(p, n, func(l int) { copy(h.memory[l*64:][:64], h.lines[l*64:][:64]) })
}

func (h *host) drop(p unsafe.Pointer, n int) {
	h.each(p, n, func(l int) {
		if !h.forgets[l] {
			copy(h.lines[l*64:][:64], h.memory[l*64:][:64])
		}
	})
}

// aligned is memory that begins at a line.
func aligned(n int) []byte {
	b := make([]byte, n+flush.Line)
	skip := -uintptr(unsafe.Pointer(&b[0])) & (flush.Line - 1)
	return b[skip:][:n]
}

var blockType = &region.Type{Name: "test.Block", Size: 200, Align: 8, Hash: [32]byte{1, 2, 3}}

// hosts are n hosts that share elements, of which the first writes all.
func hosts(n, elements int) (all []*shared, caches []*host) {
	memory := aligned(elements * int(strideOf(blockType.Size)))
	for i := range n {
		h := &host{memory: memory, lines: aligned(len(memory)), forgets: map[int]bool{}}
		role := Reader
		if i == 0 {
			role = Writer(0, elements)
		}
		all = append(all, newShared(unsafe.Pointer(&h.lines[0]), region.Spec{Type: blockType, Count: elements}, role, h))
		caches = append(caches, h)
	}
	return all, caches
}

func block(x byte) []byte {
	b := make([]byte, blockType.Size)
	for i := range b {
		b[i] = x
	}
	return b
}

// TestIncoherent: what one host publishes another one reads, though no cache knows of the other.
func TestIncoherent(t *testing.T) {
	all, _ := hosts(3, 2)
	got := make([]byte, blockType.Size)
	if _, err := all[1].snapshot(0, got, 0); !errors.Is(err, ErrUnpublished) {
		t.Errorf("before it was published: %v", err)
	}
	for x := byte(1); x < 100; x++ {
		want, err := all[0].publish(int(x)%2, block(x))
		if err != nil {
			t.Fatal(err)
		}
		for _, reader := range all {
			seq, err := reader.snapshot(int(x)%2, got, want)
			if err != nil || seq != want || string(got) != string(block(x)) {
				t.Fatalf("element %d is %d with sequence %d, %v; want %d, %d", x%2, got[0], seq, err, x, want)
			}
		}
	}
}

// TestForgetful: a reader that keeps a line never gives an element that nobody published: of the head, of the element, of its end.
func TestForgetful(t *testing.T) {
	for line, want := range map[int]error{0: nil, 1: ErrStale, 3: ErrStale, 4: ErrStale} {
		all, caches := hosts(2, 1)
		got := make([]byte, blockType.Size)
		for x := byte(1); x < 4; x++ {
			if _, err := all[0].publish(0, block(x)); err != nil {
				t.Fatal(err)
			}
			if x == 1 {
				if _, err := all[1].snapshot(0, got, 0); err != nil {
					t.Fatal(err)
				}
				caches[1].forgets[line] = true
			}
		}
		_, err := all[1].snapshot(0, got, 0)
		if line == 0 { // it has an old head, whose checksum is not that of the new element
			want = ErrStale
		}
		if !errors.Is(err, want) {
			t.Errorf("with an old line %d: %v of %d, want %v", line, err, got[0], want)
		}
	}
	// All lines are old: that is an element that was published, and older than one that is known of.
	all, caches := hosts(2, 1)
	got := make([]byte, blockType.Size)
	first, _ := all[0].publish(0, block(1))
	if seq, err := all[1].snapshot(0, got, 0); seq != first || err != nil {
		t.Fatal(seq, err)
	}
	for l := range 5 {
		caches[1].forgets[l] = true
	}
	second, _ := all[0].publish(0, block(2))
	if seq, err := all[1].snapshot(0, got, 0); seq != first || err != nil || got[0] != 1 {
		t.Errorf("%d, %v", seq, err)
	}
	if _, err := all[1].snapshot(0, got, second); !errors.Is(err, ErrStale) {
		t.Errorf("a snapshot since %d: %v", second, err)
	}
}

// TestHalf: whatever lines of a write have come to memory, no reader gives what was not published.
func TestHalf(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		all, caches := hosts(2, 1)
		got := make([]byte, blockType.Size)
		if _, err := all[0].publish(0, block(1)); err != nil {
			t.Fatal(err)
		}
		before := append([]byte(nil), caches[0].memory...)
		if _, err := all[0].publish(0, block(2)); err != nil {
			t.Fatal(err)
		}
		after := append([]byte(nil), caches[0].memory...)
		whole := 0
		for l := range len(before) / 64 {
			if rnd.IntN(2) == 0 {
				copy(caches[0].memory[l*64:], before[l*64:][:64])
			} else {
				copy(caches[0].memory[l*64:], after[l*64:][:64])
				whole++
			}
		}
		_, err := all[1].read(0, got)
		if lines := len(before) / 64; (err == nil) != (whole == 0 || whole == lines) {
			t.Errorf("with %d of %d lines: %v", whole, lines, err)
		}
	}
}

// TestTwoWriters: a write of somebody else is found by the next one's.
func TestTwoWriters(t *testing.T) {
	all, _ := hosts(2, 1)
	other := newShared(all[1].base, region.Spec{Type: blockType, Count: 1}, Writer(0, 1), all[1].cache)
	for _, w := range []*shared{all[0], other} {
		if _, err := w.publish(0, block(1)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := all[0].publish(0, block(2)); !errors.Is(err, ErrTwoWriters) {
		t.Errorf("%v", err)
	}
}

// FuzzHostile reads memory that has anything.
func FuzzHostile(f *testing.F) {
	all, caches := hosts(1, 1)
	_, _ = all[0].publish(0, block(7))
	f.Add(caches[0].memory)
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, b []byte) {
		all, caches := hosts(2, 1)
		copy(caches[0].memory, b)
		got := make([]byte, blockType.Size)
		seq, err := all[1].read(0, got)
		if (err == nil) == (seq == 0) {
			t.Fatalf("sequence %d, %v", seq, err)
		}
	})
}

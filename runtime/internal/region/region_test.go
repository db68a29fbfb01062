package region

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

var ticks = &Type{Name: "test.Tick", Size: 64, Align: 64}

func newRegion(t testing.TB, s Spec) *Handle {
	t.Helper()
	h, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func mustClose(t testing.TB, h *Handle) {
	t.Helper()
	if err := h.Close(h.Gen()); err != nil {
		t.Error(err)
	}
}

func bytesOf(h *Handle) []byte {
	base, n, _ := h.Memory()
	return unsafe.Slice((*byte)(base), n)
}

// TestMemory: rounded to pages, aligned, zeroed, and writable to its last byte.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		size, align uint64
		count       int
	}{{1, 1, 1}, {13, 1, 1000}, {64, 64, 3}, {4096, 4096, 2}, {72, 8, 4097}, {1 << 16, 1 << 16, 1}, {64, 1 << 21, 9}} {
		h := newRegion(t, Spec{Type: &Type{Name: "test.T", Size: c.size, Align: c.align}, Count: c.count})
		base, n, _ := h.Memory()
		if base != h.Base() || uintptr(base)%uintptr(max(c.align, 4096)) != 0 || n%4096 != 0 || uint64(n) < c.size*uint64(c.count) {
			t.Errorf("%+v: %d bytes at %p", c, n, base)
		}
		b := bytesOf(h)
		for i, x := range b {
			if x != 0 {
				t.Fatalf("%+v: byte %d is %d", c, i, x)
			}
			b[i] = 0xff
		}
		if h.Count() != c.count || h.Type().Size != c.size {
			t.Errorf("%+v: %d of %d", c, h.Count(), h.Type().Size)
		}
		mustClose(t, h)
	}
}

// TestRefused: what no memory is given for, and what the error says.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		typ   *Type
		count int
		is    error
		says  string
	}{
		{ticks, 0, ErrRange, "0 elements; a region has at least one"},
		{ticks, -1, ErrRange, "-1 elements"},
		{ticks, math.MaxInt, ErrNoMemory, "more than a process can address"},
		{&Type{Name: "test.Big", Size: 256 << 20, Align: 1}, math.MaxInt >> 28, ErrNoMemory, "region of test.Big made at region/region_test.go:"},
		{&Type{Name: "test.Bad", Size: 8, Align: 3}, 1, ErrRange, "generate it again"},
		{&Type{Name: "test.Bad"}, 1, ErrRange, "generate it again"},
	} {
		h, err := New(Spec{Type: c.typ, Count: c.count})
		if err == nil {
			t.Errorf("%s, %d: %d bytes", c.typ.Name, c.count, len(bytesOf(h)))
			continue
		}
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %d: %v", c.typ.Name, c.count, err)
		}
	}
}

// TestSiblings: memory goes with the last handle.
func TestSiblings(t *testing.T) {
	a := newRegion(t, Spec{Type: ticks, Count: 8, Name: "blocks"})
	b, err := a.Sibling()
	if err != nil {
		t.Fatal(err)
	}
	bytesOf(a)[7] = 7
	if err := a.Share(); a.NoFile() != nil && !errors.Is(err, ErrShared) {
		t.Errorf("sharing memory with two handles: %v", err)
	}
	mustClose(t, a)
	if got := bytesOf(b)[7]; got != 7 {
		t.Errorf("after one of two closed: %d", got)
	}
	if !strings.HasPrefix(b.Name(), "region blocks of test.Tick made at region/region_test.go:") {
		t.Errorf("name is %q", b.Name())
	}
	mustClose(t, b)
	if _, err := a.Sibling(); !errors.Is(err, ErrReleased) {
		t.Errorf("a sibling of released memory: %v", err)
	}
}

// TestUndo: a move that failed leaves what it had as it was.
func TestUndo(t *testing.T) {
	h := newRegion(t, Spec{Type: ticks, Count: 1})
	gen := h.Gen()
	next, err := h.Advance(gen, Moved)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Check(gen); !errors.Is(err, ErrMoved) {
		t.Errorf("while moving: %v", err)
	}
	h.Undo(gen, next)
	if err := h.Hold(gen); err != nil {
		t.Error(err)
	}
	h.Drop()
	mustClose(t, h)
}

// TestLimits: counts do not run over into each other.
func TestLimits(t *testing.T) {
	h := newRegion(t, Spec{Type: ticks, Count: 1})
	gen := h.Gen()
	h.word.Add(flightMask)
	if err := h.Hold(gen); !errors.Is(err, ErrInFlight) || !strings.Contains(err.Error(), "no more than 1048575") {
		t.Errorf("the last but one operation: %v", err)
	}
	if h.Gen() != gen {
		t.Error("the generation changed")
	}
	h.word.Add(^uint64(flightMask - 1))
	before := h.word.Load()
	if h.Drop(); h.word.Load() != before {
		t.Errorf("a Drop without a Hold makes %#x of %#x", h.word.Load(), before)
	}
	h.word.Add(borrowMask << flightBits)
	if _, _, err := h.Borrow(gen); !errors.Is(err, ErrBorrowed) || !strings.Contains(err.Error(), "no more than 65535") {
		t.Errorf("the last but one window: %v", err)
	}
	h.word.Store(genMask << genShift)
	next, err := h.Advance(genMask, Moved)
	if err != nil || next != 0 {
		t.Errorf("after the last generation comes %d: %v", next, err)
	}
	if err := h.Check(3); !errors.Is(err, ErrMoved) {
		t.Errorf("a generation that was forgotten: %v", err)
	}
	mustClose(t, h)
}

type device struct {
	err      error
	unclosed int
}

func (d *device) Unclosed(where.Mark) { d.unclosed++ }

func (d *device) Deregister(ctx context.Context) error {
	if t, ok := ctx.Deadline(); !ok || time.Until(t) > closeTimeout {
		return errors.New("no deadline")
	}
	return d.err
}

// TestDeviceFails: memory that a device may still write is not given back before the device
// says that it is done, and is then.
func TestDeviceFails(t *testing.T) {
	h := newRegion(t, Spec{Type: ticks, Count: 1})
	d := &device{err: errors.New("cable cut")}
	h.Reg = d
	b := bytesOf(h)
	for range 2 {
		err := h.Close(h.Gen())
		if !errors.Is(err, ErrRegistered) || !errors.Is(err, d.err) || errors.Is(err, ErrReleased) {
			t.Errorf("close: %v", err)
		}
		for _, want := range []string{h.Name(), "by its close at region/region_test.go:", "close it again: cable cut"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in: %v", want, err)
			}
		}
		b[0]++ // would fault
		if err := h.Check(FirstGen); err != nil {
			t.Errorf("after it: %v", err)
		}
	}
	if d.unclosed != 2 {
		t.Errorf("the device was told %d times that it stays", d.unclosed)
	}
	d.err = nil
	mustClose(t, h)
	if err := h.Close(FirstGen); !errors.Is(err, ErrReleased) {
		t.Errorf("closed once more: %v", err)
	}
	h = newRegion(t, Spec{Type: ticks, Count: 1})
	h.Reg = &device{}
	mustClose(t, h)
}

// TestRaced lets goroutines hold, borrow, move and close one handle after the
// other. Whoever holds it sees its memory with the mark that it was given, and at
// the end exactly one has closed it.
func TestRaced(t *testing.T) {
	const rounds, users = 100, 4
	var held, borrowed, moves atomic.Int64
	for range rounds {
		h := newRegion(t, Spec{Type: ticks, Count: 1})
		word := (*uint64)(h.Base())
		atomic.StoreUint64(word, 42)
		var gen atomic.Uint32 // as a user has it: moves hand it on
		gen.Store(h.Gen())
		var closes atomic.Int64
		var wg sync.WaitGroup
		use := func(f func(gen uint32)) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 50 {
					f(gen.Load())
				}
			}()
		}
		for range users {
			use(func(g uint32) {
				if h.Hold(g) == nil {
					held.Add(1)
					if x := atomic.LoadUint64(word); x != 42 {
						t.Errorf("held memory has %d", x)
					}
					h.Drop()
				}
			})
			use(func(g uint32) {
				b, state, err := h.Borrow(g)
				if err != nil {
					return
				}
				borrowed.Add(1)
				if x := atomic.LoadUint64(word); x != 42 {
					t.Errorf("borrowed memory has %d", x)
				}
				if err := b.Return(state); err != nil {
					t.Error(err)
				}
			})
		}
		moved := make(chan bool)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; n < 3; runtime.Gosched() {
				next, err := h.Advance(gen.Load(), Moved)
				switch {
				case err == nil:
					gen.Store(next)
					moves.Add(1)
					if n++; n == 1 {
						close(moved)
					}
				case errors.Is(err, ErrReleased):
					return
				case !errors.Is(err, ErrBorrowed) && !errors.Is(err, ErrInFlight):
					t.Error(err)
				}
			}
		}()
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-moved
				for {
					err := h.Close(gen.Load())
					if err == nil {
						closes.Add(1)
					}
					if err == nil || errors.Is(err, ErrReleased) {
						return
					}
					runtime.Gosched()
				}
			}()
		}
		wg.Wait()
		if n := closes.Load(); n != 1 {
			t.Fatalf("closed %d times", n)
		}
	}
	t.Logf("%d held, %d borrowed, %d moved", held.Load(), borrowed.Load(), moves.Load())
	if held.Load() == 0 || borrowed.Load() == 0 || moves.Load() == 0 {
		t.Error("nothing was raced")
	}
}

// TestBorrowAllocates nothing, once there were as many windows.
func TestBorrowAllocates(t *testing.T) {
	h := newRegion(t, Spec{Type: ticks, Count: 1})
	defer mustClose(t, h)
	n := testing.AllocsPerRun(100, func() {
		a, as, _ := h.Borrow(FirstGen)
		b, bs, _ := h.Borrow(FirstGen)
		if a.Return(as) != nil || b.Return(bs) != nil {
			t.Error("not returned")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMoreThanThereIs asks for more memory than the machine has, which the system would
// promise: it would end the process when that is used.
func TestMoreThanThereIs(t *testing.T) {
	most := machineMemory()
	if most == 0 || most/64 >= math.MaxInt/128 {
		t.Skip("how much memory there is cannot be asked here, or is more than a process can address")
	}
	n := int(most/64 + 1)
	_, err := New(Spec{Type: &Type{Name: "test.Line", Size: 64, Align: 64}, Count: n})
	if !errors.Is(err, ErrNoMemory) || !strings.Contains(err.Error(), "MiB of the machine") {
		t.Errorf("%d MiB, and the machine has %d: %v", n>>14, most>>20, err)
	}
}

// TestElements: one is no plural.
func TestElements(t *testing.T) {
	for n, want := range map[int]string{0: "0 elements", 1: "1 element", 2: "2 elements", -1: "-1 elements"} {
		if got := Elements(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

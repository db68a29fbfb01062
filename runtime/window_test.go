package barewire_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// panicOf is the text with which f panics.
func panicOf(f func()) (text string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			text = p.Error()
		default:
			text = "not an error"
		}
	}()
	f()
	return ""
}

// TestWindow writes elements by views, and reads them by all there is.
func TestWindow(t *testing.T) {
	r := newTicks(t, 5)
	w := open(t, r)
	for i := range w.Len() {
		v := sample.TickAt(w, i)
		v.SetPrice(float64(i) + 0.5)
		v.SetVenue(uint32(i))
	}
	n := 0
	for i, v := range sample.TickAll(w) {
		if i != n || v.Price() != float64(i)+0.5 || v.Venue() != uint32(i) {
			t.Errorf("element %d is %d, has %v", n, i, v.Price())
		}
		n++
	}
	if n != 5 || r.Len() != 5 {
		t.Errorf("%d elements, %d", n, r.Len())
	}
	for i := range sample.TickAll(w) {
		if n = i; i == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("a loop that ends early ended at %d", n)
	}
	if !wire.LittleEndian {
		if _, err := barewire.Slice(w); !errors.Is(err, wire.ErrBigEndian) {
			t.Errorf("a slice on a big-endian machine: %v", err)
		}
		return
	}
	ts, err := barewire.Slice(w)
	if err != nil || len(ts) != 5 || cap(ts) != 5 {
		t.Fatalf("%d elements, room for %d: %v", len(ts), cap(ts), err)
	}
	ts[4].Price = 7
	if ts[3].Price != 3.5 || sample.TickAt(w, 4).Price() != 7 {
		t.Error("the slice is other memory")
	}
}

// TestIndex: an index that is out of range panics in Go's own words.
func TestIndex(t *testing.T) {
	w := open(t, newTicks(t, 3))
	s := make([]int, 3)
	for _, i := range []int{3, 5, -1, math.MinInt, math.MaxInt} {
		want := panicOf(func() { s[i]++ })
		if got := panicOf(func() { sample.TickAt(w, i) }); got != want || got == "" {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	var none sample.TickWindow[barewire.Local]
	if got := panicOf(func() { sample.TickAt(none, 0) }); got != "runtime error: index out of range [0] with length 0" {
		t.Errorf("a zero window: %q", got)
	}
	for range sample.TickAll(none) {
		t.Error("a zero window has elements")
	}
	wantError(t, none.Close(), barewire.ErrNoWindow, "barewire.Open")
	_, err := barewire.Slice(none)
	wantError(t, err, barewire.ErrNoWindow)
}

// TestClosedWindow: with checks each access to a closed window panics, saying
// where it was closed; a slice is refused always.
func TestClosedWindow(t *testing.T) {
	r := newTicks(t, 3)
	w, err := barewire.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = barewire.Slice(w)
	wantError(t, err, barewire.ErrWindowClosed, "slice: region of sample.Tick", "opened at runtime/window_test.go:", "closed at runtime/window_test.go:")
	again := open(t, r) // the same slot serves it
	if err := w.Close(); !errors.Is(err, barewire.ErrWindowClosed) {
		t.Errorf("closing it again: %v", err)
	}
	for name, use := range map[string]func(){
		"At":       func() { sample.TickAt(w, 0) },
		"All":      func() { sample.TickAll(w)(func(int, sample.TickView) bool { return false }) },
		"Load":     func() { sample.TickHitsLoad(w, 0) },
		"Snapshot": func() { _, _ = sample.TickSnapshot(w, 0, new(sample.Tick)) },
	} {
		got := panicOf(use)
		if region.Checked != strings.HasPrefix(got, "barewire: access: region of sample.Tick made at runtime/") {
			t.Errorf("%s: panics with %q", name, got)
		}
	}
	sample.TickAt(again, 0).SetPrice(1)
}

// TestPrint: printing a window does not read the memory, which is not there after Close.
func TestPrint(t *testing.T) {
	r := newTicks(t, 3)
	w, err := barewire.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		if got := fmt.Sprintf(verb, w); got != "window on 3 elements" {
			t.Errorf("%s: %s", verb, got)
		}
	}
}

// TestWith closes its window whatever happens.
func TestWith(t *testing.T) {
	r := newTicks(t, 1)
	bad := errors.New("bad")
	if err := barewire.With(r, func(w sample.TickWindow[barewire.Unregistered]) error { return bad }); err != bad {
		t.Errorf("error is %v", err)
	}
	if got := panicOf(func() {
		_ = barewire.With(r, func(w sample.TickWindow[barewire.Unregistered]) error { panic(bad) })
	}); got != "bad" {
		t.Errorf("panics with %q", got)
	}
	err := barewire.With(r, func(w sample.TickWindow[barewire.Unregistered]) error { return w.Close() })
	wantError(t, err, barewire.ErrWindowClosed)
	if err := barewire.With(r, nil); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("without a function: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("a window is left: %v", err)
	}
	err = barewire.With(r, func(w sample.TickWindow[barewire.Unregistered]) error { return nil })
	wantError(t, err, barewire.ErrReleased)
}

// TestAllocations: windows and what they give cost none.
func TestAllocations(t *testing.T) {
	r := newTicks(t, 4)
	var x sample.Tick
	n := testing.AllocsPerRun(100, func() {
		w, err := barewire.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range sample.TickAll(w) {
			v.SetPrice(sample.TickAt(w, i).Price() + 1)
		}
		sample.TickHitsAtomic(w, 1).Add(1)
		_, err = sample.TickSnapshot(w, 2, &x)
		if err == nil {
			err = sample.TickPublish(w, 2, &x)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Error(err)
		}
	})
	// On big-endian machines a snapshot goes through the codec's buffer.
	if n != 0 && wire.LittleEndian {
		t.Errorf("%v allocations", n)
	}
}

// TestBounded: elements of a type with a greatest size are slots.
func TestBounded(t *testing.T) {
	r, err := barewire.New(sample.NoteInCPU(), 3)
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, r)
	in := sample.Note{Text: "to the lighthouse", Level: 3}
	if err := sample.NotePutAt(w, 2, &in); err != nil {
		t.Fatal(err)
	}
	var out sample.Note
	if err := sample.NoteLoadAt(w, 2, &out); err != nil || out != in {
		t.Errorf("%+v, %v", out, err)
	}
	// What a peer wrote is checked.
	sample.NoteSlotAt(w, 1)[3] = 0xff
	if err := sample.NoteLoadAt(w, 1, &out); !errors.Is(err, wire.ErrSlot) {
		t.Errorf("a length that lies: %v", err)
	}
}

// TestPublish: readers see an element as some writer left it, never between.
func TestPublish(t *testing.T) {
	w := open(t, newTicks(t, 2))
	const writers, writes = 3, 2000
	var wg sync.WaitGroup
	for k := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range writes {
				x := float64(k*writes + i)
				err := sample.TickPublish(w, 1, &sample.Tick{Seq: 12345, Price: x, Qty: -x, Time: int64(x), Hits: uint32(x)})
				if err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	done := make(chan bool)
	go func() { wg.Wait(); close(done) }()
	var last uint64
	for more := true; more; {
		select {
		case <-done:
			more = false
		default:
		}
		var x sample.Tick
		seq, err := sample.TickSnapshot(w, 1, &x)
		if err != nil {
			t.Fatal(err)
		}
		if x.Qty != -x.Price || x.Time != int64(x.Price) || x.Hits != uint32(x.Price) {
			t.Fatalf("torn: %+v", x)
		}
		if seq%2 != 0 || seq < last || x.Seq != seq {
			t.Fatalf("sequence %d after %d, in the element %d", seq, last, x.Seq)
		}
		last = seq
	}
	if last != 2*writers*writes {
		t.Errorf("%d writes", last/2)
	}
	sample.TickAt(w, 0).SetSeq(7)
	if _, err := sample.TickSnapshot(w, 0, new(sample.Tick)); !errors.Is(err, barewire.ErrUnstable) {
		t.Errorf("an element whose writer never ends: %v", err)
	}
	if err := sample.TickPublish(w, 0, new(sample.Tick)); !errors.Is(err, barewire.ErrUnstable) {
		t.Errorf("writing it: %v", err)
	}
}

package barewire_test

import (
	"encoding/binary"
	"sync"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// TestAtomics: numbers are right, and little-endian in memory, on every machine.
func TestAtomics(t *testing.T) {
	w := open(t, newTicks(t, 2))
	a := sample.TickSeqAtomic(w, 1)
	a.Store(0x0102030405060708)
	if b := sample.TickAt(w, 1).Bytes(); binary.LittleEndian.Uint64(b) != a.Load() || b[0] != 8 {
		t.Errorf("in memory % x", b[:8])
	}
	if x := a.Add(0xf8); x != 0x0102030405060800 {
		t.Errorf("Add gives %#x", x)
	}
	if a.CompareAndSwap(1, 2) || !a.CompareAndSwap(0x0102030405060800, 0xff) {
		t.Error("CompareAndSwap")
	}
	if x := a.And(0x0f); x != 0xff {
		t.Errorf("And gives %#x", x)
	}
	if x := a.Or(0x100); x != 0x0f {
		t.Errorf("Or gives %#x", x)
	}
	if x := a.Swap(^uint64(0)); x != 0x10f {
		t.Errorf("Swap gives %#x", x)
	}
	if x := a.Add(2); x != 1 || sample.TickSeqLoad(w, 1) != 1 {
		t.Errorf("Add runs over to %#x", x)
	}
	h := sample.TickHitsAtomic(w, 1)
	h.Store(0x01020304)
	if b := sample.TickAt(w, 1).Bytes()[32:36]; b[0] != 4 || b[3] != 1 {
		t.Errorf("in memory % x", b)
	}
	if x := h.Add(0xfc); x != 0x01020400 {
		t.Errorf("Add gives %#x", x)
	}
	if h.CompareAndSwap(1, 2) || !h.CompareAndSwap(0x01020400, 0xff) || h.And(0x0f) != 0xff || h.Or(0x100) != 0x0f ||
		h.Swap(^uint32(0)) != 0x10f || h.Add(2) != 1 || sample.TickHitsLoad(w, 1) != 1 {
		t.Errorf("a u32 is %#x", h.Load())
	}
}

// TestCounter counts from several goroutines.
func TestCounter(t *testing.T) {
	r, err := barewire.New(sample.WordInCPU(), 3)
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, r)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 1000 {
				sample.WordValueAtomic(w, 1).Add(3)
			}
		}()
	}
	wg.Wait()
	if x := sample.WordValueLoad(w, 1); x != 12000 {
		t.Errorf("counted to %d", x)
	}
	if x := sample.WordValueLoad(w, 0) + sample.WordValueLoad(w, 2); x != 0 {
		t.Errorf("beside it %d", x)
	}
}

type registration struct{ domain any }

func (r registration) Domain() any { return r.domain }

// TestGlobalAtomics: where peers change a word, local atomics need a witness of
// the region's own domain.
func TestGlobalAtomics(t *testing.T) {
	r := newTicks(t, 1)
	h, _ := handle(t, r)
	mr, err := move[barewire.RemoteAtomic](r)
	if err != nil {
		t.Fatal(err)
	}
	mine, other := new(int), new(int)
	h.Reg = registration{mine}
	w, err := barewire.Open(mr)
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]barewire.GlobalAtomics{
		"zero": {}, "another domain": barewire.MintGlobalAtomics(seal.Key(), other),
	} {
		_, err := sample.TickHitsGlobal(w, 0, g)
		if err == nil {
			t.Errorf("%s: taken", name)
			continue
		}
		wantError(t, err, barewire.ErrNotGlobal, "only load it locally")
	}
	g := barewire.MintGlobalAtomics(seal.Key(), mine)
	a, err := sample.TickSeqGlobal(w, 0, g)
	if err != nil {
		t.Fatal(err)
	}
	a.Add(2)
	if x := sample.TickSeqLoad(w, 0); x != 2 {
		t.Errorf("the word is %d", x)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = sample.TickSeqGlobal(w, 0, g)
	wantError(t, err, barewire.ErrWindowClosed)
	h.Reg = nil
	if err := mr.Close(); err != nil {
		t.Error(err)
	}
}

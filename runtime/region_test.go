package barewire_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// line is this file's line, some lines from the caller's, as errors name places.
func line(t *testing.T, off int) string {
	t.Helper()
	_, _, n, ok := runtime.Caller(1)
	if !ok {
		t.Fatal("no caller")
	}
	return fmt.Sprintf("runtime/region_test.go:%d", n+off)
}

// newTicks is a region that is closed when the test ends.
func newTicks(t testing.TB, n int) *barewire.Region[sample.Tick, barewire.CPU, barewire.Unregistered] {
	t.Helper()
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil && !errors.Is(err, barewire.ErrReleased) && !errors.Is(err, barewire.ErrMoved) {
			t.Error(err)
		}
	})
	return r
}

// move is what Register does, without a device.
func move[B barewire.Access, T barewire.Fixed[T], R barewire.Residency, A barewire.Access](r *barewire.Region[T, R, A]) (*barewire.Region[T, R, B], error) {
	h, gen, err := barewire.Core(seal.Key(), r)
	if err != nil {
		return nil, err
	}
	next, err := h.Advance(gen, region.Moved)
	if err != nil {
		return nil, err
	}
	return barewire.Mint[T, R, B](seal.Key(), h, next), nil
}

// handle is what a region points to.
func handle[T barewire.Fixed[T], R barewire.Residency, A barewire.Access](t testing.TB, r *barewire.Region[T, R, A]) (*region.Handle, uint32) {
	t.Helper()
	h, gen, err := barewire.Core(seal.Key(), r)
	if err != nil {
		t.Fatal(err)
	}
	return h, gen
}

// wantError holds an error to its reason, and to what it must say.
func wantError(t *testing.T, err, is error, parts ...string) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Errorf("error is %v, want %v", err, is)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q does not say %q", err, p)
		}
	}
}

// TestSizes: a phantom that slipped to the end would cost a word.
func TestSizes(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("sizes are of 64-bit machines")
	}
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"Region", unsafe.Sizeof(barewire.Region[sample.Tick, barewire.CPU, barewire.Local]{}), 16},
		{"Window", unsafe.Sizeof(barewire.Window[sample.Tick, barewire.Local]{}), 32},
		{"Span", unsafe.Sizeof(barewire.Span[sample.Tick, barewire.Local]{}), 32},
		{"Remote", unsafe.Sizeof(barewire.Remote[sample.Tick, barewire.RemoteRead]{}), 32},
		{"Place", unsafe.Sizeof(barewire.Place[sample.Tick, barewire.CPU]{}), 32},
		{"Grant", unsafe.Sizeof(barewire.Grant[sample.Tick, barewire.Local]{}), 16},
		{"Atomic64", unsafe.Sizeof(barewire.Atomic64{}), 8},
	} {
		if c.got != c.want {
			t.Errorf("%s has %d bytes, want %d", c.name, c.got, c.want)
		}
	}
}

// TestMistakes walks through what can be wrong with a region's life, and what a
// user is told.
func TestMistakes(t *testing.T) {
	made := line(t, 1)
	r, err := barewire.New(sample.TickInCPU(), 3)
	if err != nil {
		t.Fatal(err)
	}
	w, err := barewire.Open(r)
	opened := line(t, -1)
	if err != nil {
		t.Fatal(err)
	}
	const name = "region of sample.Tick made at "
	wantError(t, r.Close(), barewire.ErrBorrowed, "close", name+made+": a window on it is open, opened at "+opened+"; close the window first")
	_, err = move[barewire.Local](r)
	wantError(t, err, barewire.ErrBorrowed, name+made, "at "+opened)
	second, err := barewire.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, r.Close(), barewire.ErrBorrowed, ": a window on it is open: one of 2, opened at runtime/region_test.go:")
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	closed := line(t, -3)
	wantError(t, w.Close(), barewire.ErrWindowClosed, name+made, "opened at "+opened, "closed at "+closed)

	mr, err := move[barewire.RemoteRead](r)
	moved := "runtime/region_test.go:" // a helper of this file advances it
	if err != nil {
		t.Fatal(err)
	}
	_, err = barewire.Open(r)
	wantError(t, err, barewire.ErrMoved, "open", name+made, "at "+moved, "use the region that the move returned")
	wantError(t, r.Close(), barewire.ErrMoved)

	h, gen := handle(t, mr)
	if err := h.Hold(gen); err != nil {
		t.Fatal(err)
	}
	h.Reg = posting("there.go:7")
	wantError(t, mr.Close(), barewire.ErrInFlight, name+made+": operations on it are in flight, posted at there.go:7; wait for them first")
	h.Drop()
	h.Reg = nil

	if err := mr.Close(); err != nil {
		t.Fatal(err)
	}
	released := line(t, -3)
	wantError(t, mr.Close(), barewire.ErrReleased, "close", name+made, "at "+released)
	_, err = barewire.Open(mr)
	wantError(t, err, barewire.ErrReleased, "open", name+made, "at "+released)
	wantError(t, h.Hold(gen), barewire.ErrReleased)
	_, err = barewire.Open(r)
	wantError(t, err, barewire.ErrMoved)

	var re *barewire.RegionError
	if !errors.As(err, &re) || re.Op != "open" || re.Type != "sample.Tick" || re.Made != made {
		t.Errorf("as a RegionError: %+v", re)
	}
}

// posting is a registration with an operation in flight.
type posting string

// InFlight may use the handle: it is not locked.
func (p posting) InFlight(h *region.Handle) string {
	if err := h.Hold(h.Gen() - 1); err == nil {
		return "an old generation is good"
	}
	return string(p)
}

// zeroKey calls f with the zero value of a type that it cannot name.
func zeroKey[F, R, H any](f func(F, R) (H, uint32, error), r R) (H, error) {
	var zero F
	h, _, err := f(zero, r)
	return h, err
}

// TestZeroKey: inference makes a key that nobody can name, and it opens nothing.
func TestZeroKey(t *testing.T) {
	h, err := zeroKey(barewire.Core[sample.Tick, barewire.CPU, barewire.Unregistered], newTicks(t, 1))
	if h != nil || !errors.Is(err, barewire.ErrNoRegion) {
		t.Errorf("a handle for nobody: %v, %v", h, err)
	}
	h, _ = handle(t, newTicks(t, 1))
	var none seal.Friend
	if r := barewire.Mint[sample.Tick, barewire.CPU, barewire.RemoteReadWrite](none, h, 1); r != nil {
		t.Error("a region for nobody")
	}
	if g := barewire.MintGlobalAtomics(none, 1); g != (barewire.GlobalAtomics{}) {
		t.Error("a witness for nobody")
	}
	ref := barewire.Ref{Count: 1, Size: 64, Version: 1}
	info := h.Type()
	if rem := barewire.MakeRemote[sample.Tick, barewire.RemoteRead](none, info, ref); rem.Len() != 0 {
		t.Error("a remote for nobody")
	}
	rem := barewire.MakeRemote[sample.Tick, barewire.RemoteRead](seal.Key(), info, ref)
	for name, is := range map[string]struct{ err, want error }{
		"place":  {last(barewire.PlaceParts(none, sample.TickInCPU())), barewire.ErrNoPlace},
		"grant":  {third(barewire.GrantParts(none, sample.TickLocal())), barewire.ErrNoGrant},
		"remote": {second(barewire.RemoteParts(none, rem)), barewire.ErrNoRemote},
		"field":  {second(barewire.FieldParts(none, sample.TickSeqOf(rem, 0))), barewire.ErrNoRemote},
	} {
		if !errors.Is(is.err, is.want) {
			t.Errorf("%s for nobody: %v", name, is.err)
		}
	}
}

func third[A, B any](_ A, _ B, err error) error { return err }

func last[A, B, C, D any](_ A, _ B, _ C, _ D, err error) error { return err }

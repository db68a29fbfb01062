package barewire_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// refTo is a reference to n ticks with all rights, as a peer would send it.
func refTo(t testing.TB, n uint64) barewire.Ref {
	h, _ := handle(t, newTicks(t, 1))
	return barewire.Ref{
		Addr: 4096, Count: n, Size: 64, Key: 77, Hash: [16]byte(h.Type().Hash[:16]), Epoch: 5,
		Rights: barewire.ReadRight | barewire.WriteRight | barewire.AtomicRight, Version: 1,
	}
}

// TestRefBytes holds the format of references: other programs read it.
func TestRefBytes(t *testing.T) {
	r := barewire.Ref{
		Addr: 0x0807060504030201, Count: 0x100f0e0d0c0b0a09, Size: 0x14131211, Key: 0x18171615,
		Hash:  [16]byte{0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28},
		Epoch: 0x2c2b2a29, Rights: 0x2e2d, Version: 0x302f,
	}
	b := r.Append(nil)
	if len(b) != barewire.RefSize {
		t.Fatalf("%d bytes", len(b))
	}
	for i, x := range b {
		if int(x) != i+1 {
			t.Errorf("byte %d is %d", i, x)
		}
	}
	var back barewire.Ref
	if err := back.Decode(b); err != nil || back != r {
		t.Errorf("decoded: %+v, %v", back, err)
	}
	for _, n := range []int{0, 47, 49} {
		if err := back.Decode(make([]byte, n)); !errors.Is(err, barewire.ErrBadRef) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestRemoteFrom refuses what does not fit, and says what.
func TestRemoteFrom(t *testing.T) {
	grant := sample.TickRemoteRead()
	good := refTo(t, 10)
	rem, err := barewire.RemoteFrom(good.Append(nil), grant)
	if err != nil || rem.Len() != 10 {
		t.Fatal(rem.Len(), err)
	}
	// It grants what was asked for, and no more.
	if ref, err := barewire.RemoteParts(seal.Key(), rem); err != nil || ref.Rights != barewire.ReadRight || ref.Addr != 4096 || ref.Key != 77 {
		t.Errorf("%+v, %v", ref, err)
	}
	for name, c := range map[string]struct {
		spoil func(*barewire.Ref)
		is    error
		says  string
	}{
		"zero":    {func(r *barewire.Ref) { *r = barewire.Ref{} }, barewire.ErrNoRemote, "rdma.Import"},
		"version": {func(r *barewire.Ref) { r.Version = 2 }, barewire.ErrBadRef, "version 2, this program knows 1"},
		"hash":    {func(r *barewire.Ref) { r.Hash[0]++ }, barewire.ErrBadRef, "another type than sample.Tick"},
		"size":    {func(r *barewire.Ref) { r.Size = 63 }, barewire.ErrBadRef, "63 bytes, those of sample.Tick 64"},
		"rights":  {func(r *barewire.Ref) { r.Rights = barewire.WriteRight | barewire.AtomicRight }, barewire.ErrBadRef, "grants remote_write, remote_atomic, and remote_read is asked for"},
		"count":   {func(r *barewire.Ref) { r.Count = math.MaxUint64 }, barewire.ErrBadRef, "more than there can be"},
		"bytes":   {func(r *barewire.Ref) { r.Count = 1 << 58 }, barewire.ErrBadRef, "more than there can be"},
		"end":     {func(r *barewire.Ref) { r.Addr = math.MaxUint64 - 100 }, barewire.ErrBadRef, "more than there can be"},
	} {
		ref := good
		c.spoil(&ref)
		_, err := barewire.RemoteFrom(ref.Append(nil), grant)
		if err == nil {
			t.Errorf("%s: taken", name)
			continue
		}
		wantError(t, err, c.is, c.says)
	}
	_, err = barewire.RemoteFrom(good.Append(nil), barewire.Grant[sample.Tick, barewire.RemoteRead]{})
	wantError(t, err, barewire.ErrNoGrant, "SampleRemoteRead")
}

// TestSlice: ranges are relative, and what is out of range stays so, with what was asked.
func TestRemoteSlice(t *testing.T) {
	rem, err := barewire.RemoteFrom(refTo(t, 10).Append(nil), sample.TickRemoteReadWrite())
	if err != nil {
		t.Fatal(err)
	}
	part := rem.Slice(2, 6).Slice(1, 3)
	if ref, err := barewire.RemoteParts(seal.Key(), part); err != nil || ref.Addr != 4096+3*64 || ref.Count != 3 || part.Len() != 3 {
		t.Errorf("%+v, %v", ref, err)
	}
	if none := rem.Slice(10, 0); none.Len() != 0 {
		t.Errorf("nothing at the end has %d", none.Len())
	}
	for _, c := range [][2]int{{-1, 1}, {0, -1}, {11, 0}, {5, 6}, {math.MaxInt, 1}, {1, math.MaxInt}, {math.MinInt, math.MinInt}} {
		bad := rem.Slice(c[0], c[1])
		if bad.Len() != 0 {
			t.Errorf("%v has %d", c, bad.Len())
		}
		_, err := barewire.AppendRemote(nil, bad.Slice(0, 0))
		wantError(t, err, barewire.ErrRange, "and it has 10")
		_, err = barewire.Narrow(bad, sample.TickRemoteRead())
		wantError(t, err, barewire.ErrRange)
		_, err = barewire.RemoteParts(seal.Key(), bad)
		wantError(t, err, barewire.ErrRange)
	}
}

// TestNarrow gives rights up, and gains none.
func TestNarrow(t *testing.T) {
	rem, err := barewire.RemoteFrom(refTo(t, 10).Append(nil), sample.TickRemoteReadWrite())
	if err != nil {
		t.Fatal(err)
	}
	ro, err := barewire.Narrow(rem, sample.TickRemoteRead())
	if err != nil {
		t.Fatal(err)
	}
	if ref, err := barewire.RemoteParts(seal.Key(), ro); err != nil || ref.Rights != barewire.ReadRight || ref.Count != 10 {
		t.Errorf("%+v, %v", ref, err)
	}
	_, err = barewire.Narrow(ro, sample.TickRemoteWrite())
	wantError(t, err, barewire.ErrBadRef, "grants remote_read, and remote_write is asked for")
	_, err = barewire.Narrow(rem, barewire.Grant[sample.Tick, barewire.RemoteRead]{})
	wantError(t, err, barewire.ErrNoGrant)
	_, err = barewire.Narrow(sample.TickRemote[barewire.RemoteRead]{}, sample.TickRemoteRead())
	wantError(t, err, barewire.ErrNoRemote)
}

// TestPutRemote writes 48 bytes or none.
func TestPutRemote(t *testing.T) {
	rem, err := barewire.RemoteFrom(refTo(t, 3).Append(nil), sample.TickRemoteRead())
	if err != nil {
		t.Fatal(err)
	}
	var room [50]byte
	room[48] = 9
	if err := barewire.PutRemote(room[:48], rem); err != nil || room[48] != 9 {
		t.Error(err, room[48])
	}
	want, err := barewire.AppendRemote(nil, rem)
	if err != nil || !bytes.Equal(room[:48], want) {
		t.Errorf("% x, want % x, %v", room[:48], want, err)
	}
	for _, n := range []int{0, 47, 49} {
		wantError(t, barewire.PutRemote(room[:n], rem), barewire.ErrBadRef)
	}
	wantError(t, barewire.PutRemote(room[:48], rem.Slice(4, 1)), barewire.ErrRange)
	if !bytes.Equal(room[:48], want) {
		t.Error("it was written all the same")
	}
}

// TestFields refers to fields of elements here and there.
func TestFields(t *testing.T) {
	rem, err := barewire.RemoteFrom(refTo(t, 10).Append(nil), sample.TickRemoteReadWrite())
	if err != nil {
		t.Fatal(err)
	}
	f := sample.TickPriceOf(rem.Slice(1, 5), 2)
	if ref, err := barewire.FieldParts(seal.Key(), f); err != nil || ref.Addr != 4096+3*64+8 || ref.Size != 8 || ref.Count != 1 || ref.Key != 77 {
		t.Errorf("%+v, %v", ref, err)
	}
	_, err = barewire.FieldParts(seal.Key(), sample.TickPriceOf(rem, 10))
	wantError(t, err, barewire.ErrRange, "1 element from 10 on, and it has 10")
	_, err = barewire.FieldParts(seal.Key(), barewire.Field[uint64, barewire.RemoteRead]{})
	wantError(t, err, barewire.ErrNoRemote)

	mr, err := move[barewire.Local](newTicks(t, 8))
	if err != nil {
		t.Fatal(err)
	}
	h, gen := handle(t, mr)
	lf := sample.TickHitsIn(mr.Span(2, 4), 1)
	gotH, gotGen, off, n, err := barewire.LocalFieldParts(seal.Key(), lf)
	if err != nil || gotH != h || gotGen != gen || off != 3*64+32 || n != 4 {
		t.Errorf("%d bytes at %d, %v", n, off, err)
	}
	for _, i := range []int{-1, 4, math.MaxInt} {
		_, _, _, _, err := barewire.LocalFieldParts(seal.Key(), sample.TickHitsIn(mr.Span(2, 4), i))
		wantError(t, err, barewire.ErrRange, "region of sample.Tick")
	}
	_, _, _, _, err = barewire.LocalFieldParts(seal.Key(), sample.TickHitsIn(mr.Span(2, 7), 0))
	wantError(t, err, barewire.ErrRange)
	_, _, _, _, err = barewire.LocalFieldParts(seal.Key(), barewire.LocalField[uint32]{})
	wantError(t, err, barewire.ErrNoRegion)
	if err := mr.Close(); err != nil {
		t.Error(err)
	}
}

// TestSpans are checked when they are made, and tell when they are used.
func TestSpans(t *testing.T) {
	r := newTicks(t, 8)
	s := r.Span(2, 6)
	_, _, off, n, err := barewire.SpanParts(seal.Key(), s)
	if err != nil || off != 128 || n != 384 || s.Len() != 6 {
		t.Errorf("%d bytes at %d, %v", n, off, err)
	}
	for _, c := range [][2]int{{-1, 1}, {0, -1}, {9, 0}, {5, 4}, {math.MaxInt, 1}, {1, math.MaxInt}} {
		_, _, _, _, err := barewire.SpanParts(seal.Key(), r.Span(c[0], c[1]))
		wantError(t, err, barewire.ErrRange, "region of sample.Tick made at runtime/region_test.go:", "and it has 8")
	}
	var none *sample.TickCPU[barewire.Local]
	_, _, _, _, err = barewire.SpanParts(seal.Key(), none.Span(0, 1))
	wantError(t, err, barewire.ErrNoRegion)
}

// FuzzRef: whatever a peer sends is refused or can be used without running over.
func FuzzRef(f *testing.F) {
	f.Add(make([]byte, 48), 0, 1)
	f.Add(refTo(f, 10).Append(nil), 3, 4)
	f.Add(refTo(f, uint64(math.MaxInt)/64).Append(nil), 1<<30, 1<<30)
	f.Fuzz(func(t *testing.T, b []byte, i, n int) {
		rem, err := barewire.RemoteFrom(b, sample.TickRemoteRead())
		if err != nil {
			if !errors.Is(err, barewire.ErrBadRef) && !errors.Is(err, barewire.ErrNoRemote) {
				t.Errorf("error is %v", err)
			}
			return
		}
		whole, err := barewire.RemoteParts(seal.Key(), rem)
		if err != nil || rem.Len() < 0 || whole.Rights != barewire.ReadRight {
			t.Fatalf("%+v, %v", whole, err)
		}
		part, err := barewire.RemoteParts(seal.Key(), rem.Slice(i, n))
		if err != nil {
			return
		}
		if part.Addr < whole.Addr || part.Addr+part.Count*64 > whole.Addr+whole.Count*64 || part.Addr+part.Count*64 < part.Addr {
			t.Errorf("%+v of %+v", part, whole)
		}
	})
}

package fuzzshapes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// declared is the names of the types in shapes.bare.
func declared(t *testing.T) (names []string) {
	text, err := os.ReadFile("shapes.bare")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^(?:type|enum) (\w+)`).FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// FuzzDecode decodes anything. What decodes must encode again, to a message
// that decodes to the same and stays as it is from then on.
func FuzzDecode(f *testing.F) {
	seed(f)
	dense(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s, msg, ok := pick(in)
		if !ok {
			return
		}
		bounded(t, s, msg)
		x := s.new()
		if err := x.UnmarshalBinary(msg); err != nil {
			placed(t, msg, err)
			return
		}
		canon := encoded(t, x)
		if n := x.BinarySize(); n != len(canon) {
			t.Errorf("BinarySize says %d, the message has %d bytes", n, len(canon))
		}
		y := s.new()
		if err := y.UnmarshalBinary(canon); err != nil {
			t.Fatalf("its own encoding %x is refused: %v", canon, err)
		}
		if !s.equal(x, y) {
			t.Errorf("%x decodes to another value than %x", canon, msg)
		}
		if again := encoded(t, y); !bytes.Equal(again, canon) {
			t.Errorf("%x encodes again as %x", canon, again)
		}
		if len(canon) != len(msg) {
			t.Errorf("%d bytes are %d when encoded again: BARE has one size for a value", len(msg), len(canon))
		}
	})
}

// placed checks that an error of decoding names a kind, and a place in the message.
func placed(t *testing.T, msg []byte, err error) *wire.Error {
	t.Helper()
	var at *wire.Error
	if !errors.As(err, &at) {
		t.Fatalf("%T is no *wire.Error: %v", err, err)
	}
	if at.Offset < 0 || at.Offset > len(msg) || errors.Is(err, wire.ErrInternal) || at.Path == "" {
		t.Fatalf("%v (offset %d of %d bytes)", err, at.Offset, len(msg))
	}
	return at
}

// Messages smaller than this take less than what the runtime allocates beside.
const worthMeasuring = 512

// bounded holds the memory of one decoding against the documented multiple. The
// allocator rounds sizes up, by less than a quarter; what else the process does
// meanwhile is left out by taking the least of three.
func bounded(t *testing.T, s *shape, msg []byte) {
	t.Helper()
	if len(msg) < worthMeasuring {
		return
	}
	limit := uint64(s.perByte*len(msg)*5/4 + 16<<10)
	least := ^uint64(0)
	for range 3 {
		var before, after runtime.MemStats
		x := s.new()
		runtime.ReadMemStats(&before)
		_ = x.UnmarshalBinary(msg)
		runtime.ReadMemStats(&after)
		if least = min(least, after.TotalAlloc-before.TotalAlloc); least <= limit {
			return
		}
	}
	t.Errorf("%s takes %d bytes of memory for %d, more than %d", s.name(), least, len(msg), limit)
}

var modes = []struct {
	name string
	mode wire.Mode
}{{"Fresh", wire.Fresh}, {"Reuse", wire.Reuse}, {"Alias", wire.Alias}, {"AliasReuse", wire.AliasReuse}}

// FuzzModes decodes anything in every way. All must agree with UnmarshalBinary:
// on the verdict, the value, where the message ends, and what is wrong where.
func FuzzModes(f *testing.F) {
	seed(f)
	dense(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s, msg, ok := pick(in)
		if !ok {
			return
		}
		before := slices.Clone(msg)
		x, end, bad := front(t, s, msg)
		for _, m := range modes {
			y := s.new()
			old := slices.Clone(encoded(t, s.seeds[len(s.seeds)-1])) // what the destination holds before
			if _, err := y.DecodeBinary(old, wire.Options{Mode: m.mode}); err != nil {
				t.Fatal(err)
			}
			n, err := y.DecodeBinary(msg, wire.Options{Mode: m.mode})
			same(t, m.name, s, bad, err)
			if bad == nil && (n != end || !s.equal(x, y)) {
				t.Errorf("%s: %d of %d bytes, or another value", m.name, n, end)
			}
		}
		if !bytes.Equal(msg, before) {
			t.Error("the input was written to")
		}
		r := bytes.NewReader(msg)
		y := s.new()
		err := y.DecodeStream(wire.NewReader(iotest.OneByteReader(r), 1<<24))
		sameStream(t, s, bad, len(msg) == 0, err)
		if bad == nil && (len(msg)-r.Len() != end || !s.equal(x, y)) {
			t.Errorf("DecodeStream: %d of %d bytes, or another value", len(msg)-r.Len(), end)
		}
	})
}

// front is UnmarshalBinary's opinion of the message at the front of msg: a value
// and its end, or what is wrong.
func front(t *testing.T, s *shape, msg []byte) (x runner.Message, end int, bad *wire.Error) {
	t.Helper()
	x, end = s.new(), len(msg)
	err := x.UnmarshalBinary(msg)
	if errors.Is(err, wire.ErrTrailing) {
		end = placed(t, msg, err).Offset
		err = x.UnmarshalBinary(msg[:end])
		if err != nil {
			t.Fatalf("%d bytes are said to be left over, but without them: %v", len(msg)-end, err)
		}
	}
	if err != nil {
		return x, 0, placed(t, msg, err)
	}
	return x, end, nil
}

// same holds an error against UnmarshalBinary's.
func same(t *testing.T, way string, s *shape, want *wire.Error, err error) {
	t.Helper()
	if want == nil {
		if err != nil {
			t.Fatalf("%s of %s: %v, UnmarshalBinary takes it", way, s.name(), err)
		}
		return
	}
	var got *wire.Error
	if !errors.As(err, &got) {
		t.Fatalf("%s of %s: %v, UnmarshalBinary says %v", way, s.name(), err, want)
	}
	if !alike(got, want) {
		t.Errorf("%s of %s: %v (offset %d), UnmarshalBinary says %v (offset %d)", way, s.name(), got, got.Offset, want, want.Offset)
	}
}

// sameStream is same for a stream. A stream without a byte is no message, but
// the end. A stream cannot know what will arrive: where a length exceeds the
// input, it finds the end of the input later, or something else that is wrong
// before that. And it looks for duplicate keys when all else is right.
func sameStream(t *testing.T, s *shape, want *wire.Error, empty bool, err error) {
	t.Helper()
	if want == nil {
		same(t, "DecodeStream", s, nil, err)
		return
	}
	if empty {
		if err != io.EOF {
			t.Errorf("DecodeStream of no bytes: %v, want io.EOF", err)
		}
		return
	}
	var got *wire.Error
	fine := errors.As(err, &got) && got.Offset >= want.Offset
	switch {
	case !fine || errors.Is(want, wire.ErrLength) || errors.Is(want, wire.ErrDuplicateKey):
	case errors.Is(want, wire.ErrShort): // within what is too short
		fine = strings.HasPrefix(got.Path, want.Path)
	default:
		fine = got.Path == want.Path && got.Offset == want.Offset && got.Kind == want.Kind
	}
	if !fine {
		t.Errorf("DecodeStream of %s: %v, UnmarshalBinary says %v", s.name(), err, want)
	}
}

// FuzzView looks at anything in place. A view must take what UnmarshalBinary
// takes, show the same, and never panic.
func FuzzView(f *testing.F) {
	seed(f)
	dense(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s, msg, ok := pick(in)
		if !ok {
			return
		}
		if s.view != nil {
			sees(t, s, msg)
		}
		if s.name() == "Bounded" {
			slots(t, msg)
		}
	})
}

func sees(t *testing.T, s *shape, msg []byte) {
	v, bad := s.view(msg)
	if s.fixed { // its view is of the bytes at the front and sees no others
		msg = msg[:min(len(msg), s.seeds[0].BinarySize())]
	}
	x := s.new()
	err := x.UnmarshalBinary(msg)
	if (bad == nil) != (err == nil) {
		t.Fatalf("the view of %s says %v, UnmarshalBinary %v", s.name(), bad, err)
	}
	if bad != nil {
		at, want := placed(t, msg, bad), placed(t, msg, err)
		if !alike(at, want) && !(s.fixed && alike(at, cut(t, s, len(msg)))) {
			t.Errorf("the view of %s says %v (offset %d), UnmarshalBinary %v (offset %d)", s.name(), at, at.Offset, want, want.Offset)
		}
		if s.fixed && len(msg) == s.seeds[0].BinarySize() { // bytes that nobody has validated
			walk(reflect.ValueOf(v), 0)
		}
		return
	}
	if err := runner.SameView(v, reflect.ValueOf(x).Elem().Interface()); err != nil {
		t.Errorf("the view of %s: %v", s.name(), err)
	}
	walk(reflect.ValueOf(v), 0)
}

// alike reports whether two errors say the same, in the same place.
func alike(a, b *wire.Error) bool {
	return b != nil && a.Path == b.Path && a.Offset == b.Offset && a.Kind == b.Kind
}

// cut is UnmarshalBinary's error for the first n bytes of a message that is right, or
// nil if they are all of it. A view of fixed size may give it for any n bytes, since it
// looks at their number first; the decoder finds a wrong one before it finds the end.
func cut(t *testing.T, s *shape, n int) *wire.Error {
	t.Helper()
	whole := encoded(t, s.seeds[0])
	if n >= len(whole) {
		return nil
	}
	return placed(t, whole[:n], s.new().UnmarshalBinary(whole[:n]))
}

// walk calls every method of a view that takes nothing, or an index for which
// there is a length, and goes on with what they give.
func walk(v reflect.Value, depth int) {
	if k := v.Kind(); depth > 6 || k == reflect.Interface || k == reflect.Pointer {
		return // an error, or a data[n]
	}
	for i := range v.NumMethod() {
		name, m := v.Type().Method(i).Name, v.Method(i)
		switch {
		case strings.HasPrefix(name, "Set") || name == "Store" || name == "Load" || name == "Clone":
		case m.Type().NumIn() == 0:
			outs := m.Call(nil)
			if last := outs[len(outs)-1]; len(outs) == 2 && last.Kind() == reflect.Bool && !last.Bool() {
				continue // there is no view of what is absent
			}
			for _, out := range outs {
				if out.Kind() == reflect.Func {
					for range out.Seq2() {
					}
					continue
				}
				walk(out, depth+1)
			}
		case m.Type().NumIn() == 1 && m.Type().In(0).Kind() == reflect.Int:
			length := v.MethodByName(name + "Len")
			if name == "At" {
				length = v.MethodByName("Len")
			}
			for k := range length.Call(nil)[0].Int() {
				outs := m.Call([]reflect.Value{reflect.ValueOf(int(k))})
				walk(outs[len(outs)-1], depth+1) // the value, behind the key of a map's entry
			}
		}
	}
}

// slots takes msg as a message to put into a slot, and as a slot's memory.
func slots(t *testing.T, msg []byte) {
	var ix wire.Index
	var x, y Bounded
	if x.UnmarshalBinary(msg) == nil {
		slot := make([]byte, BoundedSlotSize)
		for i := range slot {
			slot[i] = 0xff
		}
		err := errors.Join(PutBoundedSlot(slot, &x), ValidateBoundedSlot(slot, &ix), LoadBoundedSlot(slot, &y))
		if err != nil || !x.Equal(&y) {
			t.Errorf("a slot does not give back what was put into it: %v", err)
		}
	}
	if len(msg) < BoundedSlotSize {
		msg = append(slices.Clone(msg), make([]byte, BoundedSlotSize-len(msg))...)
	}
	load := LoadBoundedSlot(msg, &y)
	v, seen := BoundedSlotViewOf(msg, &ix)
	if (load == nil) != (seen == nil) {
		t.Fatalf("the slot's view says %v, loading it %v", seen, load)
	}
	if load == nil {
		if err := runner.SameView(v, y); err != nil {
			t.Errorf("the slot's view: %v", err)
		}
	}
	if ValidateBoundedSlot(msg, &ix) == nil && load != nil {
		t.Errorf("a valid slot does not load: %v", load)
	}
}

// raw is a message of bytes.
type raw []byte

func (r raw) AppendBinary(b []byte) ([]byte, error) { return append(b, r...), nil }

// FuzzFrame takes anything apart into frames, from a slice and from a stream
// that gives a byte at a time, and puts it together again.
func FuzzFrame(f *testing.F) {
	const limit = 1 << 10
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0})
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0, 7, 2, 0, 0, 0, 1})
	f.Add(binary.LittleEndian.AppendUint32(nil, limit+1))
	f.Add(binary.LittleEndian.AppendUint32(nil, 1<<32-1))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := wire.NewReader(iotest.OneByteReader(bytes.NewReader(in)), limit)
		for rest := in; ; {
			msg, next, err := wire.CutFrame(rest)
			got, streamed := r.ReadFrame()
			switch {
			case len(rest) == 0:
				if streamed != io.EOF || !errors.Is(err, wire.ErrShort) {
					t.Fatalf("at the end: %v, %v", streamed, err)
				}
				return
			case len(rest) >= 4 && binary.LittleEndian.Uint32(rest) > limit:
				if !errors.Is(streamed, wire.ErrLimit) {
					t.Fatalf("over the limit: %v", streamed)
				}
				return
			case err != nil:
				if !errors.Is(err, wire.ErrShort) || !errors.Is(streamed, wire.ErrShort) || !bytes.Equal(next, rest) {
					t.Fatalf("cut short: %v, %v", err, streamed)
				}
				return
			case streamed != nil || !bytes.Equal(got, msg):
				t.Fatalf("the stream gives %x, %v, the slice %x", got, streamed, msg)
			}
			again, err := wire.AppendFrame(nil, raw(msg), limit)
			if err != nil || !bytes.Equal(slices.Concat(again, next), rest) {
				t.Fatalf("%x and %x are not %x: %v", again, next, rest, err)
			}
			rest = next
		}
	})
}

package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// indexStrings is the pass over a list<str>, as generated code does it.
func indexStrings(x *Index, b []byte, p, f int) int {
	n, p := Len(b, p)
	if p < 0 {
		return -1
	}
	g := x.Children(n, 1, 1, len(b)-p)
	if g < 0 {
		return -1
	}
	x.Set(f, g)
	for ; n > 0; n-- {
		x.Set(g, p)
		var m int
		if m, p = Len(b, p); p < 0 || len(b)-p < m {
			return -1
		}
		p += m
		g++
	}
	return p
}

// indexLists is the pass over a list<list<str>>.
func indexLists(x *Index, b []byte, p, f int) int {
	n, p := Len(b, p)
	if p < 0 {
		return -1
	}
	g := x.Children(n, 2, 1, len(b)-p)
	if g < 0 {
		return -1
	}
	x.Set(f, g)
	for ; n > 0; n-- {
		x.Set(g, p)
		if p = indexStrings(x, b, p, g+1); p < 0 {
			return -1
		}
		g += 2
	}
	return p
}

func TestIndexNestedLists(t *testing.T) {
	b := []byte("\x03\x02\x01a\x00\x00\x01\x02xy")
	var x Index
	x.Begin(b, 1, 3)
	if p := indexLists(&x, b, 0, 1); p != len(b) {
		t.Fatalf("the pass ended at %d of %d", p, len(b))
	}
	var got []string
	outer := x.Root().Elems(2)
	for i := range outer.Len() {
		for j, s := range StrListOf(outer.At(i).Elems(1)).All() {
			got = append(got, fmt.Sprintf("%d.%d=%s", i, j, s))
		}
	}
	if want := []string{"0.0=a", "0.1=", "2.0=xy"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What hostile messages can make the index take is bounded by their length.
func TestIndexMemory(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	worst := 0.0
	try := func(b []byte) {
		var x Index
		x.Begin(b, 1, 3)
		indexLists(&x, b, 0, 1)
		if max := 3*len(b) + 2; x.Slots() > max {
			t.Fatalf("%d slots for %d bytes, at most %d: % x", x.Slots(), len(b), max, b)
		}
		worst = max(worst, float64(x.Slots())/float64(len(b)))
	}
	nested := append([]byte{100}, bytes.Repeat([]byte{1, 0}, 100)...)
	try(nested) // lists of one empty string: all three slots
	claims := append([]byte{0x80 | 100, 7}, bytes.Repeat([]byte{0x80 | 80, 6}, 500)...)
	try(claims) // each inner list claims nearly all that is left
	for range 3000 {
		b := make([]byte, 1+rng.Intn(300))
		for i := range b {
			b[i] = byte(rng.Intn(4)) * byte(rng.Intn(30))
		}
		try(b)
	}
	if worst < 2.4 {
		t.Errorf("the worst case tried takes only %.2f slots a byte: the bound of 3 is not tested", worst)
	}
}

func TestIndexAllocates(t *testing.T) {
	b := append([]byte{100}, bytes.Repeat([]byte{1, 'x'}, 100)...)
	var x Index
	pass := func() {
		x.Begin(b, 1, 3)
		if indexStrings(&x, b, 0, 1) != len(b) {
			t.Fatal("refused")
		}
	}
	pass()
	if n := testing.AllocsPerRun(100, pass); n != 0 {
		t.Errorf("a warm index allocates %v times", n)
	}
}

func TestChildrenRefuses(t *testing.T) {
	for _, c := range []struct{ n, stride, least, left, want int }{
		{0, 4, 20, 0, noChild},
		{1, 1, 1, 0, -1},
		{6, 1, 20, 100, -1},
		{5, 1, 20, 100, 4},
		{5, 100, 20, 100, -1}, // more slots than 100 bytes can need
		{1 << 30, 1 << 20, 1, 1 << 30, -1},
	} {
		var x Index
		x.Begin(make([]byte, 100), 2, 3)
		if got := x.Children(c.n, c.stride, c.least, c.left); got != c.want {
			t.Errorf("Children(%d, %d, %d, %d) is %d, want %d", c.n, c.stride, c.least, c.left, got, c.want)
		}
	}
}

// keysOf indexes a map<str><u8> and returns whether its keys are good, and its view.
func keysOf(keys []string) (*Index, bool) {
	b := []byte{byte(len(keys))}
	for i, k := range keys {
		b = append(append(append(b, byte(len(k))), k...), byte(i))
	}
	x := &Index{}
	x.Begin(b, 1, 3)
	g := x.Children(len(keys), 2, 2, len(b)-1)
	p := 1
	for i, k := range keys {
		x.Set(g+2*i, p)
		x.Set(g+2*i+1, p+1+len(k))
		p += len(k) + 2
	}
	return x, Keys(x, 1, g, len(keys), 2, View.Str)
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		keys       string
		ok, sorted bool
	}{
		{"", true, true},
		{"a", true, true},
		{"a b c d", true, true},
		{"a aa b", true, true},
		{"b a", true, false},
		{"d c b a e g f", true, false},
		{"a a", false, false},
		{"a b b c", false, false},
		{"c a b c", false, false},
		{"a b a", false, false},
	} {
		x, ok := keysOf(strings.Fields(c.keys))
		if ok != c.ok {
			t.Errorf("%q: different keys: %t, want %t", c.keys, ok, c.ok)
			continue
		}
		if !ok {
			continue
		}
		if got := x.Root().Sorted(); got != c.sorted {
			t.Errorf("%q: sorted: %t, want %t", c.keys, got, c.sorted)
		}
		for i, k := range strings.Fields(c.keys) {
			u, ok := FindKey(x.Root(), 2, k, View.Str)
			if !ok || u.After(0, 0, 0).U8() != byte(i) {
				t.Errorf("%q: key %q is not found", c.keys, k)
			}
		}
		for _, k := range []string{"", "0", "bb", "z"} {
			if _, ok := FindKey(x.Root(), 2, k, View.Str); ok {
				t.Errorf("%q: key %q is found", c.keys, k)
			}
		}
	}
}

func TestKeysMany(t *testing.T) {
	var keys []string
	for i := range 120 {
		keys = append(keys, fmt.Sprint((i*77)%120))
	}
	if _, ok := keysOf(keys); !ok {
		t.Error("120 different keys are refused")
	}
	for i := 1; i < len(keys); i += 7 {
		twice := slices.Clone(keys)
		twice[i] = twice[i-1]
		if _, ok := keysOf(twice); ok {
			t.Errorf("a key at %d that stands before it is not seen", i)
		}
	}
}

// A message that changes under its views gives wrong values or panics of
// indices out of range, nothing else.
func TestChangedMessage(t *testing.T) {
	b := []byte("\x02\x02ab\x03cde")
	var x Index
	x.Begin(b, 1, 3)
	if indexStrings(&x, b, 0, 1) != len(b) {
		t.Fatal("refused")
	}
	l := StrListOf(x.Root().Elems(1))
	for _, c := range []struct {
		n    byte
		want string
	}{{3, "cde"}, {2, "cd"}, {4, ""}, {0x7f, ""}, {0xff, ""}} {
		b[4] = c.n
		if got := l.At(1); got != c.want {
			t.Errorf("with the length %d: %q, want %q", c.n, got, c.want)
		}
	}
}

func TestEmptyStringAtTheEnd(t *testing.T) {
	b := []byte("\x01\x00")
	var x Index
	x.Begin(b, 1, 3)
	if indexStrings(&x, b, 0, 1) != len(b) {
		t.Fatal("refused")
	}
	s := StrListOf(x.Root().Elems(1)).At(0)
	end := uintptr(unsafe.Pointer(unsafe.SliceData(b))) + uintptr(len(b))
	if p := unsafe.StringData(s); s != "" || p != nil && uintptr(unsafe.Pointer(p)) > end {
		t.Errorf("%q points behind the message", s)
	}
}

func TestOutOfRange(t *testing.T) {
	b := []byte("\x01\x00")
	var x Index
	x.Begin(b, 1, 3)
	indexStrings(&x, b, 0, 1)
	for _, i := range []int{-1, 1, 1 << 40} {
		func() {
			defer func() {
				want := fmt.Sprintf("index out of range [%d]", i)
				if r := fmt.Sprint(recover()); !strings.Contains(r, want) {
					t.Errorf("At(%d) panics with %q, want %q", i, r, want)
				}
			}()
			x.Root().Elems(1).At(i)
			t.Errorf("At(%d) does not panic", i)
		}()
	}
}

func TestRefused(t *testing.T) {
	var x Index
	strs := &Type{Name: "Strs", Text: "list<str>"}
	for _, c := range []struct {
		msg  string
		want error
	}{{"\x01\x05ab", ErrShort}, {"\x01\x00\x00", ErrTrailing}, {"\x01\x00", ErrInternal}} {
		x.Begin([]byte(c.msg), 1, 3)
		if err := x.Refused(strs); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.msg, err, c.want)
		}
		if x.Slots() != 0 || x.buf != nil {
			t.Errorf("%q is kept", c.msg)
		}
	}
}

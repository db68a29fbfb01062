package wire

import (
	"errors"
	"strconv"
	"testing"
)

// A fault says what a decoder says of the message that has it, which is right else.
func TestFault(t *testing.T) {
	point := Type{Name: "Point", Text: "struct{x:i32 on:bool}"}
	typ := Type{
		Name: "Tick",
		Text: "struct{id:u64 side:enum{0-1} wide:enum{128-300} level:enum:2{258-259} at:list<$0>[2] grid:list<list<u16>[3]>[2]" +
			" live:bool tag:data[3]}",
		Refs: []*Type{&point},
	}
	const live = 8 + 1 + 2 + 2 + 2*5 + 12
	m := unhex(t, "0000000000000000"+"00"+"8001"+"0201"+"0000000000"+"0000000000"+"000000000000000000000000"+"00"+"000000")
	check := func(f *Fault, message []byte, kind error) {
		t.Helper()
		got, want := typ.Fault(f), typ.Refuse(message)
		if e, ok := got.(*Error); !ok || e.Kind != kind || got.Error() != want.Error() {
			t.Errorf("a fault says %v, a decoder %v", got, want)
		}
	}
	for n := range m {
		check(CutAt(n), m[:n], ErrShort)
	}
	for c := 2; c < 256; c++ {
		m[live] = byte(c)
		check(BadByte(len(m), live, byte(c)), m, ErrBool)
	}
	m[live] = 0
	check(nil, m, ErrInternal)
	check(CutAt(len(faults)-1), m, ErrInternal) // would be a byte that is not there
}

func TestFaultOfNoDescription(t *testing.T) {
	typ := Type{Name: "Bad", Text: "struct{"}
	if err := typ.Fault(CutAt(0)); !errors.Is(err, ErrInternal) {
		t.Error(err)
	}
}

// No two faults of a type are the same pointer.
func TestFaultsDiffer(t *testing.T) {
	const size = 255 // of the largest message whose last byte can be told
	seen := map[*Fault]string{}
	add := func(f *Fault, name string) {
		if seen[f] != "" {
			t.Fatalf("%s is %s", name, seen[f])
		}
		seen[f] = name
	}
	for n := range size {
		add(CutAt(n), "cut at "+strconv.Itoa(n))
	}
	for off := range size {
		for c := range 256 {
			add(BadByte(size, off, byte(c)), strconv.Itoa(c)+" at "+strconv.Itoa(off))
		}
	}
}

var errSink error

func TestFaultAllocates(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() { errSink = tickFault(7) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// tick is an error as generated code has it.
type tick Fault

func (f *tick) Error() string { return "cut" }

func tickFault(n int) error { return (*tick)(CutAt(n)) }

package bad

import (
	"reflect"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

type (
	cpu = quote.QuoteCPU[barewire.Local]
	gpu = quote.QuoteGPU[barewire.Local]
)

func off(r *gpu) unsafe.Pointer {
	return unsafe.Pointer(r) // want BW5003 "takes off what the type gpu"
}

func on(p unsafe.Pointer) *cpu {
	return (*cpu)(p) // want BW5003 "makes a "
}

func both(r *gpu) *cpu {
	return *(**cpu)(unsafe.Pointer(&r)) // want BW5003 "makes a" BW5003 "takes off"
}

func bytes(w quote.QuoteWindow[barewire.RemoteRead]) [8]byte {
	return *(*[8]byte)(unsafe.Pointer(&w)) // want BW5003 "Window"
}

func number(r *cpu) uintptr {
	return uintptr(unsafe.Pointer(r)) // want BW5003 "takes off"
}

func elementsOf(rs []*gpu) *cpu {
	return (*cpu)(unsafe.Pointer(rs[0])) // want BW5003 "makes a" BW5003 "takes off"
}

func inside(rs [2]quote.QuoteRemote[barewire.RemoteRead]) unsafe.Pointer {
	return unsafe.Pointer(&rs) // want BW5003 "Remote"
}

type mine barewire.Region[quote.Quote, barewire.CPU, barewire.Local] // want BW5003 "`mine` is a type of its own"

type pointer *cpu // want BW5003 "`pointer` is a type of its own"

func renamed(r *cpu) *mine {
	return (*mine)(r) // want BW5003 "*mine is a type of its own"
}

func back(m *mine) *cpu {
	return (*cpu)(m) // want BW5003 "*mine is a type of its own"
}

func reflected(r *gpu, s *cpu) {
	_ = reflect.ValueOf(r).UnsafePointer()         // want BW5003 "reflect's UnsafePointer"
	reflect.ValueOf(&s).Elem().SetZero()           // want BW5003 "reflect's Elem"
	_ = reflect.New(reflect.TypeFor[cpu]())        // want BW5003 "reflect.New makes"
	_ = reflect.Zero(reflect.TypeOf(s).Elem())     // want BW5003 "reflect.Zero makes"
	_ = reflect.New(reflect.TypeOf(r))             // want BW5003 "reflect.New makes"
	_ = reflect.ValueOf(r).Pointer() == uintptr(0) // want BW5003 "reflect's Pointer"
}

func reflectedLater(r *gpu, all []*cpu) *gpu {
	v := reflect.ValueOf(r)
	w := v
	_ = w.UnsafePointer() // want BW5003 "reflect's UnsafePointer"
	var list = reflect.ValueOf(all)
	list.Index(0).Elem().SetZero()   // want BW5003 "reflect's Elem"
	_ = reflect.Indirect(v).Field(1) // want BW5003 "reflect's Field"
	t := reflect.TypeFor[*cpu]().Elem()
	made := reflect.New(t) // want BW5003 "reflect.New makes"
	_ = made
	return list.Index(0).Interface().(*gpu)
}

func reflectedBack(r *cpu) *gpu {
	v := reflect.ValueOf(r)
	return v.Interface().(*gpu) // want BW5004 "a *cpu is never a *gpu"
}

type pair struct {
	name string
	mr   *gpu
	rest [4]*cpu
}

func relaid(p *pair) *cpu {
	type other struct {
		name string
		mr   *cpu
	}
	return (*other)(unsafe.Pointer(p)).mr // want BW5003 "takes off what the type *gpu of the field .mr says"
}

func relaidLater(p pair) [48]byte {
	at := unsafe.Pointer(&p)
	return *(*[48]byte)(at) // want BW5003 "of the field .mr says"
}

func madeOfBytes(b []byte) *pair {
	return (*pair)(unsafe.Pointer(&b[0])) // want BW5003 "makes the field .mr a *gpu of what may be none"
}

func madeOfArray(b *[64]byte) *pair {
	return (*pair)(unsafe.Pointer(b)) // want BW5003 "makes the field .mr a *gpu of what may be none"
}

func asBytes(p *pair) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p)) // want BW5003 "takes off what the type *gpu of the field .mr says"
}

func asserted(r *cpu) *gpu {
	return any(r).(*gpu) // want BW5004 "a *cpu is never a *gpu"
}

func commaOK(r *cpu) bool {
	_, ok := interface{ Close() error }(r).(*quote.QuoteCPU[barewire.RemoteRead]) // want BW5004 "is never a"
	return ok
}

func switched(r *cpu) int {
	switch r := any(r).(type) {
	case *cpu:
		return r.Len()
	case *gpu: // want BW5004 "is never a"
		return 2
	case nil, *quote.QuoteWindow[barewire.Local]: // want BW5004 "is never a *quote.QuoteWindow"
		return 3
	}
	return 0
}

func byValue(w quote.QuoteWindow[barewire.Local]) quote.QuoteWindow[barewire.RemoteRead] {
	return any(w).(quote.QuoteWindow[barewire.RemoteRead]) // want BW5004 "is never a"
}

func boxed(r *cpu) *gpu {
	var x any = r
	return x.(*gpu) // want BW5004 "a *cpu is never a *gpu"
}

func boxedToo(w quote.QuoteWindow[barewire.Local]) int {
	x := any(w)
	switch x.(type) {
	case quote.QuoteWindow[barewire.RemoteRead]: // want BW5004 "is never a"
		return 1
	}
	return 0
}

var _ = []any{reflectedLater, reflectedBack, relaid, relaidLater, madeOfBytes, madeOfArray, asBytes, boxed, boxedToo, off, on, both, bytes, number, elementsOf, inside, pointer(nil), renamed, back, reflected, asserted, commaOK, switched, byValue}

package runner

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"

	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// The bound that a decoding's memory is held to: so many bytes for each byte of
// input times what the type's largest element takes in Go, and a constant for
// errors, readers and the runtime's own.
const (
	perByte  = 4
	constant = 16 << 10
)

// hostile decodes bytes that nobody vouches for in every way and holds the
// memory that is taken against the bound. All ways must agree on the verdict.
func (c Case) hostile(t *Type) error {
	bound := constant + perByte*largest(reflect.TypeOf(t.New()).Elem(), nil)*uint64(len(c.Msg)+1)
	verdict := t.New().UnmarshalBinary(c.Msg)
	ways := []way{
		{"UnmarshalBinary", func() error { return t.New().UnmarshalBinary(c.Msg) }},
		{"DecodeStream", func() error {
			r := bytes.NewReader(c.Msg)
			err := t.New().DecodeStream(newReader(r))
			if err == nil && r.Len() > 0 {
				err = wire.ErrTrailing
			}
			return err
		}},
	}
	for _, mode := range modes {
		ways = append(ways, way{"DecodeBinary " + mode.name, func() error {
			n, err := t.New().DecodeBinary(c.Msg, mode.o)
			if err == nil && n < len(c.Msg) {
				err = wire.ErrTrailing
			}
			return err
		}})
	}
	var errs []error
	for _, w := range ways {
		var err error
		if took := allocated(func() { err = w.decode() }); took > bound {
			errs = append(errs, fmt.Errorf("%s takes %d bytes of memory for %d bytes of input, more than %d", w.name, took, len(c.Msg), bound))
		}
		if (err == nil) != (verdict == nil) {
			errs = append(errs, fmt.Errorf("%s says %v, UnmarshalBinary %v", w.name, err, verdict))
		}
	}
	return errors.Join(errs...)
}

// way is one way to decode a whole message.
type way struct {
	name   string
	decode func() error
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// largest is the size in bytes of the largest thing that one byte of a message
// can bring to life in a value of type t: an element, an entry, a member.
func largest(t reflect.Type, seen map[reflect.Type]bool) uint64 {
	if seen == nil {
		seen = map[reflect.Type]bool{}
	}
	if seen[t] {
		return 0
	}
	seen[t] = true
	n := uint64(t.Size())
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Pointer:
		n = max(n, largest(t.Elem(), seen))
	case reflect.Map: // a table holds entries at no less than half load
		n = max(n, 2*(uint64(t.Key().Size()+t.Elem().Size())+16), largest(t.Elem(), seen))
	case reflect.Struct:
		for i := range t.NumField() {
			n = max(n, largest(t.Field(i).Type, seen))
		}
	}
	return n
}

package runner

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// Over makes a type's cast from its generated function.
func Over[T any](of func([]byte) (*T, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) { return of(b) }
}

// Slot makes what puts a value into a slot of a size and loads it again.
func Slot[T any](size int, put, load func([]byte, *T) error) func(Message) (Message, error) {
	return func(m Message) (Message, error) {
		slot, x := make([]byte, size), new(T)
		if err := put(slot, any(m).(*T)); err != nil {
			return nil, err
		}
		return any(x).(Message), load(slot, x)
	}
}

// inMemory checks what works on memory in place: the cast, the slot, and a fixed
// view's Load, Store and setters.
func (c Case) inMemory(t *Type) error {
	m := t.New()
	if err := m.UnmarshalBinary(c.Msg); err != nil {
		return err
	}
	if t.Slot != nil {
		back, err := t.Slot(m)
		if err != nil {
			return fmt.Errorf("slot: %w", err)
		}
		if err := c.same(back); err != nil {
			return fmt.Errorf("slot: %w", err)
		}
	}
	if t.Over != nil {
		b := append(make([]byte, 0, 64+len(c.Msg)), c.Msg...) // large enough to be aligned
		p, err := t.Over(b)
		if errors.Is(err, wire.ErrBigEndian) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cast: %w", err)
		}
		if got := Dump(reflect.ValueOf(p).Elem()); got != c.Dump {
			return fmt.Errorf("cast: %s", got)
		}
	}
	return c.inPlace(t, m)
}

// inPlace writes through a fixed view what another shows.
func (c Case) inPlace(t *Type, m Message) error {
	if t.View == nil {
		return nil
	}
	from, err := t.View(c.Msg)
	if err != nil {
		return err
	}
	if !reflect.ValueOf(from).MethodByName("Store").IsValid() {
		return nil
	}
	b := bytes.Clone(c.Msg)
	to, err := t.View(b)
	if err != nil {
		return err
	}
	x := t.New()
	out := callWith(reflect.ValueOf(to).MethodByName("Load"), x)
	if !out[0].IsNil() {
		return fmt.Errorf("after Load: %v", out[0])
	}
	if err := c.same(x); err != nil {
		return fmt.Errorf("after Load: %w", err)
	}
	clear(b)
	out = callWith(reflect.ValueOf(to).MethodByName("Store"), m)
	if !out[0].IsNil() || !bytes.Equal(b, c.Canon) {
		return fmt.Errorf("after Store: %x, %v", b, out[0])
	}
	return c.setters(reflect.ValueOf(from), reflect.ValueOf(to), b)
}

// callWith calls a method of a view with a value. The view of a second name of
// a type is the first's, and takes that.
func callWith(method reflect.Value, m Message) []reflect.Value {
	return method.Call([]reflect.Value{reflect.ValueOf(m).Convert(method.Type().In(0))})
}

// setters sets, over bytes that are all ones, each field that has a setter. What
// changes must be as in the message.
func (c Case) setters(from, to reflect.Value, b []byte) error {
	if to.MethodByName("Kind").IsValid() {
		return nil // setting a member makes it another value
	}
	for i := range b {
		b[i] = 0xff
	}
	for i := range to.NumMethod() {
		name, isSetter := strings.CutPrefix(to.Type().Method(i).Name, "Set")
		set := to.Method(i)
		if from.MethodByName(name + "Field").IsValid() { // the getter of a name that has another meaning
			name += "Field"
		}
		get, shown := from.MethodByName(name), to.MethodByName(name)
		if !isSetter || !get.IsValid() || set.Type().NumIn() != 1 || get.Type().NumIn() != 0 {
			continue
		}
		v := get.Call(nil)[0]
		arg := v
		if v.Kind() == reflect.Pointer { // data[n] is shown by pointer, and set by value below 64 KiB
			if v = v.Elem(); set.Type().In(0).Kind() != reflect.Pointer {
				arg = v
			}
		}
		if arg.Type() != set.Type().In(0) {
			return fmt.Errorf("the setter of %s takes %v, %s gives %v", name, set.Type().In(0), name, arg.Type())
		}
		set.Call([]reflect.Value{arg})
		again := shown.Call(nil)[0]
		if again.Kind() == reflect.Pointer {
			again = again.Elem()
		}
		if Dump(again) != Dump(v) {
			return fmt.Errorf("the setter of %s given %s shows %s", name, Dump(v), Dump(again))
		}
	}
	for i := range b {
		if b[i] != 0xff && b[i] != c.Canon[i] {
			return fmt.Errorf("setters write %x", b)
		}
	}
	return nil
}

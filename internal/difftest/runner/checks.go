package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing/iotest"

	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// modes are the ways to decode a slice, by their names in reports.
var modes = []struct {
	name string
	o    wire.Options
}{
	{"fresh", wire.Options{Mode: wire.Fresh}},
	{"reuse", wire.Options{Mode: wire.Reuse}},
	{"alias", wire.Options{Mode: wire.Alias}},
}

// behind stands after a message where more may follow.
var behind = []byte{0xee, 0xff, 0x01}

// valid puts a valid message through every way in and out.
func (c Case) valid(t *Type) error {
	steps := []struct {
		name string
		step func(*Type) error
	}{
		{"UnmarshalBinary", c.unmarshal}, {"DecodeBinary", c.slices}, {"DecodeStream", c.stream},
		{"view", c.view}, {"memory", c.inMemory}, {"cut", c.cut}, {"peer", c.peer},
	}
	for _, s := range steps {
		if err := s.step(t); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// same checks that a decoded value is the case's, by what Go sees of it and by
// every way to encode it.
func (c Case) same(m Message) error {
	if got := Dump(reflect.ValueOf(m).Elem()); got != c.Dump {
		return fmt.Errorf("value %s", got)
	}
	b, err := m.MarshalBinary()
	if err != nil || !bytes.Equal(b, c.Canon) {
		return fmt.Errorf("MarshalBinary: %x, %v", b, err)
	}
	if n := m.BinarySize(); n != len(c.Canon) {
		return fmt.Errorf("BinarySize: %d, the message has %d bytes", n, len(c.Canon))
	}
	b, err = m.AppendBinary([]byte("before"))
	if err != nil || string(b) != "before"+string(c.Canon) {
		return fmt.Errorf("AppendBinary: %x, %v", b, err)
	}
	return nil
}

func (c Case) unmarshal(t *Type) error {
	in := slices.Clone(c.Msg)
	m := t.New()
	if err := m.UnmarshalBinary(in); err != nil {
		return err
	}
	clear(in) // a fresh value keeps nothing of its input
	if err := c.same(m); err != nil {
		return err
	}
	if err := c.equalAndClone(t, m); err != nil {
		return err
	}
	if err := t.New().UnmarshalBinary(append(slices.Clone(c.Msg), 0)); !errors.Is(err, wire.ErrTrailing) {
		return fmt.Errorf("with a byte more: %v, want ErrTrailing", err)
	}
	return nil
}

// equalAndClone calls the two methods whose signatures name the type.
func (c Case) equalAndClone(t *Type, m Message) error {
	v := reflect.ValueOf(m)
	equal, clone := v.MethodByName("Equal"), v.MethodByName("Clone")
	if !equal.IsValid() || !clone.IsValid() {
		return errors.New("no Equal or no Clone")
	}
	copied := clone.Call(nil)[0]
	if !equal.Call([]reflect.Value{copied})[0].Bool() {
		return errors.New("not equal to its clone")
	}
	other := reflect.New(v.Type().Elem())
	if copied.Kind() == reflect.Pointer && copied.Type() == v.Type() {
		other = copied
	} else {
		other.Elem().Set(copied)
	}
	return c.same(other.Interface().(Message))
}

func (c Case) slices(t *Type) error {
	in := slices.Concat(c.Msg, behind)
	for _, mode := range modes {
		m := t.New()
		if mode.o.Mode == wire.Reuse && t.last != nil {
			m = t.last
		}
		n, err := m.DecodeBinary(in, mode.o)
		if err != nil || n != len(c.Msg) {
			return fmt.Errorf("%s: %d of %d bytes, %w", mode.name, n, len(c.Msg), err)
		}
		if err := c.same(m); err != nil {
			return fmt.Errorf("%s: %w", mode.name, err)
		}
		switch mode.o.Mode {
		case wire.Reuse:
			t.last = m
		case wire.Alias: // decoding over a value that aliases must not write through it
			if err := m.UnmarshalBinary(c.Msg); err != nil {
				return fmt.Errorf("over an alias: %w", err)
			}
		}
		if !bytes.Equal(in, slices.Concat(c.Msg, behind)) {
			return fmt.Errorf("%s: wrote to its input", mode.name)
		}
	}
	return nil
}

// stream decodes the message twice from a reader that gives a byte at a time,
// and looks what is left.
func (c Case) stream(t *Type) error {
	in := bytes.NewReader(slices.Concat(c.Msg, c.Msg, behind))
	r := newReader(iotest.OneByteReader(in))
	for range 2 {
		m := t.New()
		if err := m.DecodeStream(r); err != nil {
			return err
		}
		if err := c.same(m); err != nil {
			return err
		}
	}
	if left, _ := io.ReadAll(in); !bytes.Equal(left, behind) {
		return fmt.Errorf("read past the message: % x left of % x", left, behind)
	}
	return nil
}

func (c Case) view(t *Type) error {
	if t.View == nil {
		return nil
	}
	v, err := t.View(c.Msg)
	if err != nil {
		return err
	}
	return compareView(v, c, t)
}

// cut holds that no message decodes from fewer bytes than it has, and that the
// error says where.
func (c Case) cut(t *Type) error {
	for n := range len(c.Msg) {
		if n > 40 && n < len(c.Msg)-10 { // the border cases are at both ends
			continue
		}
		err := Case{Msg: c.Msg[:n]}.refused(t)
		if err != nil {
			return fmt.Errorf("to %d bytes: %w", n, err)
		}
	}
	return nil
}

func (c Case) peer(t *Type) error {
	if t.Peer == nil {
		return nil
	}
	theirs, err := t.Peer(c.Msg)
	if err != nil {
		return fmt.Errorf("refuses: %w", err)
	}
	m := t.New()
	if err := m.UnmarshalBinary(theirs); err != nil {
		return fmt.Errorf("wrote %x: %w", theirs, err)
	}
	if err := c.same(m); err != nil {
		return fmt.Errorf("wrote %x: %w", theirs, err)
	}
	return nil
}

// refused checks that no way in takes the message.
func (c Case) refused(t *Type) error {
	err := t.New().UnmarshalBinary(c.Msg)
	if err == nil {
		return errors.New("UnmarshalBinary takes it")
	}
	if err := c.placed(err); err != nil {
		return err
	}
	for _, mode := range modes {
		if _, err := t.New().DecodeBinary(c.Msg, mode.o); err == nil {
			return fmt.Errorf("DecodeBinary (%s) takes it", mode.name)
		}
	}
	if err := t.New().DecodeStream(newReader(bytes.NewReader(c.Msg))); err == nil {
		return errors.New("DecodeStream takes it")
	}
	if t.View != nil {
		if _, err := t.View(c.Msg); err == nil {
			return errors.New("the view takes it")
		}
	}
	return nil
}

// placed checks that an error says where in the message.
func (c Case) placed(err error) error {
	var at *wire.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("%T is no *wire.Error: %w", err, err)
	}
	if at.Offset < 0 || int64(at.Offset) > int64(len(c.Msg)) {
		return fmt.Errorf("offset %d in %d bytes: %w", at.Offset, len(c.Msg), err)
	}
	return nil
}

// long checks a valid message with bytes behind it.
func (c Case) long(t *Type) error {
	if err := t.New().UnmarshalBinary(c.Msg); !errors.Is(err, wire.ErrTrailing) {
		return fmt.Errorf("UnmarshalBinary: %v, want ErrTrailing", err)
	}
	m := t.New()
	n, err := m.DecodeBinary(c.Msg, wire.Options{})
	if err != nil || n >= len(c.Msg) {
		return fmt.Errorf("DecodeBinary: %d of %d bytes, %w", n, len(c.Msg), err)
	}
	return c.same(m)
}

// newReader gives a reader with a limit that no message here comes near.
func newReader(r io.Reader) *wire.Reader { return wire.NewReader(r, 1<<24) }

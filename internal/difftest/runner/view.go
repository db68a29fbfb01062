package runner

import (
	"fmt"
	"reflect"

	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// Indexed makes a type's View from its generated function for indexed views.
// One index serves all messages, as it would in a program.
func Indexed[V any](of func([]byte, *wire.Index) (V, error)) func([]byte) (any, error) {
	var ix wire.Index
	return func(b []byte) (any, error) { return of(b, &ix) }
}

// Fixed makes a type's View from its generated function for views of fixed
// types, whose bytes are only checked on demand.
func Fixed[V interface{ Validate() error }](of func([]byte) (V, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) {
		v, err := of(b)
		if err == nil {
			err = v.Validate()
		}
		return v, err
	}
}

// compareView reads every field of a view and holds it against the decoded value.
func compareView(view any, c Case, t *Type) error {
	m := t.New()
	if err := m.UnmarshalBinary(c.Msg); err != nil {
		return err
	}
	if err := sameView(reflect.ValueOf(view), reflect.ValueOf(m).Elem()); err != nil {
		return fmt.Errorf("%T: %w", view, err)
	}
	return nil
}

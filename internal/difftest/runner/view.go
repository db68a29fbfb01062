package runner

import "reflect"

// compareView reads every field of a view and holds it against the decoded value.
func compareView(view any, c Case, t *Type) error {
	m := t.New()
	if err := m.UnmarshalBinary(c.Msg); err != nil {
		return err
	}
	return sameView(reflect.ValueOf(view), reflect.ValueOf(m).Elem())
}

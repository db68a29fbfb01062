package runner

import "reflect"

// SameView holds everything that a view shows, by its accessors, against the
// value that the same message decodes to: a struct or another generated type,
// not a pointer.
func SameView(view, x any) error {
	return sameView(reflect.ValueOf(view), reflect.ValueOf(x))
}

package wire

// Optional is a value that may be absent. The zero value is absent.
type Optional[T any] struct {
	Value T    // counts only where Valid is true
	Valid bool // whether there is a value
}

// Some returns an optional that is there.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Valid: true} }

// None returns an optional that is absent.
func None[T any]() Optional[T] { return Optional[T]{} }

// Get returns the value and whether there is one.
func (o Optional[T]) Get() (v T, ok bool) {
	if !o.Valid {
		return v, false
	}
	return o.Value, true
}

// Or returns the value, or another where it is absent.
func (o Optional[T]) Or(other T) T {
	if o.Valid {
		return o.Value
	}
	return other
}

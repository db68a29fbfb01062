// Package seal has the key to functions that only the runtime's own packages may
// call. Nobody else can name it, but inference can make its zero value, so that one opens
// nothing.
package seal

// Friend is the key. The zero value is none.
type Friend struct{ friend bool }

// Key is the key. It must not be stored where users can reach it.
func Key() Friend { return Friend{true} }

// OK reports whether f is the key.
func (f Friend) OK() bool { return f.friend }

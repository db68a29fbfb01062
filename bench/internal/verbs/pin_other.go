//go:build !linux

package verbs

// pin does nothing: the system decides.
func pin(placing) (peer int, undo func() error, err error) {
	return -1, func() error { return nil }, nil
}

func pinTo(int) error { return nil }

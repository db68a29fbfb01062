package numa

import (
	"errors"
	"runtime"
)

// errNoWork is what Run gives where there is nothing to run.
var errNoWork = errors.New("numa: run: the function is nil")

// Run calls f in a goroutine that runs on the processors of a node, and returns what it returned. A panic of f, and
// runtime.Goexit, go on in the caller. When f ends the thread may run where it could before, exactly; one that the system does
// not give that back goes with the goroutine. Goroutines that f starts run anywhere.
// The error is [ErrNoProcessor], [ErrNoNode], [ErrNoNUMA], [ErrForbidden], or f's.
//
//barewire:effect runs=f of node
func Run(node int, f func() error) error {
	if f == nil {
		return errNoWork
	}
	var (
		err      error
		ended    bool
		panicked any
	)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if !ended {
				panicked = recover() // nil after Goexit
			}
		}()
		err = pinned(node, f)
		ended = true
	}()
	<-done
	switch {
	case panicked != nil:
		panic(panicked)
	case !ended:
		runtime.Goexit()
	}
	return err
}

// pinned calls f on the processors of a node.
func pinned(node int, f func() error) error {
	unpin, err := Pin(node)
	if err != nil {
		return err
	}
	defer unpin()
	return f()
}

//go:build !unix

package region

import "errors"

var errNoMapping = errors.New("regions are on the Go heap on this system")

// obtain takes memory from the Go heap: nothing else is common to the systems that are left.
func obtain(a ask) (memory, error) { return fromHeap(a, errNoMapping) }

func obtainFile(ask) (memory, error) { return memory{}, errNoMapping }

func (m memory) release() error { return nil }

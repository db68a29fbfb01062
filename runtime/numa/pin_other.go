//go:build !linux

package numa

import (
	"fmt"
	"runtime"
)

// Pin has the calling goroutine run on processors of a node, where there is Linux. Here it is [ErrNoNUMA].
//
//barewire:effect pins=node
func Pin(node int) (unpin func(), err error) {
	return nil, fmt.Errorf("numa: pin to node %d: %s: %w", node, runtime.GOOS, ErrNoNUMA)
}

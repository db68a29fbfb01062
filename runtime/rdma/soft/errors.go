package soft

import (
	"errors"
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var (
	errClosed = errors.New("it is closed")
	errKilled = errors.New("its end was killed")
	errFull   = errors.New("soft: the queue is full: poll completions before posting more")
)

// status makes the error of a completion.
func status(s rdma.Status, format string, args ...any) *rdma.StatusError {
	return &rdma.StatusError{Status: s, Detail: fmt.Sprintf(format, args...)}
}

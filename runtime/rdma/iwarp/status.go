package iwarp

import (
	"errors"
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

var errFull = errors.New("iwarp: the queue is full: poll completions before posting more")

// status makes the error of a completion.
func status(s rdma.Status, format string, args ...any) *rdma.StatusError {
	return &rdma.StatusError{Status: s, Detail: fmt.Sprintf(format, args...)}
}

// asError keeps a nil a nil.
func asError(serr *rdma.StatusError) error {
	if serr == nil {
		return nil
	}
	return serr
}

// statuses are what the cause of a peer's Terminate means for the request that it is about.
var statuses = map[fpdu.Cause]rdma.Status{
	fpdu.InvalidSTag:       rdma.StatusRemoteKey,
	fpdu.TaggedSTag:        rdma.StatusRemoteKey,
	fpdu.ForeignSTag:       rdma.StatusRemoteKey,
	fpdu.TaggedForeign:     rdma.StatusRemoteKey,
	fpdu.OutOfBounds:       rdma.StatusRemoteRange,
	fpdu.TaggedBounds:      rdma.StatusRemoteRange,
	fpdu.WrappedTO:         rdma.StatusRemoteRange,
	fpdu.TaggedWrap:        rdma.StatusRemoteRange,
	fpdu.NoRight:           rdma.StatusRemoteRight,
	fpdu.NotInvalidated:    rdma.StatusRemoteRight,
	fpdu.NotInvalidatedOp:  rdma.StatusRemoteRight,
	fpdu.Protection:        rdma.StatusRemoteRight,
	fpdu.NoBuffer:          rdma.StatusNotReady,
	fpdu.MessageTooLong:    rdma.StatusTooLong,
	fpdu.StreamCatastrophe: rdma.StatusProvider,
}

// statusOf is the status of a request that a Terminate with a cause is about.
func statusOf(c fpdu.Cause) rdma.Status {
	if s, ok := statuses[c]; ok {
		return s
	}
	return rdma.StatusProvider
}

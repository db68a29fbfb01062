package iwarp

import (
	"context"
	"errors"
	"slices"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// queue is one end of a connection.
type queue struct {
	dom *domain
	s   *session
}

var _ rdma.Queue = (*queue)(nil)

// newQueue takes over the connection of a session. The queue's goroutines run from here on, until it has ended.
func (d *domain) newQueue(s *session) (*queue, error) {
	return &queue{dom: d, s: s}, nil
}

// Hello is what the peer said when it connected.
func (q *queue) Hello() []byte { return slices.Clone(q.s.hello) }

// Peer is the peer's address.
func (q *queue) Peer() string { return q.s.peer }

var errUnfinished = errors.New("iwarp: not yet")

func (q *queue) Prepare(ctx context.Context, key rdma.RKey, epoch uint32) error { return errUnfinished }
func (q *queue) Post(wrs []rdma.WorkRequest) (int, error)                       { return 0, errUnfinished }
func (q *queue) PostReceive(rs []rdma.ReceiveRequest) error                     { return errUnfinished }
func (q *queue) Poll(out []rdma.Completion) int                                 { return 0 }
func (q *queue) Wait(ctx context.Context) error                                 { return errUnfinished }
func (q *queue) Abort(cause error)                                              {}

// Close ends the queue.
func (q *queue) Close() error { return q.s.conn.Close() }

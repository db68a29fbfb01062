//go:build amd64 || arm64

package verbs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
)

// Wait sleeps in Go's poller until the device has an event: it is asked for one first, and then for completions that came
// before that, which stay for Poll. Source: ibv_req_notify_cq(3), ibv_get_cq_event(3).
func (q *queue) Wait(ctx context.Context) error {
	q.waitMu.Lock()
	defer q.waitMu.Unlock()
	if q.closed.Load() {
		return q.usable()
	}
	_ = q.events.SetReadDeadline(time.Time{}) // from here on a kick is not lost
	defer context.AfterFunc(ctx, q.kick)()
	if err := ctx.Err(); err != nil {
		return err
	}
	if some, err := q.arm(); some || err != nil {
		return err
	}
	err := q.raw.Read(q.nextEvent)
	switch {
	case q.closed.Load():
		return q.usable()
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("verbs: waiting for completions with %s: %w", q.peer, err)
	}
	return nil
}

// arm asks for an event, and reports whether there is something already.
func (q *queue) arm() (some bool, err error) {
	q.pollMu.Lock()
	defer q.pollMu.Unlock()
	if q.closed.Load() {
		return false, q.usable()
	}
	if q.pending() {
		return true, nil
	}
	q.in.args = [3]uintptr{q.hw.cq, 0, 0}
	if rc := int32(dl.Fast(q.calls.reqNotify, q.in.args[:2])); rc != 0 {
		return false, fmt.Errorf("verbs: waiting for completions with %s: ibv_req_notify_cq: %w", q.peer, syscall.Errno(max(rc, -rc)))
	}
	return q.in.look(q, atOnce) > 0 || q.pending(), nil
}

// pending reports whether Poll has something without asking the device. The poll lock is held.
func (q *queue) pending() bool {
	if q.in.from < q.in.to {
		return true
	}
	bad, gone := q.failed.Load() != nil, q.hw.gone.Load()
	if head := q.head.Load(); head < q.tail.Load() {
		switch q.sends[head&q.mask].state.Load() {
		case refused, early:
			return true
		case withDevice:
			if gone {
				return true
			}
		default:
			if bad {
				return true
			}
		}
	}
	head := q.rhead.Load()
	return bad && head < q.took.Load() && (gone || q.recvs[head&q.rmask].here.Load())
}

// nextEvent takes an event off the channel, and reports whether there was one. Events are acknowledged when the queue ends.
func (q *queue) nextEvent(uintptr) bool {
	b := q.hw.event
	r, errno := dl.Call(q.dom.adapter.lib.getCQEvent, q.hw.channel, b.Addr(0), b.Addr(8))
	if r == 0 {
		q.hw.acks++
		return true
	}
	return errno != syscall.EAGAIN
}

package gpu

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// DefaultPatience is how long calls that take no context wait for a driver where [Config] says nothing else.
const DefaultPatience = 30 * time.Second

// forever is the patience of who has no limit.
const forever = time.Duration(1<<63 - 1)

// bounded has a driver do something that it may not return from: where a device hangs, who frees memory of it waits for what hangs. It returns
// what f gives, or an error when ctx ends. Then f goes on, and late gets what it came to.
func bounded[V any](ctx context.Context, f func() (V, error), late func(V, error)) (V, error) {
	type answer struct {
		v   V
		err error
	}
	var left atomic.Bool // by whoever is first: f that has ended, or who waits
	done := make(chan answer, 1)
	go func() {
		v, err := f()
		if left.CompareAndSwap(false, true) {
			done <- answer{v, err}
		} else if late != nil {
			late(v, err)
		}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
	}
	if !left.CompareAndSwap(false, true) {
		a := <-done
		return a.v, a.err
	}
	var none V
	return none, unanswered{fmt.Errorf("the driver has not answered: %w", context.Cause(ctx))}
}

// patiently is a context for calls that take none.
func (d *Device) patiently() (context.Context, context.CancelFunc) {
	if d.patience == forever {
		return context.Background(), func() {}
	}
	return context.WithTimeoutCause(context.Background(), d.patience, fmt.Errorf("%w: %v are over (Config.Patience)", ErrHung, d.patience))
}

// call is bounded for what gives nothing, by the device's patience.
func (d *Device) call(f func() error, late func(error)) error {
	ctx, cancel := d.patiently()
	defer cancel()
	return callIn(ctx, f, late)
}

// callIn is bounded for what gives nothing.
func callIn(ctx context.Context, f func() error, late func(error)) error {
	_, err := bounded(ctx, func() (struct{}, error) { return struct{}{}, f() }, func(_ struct{}, err error) {
		if late != nil {
			late(err)
		}
	})
	return err
}

// unanswered is the error of a call that goes on.
type unanswered struct{ error }

func (e unanswered) Unwrap() error { return e.error }

// goesOn reports whether bounded gave up a call that goes on.
func goesOn(err error) bool { _, ok := err.(unanswered); return ok }

// alive says why a context is of no use: there is none, or it has ended.
func alive(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: no context", ErrArgs)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

package devices

import (
	"context"
	"errors"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/numa"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// These are about results that nobody takes: errors of shared memory, and what ends a pin.

type shared = barewire.Region[sample.Tick, barewire.CXLShared, barewire.Unregistered]

func GoodPublish(r *shared, t *sample.Tick) (uint64, error) { return cxl.Publish(r, 0, t) }

// GoodPublishLooks asks for the error only.
func GoodPublishLooks(r *shared, t *sample.Tick) error {
	_, err := cxl.Publish(r, 0, t)
	return err
}

// GoodPublishMeant says that it does not matter whether this one gets there: the next one does.
func GoodPublishMeant(ctx context.Context, r *shared, t *sample.Tick) {
	for range 10 {
		_, _ = cxl.Publish(r, 0, t)
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// GoodPublishLast says at the end that it has ended, as well as it can.
func GoodPublishLast(r *shared, t *sample.Tick, serve func() error) error {
	defer cxl.Publish(r, 0, t)
	return serve()
}

func GoodSnapshot(r *shared) (t sample.Tick, err error) {
	if _, err = cxl.Snapshot(r, 0, &t); errors.Is(err, cxl.ErrUnpublished) {
		return sample.Tick{}, nil
	}
	return t, err
}

// publish is a helper: its error is its callers'.
func publish(r *shared, t *sample.Tick) (err error) {
	_, err = cxl.Publish(r, 0, t)
	return err
}

func GoodPublishHelper(r *shared, t *sample.Tick) error { return publish(r, t) }

func BadPublishAlone(r *shared, t *sample.Tick) error {
	cxl.Publish(r, 0, t) // want "BW5124 the error of Publish is not looked at"
	return nil
}

func BadPublishSequence(r *shared, t *sample.Tick, tell func(uint64)) {
	seq, _ := cxl.Publish(r, 0, t) // want "BW5124 the error of Publish is not looked at"
	tell(seq)
}

func BadPublishBytes(r *shared, b []byte) {
	cxl.PublishBytes(r, 0, b) // want "BW5124 the error of PublishBytes is not looked at"
}

func BadSnapshotAlone(r *shared) (t sample.Tick) {
	cxl.Snapshot(r, 0, &t) // want "BW5124 the error of Snapshot is not looked at"
	return t
}

func BadSnapshotSince(r *shared, since uint64) (t sample.Tick, seq uint64) {
	seq, _ = cxl.SnapshotSince(r, 0, &t, since) // want "BW5124 the error of SnapshotSince is not looked at"
	return t, seq
}

// GoodPinned unpins at its end.
func GoodPinned(node int, f func() float64) (float64, error) {
	unpin, err := numa.Pin(node)
	if err != nil {
		return 0, err
	}
	defer unpin()
	return f(), nil
}

// GoodPinnedForLife is the body of a worker, which stays where it is.
func GoodPinnedForLife(node int, jobs <-chan func()) {
	go func() {
		if _, err := numa.Pin(node); err != nil {
			return
		}
		for job := range jobs {
			job()
		}
	}()
}

// GoodPinnedWorker is the same, by a name.
func GoodPinnedWorker(node int, jobs <-chan func()) error {
	if _, err := numa.Pin(node); err != nil {
		return err
	}
	for job := range jobs {
		job()
	}
	return nil
}

// GoodPinnedAnyway goes on where it can't be pinned.
func GoodPinnedAnyway(node int, jobs <-chan func()) {
	_, _ = numa.Pin(node)
	for job := range jobs {
		job()
	}
}

// GoodPin gives on what unpins.
func GoodPin(node int) (func(), error) { return numa.Pin(node) }

// GoodPinnedInTurn unpins before it pins again.
func GoodPinnedInTurn(nodes []int, f func()) error {
	for _, n := range nodes {
		unpin, err := numa.Pin(n)
		if err != nil {
			return err
		}
		f()
		unpin()
	}
	return nil
}

func BadPinnedMeasures(node int, f func() float64) (float64, error) {
	if _, err := numa.Pin(node); err != nil { // want "BW5123 the function that Pin gives is dropped: the goroutine stays pinned when .BadPinnedMeasures. has returned"
		return 0, err
	}
	return f(), nil
}

func BadPinnedLoop(nodes []int, f func()) error {
	for _, n := range nodes {
		if _, err := numa.Pin(n); err != nil { // want "BW5123 the function that Pin gives is dropped"
			return err
		}
		f()
	}
	return nil
}

func BadPinnedAgain(f func()) error {
	if _, err := numa.Pin(0); err != nil { // want "BW5123 the function that Pin gives is dropped"
		return err
	}
	f()
	unpin, err := numa.Pin(1)
	if err != nil {
		return err
	}
	defer unpin()
	f()
	return nil
}

func BadPinnedAlone(node int, n int) (sum int) {
	numa.Pin(node) // want "BW5123 the function that Pin gives is dropped"
	for i := range n {
		sum += i
	}
	return sum
}

package devices

import (
	"errors"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/numa"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// These are about nodes by runtime/numa itself.

func GoodNearMemory(n int) (err error) {
	r, err := numa.New(0, sample.CounterInNUMA(), n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return numa.Run(0, func() error {
		return barewire.With(r, func(w barewire.Window[sample.Counter, barewire.Unregistered]) error {
			sample.CounterAt(w, 0).SetValue(1)
			return nil
		})
	})
}

// GoodMigrated is moved to where it is used.
func GoodMigrated(n int) (err error) {
	r, err := numa.New(0, sample.CounterInNUMA(), n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := numa.Migrate(r, 1); err != nil {
		return err
	}
	unpin, err := numa.Pin(1)
	if err != nil {
		return err
	}
	defer unpin()
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	sample.CounterAt(w, 0).SetValue(1)
	return w.Close()
}

func BadFarMemory(n int) (err error) {
	r, err := numa.New(0, sample.CounterInNUMA(), n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	unpin, err := numa.Pin(1)
	if err != nil {
		return err
	}
	defer unpin()
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	sample.CounterAt(w, 0).SetValue(1) // want "BW5119 memory of .r. .* on node 0 is touched by a goroutine that is pinned to node 1"
	return w.Close()
}

// BadFarPlace is on the node that the schema says.
func BadFarPlace(n int) (err error) {
	r, err := numa.New(-1, sample.CounterInNUMA(), n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return numa.Run(0, func() error {
		w, err := barewire.Open(r)
		if err != nil {
			return err
		}
		sample.CounterAt(w, 0).SetValue(1) // want "BW5119 memory of .r. .* on node 1 is touched by a goroutine that is pinned to node 0"
		return w.Close()
	})
}

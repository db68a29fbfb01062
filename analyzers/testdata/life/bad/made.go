package bad

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// These make something and defer, as those in good do, and what they make is lost.

type made = *sample.TickCPU[barewire.Unregistered]

func madeUnlessFlag() (made, error) {
	ok := false
	r, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return nil, err
	}
	defer func() {
		if !ok {
			r.Close()
		}
	}()
	if _, err := barewire.Backing(r); err != nil {
		return nil, err
	}
	ok = true
	return r, nil
}

func BadTakesAndLoses() error {
	r, err := madeUnlessFlag() // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return err
	}
	_, err = barewire.Backing(r)
	return err
}

// BadClearsFirst returns nil by a named result, which is what the deferred function finds then.
func BadClearsFirst() (r made, err error) {
	ok := false
	r, err = barewire.New(sample.TickInCPU(), 1) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return nil, err
	}
	defer func() {
		if !ok {
			r.Close()
		}
	}()
	if _, err := barewire.Backing(r); err != nil {
		return nil, err
	}
	ok = true
	return r, nil
}

package good

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// These give what they make, and defer something: their callers have nothing to release where there is an error.

type made = *sample.TickCPU[barewire.Unregistered]

func GoodMadeTraced(trace func()) (made, error) {
	defer trace()
	r, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func GoodTakesTraced(trace func()) error {
	r, err := GoodMadeTraced(trace)
	if err != nil {
		return err
	}
	return r.Close()
}

func GoodMadeUnlessFlag() (made, error) {
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

func GoodTakesUnlessFlag() error {
	r, err := GoodMadeUnlessFlag()
	if err != nil {
		return err
	}
	return r.Close()
}

func GoodMadeUnlessError() (_ made, err error) {
	r, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if _, err = barewire.Backing(r); err != nil {
		return nil, err
	}
	return r, nil
}

func GoodTakesUnlessError() error {
	r, err := GoodMadeUnlessError()
	if err == nil {
		err = r.Close()
	}
	return err
}

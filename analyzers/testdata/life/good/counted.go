package good

import (
	"errors"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// Handles that are closed when a counter says so.

func GoodReferences(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	refs := 2
	release := func() error {
		if refs--; refs == 0 {
			return m.Close()
		}
		return nil
	}
	if err := release(); err != nil {
		return err
	}
	return release()
}

func GoodReferencesThatAreTaken(dom *rdma.Domain, twice bool) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	var refs uint
	take := func() { refs++ }
	release := func() error {
		if refs -= 1; refs > 0 {
			return nil
		}
		return m.Close()
	}
	take()
	if twice {
		take()
		if err := release(); err != nil {
			return err
		}
	}
	println(m.Len())
	return release()
}

// A number that grows beyond what is counted.
func GoodManyReferences(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	refs := 4
	take := func() { refs += 4 }
	release := func() error {
		if refs -= 4; refs != 0 {
			return nil
		}
		return m.Close()
	}
	take()
	if err := release(); err != nil {
		return err
	}
	return release()
}

// A retry that counts its turns in a variable that a literal shares.
func GoodTurnsAreCounted(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer m.Close()
	turns := 0
	again := func() bool { turns++; return turns < 3 }
	for again() {
		println(m.Len())
	}
	return nil
}

// GoodFromSecondTurn closes in each turn what the turn before has opened, and after the loop what the last one has.
func GoodFromSecondTurn(m *M, n int) error {
	var w sample.TickWindow[barewire.RemoteRead]
	for i := range n {
		if i > 0 {
			if err := w.Close(); err != nil {
				return err
			}
		}
		var err error
		if w, err = barewire.Open(m); err != nil {
			return err
		}
	}
	if n > 0 {
		return w.Close()
	}
	return nil
}

// GoodInFirstTurn makes in the first turn what all of them use.
func GoodInFirstTurn(dom *rdma.Domain, n int) error {
	var m *M
	for i := 0; i < n; i++ {
		if i == 0 {
			var err error
			if m, err = help.Open(dom); err != nil {
				return err
			}
		}
		if _, err := barewire.Backing(m); err != nil {
			return errors.Join(err, m.Close())
		}
	}
	if n > 0 {
		return m.Close()
	}
	return nil
}

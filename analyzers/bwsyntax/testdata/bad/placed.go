package bad

import (
	"context"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	dev "github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/numa"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

func nowhereAtNode() error {
	_, err := numa.New(0, barewire.Place[quote.Quote, barewire.NUMA]{}, 1) // want BW5002 "New is given the zero barewire.Place"
	return err
}

func nowhereLocal() error {
	var place barewire.Place[quote.Quote, barewire.NUMA]
	_, err := numa.Local(place, 1) // want BW5002 "`place` is the zero barewire.Place"
	return err
}

func nowhereInPool(pool *cxl.Pool) error {
	_, err := cxl.New(pool, barewire.Place[quote.Quote, barewire.CXL]{}, 1) // want BW5002 "New is given the zero barewire.Place"
	return err
}

func noWitness(p barewire.Place[quote.Quote, barewire.Unified]) error {
	_, err := dev.NewUnified(dev.Witness{}, p, 1) // want BW5002 "witnesses come from the device that was asked"
	return err
}

func noWitnessYet(p barewire.Place[quote.Quote, barewire.Unified]) error {
	var w dev.Witness
	_, err := dev.NewUnified(w, p, 1) // want BW5002 "`w` is the zero gpu.Witness"
	return err
}

// noPool is none of the findings: a place with a fallback takes no pool.
func noPool(ctx context.Context, p barewire.Place[quote.Quote, barewire.Unified]) error {
	r, err := cxl.New(nil, p, 1)
	if err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return err
	}
	var pool *cxl.Pool
	if r, err = cxl.New(pool, p, 1); err != nil {
		return err
	}
	return r.Close()
}

package bad

import (
	"golang.org/x/sync/errgroup"

	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

func BadErrgroupLeak(n int) error {
	var g errgroup.Group
	for range n {
		g.Go(func() error {
			r, err := barewire.New(sample.TickInCPU(), 1) // want "BW5104 .r. .* is not released on every path"
			if err != nil {
				return err
			}
			w, err := barewire.Open(r)
			if err != nil {
				return err
			}
			sample.TickAt(w, 0).SetPrice(1)
			if err := w.Close(); err != nil {
				return err
			}
			return r.Close()
		})
	}
	return g.Wait()
}

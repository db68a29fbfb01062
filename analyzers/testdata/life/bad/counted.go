package bad

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// BadReferenceTooMany has a reference that nobody gives back.
func BadReferenceTooMany(dom *rdma.Domain) error {
	m, err := help.Open(dom) // want "BW5104 .m. .* is not released on every path"
	if err != nil {
		return err
	}
	refs := 3
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

// BadReferenceTooFew is used after its last reference is gone.
func BadReferenceTooFew(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	refs := 1
	release := func() error {
		if refs--; refs == 0 {
			return m.Close()
		}
		return nil
	}
	err = release()
	m.Span(0, 1) // want "BW5101 .m. .* is used after Close"
	return err
}

// BadFromThirdTurn closes too late: the second turn takes the place of what the first has opened.
func BadFromThirdTurn(m *M, n int) error {
	var w sample.TickWindow[barewire.RemoteRead]
	for i := range n {
		if i > 1 {
			if err := w.Close(); err != nil {
				return err
			}
		}
		var err error
		if w, err = barewire.Open(m); err != nil { // want "BW5105 .w. .* is not closed on every path"
			return err
		}
	}
	if n > 0 {
		return w.Close()
	}
	return nil
}

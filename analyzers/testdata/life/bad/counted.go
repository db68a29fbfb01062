package bad

import (
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
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

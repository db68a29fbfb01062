package bad

import (
	"context"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

func noPlace() error {
	var place barewire.Place[quote.Quote, barewire.CPU]
	_, err := barewire.New(place, 1) // want BW5002 "`place` is the zero barewire.Place"
	return err
}

func literalPlace() error {
	_, err := barewire.New(barewire.Place[quote.Quote, barewire.CPU]{}, 1) // want BW5002 "New is given the zero barewire.Place"
	return err
}

func noGrant(dom *rdma.Domain, r *quote.QuoteCPU[barewire.Unregistered]) error {
	var none barewire.Grant[quote.Quote, barewire.RemoteRead]
	_, err := rdma.Register(dom, r, none) // want BW5002 "grants come from generated functions"
	return err
}

func newGrant(dom *rdma.Domain, r *quote.QuoteCPU[barewire.Unregistered]) error {
	_, err := rdma.Register(dom, r, *new(barewire.Grant[quote.Quote, barewire.Local])) // want BW5002 "Register is given the zero"
	return err
}

func noRegion() error {
	var r *quote.QuoteCPU[barewire.Local]
	w, err := barewire.Open(r) // want BW5002 "`r` is the zero *quote.QuoteCPU"
	if err != nil {
		return err
	}
	return w.Close()
}

func nilRegion() error {
	_, err := barewire.Open[quote.Quote, barewire.CPU, barewire.Local](nil) // want BW5002 "given no barewire.Region"
	return err
}

func convertedNil() error {
	_, err := barewire.Backing((*quote.QuoteCPU[barewire.Local])(nil)) // want BW5002 "given no quote.QuoteCPU"
	return err
}

func noOperation(ctx context.Context) error {
	var op rdma.Op
	return op.Wait(ctx) // want BW5002 "`op` is the zero rdma.Op when Wait is called"
}

func noWindow() error {
	var w quote.QuoteWindow[barewire.Local]
	_ = w.Len()
	return w.Close() // want BW5002 "windows come from Open"
}

func closed() error {
	var r *quote.QuoteCPU[barewire.Local]
	defer func() {
		_ = r.Close() // want BW5002 "`r` is the zero"
	}()
	return nil
}

func noReference(p rdma.Poster, r *quote.QuoteCPU[barewire.Local]) error {
	var rem quote.QuoteRemote[barewire.RemoteRead]
	_, err := rdma.Read(p, r.Span(0, 1), rem) // want BW5002 "references come from peers"
	return err
}

func noSpan(p rdma.Poster, rem quote.QuoteRemote[barewire.RemoteRead]) error {
	_, err := rdma.Read(p, barewire.Span[quote.Quote, barewire.Local]{}, rem) // want BW5002 "Read is given the zero"
	return err
}

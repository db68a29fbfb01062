package bad

import (
	"errors"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

func BadCleanupMethod(t testing.TB, dom *rdma.Domain) {
	m, err := help.Open(dom)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	_ = m.Span(0, 1)
	help.Drop(m) // want "BW5102 .m. .* is ended by Drop, and its cleanup ends it again"
}

func BadReturnsClosedInStruct(dom *rdma.Domain) (*holder, error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.Close() }()
	return &holder{m}, nil // want "BW5101 .m. .* is returned, and has ended by Close before that, in a defer"
}

type holder struct{ m *M }

func BadReturnsClosedWindow(m *M) (w help.W, err error) {
	w, err = barewire.Open(m)
	if err != nil {
		return w, err
	}
	defer w.Close()
	return w, nil // want "BW5106 .w. .* is returned, and has ended by Close before that, in a defer"
}

// BadRegistersNone registers what was not made.
func BadRegistersNone(dom *rdma.Domain) (*M, error) {
	r, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return rdma.Register(dom, r, sample.TickRemoteRead()) // want "BW5112 .r. .* is used where the call that makes it has failed, and it is nil"
	}
	m, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return m, nil
}

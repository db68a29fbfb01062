package bad

import (
	"errors"
	"io"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

func closeAll(cs ...io.Closer) (err error) {
	for _, c := range cs {
		err = errors.Join(err, c.Close())
	}
	return err
}

func through(c io.Closer) error { return closeAll(c) }

func BadUsedAfterHelper(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	shut(m)
	_ = m.Span(0, 1) // want "BW5101 .m. .* is used after shut"
	return nil
}

func BadClosedByMethodOfParameter(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	help.CloseG(m)
	return m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by CloseG before"
}

func BadClosedTogether(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	r, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return errors.Join(err, m.Close())
	}
	if err := closeAll(r, m); err != nil {
		return err
	}
	return m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by closeAll before"
}

func BadDeferredTwice(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer shut(m) // want "BW5102 .m. .* is ended by shut, and was ended by Close before"
	return m.Close()
}

func BadThroughTwo(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if err := through(m); err != nil {
		return err
	}
	return m.Close() // want "BW5102"
}

func BadWindowByHelper(m *M) (float64, error) {
	w, err := barewire.Open(m)
	if err != nil {
		return 0, err
	}
	shut(w)
	return sample.TickAt(w, 0).Price(), nil // want "BW5106 .w. .* is used after shut"
}

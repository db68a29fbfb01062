package bad

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
)

// These ask for something twice, and get it wrong where the answer is the same.

type settings struct {
	early bool
	name  string
}

func (s *settings) isEarly() bool { return s.early || strings.HasPrefix(s.name, "early") }

func BadAskedTwice(dom *rdma.Domain, s *settings) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if s.isEarly() {
		if err := m.Close(); err != nil {
			return err
		}
	}
	if s.isEarly() {
		return m.Close() // want "BW5102"
	}
	return m.Close()
}

func BadAskedForNothing(dom *rdma.Domain, s *settings) error {
	m, err := help.Open(dom) // want "BW5104 .m. .* is not released on every path"
	if err != nil {
		return err
	}
	if s.early {
		if err := m.Close(); err != nil {
			return err
		}
	}
	if s.early {
		return nil
	}
	return nil
}

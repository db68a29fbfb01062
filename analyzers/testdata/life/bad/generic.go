package bad

import (
	"errors"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func BadMustGeneric(dom *rdma.Domain) int {
	m := must(help.Open(dom)) // want "BW5104 .what Open gives. .* is not released on every path"
	return m.Len()
}

func BadMustGenericTwice(dom *rdma.Domain) error {
	m := must(help.Open(dom))
	defer m.Close() // want "BW5102 .what Open gives. .* is ended by Close, and was ended by Close before"
	return m.Close()
}

func or[T comparable](a, b T) T {
	var zero T
	if a != zero {
		return a
	}
	return b
}

func BadEitherOfTwo(m *M, flag bool) error {
	n := m
	if flag {
		n = or(m, nil)
	}
	if n != m {
		return errors.New("another")
	}
	return errors.Join(n.Close(), m.Close()) // want "BW5102 .m. .* is ended by Close, and was ended by Close before"
}

package good

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
)

func needed[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func GoodCurried(t *testing.T, dom *rdma.Domain) {
	m := needed(help.Open(dom))(t)
	t.Cleanup(func() { m.Close() })
	if m.Len() == 0 {
		t.Error("empty")
	}
}

func getter(m *M) func() *M { return func() *M { return m } }

func GoodGetter(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	get := getter(m)
	return get().Close()
}

func lazily(m *M) func() func() error {
	return func() func() error { return m.Close }
}

func GoodLazyClose(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	return lazily(m)()()
}

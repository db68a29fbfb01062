package bad

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
)

// What docs/vet.md says is not found, under Limits.

// BadClosedBeforeSliceOfOps keeps operations in a slice, and ends the region that they read into before it waits for them.
func BadClosedBeforeSliceOfOps(ctx context.Context, c *rdma.Conn, m *M, rem help.Rem) error {
	var ops []rdma.Op
	for i := range 8 {
		op, err := rdma.Read(c, m.Span(i, 1), rem)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	if err := m.Close(); err != nil { // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
		return err
	}
	for _, op := range ops {
		if err := op.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func shut(c io.Closer) { _ = c.Close() }

// BadClosedByInterface ends a handle by a helper that knows it as an io.Closer, and once more.
func BadClosedByInterface(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	shut(m)
	return m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by shut before"
}

// BadClosedByCleanup is closed by the test, and by its cleanup.
func BadClosedByCleanup(t *testing.T, dom *rdma.Domain) {
	m, err := help.Open(dom)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	if err := m.Close(); err != nil { // want "BW5102 .m. .* is ended by Close, and its cleanup ends it again"
		t.Fatal(err)
	}
}

// BadHolderIsDropped drops a struct from another package, with what it holds.
func BadHolderIsDropped(dom *rdma.Domain) error {
	h, err := help.OpenHolder(dom)
	if err != nil {
		return err
	}
	fmt.Println(h) // miss a handle in a struct that a function gives
	return nil
}

// BadClosedByList closes by a function with any number of parameters, and again.
func BadClosedByList(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if err := help.CloseAll(m); err != nil {
		return err
	}
	return m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by CloseAll before"
}

// BadClosesWhatIsLent closes what another package's function lends it, and closes itself.
func BadClosesWhatIsLent(dom *rdma.Domain) error {
	return help.Lend(dom, func(m *help.M) error {
		return m.Close() // miss it is not known whose a parameter of a literal is
	})
}

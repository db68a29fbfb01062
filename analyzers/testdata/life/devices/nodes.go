package devices

import (
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/later"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// These are about nodes as types, as what a place says, and through functions of a program's own.

func GoodTyped(n int) (float32, error) {
	m, err := later.NewTyped[later.Node1](n)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	unpin, err := later.PinTo[later.Node1]()
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil
}

// GoodTypedOpen is for any node: whether they are the same its callers know.
func GoodTypedOpen[N, M later.Node](m *later.Typed[N]) (float32, error) {
	unpin, err := later.PinTo[M]()
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil
}

// GoodMirror is near to both.
func GoodMirror(m *later.Mirror[later.Node0, later.Node1]) (float32, error) {
	unpin, err := later.PinTo[later.Node1]()
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil
}

func GoodWorkersOfTheSame(m *later.Typed[later.Node0], w *later.Workers[later.Node0]) {
	w.Do(func() { m.Elements()[0] = 1 })
}

// GoodWorkersOpen has workers of some node.
func GoodWorkersOpen[N later.Node](m *later.Typed[later.Node0], w *later.Workers[N]) {
	w.Do(func() { m.Elements()[0] = 1 })
}

// GoodAfterRun touches it when the other node's work is done.
func GoodAfterRun(m *later.Typed[later.Node0]) error {
	if err := later.Run(1, func() error { return nil }); err != nil {
		return err
	}
	m.Elements()[0] = 1
	return nil
}

// GoodRunPinsItself is on the memory's node in the end.
func GoodRunPinsItself(m *later.Typed[later.Node0]) error {
	return later.Run(1, func() error {
		unpin, err := later.PinTo[later.Node0]()
		if err != nil {
			return err
		}
		defer unpin()
		m.Elements()[0] = 1
		return nil
	})
}

// GoodPinFailed goes on where it was, if it may not be pinned.
func GoodPinFailed(m *later.Typed[later.Node0]) float32 {
	unpin, err := later.Pin(1)
	if err != nil {
		return m.Elements()[0]
	}
	defer unpin()
	return 0
}

func GoodPlacedNode(n int) (float32, error) {
	m, err := later.NewPlaced(sample.CounterInNUMA(), n)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	unpin, err := later.Pin(1)
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil
}

// GoodPlaceOverridden asks for another node than the schema's.
func GoodPlaceOverridden(n int) (float32, error) {
	m, err := later.NewAt(0, sample.CounterInNUMA(), n)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	unpin, err := later.Pin(0)
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil
}

// GoodPlaceMaybeOverridden does it if its caller does.
func GoodPlaceMaybeOverridden(n, node int) (float32, error) {
	m, err := later.NewAt(node, sample.CounterInNUMA(), n)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	unpin, err := later.Pin(0)
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil
}

// allocate is a program's own allocator, and onNode its own way to be pinned.
func allocate(node, n int) (*later.NodeMemory, error) { return later.OnNode(n, node) }

func pin(node int) (func(), error) { return later.Pin(node) }

func onNode(node int, f func()) error {
	unpin, err := later.Pin(node)
	if err != nil {
		return err
	}
	defer unpin()
	f()
	return nil
}

// either runs f there, or here.
func either(node int, f func()) {
	unpin, err := later.Pin(node)
	if err != nil {
		f()
		return
	}
	defer unpin()
	f()
}

func GoodOwnHelpers(n int) error {
	m, err := allocate(1, n)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := onNode(1, func() { m.Elements()[0] = 1 }); err != nil {
		return err
	}
	unpin, err := pin(1)
	if err != nil {
		return err
	}
	defer unpin()
	m.Elements()[0] = 2
	return nil
}

func GoodEither(m *later.Typed[later.Node0]) {
	either(1, func() { m.Elements()[0] = 1 })
}

func BadTyped(n int) (float32, error) {
	m, err := later.NewTyped[later.Node0](n)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	unpin, err := later.PinTo[later.Node1]()
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil // want "BW5119 memory of .m. .* on node 0 is touched by a goroutine that is pinned to node 1"
}

func BadTypedParameter(m *later.Typed[later.Node0]) (float32, error) {
	unpin, err := later.Pin(1)
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil // want "BW5119 memory of .m. .* on node 0 is touched by a goroutine that is pinned to node 1"
}

func BadBank(b *later.Bank) error {
	unpin, err := later.PinTo[later.Node0]()
	if err != nil {
		return err
	}
	defer unpin()
	clear(b.Elements())
	b.Elements()[0] = 1 // want "BW5119 memory of .b. .* on node 1 is touched by a goroutine that is pinned to node 0"
	return nil
}

type shard struct{ memory *later.Typed[later.Node1] }

func BadField(s *shard) error {
	unpin, err := later.PinTo[later.Node0]()
	if err != nil {
		return err
	}
	defer unpin()
	fill(s.memory.Elements()) // want "BW5119 memory of .* on node 1 is touched by a goroutine that is pinned to node 0"
	return nil
}

func BadWorkers(m *later.Typed[later.Node0], w *later.Workers[later.Node1]) {
	w.Do(func() { m.Elements()[0] = 1 }) // want "BW5119 memory of .m. .* on node 0 is touched by a goroutine that is pinned to node 1"
}

func BadRun(m *later.Typed[later.Node0]) error {
	return later.Run(1, func() error {
		fill(m.Elements()) // want "BW5119 memory of .m. .* on node 0 is touched by a goroutine that is pinned to node 1"
		return nil
	})
}

func BadPlaced(n int) (float32, error) {
	m, err := later.NewPlaced(sample.CounterInNUMA(), n)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	unpin, err := later.Pin(0)
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil // want "BW5119 memory of .m. .* on node 1 is touched by a goroutine that is pinned to node 0"
}

func BadPlaceByDefault(n int) error {
	place := sample.CounterInNUMA()
	m, err := later.NewAt(-1, place, n)
	if err != nil {
		return err
	}
	defer m.Close()
	return later.Run(0, func() error {
		m.Elements()[0] = 1 // want "BW5119 memory of .m. .* on node 1 is touched by a goroutine that is pinned to node 0"
		return nil
	})
}

func BadOwnAllocator(n int) error {
	m, err := allocate(0, n)
	if err != nil {
		return err
	}
	defer m.Close()
	return onNode(1, func() {
		m.Elements()[0] = 1 // want "BW5119 memory of .m. .* on node 0 is touched by a goroutine that is pinned to node 1"
	})
}

func BadOwnPin(n int) error {
	m, err := later.OnNode(n, 0)
	if err != nil {
		return err
	}
	defer m.Close()
	unpin, err := pin(1)
	if err != nil {
		return err
	}
	defer unpin()
	m.Elements()[0] = 1 // want "BW5119 memory of .m. .* on node 0 is touched by a goroutine that is pinned to node 1"
	return nil
}

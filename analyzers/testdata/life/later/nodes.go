package later

import barewire "github.com/fidelityframework/barewire-gen/runtime"

// NodeMemory is memory of one NUMA node.
//
//barewire:type handle
type NodeMemory struct{ elements []float32 }

// OnNode allocates n elements on a node.
//
//barewire:effect fresh=0 on ok, node=0 of node
func OnNode(n, node int) (*NodeMemory, error) { return &NodeMemory{make([]float32, n)}, nil }

// Elements are its memory.
//
//barewire:effect views=0 of m at all
func (m *NodeMemory) Elements() []float32 { return m.elements }

// Close frees it.
//
//barewire:effect releases=m on ok
func (m *NodeMemory) Close() error { return nil }

// Pin binds the calling goroutine's thread to the processors of a node, until unpin is called.
//
//barewire:effect pins=node
func Pin(node int) (unpin func(), err error) { return func() {}, nil }

// NewPlaced allocates n elements on the node of a place.
//
//barewire:effect fresh=0 on ok, node=0 of p
func NewPlaced[T barewire.Fixed[T]](p barewire.Place[T, barewire.NUMA], n int) (*NodeMemory, error) {
	return &NodeMemory{make([]float32, n)}, nil
}

// NewAt allocates n elements on a node, or on that of the place where node is below 0.
//
//barewire:effect fresh=0 on ok, node=0 of node, node=0 of p
func NewAt[T barewire.Fixed[T]](node int, p barewire.Place[T, barewire.NUMA], n int) (*NodeMemory, error) {
	return &NodeMemory{make([]float32, n)}, nil
}

// Run calls f on a thread that is pinned to a node.
//
//barewire:effect runs=f of node
func Run(node int, f func() error) error { return f() }

// Node0 is a node as a type.
//
//barewire:node 0
type Node0 struct{}

// Node1 is another.
//
//barewire:node 1
type Node1 struct{}

// Node is one of them.
type Node interface{ Node0 | Node1 }

// Typed is memory of the node that its type says.
//
//barewire:type handle
type Typed[N Node] struct {
	elements []float32
	_        [0]N
}

// NewTyped allocates n elements.
//
//barewire:effect fresh=0 on ok
func NewTyped[N Node](n int) (*Typed[N], error) { return &Typed[N]{elements: make([]float32, n)}, nil }

// Elements are its memory.
//
//barewire:effect views=0 of m at all
func (m *Typed[N]) Elements() []float32 { return m.elements }

// Close frees it.
//
//barewire:effect releases=m on ok
func (m *Typed[N]) Close() error { return nil }

// Mirror is memory that is on two nodes.
//
//barewire:type handle
type Mirror[N, M Node] struct {
	elements []float32
	_        [0]func(N, M)
}

// Elements are its memory.
//
//barewire:effect views=0 of m at all
func (m *Mirror[N, M]) Elements() []float32 { return m.elements }

// Bank is memory of node 1, by its name.
//
//barewire:type handle
//barewire:node 1
type Bank struct{ elements []float32 }

// Elements are its memory.
//
//barewire:effect views=0 of b at all
func (b *Bank) Elements() []float32 { return b.elements }

// PinTo is Pin for a node as a type.
//
//barewire:effect pins=N
func PinTo[N Node]() (unpin func(), err error) { return func() {}, nil }

// Workers run on the node that their type says.
type Workers[N Node] struct{ _ [0]N }

// Do calls f on one of them.
//
//barewire:effect runs=f of w
func (w *Workers[N]) Do(f func()) { f() }

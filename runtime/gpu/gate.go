package gpu

import "sync/atomic"

// gate keeps operations of a device and the host apart: there may be several of either, and not both. The zero gate is
// open to both.
type gate struct{ n atomic.Int64 } // above 0: operations; below: the host

// enter counts an operation, unless the host is there.
func (g *gate) enter() bool {
	for {
		n := g.n.Load()
		if n < 0 {
			return false
		}
		if g.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave ends what enter began.
func (g *gate) leave() { g.n.Add(-1) }

// host counts the host once, unless operations are there.
func (g *gate) host() bool {
	for {
		n := g.n.Load()
		if n > 0 {
			return false
		}
		if g.n.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// unhost ends what host began.
func (g *gate) unhost() { g.n.Add(1) }

package iwarp

import "sync/atomic"

// gate counts who is at work on memory through a queue. Once it is shut nobody comes in, and whoever goes out last
// is told: only then may what is outstanding end, since its memory is its owner's again.
type gate struct {
	v atomic.Int64 // who is inside, plus shut
}

const gateShut = 1 << 62

// enter lets in, unless the gate is shut. After either answer leave must be called.
func (g *gate) enter() bool { return g.v.Add(1) < gateShut }

// leave reports whether the gate is shut and nobody is inside.
func (g *gate) leave() (idle bool) { return g.v.Add(-1) == gateShut }

// shut shuts the gate, once. It reports whether nobody is inside.
func (g *gate) shut() (idle bool) { return g.v.Add(gateShut) == gateShut }

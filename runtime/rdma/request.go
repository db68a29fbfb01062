package rdma

import (
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// local puts a range of a region into a request.
func (r *request) local(h *region.Handle, gen uint32, off, n int) error {
	r.h, r.gen, r.off, r.bytes, r.first = h, gen, off, n, n
	if n <= 0 {
		return ErrEmpty
	}
	return nil
}

// remote puts a range of a peer's region into a request; it must have n bytes and
// the right that the verb needs.
func (r *request) remote(ref *barewire.Ref, n int) error {
	if have := ref.Count * uint64(ref.Size); have != uint64(n) { // no overflow: checked when it was decoded
		return fmt.Errorf("%w: %d bytes here, and %s of %d bytes, %d bytes, there", ErrLength, n, region.Elements(ref.Count), ref.Size, have)
	}
	need := barewire.Rights(region.Write)
	switch r.verb {
	case VerbRead:
		need = region.Read
	case VerbCompareSwap, VerbFetchAdd:
		need = region.Atomic
	}
	if ref.Rights&need == 0 {
		return fmt.Errorf("%w: the reference grants %s, and a %s needs %s", ErrRights, rightsText(ref.Rights), r.verb, rightsText(need))
	}
	r.key, r.epoch, r.addr, r.rights = RKey(ref.Key), ref.Epoch, ref.Addr, ref.Rights
	return nil
}

// connOf is the connection that operations are posted on, or nil.
func connOf(p Poster) *Conn {
	if p == nil {
		return nil
	}
	c, _ := p.poster()
	return c
}

// refuseOn is [refuse] for a Poster.
func refuseOn(p Poster, r *request, err error) error { return refuse(connOf(p), r, err) }

// hold holds a piece's region and finds its registration.
func hold(p Poster, g *piece) error {
	c := connOf(p)
	if c.none() {
		return errNoConn
	}
	if err := g.h.Hold(g.gen); err != nil {
		return err
	}
	reg, ok := g.h.Reg.(*registration)
	if !ok || reg.dom != c.dom {
		err := c.foreign(g.h)
		g.h.Drop()
		return err
	}
	g.reg = reg
	return nil
}

// letGo lets go of held pieces.
func letGo(ps []piece) {
	for _, g := range ps {
		g.h.Drop()
	}
}

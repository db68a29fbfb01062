package rdma

import (
	"fmt"
	"math"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// AddressOf is what the peer of a plain connection needs to reach a region: the address of its first
// byte in the space of the remote key, that key, and how many bytes there are. How the peer is told, in which
// bytes of which message, is for the other program to say; rping sends them in network order.
// The key is good for all connections of the region's domain; [Scoped.Address] has one for this connection only. It is
// good until [Revoke], [Deregister] or [barewire.Region.Close]: the peer is not told of
// them, and its connection ends if it uses the key then.
//
// The error is [ErrBarewire] where the peer speaks barewire: use [Offer] or [RemoteOf]. It is [ErrDomain] or [ErrRevoked] as
// for these.
//
//barewire:effect uses=mr, meets=mr of c, address=0 of mr
func AddressOf[T barewire.Fixed[T], R barewire.Registrable, A barewire.RemoteAccess](c *Conn, mr *barewire.Region[T, R, A]) (addr uint64, key RKey, bytes int, err error) {
	reg, err := current(mr)
	if err != nil {
		return 0, 0, 0, err
	}
	ref, err := c.giveForeign(reg)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("rdma: the address of %s: %w", reg.h.Name(), err)
	}
	addr, key, bytes = addressIn(&ref)
	return addr, key, bytes, nil
}

// giveForeign is the reference to a region for a peer that speaks no barewire.
func (c *Conn) giveForeign(reg *registration) (barewire.Ref, error) {
	switch {
	case c.none():
		return barewire.Ref{}, errNoConn
	case !c.plain:
		return barewire.Ref{}, fmt.Errorf("%w: give it a Remote (Offer, or RemoteOf in a message)", ErrBarewire)
	case reg.dom != c.dom:
		return barewire.Ref{}, c.foreign(reg.h)
	}
	return reg.give(c)
}

// addressIn takes a reference apart.
func addressIn(ref *barewire.Ref) (addr uint64, key RKey, bytes int) {
	return ref.Addr, RKey(ref.Key), int(ref.Count) * int(ref.Size) // it is in this process
}

// Address is [AddressOf] for a right that only the connection's peer has.
//
//barewire:effect address=0 of g
func (g *Scoped[T, A]) Address() (addr uint64, key RKey, bytes int, err error) {
	if g == nil || g.s == nil {
		return 0, 0, 0, errNoScoped
	}
	if !g.s.conn.plain {
		return 0, 0, 0, fmt.Errorf("rdma: the address of %s: %w: give it a Remote (OfferScoped, or Remote in a message)", g.s.reg.h.Name(), ErrBarewire)
	}
	ref, err := g.s.give()
	if err != nil {
		return 0, 0, 0, fmt.Errorf("rdma: the address of %s: %w", g.s.reg.h.Name(), err)
	}
	addr, key, bytes = addressIn(&ref)
	return addr, key, bytes, nil
}

// Foreign is count elements in the memory of a plain connection's peer, which said where they are: the address
// of the first, and the remote key. What the peer really has there, and grants, is not known here: the
// elements are taken for T's in the layout that BARE gives them, the rights are what g says, and a use that the peer refuses
// ends the connection. It is for this connection: another peer knows no such key, or means something else by it.
//
// The error is [ErrBarewire] where the peer speaks barewire: use [Import], or [barewire.RemoteFrom] for what was in
// a message. It is [barewire.ErrRange] for elements that are none, or go beyond the end of the space, and
// [barewire.ErrNoRemote] for the key 0, which is nobody's.
func Foreign[T barewire.Fixed[T], A barewire.RemoteAccess](c *Conn, addr uint64, key RKey, count int, g barewire.Grant[T, A]) (barewire.Remote[T, A], error) {
	typ, rights, err := barewire.GrantParts(friend, g)
	if err != nil {
		return barewire.Remote[T, A]{}, err
	}
	if err := c.mayNameForeign(addr, key, count, uint64(typ.Size)); err != nil {
		return barewire.Remote[T, A]{}, fmt.Errorf("rdma: %d elements of %s at %#x under the peer's key %#x: %w", count, typ.Name, addr, uint32(key), err)
	}
	c.ctl.reinstate(key)
	return barewire.MakeRemote[T, A](friend, typ, barewire.Ref{
		Addr: addr, Count: uint64(count), Size: uint32(typ.Size), Key: uint32(key),
		Hash: [16]byte(typ.Hash[:16]), Rights: rights, Version: barewire.RefVersion,
	}), nil
}

// mayNameForeign says why memory of a peer cannot be named, if it cannot.
func (c *Conn) mayNameForeign(addr uint64, key RKey, count int, size uint64) error {
	switch {
	case c.none():
		return errNoConn
	case !c.plain:
		return fmt.Errorf("%w: use Import, or RemoteFrom for what came in a message", ErrBarewire)
	case key == 0:
		return barewire.ErrNoRemote
	case count < 1:
		return fmt.Errorf("%w: there must be one at least", barewire.ErrRange)
	}
	if uint64(count) > math.MaxInt/size || addr > math.MaxUint64-uint64(count)*size {
		return fmt.Errorf("%w: they go beyond the last address there is", barewire.ErrRange)
	}
	return nil
}

package rdma

import (
	"context"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// offer is what a peer may import by a name.
type offer struct {
	name   string
	typ    *region.Type
	rights barewire.Rights
	give   func() (barewire.Ref, error)
}

// maxName is the bytes of the longest name of an offer, and maxText of a refusal's text.
const (
	maxName = 120
	maxText = 300
)

// checkName refuses what is no name: empty, too long, or not to be printed.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > maxName:
		return fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrName, len(name), maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not UTF-8", ErrName, name)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("%w: %q has a character that cannot be printed", ErrName, name)
		}
	}
	return nil
}

// Offer lets the connection's peer import a region by a name, now or later, with what the region
// grants or less. It stays offered until [Withdraw], and as long as mr is
// registered and the connection is. Names have 1 to 120 printable bytes; the error is
// [ErrName], [ErrOffered], [ErrTooMany] (see [Config.MaxOffers]), [ErrPlain], or [ErrRevoked] after [Revoke].
//
//barewire:effect uses=mr, meets=mr of c, names=name
func Offer[T barewire.Fixed[T], R barewire.Registrable, A barewire.RemoteAccess](ctx context.Context, c *Conn, name string, mr *barewire.Region[T, R, A]) error {
	reg, err := current(mr)
	if err != nil {
		return err
	}
	if reg.lapsed() {
		return wrap(ErrRevoked, "offer %q: %s", name, reg.h.Name())
	}
	return c.offer(ctx, &offer{
		name: name, typ: reg.h.Type(), rights: reg.rights,
		give: func() (barewire.Ref, error) { return reg.give(c) },
	}, reg)
}

// OfferScoped is [Offer] for a right that only this connection's peer has.
//
//barewire:effect names=name
func OfferScoped[T barewire.Fixed[T], A barewire.RemoteAccess](ctx context.Context, c *Conn, name string, g *Scoped[T, A]) error {
	if g == nil || g.s == nil {
		return errNoScoped
	}
	s := g.s
	if s.conn != c {
		return wrap(ErrDomain, "offer %q: the right is for the connection with %s", name, s.conn.peer)
	}
	if _, err := s.give(); err != nil {
		return wrap(err, "offer %q: the right on %s", name, s.reg.h.Name())
	}
	return c.offer(ctx, &offer{name: name, typ: s.reg.h.Type(), rights: s.rights, give: s.give}, s.reg)
}

// give is the reference, as long as the right is not revoked.
func (s *scope) give() (barewire.Ref, error) {
	s.reg.mu.Lock()
	defer s.reg.mu.Unlock()
	switch {
	case s.given.Load():
		return barewire.Ref{}, fmt.Errorf("%w: its holder, %s, gave it back", ErrRevoked, s.conn.peer)
	case s.over || s.reg.ended:
		return barewire.Ref{}, ErrRevoked
	}
	return s.reg.ref(s.keys, s.rights), nil
}

// offer keeps an offer and answers those who asked before.
func (c *Conn) offer(ctx context.Context, o *offer, reg *registration) error {
	fail := func(err error) error { return fmt.Errorf("rdma: offer %q: %w", o.name, err) }
	if c.none() {
		return errNoConn
	}
	if err := checkName(o.name); err != nil {
		return fail(err)
	}
	switch {
	case c.plain:
		return fail(ErrPlain)
	case reg.dom != c.dom:
		return fail(c.foreign(reg.h))
	case ctx.Err() != nil:
		return fail(over(ctx))
	case c.failed.Load() != nil:
		return fail(&flushError{c.failed.Load().err})
	}
	k := &c.ctl
	k.mu.Lock()
	var asks []*ctl.Import
	var err error
	switch old := k.offers[o.name]; {
	case old != nil:
		err = fmt.Errorf("%w, as %s granting %s; withdraw it first", ErrOffered, old.typ.Name, rightsText(old.rights))
	case len(k.offers) >= c.dom.dev.cfg.MaxOffers:
		err = fmt.Errorf("%w: %d offers on this connection, as many as MaxOffers allows", ErrTooMany, len(k.offers))
	default:
		k.offers[o.name] = o
		for id, ask := range k.waiting {
			if ask.Name == o.name {
				asks = append(asks, ask)
				delete(k.waiting, id)
			}
		}
	}
	k.mu.Unlock()
	if err != nil {
		return fail(err)
	}
	c.dom.dev.cfg.see(Event{Kind: EventOffered, Peer: c.peer, Name: o.name})
	for _, ask := range asks {
		c.reply(o, ask)
	}
	return nil
}

// Withdraw takes an offer back: later imports wait for another by the name. Who has
// imported it keeps what it has, see [Revoke]. It reports whether there was one.
func Withdraw(c *Conn, name string) bool {
	if c.none() {
		return false
	}
	c.ctl.mu.Lock()
	defer c.ctl.mu.Unlock()
	_, ok := c.ctl.offers[name]
	delete(c.ctl.offers, name)
	return ok
}

// serve answers a peer's import, or keeps it until the name is offered.
func (c *Conn) serve(ask *ctl.Import) {
	if err := checkName(ask.Name); err != nil {
		c.refuseImport(ask, ctl.ReasonDenied, err.Error())
		return
	}
	k := &c.ctl
	k.mu.Lock()
	o := k.offers[ask.Name]
	full := false
	if o == nil {
		if full = len(k.waiting) >= c.dom.dev.cfg.MaxOffers; !full {
			k.waiting[ask.ID] = ask
		}
	}
	k.mu.Unlock()
	switch {
	case full:
		c.refuseImport(ask, ctl.ReasonTooMany, "too many imports wait for names that are not offered")
	case o != nil:
		c.reply(o, ask)
	}
}

// reply gives a peer the reference that it asked for, or says why not.
func (c *Conn) reply(o *offer, ask *ctl.Import) {
	want := barewire.Rights(ask.Rights)
	cfg := &c.dom.dev.cfg
	switch {
	case ask.Hash != [16]byte(o.typ.Hash[:16]) || uint64(ask.Size) != o.typ.Size:
		c.refuseImport(ask, ctl.ReasonSchema, fmt.Sprintf("%q is %s, schema hash %x, elements of %d bytes; asked for was %s, schema hash %x, elements of %d bytes",
			o.name, o.typ.Name, o.typ.Hash[:8], o.typ.Size, clean(ask.Type), ask.Hash[:8], ask.Size))
		return
	case want == 0 || want&^o.rights != 0:
		c.refuseImport(ask, ctl.ReasonRights, fmt.Sprintf("%q grants %s; asked for was %s", o.name, rightsText(o.rights), rightsText(want)))
		return
	}
	r := requestOf(c.q)
	r.Name, r.Type, r.Rights = o.name, o.typ.Name, rightsText(want)
	if err := cfg.authorize(c.ctx, r); err != nil {
		c.refuseImport(ask, ctl.ReasonDenied, err.Error())
		return
	}
	ref, err := o.give()
	if err != nil {
		c.refuseImport(ask, ctl.ReasonGone, fmt.Sprintf("%q was offered, and is registered no longer, or was revoked", o.name))
		return
	}
	answer := ctl.Imported{ID: ask.ID, Ref: refTo(ref)}
	cfg.see(Event{Kind: EventGranted, Peer: c.peer, Name: o.name})
	c.tell(&answer)
}

// refuseImport tells a peer why it does not get what it asked for.
func (c *Conn) refuseImport(ask *ctl.Import, why ctl.Reason, text string) {
	if len(text) > maxText {
		text = text[:maxText]
	}
	text, name := clean(text), clean(ask.Name)
	cfg := &c.dom.dev.cfg
	c.ctl.refusals.warn(cfg, "rdma: an import was refused", "peer", c.peer, "name", name, "reason", text)
	cfg.see(Event{Kind: EventRefused, Peer: c.peer, Name: name, Err: errors.New(text)})
	c.tell(&ctl.Refused{ID: ask.ID, Reason: why, Text: text})
}

// clean makes a peer's text fit for a log or a terminal.
func clean(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '?'
		}
		out = append(out, r)
	}
	return string(out)
}

// refusals are this package's reasons for what a peer says.
var refusals = map[ctl.Reason]error{
	ctl.ReasonSchema: ErrSchema, ctl.ReasonRights: ErrRights, ctl.ReasonTooMany: ErrTooMany, ctl.ReasonGone: ErrRevoked,
}

// refusal is the error of an import that the peer refused.
func refusal(r *ctl.Refused) error {
	if why := refusals[r.Reason]; why != nil {
		return fmt.Errorf("%w: %w: %s", ErrRefused, why, clean(r.Text))
	}
	return fmt.Errorf("%w: %s", ErrRefused, clean(r.Text))
}

// Import asks the peer for what it offers by a name, and waits until it is offered, or
// ctx ends. The grant says for what; the reference has that right and no other.
// The error is [ErrRefused] with the peer's reason: [ErrSchema] where it offers
// another type or another version of it, [ErrRights] where it grants less.
//
//barewire:effect hears=c, names=name
func Import[T barewire.Fixed[T], A barewire.RemoteAccess](ctx context.Context, c *Conn, name string, g barewire.Grant[T, A]) (barewire.Remote[T, A], error) {
	info, rights, err := barewire.GrantParts(friend, g)
	if err != nil {
		return barewire.Remote[T, A]{}, err
	}
	if c.none() {
		return barewire.Remote[T, A]{}, errNoConn
	}
	ref, err := c.importRef(ctx, name, info, rights)
	if err != nil {
		return barewire.Remote[T, A]{}, fmt.Errorf("rdma: import %q as %s: %w", name, info.Name, err)
	}
	return barewire.MakeRemote[T, A](friend, info, ref), nil
}

// importRef asks for a reference and checks the answer: it comes from outside.
func (c *Conn) importRef(ctx context.Context, name string, t *region.Type, rights barewire.Rights) (ref barewire.Ref, err error) {
	if err := checkName(name); err != nil {
		return ref, err
	}
	if c.plain {
		return ref, ErrPlain
	}
	a, id, err := c.askFor(name, t, rights)
	if err != nil {
		return ref, err
	}
	if err := c.await(ctx, want{kind: wantReply, reply: a}); err != nil {
		c.ctl.answer(id, ref, err)
		c.tell(&ctl.Cancel{ID: id})
		if ctx.Err() != nil {
			err = fmt.Errorf("the peer has not offered it, or not answered: %w", err)
		}
		return ref, err
	}
	if !a.done.Load() { // the connection failed
		return ref, &flushError{c.Err()}
	}
	if a.err != nil {
		return ref, a.err
	}
	ref = a.ref
	if err := checkRef(&ref, t, rights); err != nil {
		return ref, err
	}
	ref.Rights = rights
	c.ctl.know(ref, name, t.Name)
	if err := c.q.Prepare(ctx, RKey(ref.Key), ref.Epoch); err != nil {
		if over := c.Err(); over != nil { // what the queue says is a consequence
			return ref, &flushError{over}
		}
		return ref, fmt.Errorf("the peer offers it, and it cannot be reached: %w", err)
	}
	return ref, nil
}

// askFor sends an import.
func (c *Conn) askFor(name string, t *region.Type, rights barewire.Rights) (*asked, uint32, error) {
	k := &c.ctl
	a := &asked{}
	k.mu.Lock()
	if len(k.imports) >= c.dom.dev.cfg.MaxOffers {
		k.mu.Unlock()
		return nil, 0, fmt.Errorf("%w: %d imports of this connection wait, as many as MaxOffers allows", ErrTooMany, len(k.imports))
	}
	id := k.nextID
	k.nextID++
	k.imports[id] = a
	k.mu.Unlock()
	typ := t.Name
	if len(typ) > maxName {
		typ = typ[:maxName]
	}
	c.tell(&ctl.Import{ID: id, Size: uint32(t.Size), Hash: [16]byte(t.Hash[:16]), Rights: uint16(rights), Name: name, Type: clean(typ)})
	return a, id, nil
}

// checkRef holds a peer's answer to what was asked for.
func checkRef(ref *barewire.Ref, t *region.Type, rights barewire.Rights) error {
	switch {
	case ref.Version != barewire.RefVersion:
		return fmt.Errorf("%w: the reference has version %d, this program knows %d", ErrProtocol, ref.Version, barewire.RefVersion)
	case ref.Hash != [16]byte(t.Hash[:16]) || uint64(ref.Size) != t.Size:
		return fmt.Errorf("%w: the reference is to elements of %d bytes, schema hash %x; %s has %d bytes, schema hash %x", ErrSchema, ref.Size, ref.Hash[:8], t.Name, t.Size, t.Hash[:8])
	case rights&^ref.Rights != 0:
		return fmt.Errorf("%w: the reference grants %s, and %s was asked for", ErrRights, rightsText(ref.Rights), rightsText(rights))
	case ref.Count == 0 || ref.Count > maxBytes/t.Size || ref.Addr > ^uint64(0)-ref.Count*t.Size:
		return fmt.Errorf("%w: the reference is to %d elements of %d bytes at %#x", barewire.ErrRange, ref.Count, t.Size, ref.Addr)
	case ref.Key == 0:
		return fmt.Errorf("%w: the reference has no key", ErrProtocol)
	}
	return nil
}

// maxBytes is the most bytes that a reference may be to, so that an int counts them.
const maxBytes = uint64(^uint(0) >> 1)

package good

import (
	"context"
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/fork"
	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/helper"
	older "github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/older"
	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

// Memory of one schema, as what it is, or as what it begins with.
func cast(b []byte, t *quote.Trade, qs []quote.Quote) (*quote.Quote, *quote.Quote, []quote.Quote) {
	q := (*quote.Quote)(unsafe.Pointer(&b[0]))
	first := (*quote.Quote)(unsafe.Pointer(t))
	return q, first, unsafe.Slice((*quote.Quote)(unsafe.Pointer(&qs[0])), 1)
}

// Messages are bytes: what they are is for the program to know. So are numbers, and copies of fields.
func messages(q *quote.Quote) (quote.OrderView, *quote.Order, error) {
	b, err := q.MarshalBinary()
	if err != nil {
		return quote.OrderView{}, nil, err
	}
	v, _ := quote.OrderViewOf(b)
	o, err := quote.OrderOver(b)
	return v, o, err
}

func prefix(w quote.TradeWindow[barewire.Local]) (quote.QuoteView, error) {
	return quote.QuoteViewOf(quote.TradeAt(w, 0).Bytes())
}

func copied(w quote.QuoteWindow[barewire.RemoteWrite]) (*quote.Order, error) {
	b := append([]byte(nil), quote.QuoteAt(w, 0).Bytes()...)
	return quote.OrderOver(b)
}

// Reassigned: what it holds is not known.
func reassigned(w quote.QuoteWindow[barewire.Local], other []byte) (*quote.Order, error) {
	b := quote.QuoteAt(w, 0).Bytes()
	if len(other) > 0 {
		b = other
	}
	return quote.OrderOver(b)
}

// Versions that meet under names of their own, or under one that is not known here; and other types under the same one.
func bridge(ctx context.Context, conn *rdma.Conn, name string, mr *quote.QuoteCPU[barewire.RemoteRead], o *quote.OrderCPU[barewire.RemoteRead]) error {
	if err := rdma.Offer(ctx, conn, "quotes/2", mr); err != nil {
		return err
	}
	if err := rdma.Offer(ctx, conn, "quotes/2", o); err != nil {
		return err
	}
	if _, err := rdma.Import(ctx, conn, "quotes/1", older.QuoteRemoteRead()); err != nil {
		return err
	}
	_, err := rdma.Import(ctx, conn, name, older.QuoteRemoteRead())
	return err
}

func imports[A barewire.RemoteAccess](ctx context.Context, conn *rdma.Conn, g barewire.Grant[older.Quote, A]) error {
	_, err := rdma.Import(ctx, conn, "quotes/1", g)
	return err
}

// Rights that are given up, or kept, or not known.
func narrower(rem quote.QuoteRemote[barewire.RemoteReadWrite], x *quote.Lease) error {
	if _, err := barewire.Narrow(rem, quote.QuoteRemoteRead()); err != nil {
		return err
	}
	if _, err := barewire.Narrow(rem, quote.QuoteRemoteReadWrite()); err != nil {
		return err
	}
	_, err := barewire.RemoteFrom(x.Quotes[:], quote.QuoteRemoteRead())
	return err
}

func unknownRights[A, B barewire.RemoteAccess](rem quote.QuoteRemote[A], g barewire.Grant[quote.Quote, B], b []byte) error {
	if _, err := barewire.Narrow(rem, g); err != nil {
		return err
	}
	_, err := barewire.RemoteFrom(b, quote.QuoteRemoteReadWrite())
	return err
}

func looked(x *quote.Lease) (uint64, error) {
	var ref, none barewire.Ref
	if err := ref.Decode(x.Quotes[:]); err != nil {
		return 0, err
	}
	ref.Rights &= barewire.ReadRight
	ref.Rights &^= barewire.WriteRight
	ref.Rights = ref.Rights & barewire.ReadRight
	if ref == none || ref == (barewire.Ref{}) {
		return 0, nil
	}
	return ref.Addr + ref.Count, nil
}

// References are copied, cleared and compared as bytes.
func passed(x, y *quote.Lease, to []byte) bool {
	x.Quotes = y.Quotes
	copy(x.Quotes[:], y.Quotes[:])
	clear(x.Quotes[:])
	to[0] = x.Quotes[44]
	binary.LittleEndian.PutUint64(to, x.Holder)
	return x.Quotes == y.Quotes
}

// Addresses as numbers.
func sent(conn *rdma.Conn, mr *quote.QuoteCPU[barewire.RemoteRead], put func(uint64)) error {
	addr, _, _, err := rdma.AddressOf(conn, mr)
	put(addr)
	return err
}

func host(b *fork.Buffer[fork.Host]) *float32 { return (*float32)(b.Pointer()) }

func anywhere[W fork.Host | fork.Card](b *fork.Buffer[W]) *float32 { return (*float32)(b.Pointer()) }

func forDriver(b *fork.Buffer[fork.Card], launch func(unsafe.Pointer, uintptr)) {
	launch(b.Pointer(), fork.Address(b))
}

// Memory that nobody changes, or by views, copies and atomics.
func exclusive(w quote.QuoteWindow[barewire.RemoteRead]) (*quote.Quote, error) {
	return quote.QuoteOver(quote.QuoteAt(w, 0).Bytes())
}

func views(w quote.QuoteWindow[barewire.RemoteWrite], to []byte) (uint64, error) {
	v := quote.QuoteAt(w, 0)
	copy(to, v.Bytes())
	q, err := quote.QuoteOver(to)
	if err != nil {
		return 0, err
	}
	again, err := quote.QuoteViewOf(v.Bytes())
	return q.Price + again.Price() + v.Size(), err
}

func byHand(w quote.QuoteWindow[barewire.RemoteWrite]) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&quote.QuoteAt(w, 0).Bytes()[0])))
}

func unknownAccess[A barewire.Access](w quote.QuoteWindow[A]) (*quote.Quote, error) {
	return quote.QuoteOver(quote.QuoteAt(w, 0).Bytes())
}

func instances(host *fork.Buffer[fork.Host], w quote.QuoteWindow[barewire.RemoteRead]) float32 {
	_, _ = helper.All(w), helper.First(w)
	_ = helper.Quiet(quote.QuoteWindow[barewire.RemoteWrite]{})
	_ = helper.Copy(quote.QuoteWindow[barewire.RemoteWrite]{})
	return *anywhere(host)
}

var _ = []any{passed, instances, cast, messages, prefix, copied, reassigned, bridge, imports[barewire.RemoteRead], narrower,
	unknownRights[barewire.RemoteRead, barewire.RemoteRead], looked, sent, host, anywhere[fork.Host], forDriver,
	exclusive, views, byHand, unknownAccess[barewire.Local]}

// What a notification or a message gives is the receiver's.
func received(n rdma.Notification, w quote.QuoteWindow[barewire.RemoteWrite]) ([]quote.Quote, error) {
	return rdma.Received(n, w, 0, 1)
}

var _ = received

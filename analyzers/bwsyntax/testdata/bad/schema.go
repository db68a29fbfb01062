package bad

import (
	"context"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	older "github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/older"
	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

func element(q *quote.Quote) *quote.Order {
	return (*quote.Order)(unsafe.Pointer(q)) // want BW5006 "elements of quote.Quote are taken for *quote.Order"
}

func slice(qs []quote.Quote) []quote.Order {
	return unsafe.Slice((*quote.Order)(unsafe.Pointer(&qs[0])), len(qs)) // want BW5006 "elements of quote.Quote"
}

func throughVariable(qs []quote.Quote) *quote.Order {
	first := &qs[0]
	p := unsafe.Pointer(first)
	return (*quote.Order)(p) // want BW5006 "elements of quote.Quote"
}

func version(q *quote.Quote) *older.Quote {
	return (*older.Quote)(unsafe.Pointer(q)) // want BW5006 "of another version of the schema"
}

func bytesOf(w quote.QuoteWindow[barewire.Local]) (*quote.Order, error) {
	return quote.OrderOver(quote.QuoteAt(w, 1).Bytes()) // want BW5006 "elements of quote.Quote are taken for *quote.Order"
}

func viewOf(w quote.QuoteWindow[barewire.Local]) (quote.OrderView, error) {
	b := quote.QuoteAt(w, 1).Bytes()
	return quote.OrderViewOf(b[:16]) // want BW5006 "elements of quote.Quote are taken for quote.OrderView"
}

func iterated(w quote.QuoteWindow[barewire.Local]) error {
	for _, q := range quote.QuoteAll(w) {
		if _, err := quote.OrderSliceOver(q.Bytes()); err != nil { // want BW5006 "are taken for []quote.Order"
			return err
		}
	}
	return nil
}

const meeting = "quotes"

func exchange(ctx context.Context, conn *rdma.Conn, mr *quote.QuoteCPU[barewire.RemoteRead]) error {
	if err := rdma.Offer(ctx, conn, meeting, mr); err != nil {
		return err
	}
	_, err := rdma.Import(ctx, conn, "quotes", older.QuoteRemoteRead()) // want BW5007 "Import meets peers as \"quotes\" with quote.Quote"
	return err
}

func offered(ctx context.Context, conn *rdma.Conn, mr *older.QuoteCPU[barewire.RemoteRead]) error {
	return rdma.Offer(ctx, conn, meeting, mr) // want BW5007 "and Offer with"
}

func elsewhere(ctx context.Context, conn *rdma.Conn, mr *older.QuoteCPU[barewire.RemoteRead]) error {
	return rdma.Offer(ctx, conn, "from the helper", mr) // want BW5007 "and Offer in github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/helper with 6ed4777c: two versions"
}

//barewire:schema market.Order@sha256:0000000000000000000000000000000000000000000000000000000000000000
func (order) BareLayout() {} // want-above BW5016 "market.Order is another version here (00000000) than in the code below (6ed40000)"

//barewire:schema market.Order@sha256:00
func (order) short() {} // want-above BW5011 "schema wants a name and a hash"

//barewire:schema market.Order@sha256:0000000000000000000000000000000000000000000000000000000000000000
func noMethod() {} // want-above BW5012 "schema belongs above a method"

type order struct{}

var infoOrder = barewire.TypeInfo{Name: "market.Order", Size: 16, Hash: [32]byte{0x6e, 0xd4}}

var _ = []any{elsewhere, element, slice, throughVariable, version, bytesOf, viewOf, iterated, exchange, offered, order.BareLayout, order.short, noMethod, infoOrder}

package bad

import (
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/fork"
	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/helper"
	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

func address(conn *rdma.Conn, mr *quote.QuoteGPU[barewire.RemoteRead]) (*quote.Quote, error) {
	addr, _, _, err := rdma.AddressOf(conn, mr)
	if err != nil {
		return nil, err
	}
	return (*quote.Quote)(unsafe.Pointer(uintptr(addr))), nil // want BW5009 "this number is what peers and devices find memory by"
}

func refAddress(ref barewire.Ref) *byte {
	return (*byte)(unsafe.Pointer(uintptr(ref.Addr) + 8)) // want BW5009 "the Addr of a barewire.Ref is a place in the peer's memory"
}

func device(b *fork.Buffer[fork.Card]) *float32 {
	return (*float32)(b.Pointer()) // want BW5009 "gpu memory has no address that this program can use"
}

func deviceNumber(b *fork.Buffer[fork.Card]) unsafe.Pointer {
	at := fork.Address(b)
	return unsafe.Pointer(at) // want BW5009 "this number is what peers and devices find memory by"
}

func deviceSlice(b *fork.Buffer[fork.Card], n int) []float32 {
	p := b.Pointer()
	return unsafe.Slice((*float32)(p), n) // want BW5009 "gpu memory"
}

func over(w quote.QuoteWindow[barewire.RemoteWrite]) (*quote.Quote, error) {
	return quote.QuoteOver(quote.QuoteAt(w, 0).Bytes()) // want BW5010 "*quote.Quote over memory that a peer may change"
}

func sliceOver(w quote.QuoteWindow[barewire.RemoteReadWrite]) ([]quote.Quote, error) {
	v := quote.QuoteAt(w, 0)
	b := v.Bytes()
	return quote.QuoteSliceOver(b) // want BW5010 "[]quote.Quote over memory"
}

func pointer5(w quote.QuoteWindow[barewire.RemoteWrite]) *quote.Quote {
	return (*quote.Quote)(unsafe.Pointer(&quote.QuoteAt(w, 0).Bytes()[0])) // want BW5010 "a pointer over memory"
}

func sliceOfMany(w quote.QuoteWindow[barewire.RemoteWrite]) []byte {
	return unsafe.Slice(&quote.QuoteAt(w, 0).Bytes()[0], 16*w.Len()) // want BW5010 "a pointer over memory"
}

func data(w quote.TradeWindow[barewire.RemoteAtomic]) *byte {
	return unsafe.SliceData(quote.TradeAt(w, 0).Bytes()) // want BW5010 "a pointer over memory"
}

func eachOne(w quote.QuoteWindow[barewire.RemoteWrite]) (sum uint64) {
	for _, v := range quote.QuoteAll(w) {
		if q, err := quote.QuoteOver(v.Bytes()); err == nil { // want BW5010 "over memory that a peer may change"
			sum += q.Price
		}
	}
	return sum
}

func begun[W fork.Host | fork.Card](b *fork.Buffer[W]) *float32 {
	return (*float32)(b.Pointer())
}

func begunToo[W fork.Host | fork.Card](b *fork.Buffer[W]) float32 { return *begun(b) }

func instances(card *fork.Buffer[fork.Card], w quote.QuoteWindow[barewire.RemoteWrite], r *quote.QuoteCPU[barewire.RemoteAtomic]) {
	_ = begun(card)                            // want BW5009 "with fork.Card, begun makes a pointer of memory that has no address"
	_ = begunToo(card)                         // want BW5009 "with fork.Card, begunToo makes a pointer"
	_ = helper.All(w)                          // want BW5010 "with barewire.RemoteWrite, All makes a pointer or slice over memory"
	_ = helper.First(w)                        // want BW5010 "with barewire.RemoteWrite, First makes a pointer or slice"
	use := helper.First[barewire.RemoteAtomic] // want BW5010 "with barewire.RemoteAtomic, First"
	_ = use
}

var _ = []any{instances, address, refAddress, device, deviceNumber, deviceSlice, over, sliceOver, pointer5, sliceOfMany, data, eachOne}

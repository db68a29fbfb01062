// Package helper hands regions on, so that who uses it need not import the runtime.
package helper

import (
	"context"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

type Region = quote.QuoteCPU[barewire.Local]

func Get() *Region { return nil }

// All are the elements of a window, which nobody may change meanwhile.
func All[A barewire.Access](w quote.QuoteWindow[A]) []quote.Quote {
	all, _ := quote.QuoteSliceOver(quote.QuoteAt(w, 0).Bytes())
	return all
}

// First is the first of them.
func First[A barewire.Access](w quote.QuoteWindow[A]) *quote.Quote { return &All(w)[0] }

// Quiet is the first of them, where the program knows that nobody changes it.
func Quiet[A barewire.Access](w quote.QuoteWindow[A]) *quote.Quote {
	//barewire:ignore BW5010 the peers have gone when it is called
	q, _ := quote.QuoteOver(quote.QuoteAt(w, 0).Bytes())
	return q
}

// Offer offers quotes.
func Offer(ctx context.Context, conn *rdma.Conn, mr *quote.QuoteCPU[barewire.RemoteRead]) error {
	return rdma.Offer(ctx, conn, "from the helper", mr)
}

// Copy is a copy of the first.
func Copy[A barewire.Access](w quote.QuoteWindow[A]) (q quote.Quote) {
	_ = quote.QuoteAt(w, 0).Load(&q)
	return q
}

package bad

import (
	"encoding/binary"

	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

func wider(rem quote.QuoteRemote[barewire.RemoteRead]) error {
	_, err := barewire.Narrow(rem, quote.QuoteRemoteReadWrite()) // want BW5008 "the reference is for remote_read, and Narrow asks for remote_read_write"
	return err
}

func other(rem quote.QuoteRemote[barewire.RemoteRead]) (quote.QuoteRemote[barewire.RemoteWrite], error) {
	return barewire.Narrow[barewire.RemoteWrite](rem, quote.QuoteRemoteWrite()) // want BW5008 "asks for remote_write"
}

func leased(x *quote.Lease) (quote.QuoteRemote[barewire.RemoteReadWrite], error) {
	return barewire.RemoteFrom(x.Quotes[:], quote.QuoteRemoteReadWrite()) // want BW5008 "the reference is for remote_read, and RemoteFrom asks for remote_read_write"
}

func leasedView(v quote.LeaseView) error {
	b := v.Quotes()[:]
	_, err := barewire.RemoteFrom(b, quote.QuoteRemoteWrite()) // want BW5008 "RemoteFrom asks for remote_write"
	return err
}

func madeUp() []byte {
	ref := barewire.Ref{Count: 1, Size: 16, Rights: barewire.WriteRight} // want BW5008 "this one is made up"
	return ref.Append(nil)
}

func changed(x *quote.Lease) error {
	var ref barewire.Ref
	if err := ref.Decode(x.Quotes[:]); err != nil {
		return err
	}
	ref.Rights |= barewire.WriteRight // want BW5008 "with another Rights it is made up"
	ref.Count++                       // want BW5008 "with another Count"
	p := &ref
	p.Key = 7 // want BW5008 "with another Key"
	ref.Append(x.Quotes[:0])
	return nil
}

func patched(x *quote.Lease, v quote.LeaseView) {
	x.Quotes[44] |= 2                               // want BW5008 "the bytes of the reference x.Quotes are changed by hand"
	binary.LittleEndian.PutUint16(x.Quotes[44:], 3) // want BW5008 "it for remote_read"
	v.Quotes()[44] = 3                              // want BW5008 "the bytes of the reference v.Quotes() are changed"
	b := x.Quotes[:]
	b[45]++ // want BW5008 "the bytes of the reference x.Quotes"
}

//barewire:access remote_read
func noField() {} // want-above BW5012 "access belongs above the declaration of a type, a field or a method"

var _ = []any{patched, wider, other, leased, leasedView, madeUp, changed, noField}

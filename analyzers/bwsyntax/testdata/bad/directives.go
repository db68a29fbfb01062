package bad

import (
	"errors"

	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/quote"
)

//barewire:type handel
type misspelt struct{} // want-above BW5011 "unknown type \"handel\""

//barewire:effect releases=x
func unfit(r *cpu) error { return r.Close() } // want-above BW5013 "there is no parameter or receiver x"

//barewire:effect releases=r on ok
func noCondition(r *cpu) { _ = r.Close() } // want-above BW5013 "wants an error"

//barewire:type handle
func notAType() {} // want-above BW5012 "type belongs above the declaration of a type"

//barewire:node 1
func notATypeEither() {} // want-above BW5012 "node belongs above the declaration of a type"

//barewire:effect uses=x
type notAFunction struct{} // want-above BW5012 "effect belongs above"

type thing struct{}

//barewire:generated
func (thing) method() {} // want-above BW5012 "generated is for functions"

// A blank line is between the next directive and the function.

//barewire:effect releases=r
// want-above BW5012 "effect belongs above"

func apart(r *cpu) error { return r.Close() }

// barewire:effect releases=r
func spaced(r *cpu) error { return r.Close() } // want-above BW5011 "no space"

// barewire: is how directives begin, but this is prose.
func prose() error {
	//barewire:trust me
	err := errors.New("x") // want-above BW5012 "trust belongs above"
	return err
}

func reasonless() error {
	//barewire:ignore BW5002
	_, err := barewire.New(barewire.Place[quote.Quote, barewire.CPU]{}, 1) // want-above BW5014 "ignore BW5002 has no reason" // want BW5002 "zero"
	return err
}

func stale() error {
	//barewire:ignore BW5002 it was a mistake once
	r, err := barewire.New(quote.QuoteInCPU(), 1) // want-above BW5015 "no finding BW5002"
	if err != nil {
		return err
	}
	return r.Close()
}

func wrongCodes() {
	//barewire:ignore BW1104 a code of schemas
	_ = 1 // want-above BW5011 "nothing that is found in Go code"
	//barewire:ignore BW5999 a code of nothing
	_ = 2 // want-above BW5011 "there is no code BW5999"
	//barewire:ignore all of it
	_ = 3 // want-above BW5011 "ignore wants a code"
}

// Two of one code, and of two, on one line.
func twice() error {
	//barewire:ignore BW5002 the first
	_, err := barewire.New(barewire.Place[quote.Quote, barewire.CPU]{}, len(new(region).String())) // want BW5001 "new makes"
	return err
}

var _ = []any{misspelt{}, unfit, noCondition, notAType, notAFunction{}, thing.method, apart, spaced, prose, reasonless, stale, wrongCodes, twice}

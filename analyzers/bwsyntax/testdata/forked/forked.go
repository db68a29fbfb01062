// Package forked uses it.
package forked

import "github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/testdata/fork"

var m fork.Memory // want BW5001 "`m` is a fork.Memory"

func zero() (*fork.Memory, error) {
	return fork.Make(fork.Permit{}) // want BW5002 "Make is given the zero fork.Permit"
}

func mint() fork.Permit {
	return fork.Mint() // want BW5005 "Mint is for generated code only"
}

var _ = []any{&m, zero, mint}

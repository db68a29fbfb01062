//go:build !linux

package verbs

import "github.com/fidelityframework/barewire-gen/bench/internal/rows"

// What is bare is written for Linux only.
func bareRoundTrips(func(string, rows.Class, string, func() (*Loop, error)) Row) []Row { return nil }

func bareBulks() []Row { return nil }

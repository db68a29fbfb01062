package bwsyntax_test

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax"
	"github.com/fidelityframework/barewire-gen/analyzers/vettool"
	"github.com/fidelityframework/barewire-gen/internal/vettest"
)

func TestMain(m *testing.M) {
	vettest.Main(m, func() { vettool.Main(bwsyntax.Analyzer) })
}

// TestBad has functions with mistakes: each is found, and nothing else.
func TestBad(t *testing.T) { vettest.Run(t, "testdata/bad") }

// TestGood has functions that look like mistakes, and are none.
func TestGood(t *testing.T) { vettest.Run(t, "testdata/good") }

// TestTrusted is a package that may make zero values.
func TestTrusted(t *testing.T) { vettest.Run(t, "testdata/trusted") }

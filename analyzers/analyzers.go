package analyzers

import (
	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers/bwlife"
	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax"
)

// All are the analyzers, for drivers.
func All() []*analysis.Analyzer {
	return []*analysis.Analyzer{bwlife.Analyzer, bwsyntax.Analyzer}
}

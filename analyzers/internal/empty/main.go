// Command empty is a vet tool whose analyzer looks at nothing: what it takes is what any takes, for the protocol, parsing and type-checking. It
// has facts, so that the go command asks it about all packages. The benchmarks compare with it.
package main

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

type fact struct{}

func (*fact) AFact() {}

func main() {
	unitchecker.Main(&analysis.Analyzer{
		Name: "empty", Doc: "look at nothing", FactTypes: []analysis.Fact{new(fact)},
		Run: func(*analysis.Pass) (any, error) { return nil, nil },
	})
}

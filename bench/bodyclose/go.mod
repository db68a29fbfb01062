// bodyclose is run on the analyzers' corpus, in a module of its own so that it reaches nobody who uses the runtime.
module github.com/fidelityframework/barewire-gen/bench/bodyclose

go 1.25.0

require (
	github.com/timakin/bodyclose v0.0.0-20260723120731-857993a2939c
	golang.org/x/tools v0.49.0
)

require (
	github.com/gostaticanalysis/analysisutil v0.7.1 // indirect
	github.com/gostaticanalysis/comment v1.4.2 // indirect
	golang.org/x/mod v0.39.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/tools/go/packages/packagestest v0.1.1-deprecated // indirect
)

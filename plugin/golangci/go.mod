module github.com/fidelityframework/barewire-gen/plugin/golangci

go 1.25.0

require (
	github.com/fidelityframework/barewire-gen v0.0.0
	github.com/golangci/plugin-module-register v0.1.2
	golang.org/x/tools v0.49.0
)

replace github.com/fidelityframework/barewire-gen => ../..

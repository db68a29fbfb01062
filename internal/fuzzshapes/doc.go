// Package fuzzshapes is generated code of every shape, for its tests: fuzz
// targets that decode anything in every way, and tables of damaged messages and
// of the errors that they must give.
package fuzzshapes

//go:generate go -C ../.. run ./cmd/barewire-gen generate internal/fuzzshapes

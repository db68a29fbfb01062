// Package sample is generated code with regions of every kind, for the
// runtime's tests.
package sample

//go:generate go -C ../../.. run ./cmd/barewire-gen generate runtime/internal/sample

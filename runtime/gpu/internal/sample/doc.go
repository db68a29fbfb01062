// Package sample is generated code with regions where GPUs reach, for the
// runtime's tests.
package sample

//go:generate go -C ../../../.. run ./cmd/barewire-gen generate runtime/gpu/internal/sample

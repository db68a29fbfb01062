// Package placed has types whose regions are placed, for tests. It is generated.
package placed

//go:generate go -C ../../.. run ./cmd/barewire-gen generate runtime/internal/placed

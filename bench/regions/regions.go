// Package regions is what barewire-gen makes of schema/regions.bare: the element
// types of regions that cmd/benchrdma measures.
package regions

//go:generate go -C ../.. run ./cmd/barewire-gen generate --out bench/regions bench/schema/regions.bare

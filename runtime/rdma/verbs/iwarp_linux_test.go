//go:build amd64 || arm64

package verbs

// iwarpLacks is why the suite of all providers wants atomics refused on devices of iWARP.
const iwarpLacks = "an iWARP device of Linux has no atomic operations"

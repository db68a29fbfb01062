//go:build !linux

package region

// machineMemory is not known here: zero.
func machineMemory() uint64 { return 0 }

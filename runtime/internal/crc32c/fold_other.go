//go:build !amd64

package crc32c

// long says that hash/crc32 is as good as it gets.
func long(int) int { return 0 }

func brief(int) bool { return false }

func sumShort(state uint32, _ *byte, _ int) uint32 { return state }

func fold(_, _ []byte, sum uint32) uint32 { return sum }

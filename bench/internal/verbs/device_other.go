//go:build !linux || !(amd64 || arm64)

package verbs

// Package verbs is for Linux on amd64 and arm64.
func devices() []Row { return nil }

func deviceGoals() []Wanted { return nil }

//go:build race

package soft

const underRace = true

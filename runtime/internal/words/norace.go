//go:build !race

package words

const underRace = false

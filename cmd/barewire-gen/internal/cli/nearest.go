package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// nearest is the known word that is closest to what was typed, or nothing where
// none is close enough to be meant.
func nearest(word string, known []string) string {
	best, at := "", 1+max(1, len(word)/3)
	for _, k := range known {
		d := diag.Slips(strings.ToLower(word), strings.ToLower(k), at)
		// Of two that are as close, the one that begins alike is meant.
		if d < at || d == at && best != "" && common(word, k) > common(word, best) {
			best, at = k, d
		}
	}
	return best
}

// common is how many bytes two words have in common at their start.
func common(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n]|0x20 == b[n]|0x20 {
		n++
	}
	return n
}

func commandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

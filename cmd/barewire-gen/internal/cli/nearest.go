package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// nearest is the known word that is closest to what was typed, or nothing where
// none is close enough to be meant.
func nearest(word string, known []string) string {
	best, at := "", 1+max(1, len(word)/3)
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
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

// distance counts the letters to add, drop, change or swap to get from a to b
// (optimal string alignment).
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64 // nobody misspells that much, and the table below is quadratic
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

func commandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

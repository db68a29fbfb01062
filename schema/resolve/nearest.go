package resolve

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// mostGuesses is for how many undeclared names a nearest spelling is looked
// for: each looks at every type there is.
const mostGuesses = 20

// guess is the type that was likely meant, or "".
func (r *resolver) guess(name string) string {
	if lower := strings.ToLower(name); lower == "string" {
		return "str"
	} else if _, builtin := prims[lower]; builtin || lower == "data" {
		return lower
	}
	if r.guesses++; r.guesses > mostGuesses {
		return ""
	}
	return nearest(name, maps.Keys(r.ns.Types))
}

// nearest is the candidate that is the fewest slips away from a word, the first
// by name where several are, or "" where none is near.
func nearest(word string, candidates iter.Seq[string]) string {
	best, least := "", max(len(word)/3, 1)+1
	for c := range candidates {
		if strings.EqualFold(c, word) {
			return pick(strings.ToLower(word), candidates)
		}
		n := diag.Slips(strings.ToLower(word), strings.ToLower(c), least)
		if n >= len(word) {
			continue // nothing of the word is left
		}
		if n < least || n == least && best != "" && c < best {
			best, least = c, n
		}
	}
	return best
}

// pick is the first candidate by name that differs from word in case only.
func pick(lower string, candidates iter.Seq[string]) string {
	var same []string
	for c := range candidates {
		if strings.ToLower(c) == lower {
			same = append(same, c)
		}
	}
	return slices.Min(same)
}

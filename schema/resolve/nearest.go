package resolve

import (
	"iter"
	"maps"
	"slices"
	"strings"
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
		n := slips(word, c, least)
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

// slips counts the letters to change, insert, drop or swap with their neighbour
// to get from a to b. It stops counting beyond most.
func slips(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most || len(a) > 100 || len(b) > 100 {
		return most + 1
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	var rows [3][101]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

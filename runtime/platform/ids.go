package platform

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// maxID is one more than any number of a processor or a node: Linux has at most 8192 of the one and 1024 of the other.
const maxID = 1 << 16

// IDs is a set of numbers of processors or nodes. They may be sparse. The zero value is empty; a set is never changed.
type IDs struct {
	runs []run // sorted, apart from each other
}

// run is the numbers from first to last.
type run struct{ first, last int }

// MakeIDs is the set of some numbers; those below 0 or above 65535 are left out: no system has them.
func MakeIDs(ids ...int) IDs {
	var runs []run
	for _, id := range ids {
		if id >= 0 && id < maxID {
			runs = append(runs, run{id, id})
		}
	}
	return joined(runs)
}

// ParseIDs reads a list as the kernel writes it: "0-3,8,10-11", empty for no numbers. Numbers above 65535 are [ErrTooLarge]. A
// set takes memory by the length of the text, whatever the numbers say.
func ParseIDs(list string) (IDs, error) {
	list = strings.TrimSpace(list)
	if list == "" {
		return IDs{}, nil
	}
	var runs []run
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := parseID(from)
		if err != nil {
			return IDs{}, err
		}
		last := first
		if isRange {
			if last, err = parseID(to); err != nil {
				return IDs{}, err
			}
		}
		if last < first {
			return IDs{}, fmt.Errorf("%w: the range %s runs backwards", ErrMalformed, quote(part))
		}
		runs = append(runs, run{first, last})
	}
	return joined(runs), nil
}

func parseID(s string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
	if err != nil && !isRangeError(err) {
		return 0, fmt.Errorf("%w: %s is no number", ErrMalformed, quote(s))
	}
	if err != nil || n >= maxID {
		return 0, fmt.Errorf("number %s: %w", quote(s), ErrTooLarge)
	}
	return int(n), nil
}

// parseMask reads a mask as the kernel writes it: words of 32 bits in hexadecimal, the highest first, "00000000,0000000f".
func parseMask(mask string) (IDs, error) {
	words := strings.Split(strings.TrimSpace(mask), ",")
	if len(words) > maxID/32 {
		return IDs{}, fmt.Errorf("a mask of %d words: %w", len(words), ErrTooLarge)
	}
	var runs []run
	for i := len(words) - 1; i >= 0; i-- {
		w, err := strconv.ParseUint(strings.TrimPrefix(words[i], "0x"), 16, 32)
		if err != nil {
			return IDs{}, fmt.Errorf("%w: %s is no word of a mask", ErrMalformed, quote(words[i]))
		}
		base := 32 * (len(words) - 1 - i)
		for w != 0 {
			low := bits.TrailingZeros64(w)
			n := bits.TrailingZeros64(^(w >> low))
			runs = append(runs, run{base + low, base + low + n - 1})
			w &^= (1<<n - 1) << low
		}
	}
	return joined(runs), nil
}

// joined sorts runs and joins those that touch.
func joined(runs []run) IDs {
	byFirst := func(a, b run) int { return a.first - b.first }
	if !slices.IsSortedFunc(runs, byFirst) {
		slices.SortFunc(runs, byFirst)
	}
	out := runs[:0]
	for _, r := range runs {
		if n := len(out); n > 0 && r.first <= out[n-1].last+1 {
			out[n-1].last = max(out[n-1].last, r.last)
			continue
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return IDs{}
	}
	return IDs{out}
}

// Has reports whether a number is in the set.
func (s IDs) Has(id int) bool {
	_, found := slices.BinarySearchFunc(s.runs, id, func(r run, id int) int {
		switch {
		case r.last < id:
			return -1
		case r.first > id:
			return 1
		}
		return 0
	})
	return found
}

// Len is how many numbers are in the set.
func (s IDs) Len() (n int) {
	for _, r := range s.runs {
		n += r.last - r.first + 1
	}
	return n
}

// Empty reports whether no number is in the set.
func (s IDs) Empty() bool { return len(s.runs) == 0 }

// All gives the numbers in order.
func (s IDs) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range s.runs {
			for id := r.first; id <= r.last; id++ {
				if !yield(id) {
					return
				}
			}
		}
	}
}

// And is what is in both sets.
func (s IDs) And(o IDs) IDs {
	var runs []run
	for i, j := 0, 0; i < len(s.runs) && j < len(o.runs); {
		a, b := s.runs[i], o.runs[j]
		if first, last := max(a.first, b.first), min(a.last, b.last); first <= last {
			runs = append(runs, run{first, last})
		}
		if a.last < b.last {
			i++
		} else {
			j++
		}
	}
	return joined(runs)
}

// Or is what is in either set.
func (s IDs) Or(o IDs) IDs { return joined(append(slices.Clone(s.runs), o.runs...)) }

// Without is what is in s and not in o.
func (s IDs) Without(o IDs) IDs {
	var gaps []run
	next := 0
	for _, r := range o.runs {
		if r.first > next {
			gaps = append(gaps, run{next, r.first - 1})
		}
		next = r.last + 1
	}
	return s.And(IDs{append(gaps, run{next, maxID})})
}

// Equal reports whether two sets are the same.
func (s IDs) Equal(o IDs) bool { return slices.Equal(s.runs, o.runs) }

// String is the list as the kernel writes it: "0-3,8".
func (s IDs) String() string {
	var b []byte
	for i, r := range s.runs {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(r.first), 10)
		if r.last > r.first {
			b = strconv.AppendInt(append(b, '-'), int64(r.last), 10)
		}
	}
	return string(b)
}

// MarshalText is [IDs.String], for JSON.
func (s IDs) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

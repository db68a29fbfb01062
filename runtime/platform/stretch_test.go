package platform

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStretches: an address lies in a stretch where it lies in one of the ranges, those to the end of all addresses and beyond too.
func TestStretches(t *testing.T) {
	const end = 1<<64 - 1
	in := func(ranges []HPA, at uint64) bool {
		for _, r := range ranges {
			if at >= r.Start && at-r.Start < r.Size {
				return true
			}
		}
		return false
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	lists := [][]HPA{nil, {{0, 0}}, {{0, 4}, {0, 9}, {9, 1}, {20, 1}}, {{5, end}, {0, 2}}, {{end, 1}}, {{0, end}, {end, 1}}, {{3, 0}, {3, 1}}}
	for range 200 {
		var list []HPA
		for range rnd.IntN(12) {
			r := HPA{rnd.Uint64N(64), rnd.Uint64N(12)}
			if rnd.IntN(4) == 0 {
				r.Start = end - r.Start
			}
			list = append(list, r)
		}
		lists = append(lists, list)
	}
	for _, list := range lists {
		s := apart(list)
		for i := range s {
			if s[i].first > s[i].last || i > 0 && s[i].first-1 <= s[i-1].last {
				t.Errorf("%v: %v", list, s)
			}
		}
		for at := range uint64(90) {
			for _, at := range []uint64{at, end - at} {
				if got, want := within(s, at), in(list, at); got != want {
					t.Fatalf("%v as %v: %#x lies in it: %v, want %v", list, s, at, got, want)
				}
			}
		}
	}
}

// TestFew: a list of any number is a line that can be read.
func TestFew(t *testing.T) {
	if got := few([]string{"a", "b"}, " and "); got != "a and b" {
		t.Error(got)
	}
	if got := few(strings.Fields(strings.Repeat("x ", 100)), ", "); !strings.HasSuffix(got, ", x, and 84 more") {
		t.Error(got)
	}
}

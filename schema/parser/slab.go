package parser

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// slab hands out zeroed values from blocks. A schema's tree is many small nodes
// that live and die together; one allocation for a block of them is cheaper.
type slab[T any] struct {
	free []T
	size int
}

func (s *slab[T]) new() *T {
	if len(s.free) == 0 {
		s.size = min(max(2*s.size, 8), 512)
		s.free = make([]T, s.size)
	}
	v := &s.free[0]
	s.free = s.free[1:]
	return v
}

// seal moves the elements of stack from mark on into a slice of their own, and
// pops them. Lists grow on one stack, so only their final size is allocated.
func seal[T any](stack *[]*T, mark int, pool *[]*T) []*T {
	n := len(*stack) - mark
	if n == 0 {
		return nil
	}
	if len(*pool) < n {
		*pool = make([]*T, max(n, min(max(2*mark, 64), 1024)))
	}
	list := (*pool)[:n:n]
	*pool = (*pool)[n:]
	copy(list, (*stack)[mark:])
	clear((*stack)[mark:])
	*stack = (*stack)[:mark]
	return list
}

// extend appends to a list that has one element as a rule: the first is taken
// from a pool.
func extend[T any](list []*T, v *T, pool *[]*T) []*T {
	if list != nil {
		return append(list, v)
	}
	if len(*pool) == 0 {
		*pool = make([]*T, 256)
	}
	list = (*pool)[:1:1]
	*pool = (*pool)[1:]
	list[0] = v
	return list
}

func indexByte(s string, c byte) int { return strings.IndexByte(s, c) }

// describeRune names a character so that it can be found even where it does not show.
func describeRune(r rune) string {
	switch r {
	case '\u00a0':
		return "a no-break space (U+00A0)"
	case '\ufeff':
		return "a byte order mark (U+FEFF)"
	case utf8.RuneError:
		return "a broken character"
	}
	if unicode.IsPrint(r) {
		return fmt.Sprintf("%c (U+%04X)", r, r)
	}
	return fmt.Sprintf("the character U+%04X", r)
}

package schema_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// TestFixesOfRandomRegions mends schemas with everything that has a fix: what asks for places, lines and limits, and
// numbers that descend, with comments everywhere.
func TestFixesOfRandomRegions(t *testing.T) {
	mendedOf := map[diag.Code]int{}
	n := 600
	if testing.Short() {
		n = 60
	}
	for seed := range n {
		r := randomRegions{Rand: rand.New(rand.NewPCG(uint64(seed), 5))}
		text := r.schema()
		checkFixes(t, []byte(text))
		f := mended([]byte(text), true)
		for _, d := range f.Applied {
			mendedOf[d.Code]++
		}
		for _, d := range f.Left {
			if len(d.Fixes) > 0 && f.Refused == 0 && !f.Left.HasErrors() {
				t.Fatalf("left though it has a fix: %v\n%s\n%s", d, text, f.Files[0].Text())
			}
		}
	}
	t.Logf("%v", mendedOf)
	for _, code := range []diag.Code{diag.ForwardReference, diag.NotAscending, diag.AtomicUnaligned, diag.CachelineStart, diag.CachelineShared, diag.SizeUnaligned,
		diag.NeedsSize, diag.FalseSharing, diag.FalseSharingList, diag.PaddingCast, diag.OrderCast, diag.Straddles} {
		if mendedOf[code] == 0 && !testing.Short() {
			t.Errorf("%s was never mended", code)
		}
	}
}

// randomRegions writes schemas.
type randomRegions struct {
	*rand.Rand
	strings.Builder
	types int
	next  int  // of comments
	plain bool // numbers only, and no annotations
}

func (r *randomRegions) chance(n int) bool { return r.IntN(n) == 0 }

// comment writes a comment that no other is like, or nothing.
func (r *randomRegions) comment(before, after string) {
	if r.chance(3) {
		r.next++
		fmt.Fprintf(r, "%s# remark %d%s", before, r.next, after)
	}
}

func (r *randomRegions) schema() string {
	if r.chance(3) {
		r.comment("", "\n")
		r.WriteString("#@package(p)\n")
		if r.chance(2) {
			r.WriteByte('\n')
		}
	}
	for n := range 1 + r.IntN(4) {
		r.comment("", "\n")
		switch r.IntN(4) {
		case 0:
			r.numbers(n)
		default:
			r.structure(n)
		}
		if r.types++; r.chance(2) {
			r.WriteByte('\n')
		}
	}
	return r.String()
}

// numbers writes an enum or a union whose numbers are in any order.
func (r *randomRegions) numbers(n int) {
	perm := r.Perm(2 + r.IntN(3))
	line := r.chance(2)
	gap := func() {
		switch {
		case !line:
			r.comment(" ", "")
			r.WriteString("\n  ")
		default:
			r.WriteByte(' ')
		}
	}
	if r.chance(2) {
		fmt.Fprintf(r, "type T%d enum {", n)
		for _, v := range perm {
			gap()
			fmt.Fprintf(r, "V%d = %d", v, v)
		}
	} else {
		fmt.Fprintf(r, "type T%d union {", n)
		for i, v := range perm {
			gap()
			if i > 0 {
				r.WriteString("| ")
				if !line {
					r.comment("", "\n  ")
				}
			}
			fmt.Fprintf(r, "%s = %d", []string{"u8", "str", "void", "data[3]", "f32"}[v], v)
		}
	}
	gap()
	r.WriteString("}\n")
}

func (r *randomRegions) structure(n int) {
	if r.chance(3) {
		fmt.Fprintf(r, "#@align(%d)\n", 8<<r.IntN(5))
	}
	if r.chance(2) {
		r.WriteString("#@residency(cpu)\n")
	}
	fmt.Fprintf(r, "type T%d struct {", n)
	r.comment(" ", "")
	r.WriteByte('\n')
	r.plain = r.chance(3)
	for f := range 1 + r.IntN(6) {
		r.field(n, f)
	}
	r.WriteString("}\n")
}

func (r *randomRegions) field(n, f int) {
	typ := []string{"u8", "u16", "u32", "u64", "data[3]", "data[60]", "data[32]", "data[40]", "bool"}[r.IntN(9)]
	if r.plain {
		typ = []string{"u8", "u16", "u32", "u64"}[r.IntN(4)]
	} else {
		typ = r.annotated(n, typ)
	}
	r.comment("  ", "\n")
	fmt.Fprintf(r, "  f%d: %s", f, typ)
	r.comment(" ", "")
	r.WriteByte('\n')
}

// annotated writes what stands above a field, and chooses its type.
func (r *randomRegions) annotated(n int, typ string) string {
	switch r.IntN(12) {
	case 0, 1, 2:
		r.WriteString("  #@atomic\n")
		typ = []string{"u32", "i64"}[r.IntN(2)]
	case 3:
		r.WriteString("  #@cacheline\n")
	case 4, 5:
		r.WriteString("  #@pad\n")
		typ = fmt.Sprintf("data[%d]", 1+r.IntN(64))
	case 6:
		if r.chance(2) {
			typ = []string{"str", "data", "list<u8>"}[r.IntN(3)]
		}
	case 7, 8:
		if other := r.IntN(n + 2); other != n { // now and then one that comes later, or never
			typ = fmt.Sprintf("T%d", other)
		}
	}
	return typ
}

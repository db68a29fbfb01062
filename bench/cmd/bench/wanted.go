package main

import (
	"fmt"
	"io"
	"math"

	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
)

// summary says which of the wanted proportions are met.
func summary(w io.Writer, r results) {
	s := list{figures.NewWanted(w, "differences within 15 % count as none", 60)}
	for _, shape := range []string{"A", "B", "C", "D"} {
		for _, op := range rows.Ops {
			c := r.cell(shape, op)
			mine := c.fastest(rows.Ours)
			if mine == nil {
				continue
			}
			if peer := c.fastest(rows.Peer); peer != nil {
				s.item(fmt.Sprintf("%s %s: ahead of every peer (%s)", shape, op, peer.Name), ratio(mine, peer), figures.Equal)
			}
			if hand := c.fastest(rows.Hand); hand != nil && op != rows.Index {
				s.item(fmt.Sprintf("%s %s: hand-written code (%s)", shape, op, hand.Name), ratio(mine, hand), handLimit(shape, op))
			}
		}
	}
	// Reading is access in place; making the view comes with a check and an error
	// in the access rows, which the bare cast does not have.
	for _, shape := range []string{"A", "B"} {
		read, access := r.cell(shape, rows.Read), r.cell(shape, rows.Access)
		s.item(shape+" access in place, through a view at hand: the pointer cast", ratio(read.named("ours-view"), read.fastest(rows.Limit)), 1.1)
		s.item(shape+" access in place, with making the view: the pointer cast", ratio(access.named("ours-view"), access.fastest(rows.Limit)), 1.1)
	}
	enc, dec := r.cell("B", rows.Encode), r.cell("B", rows.Decode)
	s.item("B encode: memmove", ratio(enc.fastest(rows.Ours), enc.fastest(rows.Limit)), 1.1)
	s.item("B decode: memmove", ratio(dec.fastest(rows.Ours), dec.fastest(rows.Limit)), 1.1)
	ix := r.cell("D", rows.Index)
	s.item("D index once: hand-written validation", ratio(ix.fastest(rows.Ours), ix.fastest(rows.Hand)), 1.1)
	acc := r.cell("D", rows.Access)
	s.item("D access once indexed: FlatBuffers", ratio(acc.named("ours-indexed"), acc.named("flatbuffers")), 2)
	for _, n := range rows.NoAllocation {
		if e := r.cell(n.Shape, n.Op).named(n.Name); e != nil {
			s.count(fmt.Sprintf("%s %s: no allocation", n.Shape, n.Op), e.allocs)
		}
	}
	s.End()
}

// handLimit is how much longer than hand-written code ours may take.
func handLimit(shape, op string) float64 {
	if shape == "C" && op == rows.DecodeAlias {
		return 1.3
	}
	return figures.Equal
}

type list struct{ *figures.Wanted }

// item prints a proportion and whether it is at most what is wanted.
func (l list) item(what string, got, most float64) {
	if !math.IsNaN(got) {
		l.Line(got <= most, what, fmt.Sprintf("%.2f, wanted %.2f", got, most))
	}
}

// count prints a number that should be 0.
func (l list) count(what string, got float64) { l.Line(got == 0, what, fmt.Sprintf("%.0f", got)) }

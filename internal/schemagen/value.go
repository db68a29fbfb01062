package schemagen

import (
	"math"

	"pgregory.net/rapid"
)

// Values generates values of a type.
func Values(l Lang, t *Type) *rapid.Generator[Value] {
	return rapid.Custom(func(rt *rapid.T) Value {
		g := &valuer{T: rt, Lang: l, budget: 200}
		g.n(0, 1) // rapid wants each value to cost something; void would not
		return g.value(t)
	})
}

type valuer struct {
	*rapid.T
	Lang
	budget int // elements of lists and maps that may still be made
}

func (g *valuer) n(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(g.T, "n") }

// borders are numbers at which an encoding changes its length or its sign.
var borders = []uint64{
	0, 1, 2, 63, 64, 127, 128, 255, 256, 16_383, 16_384, 32_767, 32_768, 65_535, 65_536,
	1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<53 - 1, 1<<56 - 1, 1<<62 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1,
}

func (g *valuer) number(bits int) uint64 {
	var x uint64
	if g.n(0, 2) == 0 {
		x = rapid.SampledFrom(borders).Draw(g.T, "border")
	} else {
		x = rapid.Uint64().Draw(g.T, "number")
	}
	return x << (64 - bits) >> (64 - bits)
}

func (g *valuer) value(t *Type) Value {
	switch t.Kind {
	case Ref:
		return g.value(t.Decl.Type)
	case Uint:
		return g.number(64)
	case U8, U16, U32, U64:
		return g.number(8 * width(t.Kind))
	case Int:
		return int64(g.number(64))
	case I8, I16, I32, I64:
		unused := 64 - 8*width(t.Kind)
		return int64(g.number(64)) << unused >> unused
	case F32:
		return uint64(math.Float32bits(float32(math.Float64frombits(g.float(32)))))
	case F64:
		return g.float(64)
	case Bool:
		return rapid.Bool().Draw(g.T, "bool")
	case Str:
		return g.text(t.Max)
	case Data:
		return g.bytes(g.n(0, g.most(t.Max, 20)))
	case FixedData:
		return g.bytes(int(t.Len))
	case Enum:
		return t.Values[g.n(0, len(t.Values)-1)].Value
	case Void:
		return nil
	}
	return g.aggregate(t)
}

// float gives the bits of an f64 (for 32: of one that is exact as an f32, but
// for NaN, whose payload the conversion may change).
func (g *valuer) float(bits int) uint64 {
	f := rapid.Float64().Draw(g.T, "float")
	if bits == 32 {
		f = float64(rapid.Float32().Draw(g.T, "float"))
	}
	if !g.NoExoticFloats {
		switch g.n(0, 9) {
		case 0:
			return math.Float64bits(math.NaN()) | uint64(g.n(0, 255))<<32
		case 1:
			return math.Float64bits(math.Inf(1 - 2*g.n(0, 1)))
		case 2:
			return math.Float64bits(math.Copysign(0, -1))
		}
	}
	if g.NoExoticFloats && (math.IsNaN(f) || math.IsInf(f, 0)) {
		f = 1.5
	}
	return math.Float64bits(f)
}

func (g *valuer) most(limit uint64, most int) int {
	if limit > 0 && limit < uint64(most) {
		most = int(limit)
	}
	return most
}

func (g *valuer) text(limit uint64) string {
	most := g.most(limit, 300)
	if g.n(0, 9) > 0 {
		most = min(most, 8)
	}
	return rapid.StringOfN(rapid.SampledFrom([]rune("aZ0 \x00é€😀\u07ff\uffff")), 0, -1, most).Draw(g.T, "text")
}

func (g *valuer) bytes(n int) string {
	b := make([]byte, n)
	seed := rapid.Uint64().Draw(g.T, "bytes")
	for i := range b {
		seed = seed*6364136223846793005 + 1442695040888963407
		b[i] = byte(seed >> 56)
	}
	return string(b)
}

// count draws how many elements a list or map has.
func (g *valuer) count(limit uint64) int {
	most := g.most(limit, 6)
	if g.ShortLists {
		most = min(most, 3)
	}
	n := g.n(0, max(0, min(most, g.budget)))
	g.budget -= n
	return n
}

func (g *valuer) aggregate(t *Type) Value {
	switch t.Kind {
	case Optional:
		if !rapid.Bool().Draw(g.T, "there") {
			return nil
		}
		return Some{g.value(t.Elem)}
	case List:
		return g.list(t.Elem, g.count(t.Max))
	case FixedList:
		return g.list(t.Elem, int(t.Len))
	case Map:
		pairs := []Pair{}
		seen := map[Value]bool{}
		for range g.count(t.Max) {
			if k := g.value(t.Key); !seen[k] {
				seen[k] = true
				pairs = append(pairs, Pair{k, g.value(t.Elem)})
			}
		}
		return pairs
	case Union:
		i := g.n(0, len(t.Members)-1)
		return Tagged{i, g.value(t.Members[i].Type)}
	}
	fields := make([]Value, len(t.Fields))
	for i, f := range t.Fields {
		if !f.Pad {
			fields[i] = g.value(f.Type)
		}
	}
	return fields
}

func (g *valuer) list(elem *Type, n int) Value {
	list := make([]Value, n)
	for i := range list {
		list[i] = g.value(elem)
	}
	return list
}

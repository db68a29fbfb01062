package emit

import (
	"fmt"
	"strconv"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// spot is a place in bytes where a value of fixed size is: arr[base+off]. The
// base is Go text or empty.
type spot struct {
	arr, base string
	off       int
}

// add returns the spot n bytes further.
func (s spot) add(n int) spot {
	s.off += n
	return s
}

// at returns the index of the byte n further.
func (s spot) at(n int) string {
	n += s.off
	switch {
	case s.base == "":
		return strconv.Itoa(n)
	case n == 0:
		return s.base
	}
	return s.base + "+" + strconv.Itoa(n)
}

// one is the first byte.
func (s spot) one() string { return s.arr + "[" + s.at(0) + "]" }

// upTo is at least n bytes: where the offset is a constant, all the bytes from
// the spot on, which the compiler needs not check; else exactly n.
func (s spot) upTo(n int) string {
	if s.base == "" {
		return s.arr + "[" + s.at(0) + ":]"
	}
	return s.bytes(n)
}

// bytes is n bytes.
func (s spot) bytes(n int) string { return s.arr + "[" + s.at(0) + ":" + s.at(n) + "]" }

// own is n bytes as a slice that cannot be extended.
func (s spot) own(n int) string {
	return s.arr + "[" + s.at(0) + ":" + s.at(n) + ":" + s.at(n) + "]"
}

// array is n bytes as a pointer to an array.
func (s spot) array(n int) string { return fmt.Sprintf("(*[%d]byte)(%s)", n, s.bytes(n)) }

// checker writes the checks of values of fixed size.
type checker struct {
	*shapes
	b     *gocode.Body
	fail  string // the statement for bytes that are no value
	depth int    // of loops
	// faults is the type whose faults are told instead of fail, where they can be.
	faults *plan.Type
}

// value writes the checks of a value, if it has any.
func (c *checker) value(v *plan.Val, at spot) {
	if !c.checks(v) {
		return
	}
	switch v.Kind {
	case resolve.Bool:
		c.bool(at)
	case resolve.Enum:
		c.enum(v, at)
	case resolve.Struct, resolve.Union:
		c.b.Block("if !%s(%s)", validFunc(v.Type), at.array(int(v.Layout.Min)))
		c.failed()
	case resolve.FixedList:
		c.depth++
		i := fmt.Sprintf("i%d", c.depth)
		size, _ := fixedSize(v.Elem)
		c.b.Block("for %s := range %d", i, v.Len)
		c.value(v.Elem, spot{at.arr, at.at(0) + "+" + times(i, size), 0})
		c.b.End()
		c.depth--
	}
}

func (c *checker) failed() {
	c.b.P("%s", c.fail)
	c.b.End()
}

// bool writes the check of a bool. The byte is read once: in shared memory it may
// change, and the error would be of another.
func (c *checker) bool(at spot) {
	if c.faults != nil && canTell(c.faults, at) {
		c.b.Block("if c := %s; c > 1", at.one())
		c.b.P("return %s", badByte(c.faults, at, "c"))
		c.b.End()
		return
	}
	c.b.Block("if %s > 1", at.one())
	c.failed()
}

// times is i*n as Go text.
func times(i string, n int) string {
	if n == 1 {
		return i
	}
	return i + "*" + strconv.Itoa(n)
}

// enum writes the check of an enum. One whose values follow each other is a
// comparison; for others the type's own method knows.
func (c *checker) enum(v *plan.Val, at spot) {
	t, size := bare(v.Type), int(v.Layout.Min)
	switch {
	case size == 1:
		x := at.one()
		low, high, dense := enumRange(t)
		switch {
		case dense && low == 0 && high == 255:
			return
		case dense && low == 0:
			c.b.Block("if %s > %d", x, high)
		case dense:
			c.b.Block("if %s-%d > %d", x, low, high-low)
		default:
			c.b.Block("if !%s(%s).IsValid()", t.Go, x)
		}
	case t.EnumFixed:
		c.b.Block("if !%s(%s).IsValid()", t.Go, loadInt(size, at))
	default:
		c.b.Block("if e, n := wire.Uint(%s, 0); n != %d || !%s(e).IsValid()", at.bytes(size), size, t.Go)
	}
	c.failed()
}

// enumRange returns an enum's least and greatest value and whether all between
// are values too.
func enumRange(t *plan.Type) (low, high uint64, dense bool) {
	low = ^uint64(0)
	for _, v := range t.Values {
		low, high = min(low, v.N), max(high, v.N)
	}
	return low, high, high-low == uint64(len(t.Values)-1)
}

// loadInt is the load of an unsigned integer of 1, 2, 4 or 8 bytes.
func loadInt(size int, at spot) string {
	if size == 1 {
		return at.one()
	}
	return fmt.Sprintf("binary.LittleEndian.Uint%d(%s)", 8*size, at.upTo(size))
}

// validFunc is the name of the function that checks the bytes of a struct or
// union of fixed size, indexFunc that of the pass over one of variable size.
func validFunc(t *plan.Type) string { return "valid" + bare(t).Go }
func indexFunc(t *plan.Type) string { return "index" + bare(t).Go }

// valid writes the function that checks the bytes of a type of fixed size.
func (s *shapes) valid(g *gocode.Code, t *plan.Type) {
	size := int(t.Layout().Min)
	g.Func("", fmt.Sprintf("%s(p *[%d]byte) bool", validFunc(t), size), func(b *gocode.Body) {
		c := &checker{shapes: s, b: b, fail: "return false"}
		at := spot{arr: "p"}
		switch t.Kind {
		case resolve.Union:
			c.union(t, at)
			return
		case resolve.FixedList:
			c.value(t.Under, at)
		}
		c.fields(t, at)
		b.P("return true")
	})
}

// fields writes the checks of a struct's fields.
func (c *checker) fields(t *plan.Type, at spot) {
	for _, f := range t.Fields {
		n, _ := fixedSize(f.Val)
		c.value(f.Val, at)
		at = at.add(n)
	}
}

// fewChecks reports whether a struct has one or two fields to check, and those
// of one comparison each.
func (s *shapes) fewChecks(t *plan.Type) bool {
	n := 0
	for _, f := range t.Fields {
		if s.checks(f.Val) {
			if n++; f.Val.Kind != resolve.Bool && f.Val.Kind != resolve.Enum {
				return false
			}
		}
	}
	return n <= 2
}

// union writes the body of a union's check.
func (c *checker) union(t *plan.Type, at spot) {
	size := tagSize(t)
	if size == 1 {
		c.b.Block("switch %s", at.one())
	} else {
		c.b.P("tag, n := wire.Uint(%s, 0)", at.bytes(size))
		c.b.Block("if n != %d", size)
		c.failed()
		c.b.Block("switch tag")
	}
	for _, m := range t.Members {
		c.b.P("case %d:", m.Tag)
		c.value(m.Val, at.add(size))
	}
	c.b.P("default:")
	c.b.P("%s", c.fail)
	c.b.End()
	c.b.P("return true")
}

// tagSize is the size of a union's tags if they are all of one size, else 0.
func tagSize(t *plan.Type) int {
	size := uvarintSize(t.Members[0].Tag)
	for _, m := range t.Members {
		if uvarintSize(m.Tag) != size {
			return 0
		}
	}
	return size
}

func uvarintSize(x uint64) int {
	n := 1
	for ; x >= 0x80; x >>= 7 {
		n++
	}
	return n
}

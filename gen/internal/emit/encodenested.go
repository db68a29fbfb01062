package emit

import (
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Here is how values that are made of others are appended: optionals, lists,
// maps and unions. Structs, and the segments that their fields form, are in
// encode.go.

// optional appends an optional, whose value or pointer is in x; owner is what
// a named optional's field is selected from.
func (c *encoder) optional(v *plan.Val, owner, x string, path []string) {
	there, inner := x+" != nil", "(*"+x+")"
	switch v.Form {
	case plan.OptValue:
		there, inner = owner+".Valid", owner+".Value"
	case plan.OptBox:
		there, inner = owner+".Value != nil", "(*"+owner+".Value)"
	}
	c.Block("if %s", there)
	c.P("b = append(b, 1)")
	c.value(v.Elem, inner, path)
	c.P("} else {")
	c.P("b = append(b, 0)")
	c.End()
}

// list appends a count and the elements.
func (c *encoder) list(v *plan.Val, x string, path []string) {
	c.maxCheck(v, x, path)
	c.P("b = wire.AppendUint(b, uint64(len(%s)))", x)
	c.elements(v, x, path)
}

// elements appends the elements of a list, as one copy where they are numbers
// or memory that is its own message.
func (c *encoder) elements(v *plan.Val, x string, path []string) {
	e := v.Elem
	all := x
	if v.Kind == resolve.FixedList {
		all = x + "[:]"
	}
	size := e.Layout.Min
	switch {
	case isFixedNumber(e.Kind):
		c.P("b = wire.AppendNumbers(b, %s)", all)
	case flat(e) && copies(e) && !e.CanFail:
		c.Block("if wire.LittleEndian")
		c.P("b = append(b, wire.Memory(%s)...)", all)
		c.P("} else {")
		c.flatElements(e, x, size, path)
		c.End()
	case flat(e) && size > 0:
		c.flatElements(e, x, size, path)
	default:
		i := c.name("i")
		c.Block("for %s := range %s", i, x)
		c.value(e, x+"["+i+"]", atStep(i, path))
		c.End()
	}
}

// flatElements appends elements of size bytes with one growth.
func (c *encoder) flatElements(e *plan.Val, x string, size uint64, path []string) {
	o, i, p := c.name("o"), c.name("i"), c.name("p")
	c.P("%s := len(b)", o)
	c.P("b = wire.Extend(b, len(%s)*%d)", x, size)
	c.Block("for %s := range %s", i, x)
	c.P("%s := (*[%d]byte)(b[%s:])", p, size, o)
	c.put(e, x+"["+i+"]", p, "0", 0, atStep(i, path))
	c.P("%s += %d", o, size)
	c.End()
}

// mapping appends a map, its keys in order.
func (c *encoder) mapping(v *plan.Val, x string, path []string) {
	c.maxCheck(v, x, path)
	c.P("b = wire.AppendUint(b, uint64(len(%s)))", x)
	c.Block("if len(%s) > 0", x)
	keys, i, k, e := c.name("keys"), "_", c.name("k"), c.name("v")
	if v.Key.CanFail || v.Elem.CanFail {
		i = c.name("i")
	}
	c.P("var %s [%d]%s", keys, min(64, max(4, 1024/max(1, v.Key.GoSize))), v.Key.Go)
	c.Block("for %s, %s := range %s", i, k, sortedKeys(v.Key, keys, x))
	c.value(v.Key, k, in("key", atStep(i, path)))
	c.P("%s := %s[%s]", e, x, k)
	if v.Elem.Kind == resolve.Void {
		c.P("_ = %s", e)
	}
	c.value(v.Elem, e, in("value", atStep(i, path)))
	c.End()
	c.End()
}

func sortedKeys(k *plan.Val, buf, m string) string {
	switch k.Kind {
	case resolve.Bool:
		return fmt.Sprintf("wire.SortedBools(%s[:0], %s)", buf, m)
	case resolve.FixedData:
		return fmt.Sprintf("wire.SortedArrays(%s[:0], %s, func(k *%s) []byte { return k[:] })", buf, m, k.Go)
	}
	return fmt.Sprintf("wire.SortedKeys(%s[:0], %s)", buf, m)
}

// union appends the tag and the member.
func (c *encoder) union(t *plan.Type) {
	c.Block("switch m := x.Value.(type)")
	for _, m := range t.Members {
		c.P("case *%s:", m.Go)
		c.refuse("m == nil", "wire.NilUnion()", nil)
		c.P("b = append(b, %s)", byteList(m.Tag))
		c.value(m.Val, memberValue(m), in(m.Schema, nil))
	}
	c.P("case nil:")
	c.P("return b, wire.NilUnion()")
	c.P("default:")
	c.P("return b, wire.Foreign()")
	c.End()
}

// memberValue is a member's value where m points to it.
func memberValue(m *plan.Member) string {
	if m.Wrapper {
		return "m.Value"
	}
	return "(*m)"
}

// byteList is a varint as Go bytes.
func byteList(x uint64) string {
	var s []string
	for ; x >= 0x80; x >>= 7 {
		s = append(s, fmt.Sprintf("%#x", x&0x7f|0x80))
	}
	return strings.Join(append(s, fmt.Sprint(x)), ", ")
}

package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// A value is read through a view in one of two ways: out of an indexed message,
// where u is Go text for a wire.View of it, or out of bytes of fixed layout,
// where it is at a spot. Both give the same Go types.

// viewGo is the Go type in which views give a value.
func (e *viewer) viewGo(v *plan.Val) string {
	switch v.Kind {
	case resolve.Data:
		if v.Form == plan.StringKey {
			return "string"
		}
		return v.Go
	case resolve.FixedData:
		return "*" + v.Go
	case resolve.Struct, resolve.Union:
		return bare(v.Type).Name(plan.View)
	case resolve.Optional:
		return "wire.Optional[" + e.viewGo(v.Elem) + "]"
	case resolve.List, resolve.FixedList:
		if v.Type == nil {
			if g := e.listGo(v); g != "" {
				return g
			}
		}
		return e.nest(v)
	case resolve.Map:
		return e.nest(v)
	}
	return v.Go
}

// listGo is the runtime's type for an unnamed list's view, or empty if there
// is none and the list needs one of its own.
func (e *viewer) listGo(v *plan.Val) string {
	switch k := v.Elem.Kind; {
	case v.Elem.Type == nil && k == resolve.U8:
		return "[]byte"
	case v.Elem.Type == nil && numberList[k]:
		return "wire." + viewLoad[k] + "List"
	case isFixed(v.Elem):
		return ""
	case v.Elem.Type == nil && k == resolve.Str:
		return "wire.StrList"
	case v.Elem.Type == nil && k == resolve.Data:
		return "wire.DataList"
	case k == resolve.Struct || k == resolve.Union:
		return "wire.List[" + e.viewGo(v.Elem) + "]"
	}
	return ""
}

// numberList are the kinds with a list view in the runtime, beside u8.
var numberList = map[resolve.Kind]bool{
	resolve.U16: true, resolve.U32: true, resolve.U64: true, resolve.I8: true, resolve.I16: true,
	resolve.I32: true, resolve.I64: true, resolve.F32: true, resolve.F64: true,
}

// conv converts to a scalar's declared type.
func conv(v *plan.Val, expr string) string {
	if v.Type == nil {
		return expr
	}
	return v.Go + "(" + expr + ")"
}

// indexed is the expression that reads a value at u.
func (e *viewer) indexed(v *plan.Val, u string) string {
	switch v.Kind {
	case resolve.Enum:
		return v.Go + "(" + u + "." + enumLoad(v) + "())"
	case resolve.Optional:
		return fmt.Sprintf("wire.MakeOptional(wire.Opt(%s, %s))", u, e.getFunc(v))
	case resolve.Data:
		if v.Form == plan.StringKey {
			return u + ".Str()"
		}
	case resolve.FixedData, resolve.FixedList, resolve.Struct, resolve.Union:
		if n, ok := fixedSize(v); ok {
			if v.Kind != resolve.FixedList {
				return e.packedAt(v, u+".Tail()") // becomes an array, so its end is checked
			}
			return e.packedAt(v, fmt.Sprintf("%s.Bytes(%d)", u, n))
		}
		if v.Kind != resolve.FixedList {
			return e.viewGo(v) + "(" + u + ")"
		}
		return e.indexedList(v, u)
	case resolve.List:
		return e.indexedList(v, u)
	case resolve.Map:
		return e.viewGo(v) + "(" + u + ")"
	}
	return conv(v, u+"."+viewLoad[v.Kind]+"()")
}

// enumLoad is the method of wire.View that reads an enum.
func enumLoad(v *plan.Val) string {
	if n, ok := fixedSize(v); ok && (bare(v.Type).EnumFixed || n == 1) {
		return fmt.Sprintf("U%d", 8*n)
	}
	return "Uint"
}

// packedAt is a value of more than one byte of fixed size, over text for its
// bytes: exactly those for a list.
func (e *viewer) packedAt(v *plan.Val, bytes string) string {
	switch g := e.viewGo(v); {
	case v.Kind == resolve.FixedData:
		return "(" + g + ")(" + bytes + ")"
	case v.Kind != resolve.FixedList:
		return fmt.Sprintf("%s{(*[%d]byte)(%s)}", g, v.Layout.Min, bytes)
	case g == "[]byte":
		return bytes
	default:
		return g + "(wire.PackedOf(" + bytes + "))"
	}
}

// indexedList is the expression for a list or one of fixed length whose size
// varies.
func (e *viewer) indexedList(v *plan.Val, u string) string {
	g := e.viewGo(v)
	own := v.Type != nil || e.listGo(v) == ""
	if size, ok := fixedSize(v.Elem); ok {
		return packedList(g, fmt.Sprintf("%s.Packed(%d)", u, size))
	}
	elems := fmt.Sprintf("%s.Elems(%d)", u, e.s.stride(v.Elem))
	switch {
	case own:
		return g + "(" + u + ")"
	case v.Elem.Kind == resolve.Str:
		return "wire.StrListOf(" + elems + ")"
	case v.Elem.Kind == resolve.Data:
		return "wire.DataListOf(" + elems + ")"
	}
	return "wire.ListOf[" + e.viewGo(v.Elem) + "](" + elems + ")"
}

// packedList makes a list's view of its wire.Packed.
func packedList(goType, packed string) string {
	if goType == "[]byte" {
		return packed + ".Bytes()"
	}
	return goType + "(" + packed + ")"
}

// viewCall is the method of wire.View that reads a value if that takes a call,
// which leaves nothing of the inlining budget for more; else empty.
func viewCall(v *plan.Val) string {
	switch v.Kind {
	case resolve.Uint, resolve.Int, resolve.Str, resolve.Data:
		if v.Type == nil && v.Form != plan.StringKey {
			return viewLoad[v.Kind]
		}
	}
	return ""
}

// getFunc is a function from the wire.View behind an optional's first byte to
// its value.
func (e *viewer) getFunc(v *plan.Val) string {
	u := "u"
	if e.s.far(v) {
		u = "u.Far(0)"
	}
	x := e.indexed(v.Elem, u)
	if m := viewLoad[v.Elem.Kind]; m != "" && x == "u."+m+"()" {
		return "wire.View." + m
	}
	return fmt.Sprintf("func(u wire.View) %s { return %s }", e.viewGo(v.Elem), x)
}

// fixed is the expression that reads a value of fixed size at a spot.
func (e *viewer) fixed(v *plan.Val, at spot) string {
	size := int(v.Layout.Min)
	switch v.Kind {
	case resolve.Bool:
		return conv(v, at.one()+" != 0")
	case resolve.Enum:
		if size == 1 || bare(v.Type).EnumFixed {
			return v.Go + "(" + loadInt(size, at) + ")"
		}
		return fmt.Sprintf("%s(wire.FixedVarint(%s))", v.Go, at.bytes(size))
	case resolve.FixedData, resolve.Struct, resolve.Union, resolve.FixedList:
		return e.packedAt(v, at.own(size))
	case resolve.F32, resolve.F64:
		return conv(v, fmt.Sprintf("math.Float%dfrombits(%s)", 8*size, loadInt(size, at)))
	case resolve.I8, resolve.I16, resolve.I32, resolve.I64:
		if v.Type != nil {
			return fmt.Sprintf("%s(int%d(%s))", v.Go, 8*size, loadInt(size, at))
		}
		return fmt.Sprintf("int%d(%s)", 8*size, loadInt(size, at))
	}
	return conv(v, loadInt(size, at))
}

// paramGo is the Go type in which setters take a value: a large one by pointer,
// so that no call copies it to the stack.
func paramGo(v *plan.Val) string {
	if v.Big {
		return "*" + v.Go
	}
	return v.Go
}

// store is the statement that writes x, a value of paramGo's type, at a spot, or
// empty if a value of that kind is not set as a whole.
func (e *viewer) store(v *plan.Val, at spot, x string) string {
	size := int(v.Layout.Min)
	switch v.Kind {
	case resolve.Bool:
		return fmt.Sprintf("%s = wire.BoolByte(%s)", at.one(), plain(v, "bool", x))
	case resolve.Enum:
		if size > 1 && !bare(v.Type).EnumFixed {
			return fmt.Sprintf("wire.PutVarint(%s, uint64(%s))", at.bytes(size), x)
		}
	case resolve.FixedData:
		if v.Big {
			x = "*" + x
		}
		return fmt.Sprintf("*(%s)(%s) = %s", e.viewGo(v), at.bytes(size), x)
	case resolve.F32, resolve.F64:
		float := fmt.Sprintf("float%d", 8*size)
		return storeInt(size, at, fmt.Sprintf("math.Float%dbits(%s)", 8*size, plain(v, float, x)))
	case resolve.U8, resolve.U16, resolve.U32, resolve.U64:
		x = plain(v, fmt.Sprintf("uint%d", 8*size), x)
	case resolve.I8, resolve.I16, resolve.I32, resolve.I64:
		x = fmt.Sprintf("uint%d(%s)", 8*size, x)
	default:
		return ""
	}
	if v.Kind == resolve.Enum {
		x = fmt.Sprintf("uint%d(%s)", 8*size, x)
	}
	return storeInt(size, at, x)
}

// plain converts x of a declared type to the type behind it.
func plain(v *plan.Val, goType, x string) string {
	if v.Go == goType {
		return x
	}
	return goType + "(" + x + ")"
}

func storeInt(size int, at spot, x string) string {
	if size == 1 {
		return at.one() + " = " + x
	}
	return fmt.Sprintf("binary.LittleEndian.PutUint%d(%s, %s)", 8*size, at.upTo(size), x)
}

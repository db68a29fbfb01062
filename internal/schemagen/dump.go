package schemagen

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Dump writes a value as text, the same text that the runner makes of a Go
// value by reflection. It keeps what a program sees: numbers, bits of floats,
// presence, order. It drops what only Go's types say: a struct of one field
// reads as the field, so that a union's wrapper reads as what it wraps, and a
// list of bytes reads as bytes.
func Dump(t *Type, v Value) string {
	switch t.Kind {
	case Ref:
		return Dump(t.Decl.Type, v)
	case F32, F64:
		return fmt.Sprintf("f%x", v)
	case Str, Data, FixedData:
		return "x" + hex.EncodeToString([]byte(v.(string)))
	case Void:
		return "{}"
	case Optional:
		if some, ok := v.(Some); ok {
			return "+" + Dump(t.Elem, some.V)
		}
		return "-"
	case List, FixedList:
		return dumpList(t.Elem, v.([]Value))
	case Map:
		var parts []string
		for _, p := range v.([]Pair) {
			parts = append(parts, Dump(t.Key, p.K)+":"+Dump(t.Elem, p.V))
		}
		slices.Sort(parts)
		return "<" + strings.Join(parts, " ") + ">"
	case Union:
		u := v.(Tagged)
		return "U" + Dump(t.Members[u.Member].Type, u.V)
	case Struct:
		var parts []string
		for i, f := range t.Fields {
			if !f.Pad {
				parts = append(parts, Dump(f.Type, v.([]Value)[i]))
			}
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprint(v)
}

func dumpList(elem *Type, list []Value) string {
	if elem.isByte() {
		b := make([]byte, len(list))
		for i, v := range list {
			b[i] = byte(v.(uint64))
		}
		return "x" + hex.EncodeToString(b)
	}
	var parts []string
	for _, v := range list {
		parts = append(parts, Dump(elem, v))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// isByte reports whether Go holds a type in one unsigned byte.
func (t *Type) isByte() bool {
	u := t.Under()
	if u.Kind == Enum && u.Base == Uint {
		return !slices.ContainsFunc(u.Values, func(v *EnumValue) bool { return v.Value > 127 })
	}
	return u.Kind == U8 || u.Kind == Enum && u.Base == U8
}

package runner

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Dump writes a generated Go value as the text that schemagen.Dump makes of the
// value it should hold.
func Dump(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprint(plain(v))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprint(v.Uint()) // an enum prints its number, not its name
	case reflect.Float32:
		return fmt.Sprintf("f%x", float32bits(v))
	case reflect.Float64:
		return fmt.Sprintf("f%x", math.Float64bits(v.Float()))
	case reflect.String:
		return "x" + hex.EncodeToString([]byte(v.String()))
	case reflect.Slice, reflect.Array:
		return dumpList(v)
	case reflect.Map:
		var parts []string
		for it := v.MapRange(); it.Next(); {
			parts = append(parts, Dump(it.Key())+":"+Dump(it.Value()))
		}
		slices.Sort(parts)
		return "<" + strings.Join(parts, " ") + ">"
	case reflect.Pointer: // an optional that is too large to lie inline
		if v.IsNil() {
			return "-"
		}
		return "+" + Dump(v.Elem())
	case reflect.Struct:
		return dumpStruct(v)
	}
	return "?" + v.Type().String()
}

func plain(v reflect.Value) any {
	if v.Kind() == reflect.Bool {
		return v.Bool()
	}
	return v.Int()
}

// float32bits takes the bits from memory: the way over float64, which reflect
// offers, makes a signalling NaN quiet.
func float32bits(v reflect.Value) uint32 {
	c := reflect.New(v.Type())
	c.Elem().Set(v)
	return *(*uint32)(c.UnsafePointer())
}

func dumpList(v reflect.Value) string {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b := make([]byte, v.Len())
		for i := range b {
			b[i] = byte(v.Index(i).Uint())
		}
		return "x" + hex.EncodeToString(b)
	}
	var parts []string
	for i := range v.Len() {
		parts = append(parts, Dump(v.Index(i)))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func dumpStruct(v reflect.Value) string {
	t := v.Type()
	if t.NumField() == 2 && t.Field(0).Name == "Value" && t.Field(1).Name == "Valid" {
		if !v.Field(1).Bool() {
			return "-"
		}
		return "+" + Dump(v.Field(0))
	}
	if t.NumField() == 1 && v.Field(0).Kind() == reflect.Interface {
		if v.Field(0).IsNil() {
			return "Unil"
		}
		return "U" + Dump(v.Field(0).Elem().Elem())
	}
	var parts []string
	for i := range t.NumField() {
		if t.Field(i).IsExported() { // padding is not
			parts = append(parts, Dump(v.Field(i)))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "{" + strings.Join(parts, " ") + "}"
}

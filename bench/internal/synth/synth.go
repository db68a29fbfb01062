// Package synth writes schemas of any size, for measuring compilers: the same
// schema in the new syntax and in go-bare's.
//
// Of ten types eight are structs of eight to ten fields, one is an enum of eight
// values and one a union of six structs. Structs have scalars, strings, lists,
// optionals, maps, fixed data, fixed lists, enums, and most refer to the struct before them.
package synth

import (
	"bytes"
	"fmt"
)

// Dialect is a syntax of BARE schemas.
type Dialect uint8

const (
	// New is the syntax of the drafts since 03: list<T>, str.
	New Dialect = iota
	// Old is go-bare's: []T, string.
	Old
)

// Schema returns a schema of n types, the same for the same n.
func Schema(n int, d Dialect) []byte {
	w := &writer{dialect: d, seed: 1}
	for i := range n {
		switch group := i / 10; i % 10 {
		case 8:
			w.enum(group)
		case 9:
			w.union(group)
		default:
			w.record(group, i%10)
		}
	}
	return w.out.Bytes()
}

type writer struct {
	out     bytes.Buffer
	dialect Dialect
	seed    uint64
}

// next returns a number below n, by a generator that every version of Go has the same of.
func (w *writer) next(n int) int {
	w.seed = w.seed*6364136223846793005 + 1442695040888963407
	return int(w.seed >> 33 % uint64(n))
}

var (
	nouns  = []string{"account", "address", "amount", "batch", "carrier", "channel", "count", "device", "email", "endpoint", "image", "label", "latitude", "message", "offset", "order", "origin", "owner", "parent", "payload", "price", "quantity", "reading", "region", "sensor", "session", "status", "token", "user", "vendor", "volume", "zone"}
	titles = []string{"Account", "Batch", "Carrier", "Device", "Endpoint", "Invoice", "Order", "Sensor"}
	words  = []string{"ACTIVE", "BLOCKED", "CLOSED", "DELETED", "EXPIRED", "FAILED", "PENDING", "UNKNOWN"}
)

func typeName(group, i int) string { return fmt.Sprintf("%s%d", titles[i], group) }

func (w *writer) record(group, i int) {
	if w.next(4) == 0 {
		fmt.Fprintf(&w.out, "# %s is what a station sends.\n", typeName(group, i))
	}
	open := "struct {"
	if w.dialect == Old {
		open = "{"
	}
	fmt.Fprintf(&w.out, "type %s %s\n", typeName(group, i), open)
	first := w.next(len(nouns))
	for f := range 8 + w.next(3) {
		noun := nouns[(first+3*f)%len(nouns)]
		fmt.Fprintf(&w.out, "\t%s%d: %s\n", noun, f, w.field(group, i, f))
	}
	w.out.WriteString("}\n\n")
}

func (w *writer) field(group, i, f int) string {
	old := w.dialect == Old
	switch {
	case f == 7 && i > 0:
		return typeName(group, i-1)
	case f == 6 && i%3 == 0 && group > 0:
		return fmt.Sprintf("State%d", group-1)
	case f < 4:
		return w.scalar()
	}
	switch w.next(8) {
	case 0:
		return "data"
	case 1:
		if old {
			return "[]" + w.scalar()
		}
		return "list<" + w.scalar() + ">"
	case 2:
		return "optional<" + w.scalar() + ">"
	case 3:
		if old {
			return "map[string]" + w.scalar()
		}
		return "map<str><" + w.scalar() + ">"
	case 4:
		if old {
			return "data<16>"
		}
		return "data[16]"
	case 5:
		if old {
			return "[4]f32"
		}
		return "list<f32>[4]"
	}
	return w.scalar()
}

var scalars = []string{"u8", "u16", "u32", "u64", "uint", "i32", "i64", "int", "f32", "f64", "bool", "str", "str", "str"}

func (w *writer) scalar() string {
	s := scalars[w.next(len(scalars))]
	if s == "str" && w.dialect == Old {
		return "string"
	}
	return s
}

// Values carry their enum's number: go-bare puts all of them in one scope.
func (w *writer) enum(group int) {
	if w.dialect == Old {
		fmt.Fprintf(&w.out, "enum State%d {\n", group)
	} else {
		fmt.Fprintf(&w.out, "type State%d enum {\n", group)
	}
	for _, word := range words {
		fmt.Fprintf(&w.out, "\t%s_%d\n", word, group)
	}
	w.out.WriteString("}\n\n")
}

func (w *writer) union(group int) {
	open, end := "union { ", " }"
	if w.dialect == Old {
		open, end = "(", ")"
	}
	fmt.Fprintf(&w.out, "type Event%d %s", group, open)
	for i := range 6 {
		if i > 0 {
			w.out.WriteString(" | ")
		}
		w.out.WriteString(typeName(group, i))
	}
	w.out.WriteString(end + "\n\n")
}

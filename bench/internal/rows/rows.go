// Package rows is the table of what is measured: one row for each shape,
// operation and peer. cmd/genrows turns it into benchmarks, each a straight loop
// of its own, and cmd/bench reads it to know what to compare with what.
package rows

import (
	"cmp"
	"slices"
)

// Class says what a row stands for in comparisons.
type Class uint8

const (
	// Peer is another library.
	Peer Class = iota
	// Ours is what barewire-gen generates.
	Ours
	// Hand is hand-written BARE code with the same checks as ours: the
	// fastest of them is what ours is compared with.
	Hand
	// Plain is hand-written BARE code with fewer checks than ours, shown
	// only.
	Plain
	// Limit is what the machine allows: a memmove, or a pointer cast.
	Limit
	// Variant is a row of ours or of a peer that is shown only, because it does
	// not do the same work as the others in its cell.
	Variant
)

// String returns the class as tables show it.
func (c Class) String() string {
	return [...]string{"peer", "ours", "hand", "plain", "limit", "variant"}[c]
}

// Row is one line of a table.
type Row struct {
	Shape string // A to D
	Op    string
	Name  string
	Class Class

	// Go code: what stands before the loop, in the loop (k is the number of
	// the object), and the size of the message in bytes.
	Setup, Body, Wire string

	// Note is what a reader must know to judge the row.
	Note string
}

// The operations, in the order of the tables.
const (
	Encode      = "encode"       // to a reused buffer
	Decode      = "decode"       // to a reused destination, with new memory for strings, lists, maps
	DecodeReuse = "decode-reuse" // the destination's memory is reused
	DecodeAlias = "decode-alias" // strings are the input's memory
	AliasReuse  = "alias-reuse"  // both
	Access      = "access"       // three fields, from the bytes
	Read        = "read"         // the same fields, through a view made before
	Validate    = "validate"     // checks all of the message, decodes nothing
	Index       = "index"        // checks and indexes a message of variable size
)

// ShapeNames says what the shapes are.
var ShapeNames = map[string]string{
	"A": "A: fixed record, 64 bytes",
	"B": "B: tensor, 88 bytes and 4096 f32",
	"C": "C: record with two strings, 46 bytes",
	"D": "D: 1000 records, a map of 50, an optional, a union: 47,834 bytes",
}

// Ops are the operations in the order of the tables.
var Ops = []string{Encode, Decode, DecodeReuse, DecodeAlias, AliasReuse, Access, Read, Validate, Index}

// All returns the rows by shape and operation, those of a cell together.
func All() []Row {
	var all []Row
	for _, t := range [][]Row{ours(), small(), tensor(), record(), large()} {
		all = append(all, t...)
	}
	slices.SortStableFunc(all, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Shape, b.Shape), cmp.Compare(slices.Index(Ops, a.Op), slices.Index(Ops, b.Op)))
	})
	return all
}

// What several rows need before the loop.
const (
	buf = "buf := make([]byte, 1<<18)"
	acc = "var u uint64"
)

// line is a Row without its shape.
type line struct {
	op          string
	class       Class
	name        string
	setup, body string
	wire        string
	note        string
}

// table makes the rows of a shape.
func table(shape string, lines []line) []Row {
	rows := make([]Row, len(lines))
	for i, l := range lines {
		rows[i] = Row{shape, l.op, l.name, l.class, l.setup, l.body, l.wire, l.note}
	}
	return rows
}

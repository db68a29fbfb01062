package ast

import (
	"iter"

	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Children yields the types that stand directly in t, in the order in which
// they are written: the element of a list, the key and value of a map, the
// types of members and fields.
func Children(t Type) iter.Seq[Type] {
	return func(yield func(Type) bool) {
		switch t := t.(type) {
		case *Optional:
			yield(t.Elem)
		case *List:
			yield(t.Elem)
		case *Map:
			_ = yield(t.Key) && yield(t.Value)
		case *Union:
			for _, m := range t.Members {
				if !yield(m.Type) {
					return
				}
			}
		case *Struct:
			for _, f := range t.Fields {
				if !yield(f.Type) {
					return
				}
			}
		}
	}
}

// Walk calls visit for t and, where visit returns true, for all that stands in
// it, outermost first and in source order.
func Walk(t Type, visit func(Type) bool) {
	if t == nil || !visit(t) {
		return
	}
	for c := range Children(t) {
		Walk(c, visit)
	}
}

// HasBad reports whether a type in t could not be read. What is wrong with it
// has been reported; whoever finds more faults in t may well be misled.
func HasBad(t Type) bool {
	bad := false
	Walk(t, func(t Type) bool {
		_, is := t.(*Bad)
		bad = bad || is
		return !bad
	})
	return bad
}

// Node is what annotations and doc comments can belong to: one of *Decl,
// *Field, *Member and *EnumValue.
type Node interface {
	Pos() source.Span
	Attachments() *Attached
}

// Attachments returns what belongs to the node.
func (a *Attached) Attachments() *Attached { return a }

func (d *Decl) Pos() source.Span      { return d.Span }
func (f *Field) Pos() source.Span     { return f.Span }
func (m *Member) Pos() source.Span    { return m.Span }
func (v *EnumValue) Pos() source.Span { return v.Span }

// Nodes yields every declaration, field, member and value of the file,
// outermost first and in source order.
func (f *File) Nodes() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for _, d := range f.Decls {
			if !yield(d) || !nodes(d.Type, yield) {
				return
			}
		}
	}
}

func nodes(t Type, yield func(Node) bool) bool {
	switch t := t.(type) {
	case *Enum:
		for _, v := range t.Values {
			if !yield(v) {
				return false
			}
		}
	case *Union:
		for _, m := range t.Members {
			if !yield(m) || !nodes(m.Type, yield) {
				return false
			}
		}
	case *Struct:
		for _, f := range t.Fields {
			if !yield(f) || !nodes(f.Type, yield) {
				return false
			}
		}
	default:
		for c := range Children(t) {
			if !nodes(c, yield) {
				return false
			}
		}
	}
	return true
}

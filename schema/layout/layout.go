// Package layout works out how a type lies in memory, which is how it lies on
// the wire: there is one layout, BARE's. Nothing is padded invisibly; what an
// annotation asks for is checked, not granted.
package layout

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Class is what can be done with a type in place.
type Class uint8

const (
	Variable Class = iota // no greatest size
	Bounded               // a greatest size known through #@max
	Fixed                 // always the same size
	Castable              // fixed, and Go's own layout of the type equals the wire's
)

// String is the class's name: "castable".
func (c Class) String() string {
	return [...]string{"variable", "bounded", "fixed", "castable"}[c]
}

// Info is the layout of one type.
type Info struct {
	Class Class
	Min   uint64 // smallest encoding in bytes, at least 1 but for void; saturates
	Max   uint64 // greatest encoding in bytes where Class is not Variable; equals Min for a fixed size
	Align uint64 // natural alignment: the greatest of its parts', 1, 2, 4 or 8; 1 where the size varies
	// Need is the multiple at which the type's bytes must start, and of which a
	// fixed size must be, since an #@atomic or #@cacheline field is in it; else 1.
	Need uint64
	// WhyNot says why the type is not castable, for people; empty where it is.
	WhyNot string
}

// IsFixed reports whether every value has the same size.
func (i Info) IsFixed() bool { return i.Class >= Fixed }

// MaxSize is the greatest size in bytes of a fixed type and of a slot's message.
const MaxSize = 256 << 20

// Layouts has the layouts of all types of a schema. It does not change, so it
// may be shared.
type Layouts struct {
	infos map[*resolve.Type]*info // all but scalars and references
	prims [resolve.Ref]*info
}

// info is what is kept of a type.
type info struct {
	Info
	invalid bool           // a part of it has an error, which is reported: nothing is known
	loose   culprit        // what keeps it from having a greatest size
	needs   *resolve.Field // the #@atomic or #@cacheline field behind Need
}

// culprit is the part of a type that is to blame, and why.
type culprit struct {
	typ  *resolve.Type
	part string   // the first step from the type on: .field, [] or ? for what is in it, |tag
	rest *culprit // the steps behind it
}

// path is the steps to the culprit; of a long way only the start.
func (c *culprit) path() string {
	var b strings.Builder
	for ; c != nil && c.part != ""; c = c.rest {
		if b.Len() > 200 {
			return b.String() + "…"
		}
		b.WriteString(c.part)
	}
	return b.String()
}

// New works out the layouts of a schema, and checks what its annotations ask
// for. A schema with errors is served as well; its invalid types are passed over.
func New(s *resolve.Schema) (*Layouts, diag.List) {
	l := &Layouts{infos: map[*resolve.Type]*info{}}
	for k := range resolve.Ref {
		l.prims[k] = scalar(k)
	}
	c := newChecker(l)
	for _, d := range s.Order {
		l.work(d.Type)
		c.decl(d)
	}
	return l, c.diags
}

// Of returns the layout of a type.
func (l *Layouts) Of(t *resolve.Type) Info { return l.of(t).Info }

func (l *Layouts) of(t *resolve.Type) *info {
	t = t.Resolve()
	if i := l.infos[t]; i != nil {
		return i
	}
	return l.prims[t.Kind]
}

// FieldLayout is where a field of a struct lies.
type FieldLayout struct {
	Field   *resolve.Field
	Offset  uint64 // bytes from the start of the struct; of use where IsFixed
	IsFixed bool   // all fields before have a fixed size
	Info    Info   // of the field's type
}

// Fields returns where the fields of a struct lie, in order; t may be a name for
// one. It returns nil for other types.
func (l *Layouts) Fields(t *resolve.Type) []FieldLayout {
	t = t.Resolve()
	fields := make([]FieldLayout, len(t.Fields))
	offset, fixed := uint64(0), true
	for i, f := range t.Fields {
		info := l.Of(f.Type)
		fields[i] = FieldLayout{f, offset, fixed, info}
		offset, fixed = add(offset, info.Max), fixed && info.IsFixed()
	}
	return fields
}

// Slot is the size in bytes of the slot that holds a message of a bounded type:
// a u32 length, the message, zeros up to a multiple of 8 or of #@align. Zero for
// other classes. d gives the alignment and may be nil.
func (l *Layouts) Slot(t *resolve.Type, d *resolve.Decl) uint64 {
	i := l.Of(t)
	if i.Class != Bounded {
		return 0
	}
	align := uint64(8)
	if d != nil && d.Align > 0 {
		align = d.Align
	}
	return (4 + i.Max + align - 1) / align * align
}

package layout

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// checker checks what annotations ask of the layout.
type checker struct {
	*Layouts
	diags   diag.List
	wishes  map[*resolve.Type][]wish // findings that padding in the struct would mend
	mended  map[*resolve.Type]mended // structs that advised padding makes larger
	atomics map[*resolve.Type]*atomics
	words   map[*resolve.Type]bool             // structs that have a word for peers' atomic operations
	lists   map[*resolve.Type]*diag.Diagnostic // by the type of elements: what was said of lists of it
	structs []structure                        // of this declaration, inner ones first
	fixed   []*resolve.Type                    // the lists of fixed length in it
	current *resolve.Decl                      // this declaration
}

func newChecker(l *Layouts) *checker {
	return &checker{
		Layouts: l,
		wishes:  map[*resolve.Type][]wish{},
		mended:  map[*resolve.Type]mended{},
		atomics: map[*resolve.Type]*atomics{},
		words:   map[*resolve.Type]bool{},
		lists:   map[*resolve.Type]*diag.Diagnostic{},
	}
}

func (c *checker) report(code diag.Code, at source.Span, format string, args ...any) *diag.Diagnostic {
	d := diag.Errorf(code, at, format, args...)
	c.diags = append(c.diags, d)
	return d
}

// decl checks a declaration. All that it refers to has been checked.
func (c *checker) decl(d *resolve.Decl) {
	c.structs, c.fixed, c.current = c.structs[:0], c.fixed[:0], d
	c.inside(d.Type, d.Name)
	if i := c.of(d.Type); !i.invalid {
		c.regions(d, i)
	}
	for _, s := range c.structs {
		c.advise(s, c.wanted(s.t))
	}
	for _, list := range c.fixed {
		c.listed(list)
	}
	c.inRegion(d)
}

// wanted is the #@align of a type that stands in the declaration that is being checked, or 1.
func (c *checker) wanted(t *resolve.Type) uint64 {
	if t == c.current.Type {
		return max(1, c.current.Align)
	}
	return 1
}

// inside checks a type and what is written in it, not what it refers to.
// name is what it is called in messages.
func (c *checker) inside(t *resolve.Type, name string) {
	i := c.of(t)
	switch t.Kind {
	case resolve.FixedData:
		c.size(t, i)
	case resolve.FixedList:
		c.inside(t.Elem, name)
		c.size(t, i, t.Elem)
		c.fixed = append(c.fixed, t)
	case resolve.Optional:
		c.loose(t.Elem, "an optional may be absent")
		c.inside(t.Elem, name)
	case resolve.List:
		c.loose(t.Elem, "the list's length stands before its elements, in 1 to 10 bytes")
		c.inside(t.Elem, name)
	case resolve.Map:
		c.loose(t.Elem, "a map's entries have no fixed place")
		c.inside(t.Key, name)
		c.inside(t.Elem, name)
	case resolve.Union:
		for _, m := range t.Members {
			c.loose(m.Type, "a tag stands before a union's member")
			c.inside(m.Type, name)
		}
	case resolve.Struct:
		var parts []*resolve.Type
		for _, f := range t.Fields {
			c.inside(f.Type, name+"."+f.Name)
			parts = append(parts, f.Type)
		}
		c.size(t, i, parts...)
		if !i.invalid {
			c.fields(t, i, name)
		}
		c.structs = append(c.structs, structure{t, name})
	}
}

// size checks that a fixed type can be one value in Go. It blames the innermost
// type that is too large.
func (c *checker) size(t *resolve.Type, i *info, parts ...*resolve.Type) {
	if !i.IsFixed() || i.Max <= MaxSize {
		return
	}
	for _, p := range parts {
		if c.Of(p).Max > MaxSize {
			return
		}
	}
	size := fmt.Sprintf("%d", i.Max)
	if i.Max == 1<<64-1 {
		size = "more than " + size
	}
	c.report(diag.TooLarge, t.At, "this type is too large: it has %s bytes, and a fixed type at most %d (%d MiB)", size, MaxSize, MaxSize>>20).
		Helpf("a list without a fixed length can have more, and so can a region of many items")
}

// loose reports a type that needs a place and is embedded where there is none.
func (c *checker) loose(t *resolve.Type, why string) {
	i := c.of(t)
	if i.needs == nil || i.invalid {
		return
	}
	c.report(diag.NoFixedPlace, t.At, "%s cannot be embedded here: its `%s` needs a fixed place", c.title(t), i.needs.Name).
		Also(asked(i.needs), "`%s` asks for it here", i.needs.Name).Notef("%s", why)
}

// title names a type for the start of a sentence.
func (c *checker) title(t *resolve.Type) string { return "`" + t.Short() + "`" }

// asked is the annotation that gives a field a place.
func asked(f *resolve.Field) source.Span {
	if f.Cacheline > 0 && f.LineAt.IsValid() {
		return f.LineAt
	}
	return f.AtomicAt
}

// fields checks the places of a struct's fields.
func (c *checker) fields(t *resolve.Type, i *info, name string) {
	if i.needs == nil {
		return
	}
	fields := c.Fields(t)
	clean := true
	for n := range fields {
		f := &fields[n]
		if c.of(f.Field.Type).needs == nil && !f.Field.Atomic && f.Field.Cacheline == 0 {
			continue
		}
		if !i.IsFixed() {
			c.notFixed(t, f, i, name)
			clean = false
			continue
		}
		if !c.starts(t, f) || f.Field.Cacheline > 0 && !c.ends(t, fields, n, i) {
			clean = false
		}
	}
	if clean && i.IsFixed() && i.Min%i.Need != 0 {
		c.stride(t, i, name)
	}
	if clean && i.IsFixed() {
		c.sharing(t, fields)
	}
}

// notFixed reports a field that needs a place in a struct whose size varies.
func (c *checker) notFixed(t *resolve.Type, f *FieldLayout, i *info, name string) {
	at, what := asked(f.Field), "`"+f.Field.Name+"`"
	if !at.IsValid() {
		at = f.Field.Type.At
	}
	d := c.report(diag.NoFixedPlace, at, "%s has no fixed place: `%s` has no fixed size", what, name)
	if asked(f.Field).IsValid() {
		d.Also(f.Field.At, "%s stands here", what)
	}
	for _, other := range t.Fields {
		if e := c.of(other.Type); !e.IsFixed() {
			d.Also(other.Type.At, "`%s` varies in size", other.Name)
			break
		}
	}
	if needs := c.of(f.Field.Type).needs; needs != nil {
		d.Also(asked(needs), "`%s` in it needs a fixed place", needs.Name)
	}
	d.Helpf("keep such fields in a type of fixed size, and what varies in another")
}

// starts checks where a field starts.
func (c *checker) starts(t *resolve.Type, f *FieldLayout) bool {
	e := c.of(f.Field.Type)
	switch off := f.Offset; {
	case f.Field.Cacheline > 0 && off%f.Field.Cacheline != 0:
		d := c.report(diag.CachelineStart, f.Field.LineAt, "`%s` lies at %d, in the middle of a cache line of %d bytes", f.Field.Name, off, f.Field.Cacheline).
			Also(f.Field.At, "`%s` stands here", f.Field.Name)
		c.wishBefore(d, t, f.Field)
	case f.Field.Atomic && off%f.Info.Max != 0:
		d := c.report(diag.AtomicUnaligned, f.Field.AtomicAt, "`%s` lies at %d, and an atomic %s must lie at a multiple of %d",
			f.Field.Name, off, f.Field.Type.Resolve().Kind, f.Info.Max).
			Also(f.Field.At, "`%s` stands here", f.Field.Name)
		c.wishBefore(d, t, f.Field)
	case e.needs != nil && off%e.Need != 0:
		d := c.report(diag.EmbedUnaligned, f.Field.Type.At, "`%s` lies at %d, and %s must lie at a multiple of %d", f.Field.Name, off,
			c.title(f.Field.Type), e.Need).
			Also(asked(e.needs), "`%s` in it asks for it", e.needs.Name)
		c.wishBefore(d, t, f.Field)
	default:
		return true
	}
	return false
}

// ends checks that nothing follows a #@cacheline field in its last line.
func (c *checker) ends(t *resolve.Type, fields []FieldLayout, n int, i *info) bool {
	f := &fields[n]
	line := f.Field.Cacheline
	rest := n + 1
	end := f.Offset + f.Info.Max
	for rest < len(fields) && fields[rest].Field.Pad && end%line != 0 {
		end += fields[rest].Info.Max
		rest++
	}
	if end%line == 0 || rest < len(fields) && fields[rest].Offset/line > (f.Offset+f.Info.Max-1)/line {
		return true
	}
	if rest == len(fields) {
		d := c.report(diag.CachelineShared, f.Field.LineAt, "`%s` shares its cache line with what follows the type: its size is %d", f.Field.Name, i.Min).
			Also(f.Field.At, "`%s` stands here", f.Field.Name)
		c.wishAtEnd(d, t)
		return false
	}
	next := fields[rest].Field
	d := c.report(diag.CachelineShared, f.Field.LineAt, "`%s` shares its cache line with `%s`", f.Field.Name, next.Name).
		Also(f.Field.At, "`%s` stands here", f.Field.Name).
		Also(next.At, "`%s` lies at %d, and the line ends at %d", next.Name, fields[rest].Offset, end+line-end%line)
	c.wishBefore(d, t, next)
	return false
}

// stride reports a size at which the second of several items would lie wrong.
func (c *checker) stride(t *resolve.Type, i *info, name string) {
	f := i.needs
	at, what := asked(f), "`"+f.Name+"`"
	for _, direct := range t.Fields {
		if direct != f && c.of(direct.Type).needs == f {
			at, what = direct.Type.At, "`"+f.Name+"` in `"+direct.Name+"`"
		}
	}
	why := "is not aligned"
	if f.Cacheline > 0 {
		why = "does not start a cache line"
	}
	d := c.report(diag.StrideUnaligned, at, "%s %s in the second of several `%s`: the size %d is no multiple of %d", what, why, name, i.Min, i.Need)
	if at != asked(f) {
		d.Also(asked(f), "`%s` asks for it here", f.Name)
	} else {
		d.Also(f.At, "`%s` stands here", f.Name)
	}
	c.wishAtEnd(d, t)
}

package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// regions checks what a declaration asks for its regions.
func (c *checker) regions(d *resolve.Decl, i *info) {
	c.refs(d.Type)
	word, at := "", source.Span{}
	switch {
	case len(d.Residency) > 0:
		word, at = "residency", d.PlacesAt
	case len(d.Rights) > 0:
		word, at = "register", d.RightsAt
	case d.Align > 0:
		word, at = "align", d.AlignAt
	default:
		return
	}
	switch {
	case i.Class == Variable:
		c.needsSize(c.report(diag.NeedsSize, at, "`#@%s` needs a type with a greatest size, and `%s` has none", word, d.Name).
			Also(d.At, "`%s` is declared here", d.Name), d, i)
	case i.Max == 0:
		c.report(diag.NeedsSize, at, "`#@%s` needs a type with bytes, and `%s` is void", word, d.Name).
			Also(d.At, "`%s` is declared here", d.Name)
	case d.Align > 0 && i.IsFixed() && i.Min%d.Align != 0:
		e := c.report(diag.SizeUnaligned, d.AlignAt, "the size of `%s` is %d, which is no multiple of %d", d.Name, i.Min, d.Align).
			Also(d.At, "`%s` has %d bytes", d.Name, i.Min)
		if t := d.Type; t.Kind == resolve.Struct {
			c.wishAtEnd(e, t)
		} else {
			e.Helpf("%s are missing", count(d.Align-i.Min%d.Align))
		}
	}
	c.atomicRight(d)
}

// atomicRight warns where peers are granted atomic operations and there is nothing to use them on.
func (c *checker) atomicRight(d *resolve.Decl) {
	n := slices.IndexFunc(d.Rights, func(r resolve.Right) bool { return r.Name == "remote_atomic" })
	if n < 0 || c.atomicWord(d.Type) {
		return
	}
	c.report(diag.NoAtomicWord, d.Rights[n].At, "`%s` has no `#@atomic` field of eight bytes: nothing in it is made for the atomic operations that peers are granted", d.Name).
		Also(d.At, "`%s` is declared here", d.Name).
		Helpf("put `#@atomic` above a field that is u64 or i64, or leave `remote_atomic` out")
}

// atomicWord reports whether a struct, or one in it, has a field of eight bytes for
// atomic operations. It looks once at each type.
func (c *checker) atomicWord(t *resolve.Type) bool {
	t = t.Resolve()
	has, known := c.words[t]
	if known || t.Kind != resolve.Struct {
		return has
	}
	c.words[t] = false // also while it is looked at, should it contain itself
	c.words[t] = slices.ContainsFunc(t.Fields, func(f *resolve.Field) bool {
		kind := f.Type.Resolve().Kind
		return f.Atomic && (kind == resolve.U64 || kind == resolve.I64) || c.atomicWord(f.Type)
	})
	return c.words[t]
}

// needsSize says what keeps a type from having a greatest size.
func (c *checker) needsSize(d *diag.Diagnostic, decl *resolve.Decl, i *info) {
	t := i.loose.typ
	if t == nil {
		return
	}
	if edits, ok := c.limits(decl); ok {
		d.Fix(fmt.Sprintf("insert #@max(%d) above what has no limit; the number is a guess, and what is longer is refused", guessed), edits...).Breaking(diag.BreaksWire)
	}
	name := decl.Name + i.loose.path()
	if t.Max > 0 || c.of(t).Class >= Bounded || i.loose.typ.Kind == resolve.FixedList {
		d.Also(t.At, "`%s` may have more than %d MiB, the most that a slot holds", name, MaxSize>>20)
		return
	}
	switch t.Kind {
	case resolve.Str, resolve.Data, resolve.List, resolve.Map:
		d.Also(t.At, "`%s` is a %s without `#@max`", name, t.Kind)
		if strings.HasSuffix(name, "]") || strings.HasSuffix(name, "?") || strings.HasSuffix(name, "}") || i.inUnion() {
			d.Helpf("give it a name and a limit: `#@max(N)` above `type Name %s`, and write `Name` here", t.Short())
		} else {
			d.Helpf("put `#@max(N)` above it")
		}
	default:
		d.Also(t.At, "`%s` may have more than %d MiB", name, MaxSize>>20)
	}
}

// inUnion reports whether the culprit is a member of a union.
func (i *info) inUnion() bool {
	path := i.loose.path()
	return strings.LastIndexByte(path, '|') > strings.LastIndexByte(path, '.')
}

// refs checks that what a remote reference points to can be in a region.
func (c *checker) refs(t *resolve.Type) {
	switch t.Kind {
	case resolve.Optional, resolve.List, resolve.FixedList, resolve.Map:
		c.refs(t.Elem)
	case resolve.Union:
		for _, m := range t.Members {
			c.refs(m.Type)
		}
	case resolve.Struct:
		for _, f := range t.Fields {
			c.refs(f.Type)
			if f.Ref == nil {
				continue
			}
			if to := c.of(f.Ref.Decl.Type); to.Class == Variable && !to.invalid {
				c.needsSize(c.report(diag.NeedsSize, f.Ref.At, "a remote reference needs a type with a greatest size, and `%s` has none", f.Ref.Decl.Name).
					Also(f.Ref.Decl.At, "`%s` is declared here", f.Ref.Decl.Name), f.Ref.Decl, to)
			}
		}
	}
}

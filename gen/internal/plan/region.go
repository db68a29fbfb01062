package plan

import (
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Region is what a type's annotations let its regions be: where they live, what
// they grant, and what an element of theirs is.
type Region struct {
	Size, Align uint64  // of an element, bytes: the message, or the slot of a bounded type
	Slot        bool    // an element is a slot
	Homes       []*Home // the residencies, in the markers' order
	Places      []Place // what allocators may be asked for
	Grants      []Grant // the accesses that a registration may have; none for a type without #@register
	Host        bool    // there is a residency that the processor may load from
	Sequence    *Field  // the first of several fields, where it is an #@atomic u64: it counts what is written; else nil
	Atomics     []*Field
	Fields      []*Field // with a place of their own in each element
}

// Home is a residency as Go has it.
type Home struct {
	Marker string // barewire.CPU
	Kind   string // barewire.InCPU
	Alias  Pattern
	In     Pattern
	Or     Pattern // with fallback=unified; empty where there can be none
	host   bool
	word   string // in the schema
}

// homes has all residencies, in the markers' order.
var homes = []*Home{
	{"CPU", "InCPU", "*CPU", "*InCPU", "*InCPUOrUnified", true, resolve.CPU},
	{"NUMA", "InNUMA", "*NUMA", "*InNUMA", "*InNUMAOrUnified", true, resolve.NUMA},
	{"CXL", "InCXL", "*CXL", "*InCXL", "*InCXLOrUnified", true, resolve.CXL},
	{"CXLShared", "InCXLShared", "*CXLShared", "*InCXLShared", "", false, resolve.CXLShared},
	{"GPU", "InGPU", "*GPU", "*InGPU", "", false, resolve.GPU},
	{"Managed", "InManaged", "*Managed", "*InManaged", "", false, resolve.Managed},
	{"Unified", "InUnified", "*Unified", "*InUnified", "", true, resolve.Unified},
}

// Place is one place that an allocator may be asked for.
type Place struct {
	Func     Pattern // the function that gives it
	Home     *Home   // what is asked for
	Marker   string  // the residency of what is made: the home's, or Unified
	Node     int     // numa(N), else -1
	Fallback bool
}

// Grant is one access that a registration may have.
type Grant struct {
	Marker string // barewire.RemoteRead
	Func   Pattern
	rights rights
}

// rights is a set of remote rights.
type rights uint8

const (
	mayRead rights = 1 << iota
	mayWrite
	mayAtomic
)

// grants has all accesses, in the markers' order.
var grants = []Grant{
	{"Local", "*Local", 0},
	{"RemoteRead", "*RemoteRead", mayRead},
	{"RemoteWrite", "*RemoteWrite", mayWrite},
	{"RemoteReadWrite", "*RemoteReadWrite", mayRead | mayWrite},
	{"RemoteAtomic", "*RemoteAtomic", mayAtomic},
	{"RemoteReadAtomic", "*RemoteReadAtomic", mayRead | mayAtomic},
	{"RemoteWriteAtomic", "*RemoteWriteAtomic", mayWrite | mayAtomic},
	{"RemoteReadWriteAtomic", "*RemoteReadWriteAtomic", mayRead | mayWrite | mayAtomic},
}

func rightsOf(list []resolve.Right) (r rights) {
	words := map[string]rights{"remote_read": mayRead, "remote_write": mayWrite, "remote_atomic": mayAtomic}
	for _, right := range list {
		r |= words[right.Name]
	}
	return r
}

// Remote reports whether a peer may be granted anything.
func (r *Region) Remote() bool { return len(r.Grants) > 1 }

// isRegion reports whether regions of a declared type can be made.
func isRegion(d *resolve.Decl) bool { return len(d.Residency)+len(d.Rights) > 0 }

// regionTypes marks the declarations whose types, or other names of theirs,
// have the methods of region types.
func regionTypes(ns *resolve.Namespace) map[*resolve.Decl]bool {
	marked := map[*resolve.Decl]bool{}
	for _, d := range ns.Types {
		for here := d; isRegion(d); here = here.Type.Decl {
			marked[here] = true
			if here.Type.Kind != resolve.Ref {
				break
			}
		}
	}
	return marked
}

// region works out what a type's regions can be; nil where it has none.
func region(t *Type) *Region {
	if !t.Named || !isRegion(t.Decl) {
		return nil
	}
	d, l := t.Decl, t.Layout()
	r := &Region{Size: l.Min, Align: max(l.Align, l.Need, d.Align, 1)}
	if l.Class == layout.Bounded {
		r.Slot, r.Align = true, max(8, d.Align)
		r.Size = roundUp(4+l.Max, r.Align)
	}
	r.homes(d)
	if len(d.Rights) > 0 {
		all := rightsOf(d.Rights)
		for _, g := range grants {
			if g.rights&^all == 0 {
				r.Grants = append(r.Grants, g)
			}
		}
	}
	if l.Class >= layout.Fixed && t.Kind == resolve.Struct {
		r.fields(t)
	}
	return r
}

// homes works out where regions may live. Where nothing is said it is plain memory.
func (r *Region) homes(d *resolve.Decl) {
	listed := d.Residency
	if len(listed) == 0 {
		listed = []resolve.Place{{Residency: resolve.CPU, Node: -1}}
	}
	for _, h := range homes {
		i := slices.IndexFunc(listed, func(p resolve.Place) bool { return p.Residency == h.word })
		if i < 0 {
			if d.Fallback && h.word == resolve.Unified {
				r.Homes = append(r.Homes, h)
			}
			continue
		}
		r.Homes = append(r.Homes, h)
		r.Host = r.Host || h.host
		r.Places = append(r.Places, Place{h.In, h, h.Marker, listed[i].Node, false})
		if d.Fallback && h.Or != "" {
			r.Places = append(r.Places, Place{h.Or, h, "Unified", listed[i].Node, true})
		}
	}
}

// fields finds the fields that functions of their own reach.
func (r *Region) fields(t *Type) {
	for i, f := range t.Fields {
		if f.Pad {
			continue
		}
		r.Fields = append(r.Fields, f)
		if f.Wire.Atomic {
			r.Atomics = append(r.Atomics, f)
			if i == 0 && f.Val.Kind == resolve.U64 {
				r.Sequence = f
			}
		}
	}
	if len(r.Fields) == 1 {
		r.Sequence = nil // it counts nothing but itself
	}
}

// Patterns of package-level names that belong to regions, made from a type's
// name. Homes and grants have others.
const (
	Remote   Pattern = "*Remote" // aliases
	Window   Pattern = "*Window"
	AtIndex  Pattern = "*At" // an element's view
	AllOf    Pattern = "*All"
	SlotAt   Pattern = "*SlotAt"
	LoadAt   Pattern = "*LoadAt" // an element by value
	PutAt    Pattern = "*PutAt"
	ViewAt   Pattern = "*ViewAt" // of the message in a slot
	Snapshot Pattern = "*Snapshot"
	Publish  Pattern = "*Publish"
)

// Patterns made from the type's name with the field's behind it.
const (
	FieldOf     Pattern = "*Of" // a reference to it in a peer's memory
	FieldIn     Pattern = "*In" // the same, in a span
	FieldAtomic Pattern = "*Atomic"
	FieldLoad   Pattern = "*Load"
	FieldGlobal Pattern = "*Global"
)

// regionPatterns are the names that generated code derives for a type's regions.
func regionPatterns(t *Type, views bool) []Pattern {
	r := t.Region
	var ps []Pattern
	for _, h := range r.Homes {
		ps = append(ps, h.Alias)
	}
	for _, p := range r.Places {
		ps = append(ps, p.Func)
	}
	if r.Remote() {
		ps = append(ps, Remote)
	}
	for _, g := range r.Grants {
		ps = append(ps, g.Func)
	}
	if !r.Host {
		return ps
	}
	ps = append(ps, Window)
	viewed := views && t.HasView()
	switch {
	case r.Slot && viewed:
		ps = append(ps, SlotAt, LoadAt, PutAt, ViewAt)
	case r.Slot:
		ps = append(ps, SlotAt, LoadAt, PutAt)
	case viewed:
		ps = append(ps, AtIndex, AllOf)
	default:
		ps = append(ps, LoadAt, PutAt)
	}
	if r.Sequence != nil {
		ps = append(ps, Snapshot, Publish)
	}
	return ps
}

// fieldPatterns are those for one field.
func fieldPatterns(r *Region, f *Field) []Pattern {
	var ps []Pattern
	if r.Remote() {
		ps = append(ps, FieldOf)
	}
	if len(r.Grants) > 0 {
		ps = append(ps, FieldIn)
	}
	if f.Wire.Atomic && r.Host {
		ps = append(ps, FieldAtomic, FieldLoad)
		if slices.ContainsFunc(r.Grants, func(g Grant) bool { return g.rights&mayAtomic != 0 }) {
			ps = append(ps, FieldGlobal)
		}
	}
	return ps
}

// HasView reports whether a type has a view. A scalar, a string or data has
// nothing to look into.
func (t *Type) HasView() bool {
	switch t.Kind {
	case resolve.Struct, resolve.Union, resolve.List, resolve.FixedList, resolve.Map, resolve.Optional:
		return true
	}
	return false
}

// fieldName is a name that is made from a field's.
type fieldName struct {
	field   *Field
	pattern Pattern
}

// regions settles the names for a type's regions, behind all others, so that
// the annotations change none of those.
func (m *maker) regions(t *Type) {
	if t.Region = region(t); t.Region == nil {
		return
	}
	me := owner{"generated code for `" + t.Schema + "`", t.At}
	for _, p := range regionPatterns(t, !m.pkg.Options.NoViews) {
		want := p.expand(t.Go)
		if got := m.derived(want, me); got != want {
			if t.names == nil {
				t.names = map[Pattern]string{}
			}
			t.names[p] = got
		}
	}
	for _, f := range t.Region.Fields {
		me := owner{"generated code for `" + t.Schema + "." + f.Schema + "`", f.At}
		for _, p := range fieldPatterns(t.Region, f) {
			want := p.expand(t.Go + f.Go)
			if got := m.derived(want, me); got != want {
				if t.fieldNames == nil {
					t.fieldNames = map[fieldName]string{}
				}
				t.fieldNames[fieldName{f, p}] = got
			}
		}
	}
}

// HasRegion reports whether a type's regions have something by a pattern.
func (t *Type) HasRegion(p Pattern) bool {
	return t.Region != nil && slices.Contains(regionPatterns(t, !t.File.Package.Options.NoViews), p)
}

// FieldName is a package-level name made from the type's and a field's:
// KvBlockSeqOf. It is empty where there is no such thing.
func (t *Type) FieldName(f *Field, p Pattern) string {
	if !slices.Contains(fieldPatterns(t.Region, f), p) {
		return ""
	}
	if n := t.fieldNames[fieldName{f, p}]; n != "" {
		return n
	}
	return p.expand(t.Go + f.Go)
}

// Capability is what a #@ref field refers to, and the methods of the value that
// give and take it. Those of its view go by Ref and SetRef.
type Capability struct {
	To       *Type
	Marker   string // the access: barewire.RemoteRead
	Grant    string // the function that gives the grant for it
	Get, Set string
}

// valueRefs names the methods for #@ref fields on a struct, behind all fields.
func (m *maker) valueRefs(t *Type, names scope) {
	for _, f := range t.Fields {
		if f.Wire.Ref == nil || f.Pad {
			continue
		}
		method := func(p Pattern) string {
			want := p.expand(f.Go)
			got, other, changed := names.free(want, f.owner())
			if changed {
				m.changed(f.owner(), other, want, got)
			}
			return got
		}
		f.Capability = &Capability{Get: method(Ref), Set: method(SetRef)}
	}
}

// capabilities finds out what #@ref fields refer to, once all names are settled.
func (m *maker) capabilities(t *Type) {
	if t.Alias != nil {
		return
	}
	for _, f := range t.Fields {
		c := f.Capability
		if c == nil {
			continue
		}
		to := m.byDecl[f.Wire.Ref.Decl]
		want := rightsOf(f.Wire.Ref.Rights)
		for _, g := range to.Region.Grants { // it grants what the reference says: resolve saw to it
			if g.rights == want {
				c.To, c.Marker, c.Grant = to, g.Marker, to.Name(g.Func)
			}
		}
	}
}

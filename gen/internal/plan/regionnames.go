package plan

import "slices"

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

// partPatterns are those for one field.
func (r *Region) partPatterns(part *Part) []Pattern {
	var ps []Pattern
	if r.Remote() {
		ps = append(ps, FieldOf)
	}
	if len(r.Grants) > 0 {
		ps = append(ps, FieldIn)
	}
	if part.Field.Wire.Atomic && r.Host {
		ps = append(ps, FieldAtomic, FieldLoad)
		if slices.ContainsFunc(r.Grants, func(g Grant) bool { return g.rights&mayAtomic != 0 }) {
			ps = append(ps, FieldGlobal)
		}
	}
	return ps
}

// regions settles the names for a type's regions, behind all others, so that
// the annotations change none of those.
func (m *maker) regions(t *Type) {
	if t.Region = region(t); t.Region == nil {
		return
	}
	m.pkg.Regions = true
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
	for _, part := range t.Region.Parts {
		me := owner{"generated code for `" + t.Schema + "." + part.Schema + "`", part.Field.At}
		part.names = map[Pattern]string{}
		for _, p := range t.Region.partPatterns(part) {
			part.names[p] = m.derived(p.expand(t.Go+part.Go), me)
		}
	}
}

// HasRegion reports whether a type's regions have something by a pattern.
func (t *Type) HasRegion(p Pattern) bool {
	return t.Region != nil && slices.Contains(regionPatterns(t, !t.File.Package.Options.NoViews), p)
}

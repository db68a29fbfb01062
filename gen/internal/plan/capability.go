package plan

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

package plan

import "github.com/fidelityframework/barewire-gen/schema/resolve"

// fieldViews settles the names of the accessors on a struct's view: getters
// first, those that can have the field's own name before those that get the suffix
// Field, since a method or a well-known name is in the way. What is derived is
// called after the getter (SetErrorField), and gives way to other getters.
func (m *maker) fieldViews(t *Type) {
	if m.pkg.Options.NoViews {
		return
	}
	names := newScope(viewMethods, wellKnown, valueMethods)
	getters := make(map[*Field]string, len(t.Fields))
	var inTheWay []*Field
	affixed := false
	for _, f := range t.Fields {
		if f.Pad {
			continue
		}
		for _, p := range viewPatterns {
			affixed = affixed || p.fits(f.Go)
		}
		getters[f] = f.Go
		if other, taken := names.take(f.Go, f.owner()); taken && !other.at.IsValid() {
			inTheWay = append(inTheWay, f) // else two fields of one name: reported already
		}
	}
	if !affixed && len(inTheWay) == 0 {
		return // nothing that is derived can meet anything
	}
	t.views = viewNames{}
	for _, f := range inTheWay {
		got, _, _ := names.free(f.Go+"Field", f.owner())
		getters[f] = got
		m.changed(f.owner(), owner{what: aMethod}, f.Go, got)
		t.views[viewName{f.Go, Get}] = got
	}
	for _, f := range t.Fields {
		if !f.Pad {
			m.derivedViews(t, f, getters[f], names)
		}
	}
	m.refViews(t, getters, names)
}

// derivedViews settles the names of the accessors that are called after a
// field's getter.
func (m *maker) derivedViews(t *Type, f *Field, getter string, names scope) {
	for _, p := range viewPatterns {
		want := p.expand(getter)
		got, other, changed := names.free(want, f.owner())
		if got != p.expand(f.Go) {
			t.views[viewName{f.Go, p}] = got
		}
		if changed && (p.concerns(f.Val.Kind) || p == Ref && f.Capability != nil && got != f.Capability.Get) {
			m.changed(f.owner(), other, want, got)
		}
	}
}

// refViews settles the names of what sets #@ref fields.
func (m *maker) refViews(t *Type, getters map[*Field]string, names scope) {
	for _, f := range t.Fields {
		if f.Capability == nil {
			continue
		}
		want := SetRef.expand(getters[f])
		got, other, changed := names.free(want, f.owner())
		if got != SetRef.expand(f.Go) {
			t.views[viewName{f.Go, SetRef}] = got
		}
		if changed && got != f.Capability.Set { // else it is told of the value's method already
			m.changed(f.owner(), other, want, got)
		}
	}
}

// concerns reports whether a field of the kind has such an accessor, so that
// it is worth telling that it is called otherwise.
func (p Pattern) concerns(k resolve.Kind) bool {
	list := k == resolve.List || k == resolve.FixedList || k == resolve.Map
	switch p {
	case Len, All:
		return list
	case Set:
		return true
	case Has:
		return k == resolve.Optional
	case Slice:
		return k == resolve.List || k == resolve.FixedList
	}
	return false
}

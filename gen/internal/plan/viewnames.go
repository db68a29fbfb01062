package plan

import "github.com/fidelityframework/barewire-gen/schema/resolve"

// fieldViews settles the names of the accessors on a struct's view.
func (m *maker) fieldViews(t *Type) {
	bases := make([]base, 0, len(t.Fields))
	for _, f := range t.Fields {
		if !f.Pad {
			bases = append(bases, base{f.Go, f.Val, owner{"field `" + f.Schema + "`", f.At}})
		}
	}
	m.accessors(t, bases)
}

// memberViews settles those of a union's view, made from the members' words.
func (m *maker) memberViews(t *Type) {
	bases := make([]base, 0, len(t.Members))
	for _, u := range t.Members {
		bases = append(bases, base{u.Word, u.Val, owner{"member `" + u.Schema + "`", u.At}})
	}
	m.accessors(t, bases)
}

type base struct {
	name string
	val  *Val
	owner
}

// accessors settles the method names of a view: getters first, which get the
// suffix Field where a method or a well-known name is in the way, then what is
// derived from them, which gives way to a getter.
func (m *maker) accessors(t *Type, bases []base) {
	if m.pkg.Options.NoViews {
		return
	}
	names := newScope(viewMethods, wellKnown, valueMethods)
	if t.Kind == resolve.Union {
		names.reserved = append(names.reserved, unionViewMethods)
	}
	set := func(b base, p Pattern, name string) {
		if t.views == nil {
			t.views = viewNames{}
		}
		t.views[viewName{b.name, p}] = name
	}
	affixed := false
	for _, b := range bases {
		for _, p := range viewPatterns {
			affixed = affixed || p.fits(b.name)
		}
		other, taken := names.take(b.name, b.owner)
		if !taken || other.at.IsValid() { // two fields of one name: reported already
			continue
		}
		got, _, _ := names.free(b.name+"Field", b.owner)
		m.changed(owner{"the accessor of " + b.what, b.at}, other, b.name, got)
		set(b, Get, got)
	}
	if !affixed && len(t.views) == 0 {
		return // nothing that is derived can meet anything
	}
	for _, b := range bases {
		for _, p := range viewPatterns {
			want := p.expand(b.name)
			got, other, changed := names.free(want, b.owner)
			if changed {
				set(b, p, got)
			}
			if changed && p.concerns(b.val.Kind) {
				m.changed(owner{"an accessor of " + b.what, b.at}, other, want, got)
			}
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

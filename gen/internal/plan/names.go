package plan

import (
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Pattern is a name made from another: its star stands for the Go name of a
// type, or of a field. Every pattern that an emitter uses is listed here, so
// that all names are settled before anything is written.
type Pattern string

// Patterns of package-level names, made from a type's name. Each is reserved
// for the types that typePatterns says.
const (
	BinarySize Pattern = "*BinarySize" // const, fixed types
	KindType   Pattern = "*Kind"       // the type of a union's kind constants
	View       Pattern = "*View"
	ViewOf     Pattern = "*ViewOf"
	Over       Pattern = "*Over"
	SliceOver  Pattern = "*SliceOver"
	SlotSize   Pattern = "*SlotSize"
	PutSlot    Pattern = "Put*Slot"
	LoadSlot   Pattern = "Load*Slot"
	SlotViewOf Pattern = "*SlotViewOf"
	CheckSlot  Pattern = "Validate*Slot"
)

// Patterns of method names on a struct's or union's view, made from a field's
// Go name or a member's word.
const (
	Get     Pattern = "*"
	Set     Pattern = "Set*"
	As      Pattern = "As*" // a union's member
	Has     Pattern = "Has*"
	Clear   Pattern = "Clear*"
	Len     Pattern = "*Len"
	All     Pattern = "*All"
	At      Pattern = "*At"
	Slice   Pattern = "*Slice"
	Bytes   Pattern = "*Bytes"
	Ref     Pattern = "*Ref"
	Keys    Pattern = "*Keys"
	Find    Pattern = "*Find"
	Key     Pattern = "*Key"
	ValueOf Pattern = "*Value"
	KeyAt   Pattern = "*KeyAt"
	ValueAt Pattern = "*ValueAt"
	Atomic  Pattern = "*Atomic"
	SetRef  Pattern = "Set*Ref" // #@ref fields only
)

// viewPatterns are all of them but Get and SetRef.
var viewPatterns = []Pattern{
	Set, As, Has, Clear, Len, All, At, Slice, Bytes, Ref, Keys, Find, Key, ValueOf, KeyAt, ValueAt, Atomic,
}

// typePatterns are the names that generated code derives from the type.
func typePatterns(t *Type, views bool) []Pattern {
	var ps []Pattern
	class := t.Under.Layout.Class
	if class >= layout.Fixed {
		ps = append(ps, BinarySize)
	}
	if t.Kind == resolve.Union && t.Alias == nil {
		ps = append(ps, KindType)
	}
	if !views || t.Kind == resolve.Enum {
		return ps
	}
	ps = append(ps, View, ViewOf)
	switch class {
	case layout.Castable:
		ps = append(ps, Over, SliceOver)
	case layout.Bounded:
		ps = append(ps, SlotSize, PutSlot, LoadSlot, SlotViewOf, CheckSlot)
	}
	return ps
}

// expand puts a name in the star's place.
func (p Pattern) expand(name string) string {
	i := strings.IndexByte(string(p), '*')
	return string(p[:i]) + name + string(p[i+1:])
}

// fits reports whether the name could come from the pattern.
func (p Pattern) fits(name string) bool {
	i := strings.IndexByte(string(p), '*')
	return len(name) >= len(p)-1 && strings.HasPrefix(name, string(p[:i])) && strings.HasSuffix(name, string(p[i+1:]))
}

// Name is a package-level name derived from the type's: t.Name(plan.ViewOf) is
// CustomerViewOf. Asking for a pattern that the type does not have is a bug of
// ours.
func (t *Type) Name(p Pattern) string {
	if n := t.names[p]; n != "" {
		return n
	}
	if !slices.Contains(typePatterns(t, true), p) && !t.HasRegion(p) {
		panic("plan: " + t.Go + " has no name by " + string(p))
	}
	return p.expand(t.Go)
}

// View is the name of a method on the view of the struct that the field stands
// in: f.View(plan.Set) is SetUserID. Where the getter has a suffix, so has what is
// made from it: ErrorField, SetErrorField.
func (f *Field) View(p Pattern) string { return f.Owner.views.method(f.Go, p) }

// MemberView is the name of a method on the union's view, made from a member's
// word: AsCustomer, SetCustomer. Words differ, and no other method begins like
// this, so such names meet nothing.
func (t *Type) MemberView(m *Member, p Pattern) string { return p.expand(m.Word) }

// viewNames are the method names on a struct's view that differ from their patterns.
type viewNames map[viewName]string

type viewName struct {
	base    string
	pattern Pattern
}

func (n viewNames) method(base string, p Pattern) string {
	if s := n[viewName{base, p}]; s != "" {
		return s
	}
	return p.expand(base)
}

// listViews settles the names of the views of lists and maps that stand in a
// type without a name of their own: its view type is called by their path.
func (m *maker) listViews(t *Type) {
	if m.pkg.Options.NoViews || t.Alias != nil {
		return
	}
	me := owner{"generated code for `" + t.Schema + "`", t.At}
	var walk func(v *Val, own bool)
	walk = func(v *Val, own bool) {
		if v == nil || v.Type != nil {
			return
		}
		switch v.Kind {
		case resolve.List, resolve.FixedList, resolve.Map:
			if !own {
				v.View, v.ViewIn = m.derived(v.Path+"View", me), t
			}
			walk(v.Elem, false)
		case resolve.Optional:
			walk(v.Elem, false)
		}
	}
	for _, f := range t.Fields {
		walk(f.Val, false)
	}
	for _, u := range t.Members {
		walk(u.Val, false)
	}
	walk(t.Under, true)
}

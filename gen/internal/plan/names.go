package plan

// Pattern is a name made from another: its star stands for the Go name of a
// type, or of a field. Every pattern that an emitter uses is listed here, so
// that all names are settled before anything is written.
type Pattern string

// Patterns of package-level names, made from a type's name.
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
	SlotOf     Pattern = "*SlotOf"
	ItemsView  Pattern = "*Items" // a view of a list or map of them
	EntryView  Pattern = "*Entry" // a view of one entry of a map
)

// Patterns of method names on a struct's or union's view, made from a field's
// or member's name.
const (
	Get     Pattern = "*"
	Set     Pattern = "Set*"
	Len     Pattern = "*Len"
	All     Pattern = "*All"
	At      Pattern = "*At"
	Slice   Pattern = "*Slice"
	Has     Pattern = "Has*"
	Bytes   Pattern = "*Bytes"
	Ref     Pattern = "*Ref"
	Keys    Pattern = "*Keys"
	Find    Pattern = "*Find"
	Key     Pattern = "*Key"
	ValueOf Pattern = "*Value"
	KeyAt   Pattern = "*KeyAt"
	ValueAt Pattern = "*ValueAt"
	Clear   Pattern = "Clear*"
	Atomic  Pattern = "*Atomic"
)

// Names are the package-level names derived from one type's.
type Names map[Pattern]string

// Name is a package-level name derived from the type's: t.Name(plan.ViewOf) is
// CustomerViewOf. Asking for a pattern that is not listed is a bug of ours.
func (t *Type) Name(p Pattern) string {
	n, ok := t.Names[p]
	if !ok {
		panic("plan: no name " + string(p) + " for " + t.Go)
	}
	return n
}

// View is the name of a method on the view of the struct that the field stands
// in: f.View(plan.Set) is SetUserID.
func (f *Field) View(p Pattern) string { return f.Owner.views.method(f.Go, p) }

// View is the name of a method on the union's view, made from a member's word:
// t.MemberView(m, plan.Get).
func (t *Type) MemberView(m *Member, p Pattern) string { return t.views.method(m.Word, p) }

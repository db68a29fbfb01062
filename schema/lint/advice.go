package lint

import (
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Rule is a rule of lint: what the registry has of its code, and what only lint knows.
// Those that the compiler itself reports are among them, where one would look for them here.
type Rule struct {
	*diag.Rule
	Since   string // the version of barewire-gen that has it first
	Fix     string // what a fix does, or empty
	Breaks  string // what the fix breaks: diag.BreaksWire, diag.BreaksSource, diag.BreaksMemory or nothing
	advises func(*adviser)
}

// rules are all of them. The first four groups are found while a schema is compiled. Where there is no fix,
// the rule's text says why.
var rules = []Rule{
	{Rule: diag.ForwardReference.Rule(), Since: "0.1", Fix: "puts declarations in order"}, // see InOrder
	{Rule: diag.OldSpelling.Rule(), Since: "0.1"},
	{Rule: diag.FixedEnum.Rule(), Since: "0.1", Fix: "takes u8 away where the bytes stay the same", Breaks: diag.BreaksMemory},
	{Rule: diag.FieldSpelling.Rule(), Since: "0.1"},
	{Rule: diag.FieldCapital.Rule(), Since: "0.1"},
	{Rule: diag.NotAscending.Rule(), Since: "0.1", Fix: "puts values and members in order", Breaks: diag.BreaksMemory},
	{Rule: diag.ValueSpelling.Rule(), Since: "0.1"},
	{Rule: diag.TypeSpelling.Rule(), Since: "0.1"},
	{Rule: diag.DataKey.Rule(), Since: "0.1"},
	{Rule: diag.LargeNumber.Rule(), Since: "0.1"},
	{Rule: diag.ByteOrderMark.Rule(), Since: "0.1", Fix: "takes the mark away"},
	{Rule: diag.AtomicUnaligned.Rule(), Since: "0.1", Fix: "inserts padding", Breaks: diag.BreaksWire},
	{Rule: diag.CachelineStart.Rule(), Since: "0.1", Fix: "inserts padding", Breaks: diag.BreaksWire},
	{Rule: diag.CachelineShared.Rule(), Since: "0.1", Fix: "inserts padding", Breaks: diag.BreaksWire},
	{Rule: diag.EmbedUnaligned.Rule(), Since: "0.1", Fix: "inserts padding", Breaks: diag.BreaksWire},
	{Rule: diag.SizeUnaligned.Rule(), Since: "0.1", Fix: "inserts padding", Breaks: diag.BreaksWire},
	{Rule: diag.NeedsSize.Rule(), Since: "0.1", Fix: "inserts a limit, whose number is a guess", Breaks: diag.BreaksWire},
	{Rule: diag.StrideUnaligned.Rule(), Since: "0.1", Fix: "inserts padding", Breaks: diag.BreaksWire},
	{Rule: diag.FalseSharing.Rule(), Since: "0.1", Fix: "inserts padding", Breaks: diag.BreaksWire},
	{Rule: diag.FalseSharingList.Rule(), Since: "0.1", Fix: "inserts padding", Breaks: diag.BreaksWire},
	{Rule: diag.NoAtomicWord.Rule(), Since: "0.1"},
	{Rule: diag.UnusedType.Rule(), Since: "0.2", advises: (*adviser).unused},
	{Rule: diag.ValuePrefix.Rule(), Since: "0.2", Fix: "takes the prefix away", Breaks: diag.BreaksSource, advises: (*adviser).prefixes},
	{Rule: diag.MixedNames.Rule(), Since: "0.2", advises: (*adviser).mixed},
	{Rule: diag.PaddingCast.Rule(), Since: "0.2", Fix: "inserts padding", Breaks: diag.BreaksWire, advises: (*adviser).castable},
	{Rule: diag.OrderCast.Rule(), Since: "0.2", Fix: "puts fields in order", Breaks: diag.BreaksWire}, // castable finds either
	{Rule: diag.Straddles.Rule(), Since: "0.2", Fix: "inserts padding, or puts fields in order", Breaks: diag.BreaksWire, advises: (*adviser).straddles},
	{Rule: diag.WideRight.Rule(), Since: "0.2", Fix: "takes the right away", Breaks: diag.BreaksSource, advises: (*adviser).rights},
	{Rule: diag.PublishedEdited.Rule(), Since: "0.2"}, // see Published
}

// Rules lists the rules by their codes.
func Rules() []Rule {
	list := slices.Clone(rules)
	slices.SortFunc(list, func(a, b Rule) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return list
}

// Granted tells which rights to regions of a type the programs grant that use the generated code, and whether
// that is known of all such programs.
type Granted func(*resolve.Decl) (rights []string, known bool)

// Advise looks for what would be better in a schema without errors. It finds nothing that
// compiling finds.
func Advise(s *resolve.Schema, l *layout.Layouts, opts Options) diag.List {
	a := &adviser{schema: s, layouts: l, opts: opts, users: map[*resolve.Decl]int{}, refs: map[*resolve.Decl][]*resolve.RefTo{}}
	for _, d := range s.Order {
		a.note(d.Type)
	}
	for _, r := range rules {
		if r.advises != nil {
			r.advises(a)
		}
	}
	return a.diags
}

type adviser struct {
	schema  *resolve.Schema
	layouts *layout.Layouts
	opts    Options
	users   map[*resolve.Decl]int              // how many types name it
	refs    map[*resolve.Decl][]*resolve.RefTo // the #@ref fields that refer to it
	diags   diag.List
}

func (a *adviser) report(d *diag.Diagnostic) *diag.Diagnostic {
	a.diags = append(a.diags, d)
	return d
}

// note counts what a type names.
func (a *adviser) note(t *resolve.Type) {
	if t.Kind == resolve.Ref {
		a.users[t.Decl]++
	}
	for _, f := range t.Fields {
		a.note(f.Type)
		if f.Ref != nil {
			a.refs[f.Ref.Decl] = append(a.refs[f.Ref.Decl], f.Ref)
		}
	}
	for _, m := range t.Members {
		a.note(m.Type)
	}
	if t.Key != nil {
		a.note(t.Key)
	}
	if t.Elem != nil {
		a.note(t.Elem)
	}
}

// decls visits all declarations in the order of the source.
func (a *adviser) decls(visit func(*resolve.Decl)) {
	for _, ns := range a.schema.Namespaces {
		for _, f := range ns.Files {
			for _, d := range f.Decls {
				visit(d)
			}
		}
	}
}

// isRegion reports whether a type is meant for regions.
func isRegion(d *resolve.Decl) bool { return len(d.Residency) > 0 || len(d.Rights) > 0 }

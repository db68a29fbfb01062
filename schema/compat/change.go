package compat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// change is a kind of change: its code is the rule's, and explain has what to do about
// it in general.
type change diag.Code

const (
	typeRemoved    = change(diag.TypeRemoved)
	typeRenamed    = change(diag.TypeRenamed)
	packageChanged = change(diag.PackageChanged)
	goNameChanged  = change(diag.GoNameMoved)
	fieldAdded     = change(diag.FieldAdded)
	fieldRemoved   = change(diag.FieldRemoved)
	fieldRenamed   = change(diag.FieldRenamed)
	fieldMoved     = change(diag.FieldMoved)
	paddingChanged = change(diag.PaddingChanged)
	typeChanged    = change(diag.TypeChanged)
	lengthChanged  = change(diag.LengthChanged)
	limitChanged   = change(diag.LimitChanged)
	valueAdded     = change(diag.ValueAdded)
	valueRemoved   = change(diag.ValueRemoved)
	valueRenamed   = change(diag.ValueRenamed)
	valueMoved     = change(diag.ValueRenumbered)
	memberAdded    = change(diag.MemberAdded)
	memberRemoved  = change(diag.MemberRemoved)
	memberMoved    = change(diag.MemberRetagged)
	memberReplaced = change(diag.MemberReplaced)
	classChanged   = change(diag.ClassChanged)
	layoutChanged  = change(diag.LayoutChanged)
	hashChanged    = change(diag.HashChanged)
	placeRemoved   = change(diag.PlaceRemoved)
	rightRemoved   = change(diag.RightRemoved)
	rightAdded     = change(diag.RightAdded)
	alignLowered   = change(diag.AlignLowered)
	atomicChanged  = change(diag.AtomicChanged)
	lineChanged    = change(diag.CachelineChanged)
	refChanged     = change(diag.RefChanged)
)

// found reports a change, if it breaks one of those that are asked about. It returns
// the finding for what else there is to say, or one that nobody sees.
func (c *comparer) found(ch change, at, was source.Span, v Verdict, format string, args ...any) *diag.Diagnostic {
	v = c.asked(v)
	concerns := v.concerns()
	if len(concerns) == 0 {
		return &diag.Diagnostic{}
	}
	var words, tags []string
	for _, w := range concerns {
		words, tags = append(words, strings.ToUpper(string(w))), append(tags, string(w))
	}
	d := diag.Errorf(diag.Code(ch), at, "%s: %s", strings.Join(words, ", "), fmt.Sprintf(format, args...))
	d.Tags, d.Severity = tags, v.severity()
	d.Also(was, "here it was")
	if v.NewReadsOld < All || v.OldReadsNew < All {
		d.Notef("WIRE: %s", v.wire())
		c.concerned(d)
	}
	c.diags = append(c.diags, d)
	c.verdict = Verdict{
		c.verdict.Source || v.Source, worst(c.verdict.NewReadsOld, v.NewReadsOld),
		worst(c.verdict.OldReadsNew, v.OldReadsNew), c.verdict.Memory || v.Memory,
	}
	return d
}

// asked leaves out what is not asked about.
func (c *comparer) asked(v Verdict) Verdict {
	v.Source = v.Source && c.opts.wants(Source)
	v.Memory = v.Memory && c.opts.wants(Memory)
	if !c.opts.wants(Wire) {
		v.NewReadsOld, v.OldReadsNew = All, All
	}
	return v
}

func (v Verdict) concerns() (list []Concern) {
	if v.Source {
		list = append(list, Source)
	}
	if v.NewReadsOld < All || v.OldReadsNew < All {
		list = append(list, Wire)
	}
	if v.Memory {
		list = append(list, Memory)
	}
	return list
}

func (v Verdict) severity() diag.Severity {
	if v.Source || v.Memory || v.NewReadsOld < All || v.OldReadsNew == None {
		return diag.Error
	}
	return diag.Warning
}

// wire says what becomes of messages.
func (v Verdict) wire() string {
	if v.NewReadsOld == None && v.OldReadsNew == None {
		return "neither version can read the other's messages"
	}
	say := map[Reach]string{None: "cannot read %s messages", Some: "refuses some %s messages", All: "reads every %s message"}
	return "new " + fmt.Sprintf(say[v.NewReadsOld], "old") + "; old " + fmt.Sprintf(say[v.OldReadsNew], "new")
}

// concerned says which messages a change is part of, if they are others than the type itself.
func (c *comparer) concerned(d *diag.Diagnostic) {
	if c.decl == nil {
		return
	}
	if roots := c.roots(c.decl); len(roots) > 1 || len(roots) == 1 && roots[0] != "`"+c.decl.Name+"`" {
		d.Notef("`%s` is part of %s", c.decl.Name, listed(roots))
	}
}

func number(n int) string { return strconv.Itoa(n) }

// count is a number of bytes in words.
func count(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.FormatUint(n, 10) + " bytes"
}

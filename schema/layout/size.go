package layout

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Sizes saturate at the greatest uint64, so that no length can wrap them.

func add(a, b uint64) uint64 {
	if sum, carry := bits.Add64(a, b, 0); carry == 0 {
		return sum
	}
	return math.MaxUint64
}

func mul(a, b uint64) uint64 {
	if hi, lo := bits.Mul64(a, b); hi == 0 {
		return lo
	}
	return math.MaxUint64
}

// varint is the number of bytes of a uint.
func varint(n uint64) uint64 { return uint64(bits.Len64(n|1)+6) / 7 }

// scalar is the layout of a kind that has no parts.
func scalar(k resolve.Kind) *info {
	number := func(size uint64) *info {
		return &info{Info: Info{Class: Castable, Min: size, Max: size, Align: size, Need: 1}}
	}
	switch k {
	case resolve.U8, resolve.I8:
		return number(1)
	case resolve.U16, resolve.I16:
		return number(2)
	case resolve.U32, resolve.I32, resolve.F32:
		return number(4)
	case resolve.U64, resolve.I64, resolve.F64:
		return number(8)
	case resolve.Bool:
		return &info{Info: Info{Class: Fixed, Min: 1, Max: 1, Align: 1, Need: 1, WhyNot: "a bool is valid only as 0 or 1, which a cast cannot check"}}
	case resolve.Void:
		return &info{Info: Info{Class: Fixed, Align: 1, Need: 1, WhyNot: "void has no bytes"}}
	case resolve.Uint, resolve.Int:
		return &info{Info: Info{Class: Bounded, Min: 1, Max: 10, Align: 1, Need: 1, WhyNot: "a " + k.String() + " takes 1 to 10 bytes"}}
	}
	return &info{invalid: true, Info: Info{Align: 1, Need: 1, WhyNot: "it has an error"}}
}

// work works out a type and all that stands in it. What it refers to has been
// worked out.
func (l *Layouts) work(t *resolve.Type) *info {
	i := &info{Info: Info{Align: 1, Need: 1}}
	switch t.Kind {
	case resolve.Str, resolve.Data:
		i.Min = 1
		if i.loose = (culprit{typ: t}); t.Max > 0 {
			i.bound(1, add(varint(t.Max), t.Max), t)
		}
		i.WhyNot = "a " + t.Kind.String() + " has no fixed size"
	case resolve.FixedData:
		i.Info = Info{Class: Castable, Min: t.Len, Max: t.Len, Align: 1, Need: 1}
	case resolve.Enum:
		l.enum(i, t)
	case resolve.Optional:
		l.optional(i, t)
	case resolve.List, resolve.Map:
		l.counted(i, t)
	case resolve.FixedList:
		l.fixedList(i, t)
	case resolve.Union:
		l.union(i, t)
	case resolve.Struct:
		l.structure(i, t)
	default:
		return l.of(t)
	}
	if i.invalid {
		i.Class, i.WhyNot = Variable, "it has an error"
	}
	l.infos[t] = i
	return i
}

// bound makes a type bounded, unless the bound is beyond what a slot can hold.
func (i *info) bound(least, most uint64, t *resolve.Type) {
	i.Class, i.Min, i.Max, i.loose = Bounded, least, most, culprit{}
	if most > MaxSize {
		i.Class, i.Max, i.loose = Variable, 0, culprit{typ: t}
	}
}

func (l *Layouts) enum(i *info, t *resolve.Type) {
	if t.Base != resolve.Invalid {
		*i = *l.prims[t.Base] // an integer of Go, of the same size
		return
	}
	i.Min, i.Max = 10, 1
	for _, v := range t.Values {
		n := varint(v.Value)
		i.Min, i.Max = min(i.Min, n), max(i.Max, n)
	}
	switch {
	case i.Min == 1 && i.Max == 1:
		i.Class = Castable
	case i.Min == i.Max:
		i.Class, i.WhyNot = Fixed, fmt.Sprintf("the enum takes %d bytes as a varint", i.Min)
	default:
		i.Class, i.WhyNot = Bounded, fmt.Sprintf("the enum takes %d to %d bytes", i.Min, i.Max)
	}
}

func (l *Layouts) optional(i *info, t *resolve.Type) {
	e := l.work(t.Elem)
	i.invalid, i.Min = e.invalid, 1
	i.WhyNot = "an optional takes one byte where it is absent"
	if e.Class == Variable {
		i.loose = e.loose.or(t.Elem).in("?")
		return
	}
	i.bound(1, add(1, e.Max), t)
}

// counted is a list or map whose length stands before it.
func (l *Layouts) counted(i *info, t *resolve.Type) {
	e := *l.work(t.Elem)
	e.loose = e.loose.or(t.Elem).in(map[resolve.Kind]string{resolve.List: "[]", resolve.Map: "{}"}[t.Kind])
	if t.Key != nil {
		k := l.work(t.Key)
		e.invalid = e.invalid || k.invalid
		if k.Class < e.Class {
			e.Class, e.loose = k.Class, k.loose.or(t.Key).in("{key}")
		}
		e.Max = add(e.Max, k.Max)
	}
	i.invalid, i.Min = e.invalid, 1
	i.WhyNot = "a " + t.Kind.String() + " has no fixed size"
	switch {
	case t.Max == 0:
		i.loose = culprit{typ: t}
	case e.Class == Variable:
		i.loose = e.loose
	default:
		i.bound(1, add(varint(t.Max), mul(t.Max, e.Max)), t)
	}
}

func (l *Layouts) fixedList(i *info, t *resolve.Type) {
	e := l.work(t.Elem)
	*i = *e
	i.Min, i.Max = mul(e.Min, t.Len), mul(e.Max, t.Len)
	switch {
	case e.Class == Variable:
		i.Max, i.loose = 0, e.loose.or(t.Elem).in("[]")
	case e.Class == Bounded:
		i.bound(i.Min, i.Max, t)
	}
	if e.Class < Fixed {
		i.Align = 1
	}
}

func (l *Layouts) union(i *info, t *resolve.Type) {
	i.Min, i.Max = math.MaxUint64, 0
	class := Fixed
	tags := struct{ least, most uint64 }{10, 1}
	for _, m := range t.Members {
		e, tag := l.work(m.Type), varint(m.Tag)
		tags.least, tags.most = min(tags.least, tag), max(tags.most, tag)
		i.invalid = i.invalid || e.invalid
		i.Min = min(i.Min, add(tag, e.Min))
		if e.Class == Variable && class != Variable {
			class, i.loose = Variable, e.loose.or(m.Type).in("|"+m.Type.Short())
		}
		i.Max = max(i.Max, add(tag, e.Max))
		if e.Class == Bounded {
			class = min(class, Bounded)
		}
		if e.needs != nil && i.needs == nil {
			i.Need, i.needs = e.Need, e.needs
		}
	}
	if i.Min != i.Max || tags.least != tags.most {
		class = min(class, Bounded) // of one size only where the value starts at one place
	}
	i.WhyNot = "a union is one of several types"
	switch i.Class = class; class {
	case Variable:
		i.Max = 0
	case Bounded:
		i.bound(i.Min, i.Max, t)
	}
}

func (l *Layouts) structure(i *info, t *resolve.Type) {
	i.Class = Castable
	for _, f := range t.Fields {
		e := l.work(f.Type)
		i.invalid = i.invalid || e.invalid
		if i.WhyNot == "" {
			i.WhyNot = whyNotField(f, i.Min, e)
		}
		if e.Class == Variable && i.loose.typ == nil {
			i.loose = e.loose.or(f.Type).in("." + f.Name)
		}
		i.Class = min(i.Class, e.Class)
		i.Min, i.Max, i.Align = add(i.Min, e.Min), add(i.Max, e.Max), max(i.Align, e.Align)
		i.want(f, e)
	}
	switch {
	case i.Class == Variable:
		i.Max, i.Align = 0, 1
	case i.Class == Bounded:
		i.Align = 1
		i.bound(i.Min, i.Max, t)
	case i.WhyNot != "":
		i.Class = Fixed
	case i.Min%i.Align != 0:
		i.Class = Fixed
		i.WhyNot = sizeReason(i)
	}
}

func sizeReason(i *info) string {
	return fmt.Sprintf("its size %d is no multiple of %d: Go would add %d bytes at its end",
		i.Min, i.Align, i.Align-i.Min%i.Align)
}

// want notes what a field asks for.
func (i *info) want(f *resolve.Field, e *info) {
	need, by := e.Need, e.needs
	if f.Atomic && e.Max > need {
		need, by = e.Max, f
	}
	if f.Cacheline > need {
		need, by = f.Cacheline, f
	}
	if by != nil && need > i.Need {
		i.Need, i.needs = need, by
	}
}

// whyNotField says why a struct with this field cannot be castable, or "".
func whyNotField(f *resolve.Field, offset uint64, e *info) string {
	switch {
	case e.Class != Castable && len(e.WhyNot) > 120:
		return "`" + f.Name + "`: its type is not castable"
	case e.Class != Castable:
		return "`" + f.Name + "`: " + e.WhyNot
	case offset%e.Align != 0:
		return fmt.Sprintf("`%s` lies at %d, which is no multiple of %d", f.Name, offset, e.Align)
	}
	return ""
}

// or fills in the type to blame where it is known only that t is.
func (c culprit) or(t *resolve.Type) culprit {
	if c.typ == nil {
		c.typ = t
	}
	return c
}

// in is the culprit as seen from the type that has it as a part.
func (c culprit) in(part string) culprit { return culprit{c.typ, part, &c} }

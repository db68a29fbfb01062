package plan

import (
	"strconv"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// structure decides a struct's fields, their names, and how they lie.
func (m *maker) structure(t *Type, v *Val, at place) {
	m.fields(t, v.Wire.Fields, at.schema)
	v.align, v.Comparable, v.Flat = 1, true, true
	offset := int64(0)
	part := uint64(0)
	for _, f := range t.Fields {
		f.Offset = offset
		word := f.Go
		if f.Pad {
			word = Exported(f.Schema)
		}
		f.Val = m.val(f.Wire.Type, at.step(word, "."+f.Schema))

		v.align = max(v.align, f.Val.align)
		v.GoSize = add(roundUp(v.GoSize, f.Val.align), f.Val.GoSize)
		v.CanFail = v.CanFail || f.Val.CanFail
		v.Comparable = v.Comparable && f.Val.Comparable
		v.Flat = v.Flat && f.Val.Flat
		part = max(part, f.Val.GoSize)
		if n, fixed := f.Val.Size(); offset >= 0 && fixed && n <= 1<<40 {
			offset += int64(n)
		} else {
			offset = -1
		}
	}
	v.GoSize = roundUp(v.GoSize, v.align)
	m.checkSize(v, part)
	t.Runs = runs(t.Fields)
	m.fieldViews(t)
}

// fields gives a struct its fields, and them their Go names. A method that has
// the name already makes it a …Field, once all others have their names; another
// field that has it is an error. In is what the schema's user calls the struct.
func (m *maker) fields(t *Type, wire []*resolve.Field, in string) {
	names := newScope(valueMethods)
	if m.pkg.Options.GoBare {
		names.reserved = append(names.reserved, goBareMethods)
	}
	if t.Named && m.region[t.Decl] {
		names.reserved = append(names.reserved, regionMethods)
	}
	var inTheWay []*Field
	for _, rf := range wire {
		f := &Field{Go: "_", Schema: rf.Name, Doc: rf.Doc, At: rf.At, Pad: rf.Pad, Wire: rf, Owner: t}
		t.Fields = append(t.Fields, f)
		if f.Pad {
			continue
		}
		f.Go = m.given(rf.GoName, in+"."+f.Schema, f.At)
		chosen := f.Go != ""
		if !chosen {
			f.Go = Exported(f.Schema)
		}
		other, taken := names.take(f.Go, f.owner())
		switch {
		case !taken:
		case other.at.IsValid():
			m.clash(f.owner(), other, f.Go)
		case chosen:
			m.report(diag.Errorf(diag.BadGoName, f.At, "`%s` is the name of a method of the generated type", f.Go))
		default:
			inTheWay = append(inTheWay, f)
		}
	}
	for _, f := range inTheWay {
		got, _, _ := names.free(f.Go+"Field", f.owner())
		m.changed(f.owner(), owner{what: aMethod}, f.Go, got)
		f.Go = got
	}
	m.valueRefs(t, names)
}

func (f *Field) owner() owner { return owner{"field `" + f.Schema + "`", f.At} }

// runs groups fields, see Run.
func runs(fields []*Field) []Run {
	var rs []Run
	for i, f := range fields {
		n, fixed := f.Val.Size()
		if last := len(rs) - 1; fixed && last >= 0 && rs[last].Fixed {
			rs[last].End, rs[last].Size = i+1, add(rs[last].Size, n)
			continue
		}
		r := Run{First: i, End: i + 1, Fixed: fixed}
		if fixed {
			r.Size = n
		}
		rs = append(rs, r)
	}
	return rs
}

// enum decides an enum's Go type and its constants.
func (m *maker) enum(t *Type, v *Val) {
	t.EnumGo = "uint8"
	if base, ok := scalars[v.Wire.Base]; ok {
		t.EnumFixed, t.EnumGo, v.GoSize = true, base.goType, base.size
	} else {
		v.GoSize = 1
		for _, e := range v.Wire.Values {
			if e.Value > 127 { // a varint of one byte ends there
				t.EnumGo, v.GoSize = "uint64", 8
			}
		}
	}
	v.Go, v.align = t.EnumGo, v.GoSize
	v.CanFail, v.Comparable, v.Flat = true, true, true

	own := newScope() // values clash with each other, but give way to the rest of the package
	for _, e := range v.Wire.Values {
		me := owner{"value `" + e.Name + "`", e.At}
		c := &Value{Schema: e.Name, Doc: e.Doc, At: e.At, N: e.Value}
		t.Values = append(t.Values, c)
		if c.Go = m.given(e.GoName, t.Schema+"."+e.Name, e.At); c.Go != "" {
			if other, taken := m.names.take(c.Go, me); taken {
				m.clash(me, other, c.Go)
			}
			continue
		}
		want := t.Go + Exported(e.Name)
		if other, taken := own.take(want, me); taken {
			m.clash(me, other, want)
			c.Go = want
			continue
		}
		c.Go = m.derived(want, me)
	}
}

// union decides a union's interface and what each member is in Go. A member
// that has a declared Go type is a pointer to it; any other, and a second
// member of one type, gets a wrapper.
func (m *maker) union(t *Type, v *Val, at place) {
	v.Go, v.GoSize, v.align, v.CanFail = "struct", 16, 8, true
	t.Sealed = m.derived(t.Go+"Member", owner{"generated code for `" + t.Schema + "`", t.At})
	t.Marker = "is" + t.Sealed
	words := newScope()
	direct := map[*Type]bool{}
	for _, rm := range v.Wire.Members {
		u := &Member{Tag: rm.Tag, Doc: rm.Doc, At: rm.At, Schema: SchemaWord(rm.Type)}
		t.Members = append(t.Members, u)
		me := owner{"member `" + u.Schema + "`", rm.At}
		word, chosen := m.word(rm.Type), false
		if given := m.given(rm.GoName, at.schema+"."+u.Schema, rm.At); given != "" {
			word, chosen = given, true
		}
		u.Word = word
		for other, taken := words.take(u.Word, me); taken; other, taken = words.take(u.Word, me) {
			if chosen {
				m.clash(me, other, word)
				break
			}
			u.Word += "_"
			if u.Word == word+"_" {
				u.Word = word + strconv.FormatUint(rm.Tag, 10)
			}
		}
		u.Val = m.val(rm.Type, at.step(u.Word, "|"+u.Schema))
		if mt := u.Val.Type; mt != nil && !direct[mt] {
			direct[mt] = true
			mt.InUnions = append(mt.InUnions, t)
			u.Go = mt.Go
			continue
		}
		u.Wrapper = true
		u.Go = m.derived(t.Go+u.Word, me)
	}
}

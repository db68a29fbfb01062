package compat

import (
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// values compares two enums of one form.
func (c *comparer) values(o, n *resolve.Type, path string) {
	byName, byNumber := map[string]*resolve.EnumValue{}, map[uint64]*resolve.EnumValue{}
	for _, v := range o.Values {
		byName[v.Name], byNumber[v.Value] = v, v
	}
	nowNames, nowNumbers := map[string]bool{}, map[uint64]bool{}
	for _, v := range n.Values {
		nowNames[v.Name], nowNumbers[v.Value] = true, true
	}
	pinned := ascend(len(n.Values), func(i int) (uint64, bool) {
		was := byName[n.Values[i].Name]
		if was == nil {
			return 0, false
		}
		return was.Value, true
	})
	renamed := map[*resolve.EnumValue]bool{}
	fine := Verdict{Source: true, NewReadsOld: All, OldReadsNew: All}
	for _, v := range n.Values {
		was, same := byName[v.Name], byNumber[v.Value]
		switch {
		case was != nil && was.Value != v.Value:
			d := c.found(valueMoved, v.At, was.At, Verdict{}, "`%s.%s` is %d, and was %d", path, v.Name, v.Value, was.Value)
			if pinned {
				d.Helpf("write its old number: `%s = %d`", v.Name, was.Value)
			} else {
				d.Helpf("put the values in the order that they had; new ones stand at the end")
			}
		case was != nil:
			if before, is := c.goName(was.GoName.Name, was.Name), c.goName(v.GoName.Name, v.Name); before != is {
				c.found(goNameChanged, v.At, was.At, fine, "`%s.%s` has another name in Go", path, v.Name).
					Helpf("`#@go(name=%s)` above it keeps the old one", before)
			}
		case same != nil && !nowNames[same.Name]:
			renamed[same] = true
			c.found(valueRenamed, v.At, same.At, fine, "`%s.%s` is called `%s` now", path, same.Name, v.Name).
				Helpf("`#@go(name=…)` above it keeps the name in Go")
		default:
			c.valueAdded(v, o, path)
		}
	}
	for _, v := range o.Values {
		if !nowNames[v.Name] && !renamed[v] {
			c.found(valueRemoved, n.At, v.At, gone(nowNumbers[v.Value]), "`%s` has no value `%s` any more", path, v.Name).
				Helpf("keep `%s = %d` for as long as there are messages with it", v.Name, v.Value)
		}
	}
}

// ascend reports whether n values or members could be given the numbers that they had: these ascend, and nothing new stands
// before one, whose number would be another's then.
func ascend(n int, old func(i int) (number uint64, ok bool)) bool {
	var last uint64
	isNew := false
	for i := range n {
		number, ok := old(i)
		switch {
		case !ok:
			isNew = true
			continue
		case isNew, i > 0 && number <= last:
			return false
		}
		last = number
	}
	return true
}

// gone is the verdict on a value or member that is no more. If its number stands for
// another now, that is what new readers take it for.
func gone(reused bool) Verdict {
	v := Verdict{Source: true, NewReadsOld: Some, OldReadsNew: All}
	if reused {
		v.NewReadsOld = None
	}
	return v
}

func (c *comparer) valueAdded(v *resolve.EnumValue, o *resolve.Type, path string) {
	c.found(valueAdded, v.At, o.At, Verdict{NewReadsOld: All, OldReadsNew: Some}, "`%s` has a new value `%s`", path, v.Name).
		Helpf("let all readers know it before one writer uses it")
}

// members compares two unions.
func (c *comparer) members(o, n *resolve.Type, path string) {
	olds, tags := map[string]*resolve.Member{}, map[uint64]*resolve.Member{}
	for _, m := range o.Members {
		olds[c.memberName(m)], tags[m.Tag] = m, m
	}
	nowNames, nowTags := map[string]bool{}, map[uint64]bool{}
	for _, m := range n.Members {
		nowNames[m.Type.String()], nowTags[m.Tag] = true, true
	}
	pinned := ascend(len(n.Members), func(i int) (uint64, bool) {
		was := olds[n.Members[i].Type.String()]
		if was == nil {
			return 0, false
		}
		return was.Tag, true
	})
	replaced := map[*resolve.Member]bool{}
	for _, m := range n.Members {
		was, same := olds[m.Type.String()], tags[m.Tag]
		switch {
		case was != nil && was.Tag != m.Tag:
			d := c.found(memberMoved, m.At, was.At, Verdict{}, "%s in `%s` has the tag %d, and had %d", quote(m.Type), path, m.Tag, was.Tag)
			if pinned {
				d.Helpf("write its old tag: `%s = %d`; new members stand at the end, and where one is gone the next tag is pinned", m.Type.Short(), was.Tag)
			} else {
				d.Helpf("put the members in the order that they had; new ones stand at the end, and where one is gone the next tag is pinned")
			}
		case was != nil:
			c.types(was.Type, m.Type, path+"|"+m.Type.Short(), m.Type.At, was.Type.At)
		case same != nil && !nowNames[c.memberName(same)]:
			replaced[same] = true
			c.replaced(same, m, path)
		default:
			c.found(memberAdded, m.At, o.At, Verdict{NewReadsOld: All, OldReadsNew: Some}, "`%s` has a new member %s", path, quote(m.Type)).
				Helpf("let all readers know it before one writer uses it")
		}
	}
	for _, m := range o.Members {
		if !nowNames[c.memberName(m)] && !replaced[m] {
			c.found(memberRemoved, n.At, m.At, gone(nowTags[m.Tag]), "`%s` has no member %s any more", path, quote(m.Type)).
				Helpf("keep it for as long as there are messages with it, and never give its tag %d to another", m.Tag)
		}
	}
}

// memberName is a member's type as the new version calls it.
func (c *comparer) memberName(m *resolve.Member) string {
	if m.Type.Kind == resolve.Ref {
		if n := c.pairs[m.Type.Decl]; n != nil {
			return n.Name
		}
	}
	return m.Type.String()
}

// replaced reports another type behind a tag.
func (c *comparer) replaced(was, is *resolve.Member, path string) {
	if was.Type.Kind == is.Type.Kind && was.Type.Kind != resolve.Ref {
		c.types(was.Type, is.Type, path+"|"+is.Type.Short(), is.Type.At, was.Type.At)
		return
	}
	v := c.wire(was.Type, is.Type)
	v.Source = true
	d := c.found(memberReplaced, is.At, was.At, v, "the tag %d of `%s` is %s, and was %s", is.Tag, path, quote(is.Type), quote(was.Type))
	if v.NewReadsOld < All || v.OldReadsNew < All {
		d.Helpf("keep %s, and append %s as the last member, with a tag of its own", quote(was.Type), quote(is.Type))
	} else {
		d.Helpf("on the wire they are the same: keep %s, or change programs with it", quote(was.Type))
	}
}

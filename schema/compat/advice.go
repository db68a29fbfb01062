package compat

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// insteadOf says how a message is changed so that old ones can still be read. BARE has
// one way: another member of a union.
func (c *comparer) insteadOf(what string) string {
	if c.decl == nil {
		return "leave it as it was"
	}
	name := c.decl.Name
	if u := c.union(c.decl); u != nil {
		inner := ""
		if u.via != c.decl {
			inner = fmt.Sprintf(" and `%s` with it", next(u.via.Name))
			return fmt.Sprintf("leave `%s` as it was, declare `%s` with %s%s, and append `| %s` to `%s` (tag %d)",
				name, next(name), what, inner, next(u.via.Name), u.decl.Name, u.tag)
		}
		return fmt.Sprintf("leave `%s` as it was, declare `%s` with %s, and append `| %s` to `%s` (tag %d)",
			name, next(name), what, next(name), u.decl.Name, u.tag)
	}
	return fmt.Sprintf("leave `%s` as it was, declare `%s` with %s, and send `union { %s | %s }` from then on",
		name, next(name), what, name, next(name))
}

// next is the name of a type's next version: Point2, Point3.
func next(name string) string {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	n := 2
	if i < len(name) {
		if _, err := fmt.Sscanf(name[i:], "%d", &n); err != nil {
			return name + "2"
		}
		n++
	}
	return fmt.Sprintf("%s%d", name[:i], n)
}

// unionAbove is a declared union that a type is a member of, or part of a member of.
type unionAbove struct {
	decl *resolve.Decl
	via  *resolve.Decl // the member
	tag  uint64        // the next free one
}

// union looks for the nearest.
func (c *comparer) union(d *resolve.Decl) *unionAbove {
	seen := map[*resolve.Decl]bool{d: true}
	for todo := []*resolve.Decl{d}; len(todo) > 0; todo = todo[1:] {
		for _, user := range c.users[todo[0]] {
			if t := user.Type; t.Kind == resolve.Union {
				tag := uint64(0)
				member := false
				for _, m := range t.Members {
					tag = max(tag, m.Tag+1)
					member = member || m.Type.Kind == resolve.Ref && m.Type.Decl == todo[0]
				}
				if member {
					return &unionAbove{user, todo[0], tag}
				}
			}
			if !seen[user] {
				seen[user] = true
				todo = append(todo, user)
			}
		}
	}
	return nil
}

// newRegion is how memory is changed that peers of two versions reach.
const newRegion = "declare a new type beside the old one, and offer regions of both until no peer is left that has the old schema"

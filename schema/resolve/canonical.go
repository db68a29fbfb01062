package resolve

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// canonicalPrefix names the canonical form. A form that gives other bytes for
// any schema gets another number.
const canonicalPrefix = "barewire-schema-1\n"

// Hash is SHA-256 over [Canonical].
func Hash(d *Decl) [32]byte { return sha256.Sum256([]byte(Canonical(d))) }

// Canonical is the canonical form of a type and all that it refers to:
//
//	barewire-schema-1
//	type Root struct { id: Id level: enum:u16 { LOW = 1 HIGH = 300 } }
//	type Id data[16]
//	atomic Root.hits
//	atomic Root.seq sequence
//	max Name 32
//
// Types stand in the order in which a walk from the root first meets their
// names, each on one line in the new syntax, with every value and tag. Then
// follow, sorted bytewise, the annotations that describe bytes: atomic, with
// the word sequence for one, for peers must agree on who makes it odd;
// cacheline with the line's size, max with the limit, pad. A place is written as
// the type's name and, from there, .field, [] for an element, ? for what an
// optional holds, {} for a map's value, {key} for its key, and |tag for a
// member. Every line ends in a newline.
func Canonical(root *Decl) string {
	c := canonical{}
	done := map[*Decl]bool{}
	todo := []*Decl{root}
	c.WriteString(canonicalPrefix)
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if done[d] {
			continue
		}
		done[d] = true
		c.WriteString("type " + d.Name + " " + d.Type.String() + "\n")
		c.visit(d.Type, d.Name)
		for _, ref := range slices.Backward(d.refs) {
			if ref.Decl != nil {
				todo = append(todo, ref.Decl)
			}
		}
	}
	slices.Sort(c.facts)
	for _, fact := range c.facts {
		c.WriteString(fact + "\n")
	}
	return c.String()
}

type canonical struct {
	strings.Builder
	facts []string
}

func (c *canonical) fact(format string, args ...any) {
	c.facts = append(c.facts, fmt.Sprintf(format, args...))
}

// visit notes the annotations in a type. It does not follow names.
func (c *canonical) visit(t *Type, place string) {
	if t.Max > 0 {
		c.fact("max %s %d", place, t.Max)
	}
	switch t.Kind {
	case Optional:
		c.visit(t.Elem, place+"?")
	case List, FixedList:
		c.visit(t.Elem, place+"[]")
	case Map:
		c.visit(t.Key, place+"{key}")
		c.visit(t.Elem, place+"{}")
	case Union:
		for _, m := range t.Members {
			c.visit(m.Type, fmt.Sprintf("%s|%d", place, m.Tag))
		}
	case Struct:
		for _, f := range t.Fields {
			at := place + "." + f.Name
			switch {
			case f.Sequence:
				c.fact("atomic %s sequence", at)
			case f.Atomic:
				c.fact("atomic %s", at)
			}
			if f.Cacheline > 0 {
				c.fact("cacheline %s %d", at, f.Cacheline)
			}
			if f.Pad {
				c.fact("pad %s", at)
			}
			c.visit(f.Type, at)
		}
	}
}

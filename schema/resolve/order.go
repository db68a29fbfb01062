package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// mark is how far the search for cycles has come with a declaration.
type mark uint8

const (
	unseen mark = iota
	onPath
	done
)

// step is a declaration on the path, and the reference that leads on from it.
type step struct {
	decl *Decl
	next int // index of the first of its refs that has not been followed
}

// ref is the reference that was followed last.
func (s step) ref() *Type { return s.decl.refs[s.next-1] }

// order puts the declarations behind what they refer to, and finds those that
// contain themselves. The search keeps its own path: a chain of types may be as
// long as the schema.
func (r *resolver) order() {
	blamed := map[*Decl]bool{}
	for _, ns := range r.schema.Namespaces {
		for _, f := range ns.Files {
			for _, d := range f.Decls {
				r.visit(d, blamed)
			}
		}
	}
	for _, d := range r.schema.Order {
		d.under = d.Type.Resolve()
	}
}

func (r *resolver) visit(root *Decl, blamed map[*Decl]bool) {
	if root.mark != unseen {
		return
	}
	path := []step{{decl: root}}
	root.mark, root.depth = onPath, 0
	for len(path) > 0 {
		top := &path[len(path)-1]
		if top.next == len(top.decl.refs) {
			top.decl.mark = done
			r.schema.Order = append(r.schema.Order, top.decl)
			path = path[:len(path)-1]
			continue
		}
		ref := top.decl.refs[top.next]
		top.next++
		switch to := ref.Decl; to.mark {
		case unseen:
			to.mark, to.depth = onPath, len(path)
			path = append(path, step{decl: to})
		case onPath:
			if !blamed[to] {
				blamed[to] = true
				r.report(cycle(path[to.depth:]))
			}
			ref.Kind, ref.Decl = Invalid, nil
		}
	}
}

// cycle describes a way from a type back to itself. Of a long one it shows the
// start and the end.
func cycle(path []step) *diag.Diagnostic {
	const most = 8
	shown, hidden := path, 0
	if len(path) > most {
		hidden = len(path) - most + 1
		shown = append(slices.Clone(path[:most-2]), path[len(path)-1])
	}
	first := path[0].decl
	d := diag.Errorf(diag.RecursiveType, shown[0].ref().At, "")
	var names strings.Builder
	for i, s := range shown {
		if hidden > 0 && i == len(shown)-1 {
			fmt.Fprintf(&names, "… (%d more) → ", hidden)
		}
		names.WriteString(s.decl.Name + " → ")
		if i > 0 {
			d.Also(s.ref().At, "`%s` contains `%s`", s.decl.Name, s.ref().Decl.Name)
		}
	}
	d.Message = fmt.Sprintf("`%s` contains itself: %s%s", first.Name, names.String(), first.Name)
	return d.Notef("BARE has no recursive types, by whatever route").
		Helpf("keep the items in one list, and let them refer to each other by index: `next: optional<u32>`")
}

package bwsyntax

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// What a generic function does with memory may depend on a type argument: a pointer over the elements of a window is harmless where
// no peer writes them. Such a function has an effect that no directive says, and whose Of is the number of the type parameter.
const (
	exposes directive.Verb = "exposes" // it makes a pointer or slice over memory with that access
	points  directive.Verb = "points"  // it makes a pointer of the address of memory with that residency
)

// wants is the word of the marker that an effect depends on.
var wants = map[directive.Verb]string{exposes: directive.Access, points: directive.Residency}

// finds is the code of the finding where the type argument makes it one.
var finds = map[directive.Verb]diag.Code{exposes: diag.PeerWritable, points: diag.DeviceAddress}

// depends notes that the function around a node does something that depends on a type parameter of its own, which is the argument of t
// for a marker. An ignore there is for whatever the type parameter may be.
func (c *check) depends(at ast.Node, t types.Type, verb directive.Verb) {
	fn := c.around(at)
	if fn == nil || c.trusted { // the runtime's functions say what they do, and when that is sound
		return
	}
	for _, arg := range arguments(t) {
		if p, ok := types.Unalias(arg).(*types.TypeParam); ok && c.standsFor(p, wants[verb]) && !c.filter.Ignores(finds[verb], at.Pos()) {
			c.require(fn, p, verb)
		}
	}
}

// standsFor reports whether a type parameter is constrained to markers of a word.
func (c *check) standsFor(p *types.TypeParam, word string) bool {
	list := p.Constraint().Underlying().(*types.Interface)
	for e := range list.EmbeddedTypes() {
		if u, ok := types.Unalias(e).Underlying().(*types.Interface); ok && u.NumEmbeddeds() == 1 {
			e = u.EmbeddedType(0)
		}
		u, ok := e.(*types.Union)
		if !ok || u.Len() == 0 {
			continue
		}
		if n := named(u.Term(0).Type()); n != nil && c.known.markers[key(n.Obj())].Word == word {
			return true
		}
	}
	return false
}

// require adds such an effect to a function, and reports whether it is new.
func (c *check) require(fn *types.Func, p *types.TypeParam, verb directive.Verb) bool {
	params := fn.Signature().TypeParams()
	if p.Index() >= params.Len() || params.At(p.Index()) != p {
		return false // a method has those of its type
	}
	e := Effect{string(verb), -1, p.Index()}
	if slices.Contains(c.known.effects[fn], e) {
		return false
	}
	c.known.effects[fn] = append(c.known.effects[fn], e)
	c.calls[fn] = c.known.effects[fn]
	return true
}

// around is the declared function that a node stands in.
func (c *check) around(n ast.Node) *types.Func {
	for _, f := range c.pass.Files {
		if n.Pos() < f.FileStart || n.Pos() >= f.FileEnd {
			continue
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Pos() <= n.Pos() && n.Pos() < d.End() {
				fn, _ := c.info.Defs[d.Name].(*types.Func)
				return fn
			}
		}
	}
	return nil
}

// instances looks at generic functions where their type arguments are known. A generic function that calls another with its
// own type parameter does what that does.
func (c *check) instances() {
	var ids []*ast.Ident
	for id := range c.info.Instances {
		if _, ok := c.info.Uses[id].(*types.Func); ok {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b *ast.Ident) int { return int(a.Pos() - b.Pos()) })
	for again := true; again; {
		again = false
		for _, id := range ids {
			c.eachInstance(id, func(e Effect, arg types.Type) {
				if p, ok := types.Unalias(arg).(*types.TypeParam); ok {
					if fn := c.around(id); fn != nil && c.require(fn, p, directive.Verb(e.Verb)) {
						again = true
					}
				}
			})
		}
	}
	for _, id := range ids {
		if c.generated(id.Pos()) {
			continue
		}
		c.eachInstance(id, func(e Effect, arg types.Type) {
			m := Marker{}
			if n := named(arg); n != nil {
				m = c.known.markers[key(n.Obj())]
			}
			switch verb := directive.Verb(e.Verb); {
			case verb == exposes && m.Word == directive.Access && peerWrites(m.Value):
				c.report(diag.PeerWritable, id, nil, "with %s, %s makes a pointer or slice over memory that a peer may change while it is read", c.name(arg), id.Name)
			case verb == points && m.Word == directive.Residency && slices.Contains(elsewhere, m.Value):
				c.report(diag.DeviceAddress, id, nil, "with %s, %s makes a pointer of memory that has no address that this program can use", c.name(arg), id.Name)
			}
		})
	}
}

// eachInstance goes through the effects of a generic function that depend on a type argument.
func (c *check) eachInstance(id *ast.Ident, f func(Effect, types.Type)) {
	args := c.info.Instances[id].TypeArgs
	for _, e := range c.known.effectsOf(c.info.Uses[id].(*types.Func), exposes, points) {
		if e.Of < args.Len() {
			f(e, args.At(e.Of))
		}
	}
}

// generated reports whether a place is in a generated file.
func (c *check) generated(pos token.Pos) bool {
	return slices.ContainsFunc(c.pass.Files, func(f *ast.File) bool { return f.FileStart <= pos && pos < f.FileEnd && ast.IsGenerated(f) })
}

// export hands on what is known, and what functions do.
func (c *check) export(k *Known) {
	k.sort()
	c.pass.ExportPackageFact(k)
	for fn, list := range c.calls {
		c.pass.ExportObjectFact(fn, &Effects{list})
	}
}

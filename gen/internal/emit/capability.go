package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
)

// capabilities writes the methods of a struct's #@ref fields: its bytes as a
// typed reference to memory of a peer, and back.
//
//	func (x *Lease) BlockRef() (barewire.Remote[KvBlock, barewire.RemoteRead], error)
//	func (x *Lease) SetBlockRef(to barewire.Remote[KvBlock, barewire.RemoteRead]) error
func capabilities(_ *emitter, g *gocode.Code, t *plan.Type) {
	for _, f := range t.Fields {
		c := f.Capability
		if c == nil {
			continue
		}
		getSig, setSig := "(x *"+t.Go+") "+c.Get, "(x *"+t.Go+") "+c.Set
		if t.Alias != nil {
			through := "(*" + t.Alias.Go + ")(x)."
			getRef(g, f, c.Get, getSig, "return "+through+c.Get+"()")
			setRef(g, f, c.Set, setSig, "return "+through+c.Set+"(to)")
			continue
		}
		getRef(g, f, c.Get, getSig, readRef(f, "x."+f.Go+"[:]"))
		setRef(g, f, c.Set, setSig, writeRef(f, "x."+f.Go+"[:0]"))
	}
}

// viewCapabilities writes the same methods of the struct's view: those of one
// that is an index's only read.
func viewCapabilities(_ *emitter, g *gocode.Code, t *plan.Type) {
	if t.Alias != nil {
		return
	}
	for _, f := range t.Fields {
		c := f.Capability
		if c == nil {
			continue
		}
		recv := "(v " + t.Name(plan.View) + ") "
		bytes := "v." + f.View(plan.Get) + "()"
		get := f.View(plan.Ref)
		getRef(g, f, get, recv+get, readRef(f, bytes+"[:]"))
		if t.Layout().IsFixed() {
			set := f.View(plan.SetRef)
			setRef(g, f, set, recv+set, writeRef(f, bytes+"[:0]"))
		}
	}
}

// readRef reads a reference from its bytes.
func readRef(f *plan.Field, bytes string) string {
	return fmt.Sprintf("return barewire.RemoteFrom(%s, %s())", bytes, f.Capability.Grant)
}

// writeRef writes a reference into room for it. The reference is narrowed: its
// type says what it may be used for at most, its bytes may say more.
func writeRef(f *plan.Field, room string) string {
	return fmt.Sprintf(`narrow, err := barewire.Narrow(to, %s())
if err == nil {
_, err = barewire.AppendRemote(%s, narrow)
}
return err`, f.Capability.Grant, room)
}

func getRef(g *gocode.Code, f *plan.Field, name, sig, body string) {
	doc := fmt.Sprintf("%s is what %s refers to in a peer's memory. It is an error if the bytes\nare no reference to a %s, or to one of another schema, or one with fewer rights.", name, f.Schema, f.Capability.To.Go)
	g.Func(doc, fmt.Sprintf("%s() (%s, error)", sig, remoteGo(f)), func(b *gocode.Body) { b.P("%s", body) })
}

func setRef(g *gocode.Code, f *plan.Field, name, sig, body string) {
	doc := fmt.Sprintf("%s makes %s refer to memory of a peer, with these rights and no others.\nA remote with more rights is narrowed first: barewire.Narrow(to, %s()).", name, f.Schema, f.Capability.Grant)
	g.Func(doc, fmt.Sprintf("%s(to %s) error", sig, remoteGo(f)), func(b *gocode.Body) { b.P("%s", body) })
}

// remoteGo is the type of what a #@ref field refers to.
func remoteGo(f *plan.Field) string {
	return fmt.Sprintf("barewire.Remote[%s, barewire.%s]", f.Capability.To.Go, f.Capability.Marker)
}

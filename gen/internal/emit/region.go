package emit

import (
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema"
)

// regions writes what the runtime needs to know of a type whose annotations
// allow regions, and what they allow: aliases, places, grants.
func regions(_ *emitter, g *gocode.Code, t *plan.Type) {
	r := t.Region
	if r == nil {
		return
	}
	layoutOf(g, t)
	typeInfo(g, t)
	for _, h := range r.Homes {
		name := t.Name(h.Alias)
		g.Line(fmt.Sprintf("%s is memory for %s values %s.", name, t.Go, where(h)),
			"type %s[A barewire.Access] = barewire.Region[%s, barewire.%s, A]", name, t.Go, h.Marker)
	}
	if r.Remote() {
		name := t.Name(plan.Remote)
		g.Line(fmt.Sprintf("%s is %s values in the memory of a peer.", name, t.Go),
			"type %s[A barewire.RemoteAccess] = barewire.Remote[%s, A]", name, t.Go)
	}
	if r.Host {
		name := t.Name(plan.Window)
		g.Line(fmt.Sprintf("%s is an open region of %s values.", name, t.Go),
			"type %s[A barewire.Access] = barewire.Window[%s, A]", name, t.Go)
	}
	for _, p := range r.Places {
		placeFunc(g, t, p)
	}
	for _, gr := range r.Grants {
		name := t.Name(gr.Func)
		g.Func(fmt.Sprintf("%s is the grant for %s.", name, granted(gr)),
			fmt.Sprintf("%s() barewire.Grant[%s, barewire.%s]", name, t.Go, gr.Marker), func(b *gocode.Body) {
				b.P("return barewire.MintGrant[%s, barewire.%s](&%s)", t.Go, gr.Marker, infoVar(t))
			})
	}
}

// layoutOf writes the methods that the runtime's constraints ask for.
func layoutOf(g *gocode.Code, t *plan.Type) {
	schemaOf(g, t)
	g.Func("BareLayout marks a type that regions can hold. It is never called.",
		fmt.Sprintf("(%s) BareLayout() (l barewire.LayoutOf[%s])", t.Go, t.Go), func(b *gocode.Body) { b.P("return l") })
	if castable(t) {
		g.Func("BareCastable marks a type whose memory is its message. It is never called.",
			fmt.Sprintf("(%s) BareCastable() (c barewire.CastableOf[%s])", t.Go, t.Go), func(b *gocode.Body) { b.P("return c") })
	}
	if t.Region.Sequence != nil {
		g.Func("BareSequence marks a type whose first word is a sequence. It is never called.",
			fmt.Sprintf("(%s) BareSequence() (s barewire.SequenceOf[%s])", t.Go, t.Go), func(b *gocode.Body) { b.P("return s") })
	}
}

// castable reports whether there are casts for the type.
func castable(t *plan.Type) bool {
	return hasCasts(t) && !t.File.Package.Options.NoViews
}

// infoVar is the name of the variable that describes a type's elements.
func infoVar(t *plan.Type) string { return "info" + t.Go }

// typeInfo writes
//
//	var infoTick = barewire.TypeInfo{
//		Name:  "market.Tick",
//		Size:  40,
//		…
//	}
func typeInfo(g *gocode.Code, t *plan.Type) {
	var hash strings.Builder
	for i, c := range schema.Hash(t.Decl) {
		if i%8 == 0 {
			hash.WriteString("\n")
		}
		fmt.Fprintf(&hash, "0x%02x,", c)
	}
	what := "a " + t.Go
	if t.Region.Slot {
		what = "a slot for a " + t.Go
	}
	g.Line(fmt.Sprintf("%s is what the runtime knows of %s.", infoVar(t), what),
		"var %s = barewire.TypeInfo{\nName: %q,\nSize: %d,\nAlign: %d,\nHash: [32]byte{%s\n},\n}",
		infoVar(t), schemaName(t), t.Region.Size, t.Region.Align, hash.String())
}

// placeFunc writes the function for a place.
//
//	func KvBlockInCXL() barewire.Place[KvBlock, barewire.CXL]
func placeFunc(g *gocode.Code, t *plan.Type, p plan.Place) {
	name := t.Name(p.Func)
	doc := fmt.Sprintf("%s is the place of regions %s", name, where(p.Home))
	if p.Node >= 0 {
		doc += fmt.Sprintf(", node %d where nothing else is asked for", p.Node)
	}
	if p.Fallback {
		doc += ",\nor in unified memory where there is none"
	}
	g.Func(doc+".", fmt.Sprintf("%s() barewire.Place[%s, barewire.%s]", name, t.Go, p.Marker), func(b *gocode.Body) {
		b.P("return barewire.MintPlace[%s, barewire.%s](&%s, barewire.%s, %d, %t)", t.Go, p.Marker, infoVar(t), p.Home.Kind, p.Node, p.Fallback)
	})
}

// where says where a region is.
func where(h *plan.Home) string {
	return map[string]string{
		"CPU":       "in the machine's own memory",
		"NUMA":      "in the machine's memory at one node",
		"CXL":       "in memory behind CXL",
		"CXLShared": "in memory behind CXL that several machines share",
		"GPU":       "in a GPU's memory",
		"Managed":   "in memory that a GPU's driver manages",
		"Unified":   "in memory that is coherent for host and devices",
	}[h.Marker]
}

// granted says what a grant lets peers do.
func granted(g plan.Grant) string {
	return map[string]string{
		"Local":                 "this machine's devices only",
		"RemoteRead":            "peers to read",
		"RemoteWrite":           "peers to write",
		"RemoteReadWrite":       "peers to read and write",
		"RemoteAtomic":          "peers to use atomic operations",
		"RemoteReadAtomic":      "peers to read and use atomic operations",
		"RemoteWriteAtomic":     "peers to write and use atomic operations",
		"RemoteReadWriteAtomic": "peers to read, write and use atomic operations",
	}[g.Marker]
}

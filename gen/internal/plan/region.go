package plan

import (
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Region is what a type's annotations let its regions be: where they live, what
// they grant, and what an element of theirs is.
type Region struct {
	Size, Align uint64  // of an element, bytes: the message, or the slot of a bounded type
	Slot        bool    // an element is a slot
	Homes       []*Home // the residencies, in the markers' order
	Places      []Place // what allocators may be asked for
	Grants      []Grant // the accesses that a registration may have; none for a type without #@register
	Host        bool    // there is a residency that the processor may load from
	Sequence    *Field  // the #@atomic(sequence) field, which counts what is written; else nil
	Parts       []*Part // what functions of their own reach
}

// Part is a field that lies at one place in each element: one of the type, or an
// #@atomic one of a struct in it.
type Part struct {
	Go     string // behind the type's name: Seq, HeadSeq
	Schema string // seq, head.seq
	Offset int64  // from the element's first byte
	Field  *Field

	names map[Pattern]string // all that it has
}

// Name is a package-level name made from the type's and the field's: KvBlockSeqOf.
// It is empty where there is no such thing.
func (p *Part) Name(pattern Pattern) string { return p.names[pattern] }

// Home is a residency as Go has it.
type Home struct {
	Marker string // barewire.CPU
	Kind   string // barewire.InCPU
	Alias  Pattern
	In     Pattern
	Or     Pattern // with fallback=unified; empty where there can be none
	host   bool
	word   string // in the schema
}

// homes has all residencies, in the markers' order.
var homes = []*Home{
	{"CPU", "InCPU", "*CPU", "*InCPU", "*InCPUOrUnified", true, resolve.CPU},
	{"NUMA", "InNUMA", "*NUMA", "*InNUMA", "*InNUMAOrUnified", true, resolve.NUMA},
	{"CXL", "InCXL", "*CXL", "*InCXL", "*InCXLOrUnified", true, resolve.CXL},
	{"CXLShared", "InCXLShared", "*CXLShared", "*InCXLShared", "", false, resolve.CXLShared},
	{"GPU", "InGPU", "*GPU", "*InGPU", "", false, resolve.GPU},
	{"Managed", "InManaged", "*Managed", "*InManaged", "", false, resolve.Managed},
	{"Unified", "InUnified", "*Unified", "*InUnified", "", true, resolve.Unified},
}

// Place is one place that an allocator may be asked for.
type Place struct {
	Func     Pattern // the function that gives it
	Home     *Home   // what is asked for
	Marker   string  // the residency of what is made: the home's, or Unified
	Node     int     // numa(N), else -1
	Fallback bool
}

// Grant is one access that a registration may have.
type Grant struct {
	Marker string // barewire.RemoteRead
	Func   Pattern
	rights rights
}

// rights is a set of remote rights.
type rights uint8

const (
	mayRead rights = 1 << iota
	mayWrite
	mayAtomic
)

// grants has all accesses, in the markers' order.
var grants = []Grant{
	{"Local", "*Local", 0},
	{"RemoteRead", "*RemoteRead", mayRead},
	{"RemoteWrite", "*RemoteWrite", mayWrite},
	{"RemoteReadWrite", "*RemoteReadWrite", mayRead | mayWrite},
	{"RemoteAtomic", "*RemoteAtomic", mayAtomic},
	{"RemoteReadAtomic", "*RemoteReadAtomic", mayRead | mayAtomic},
	{"RemoteWriteAtomic", "*RemoteWriteAtomic", mayWrite | mayAtomic},
	{"RemoteReadWriteAtomic", "*RemoteReadWriteAtomic", mayRead | mayWrite | mayAtomic},
}

func rightsOf(list []resolve.Right) (r rights) {
	words := map[string]rights{"remote_read": mayRead, "remote_write": mayWrite, "remote_atomic": mayAtomic}
	for _, right := range list {
		r |= words[right.Name]
	}
	return r
}

// Remote reports whether a peer may be granted anything.
func (r *Region) Remote() bool { return len(r.Grants) > 1 }

// isRegion reports whether regions of a declared type can be made.
func isRegion(d *resolve.Decl) bool { return len(d.Residency)+len(d.Rights) > 0 }

// regionTypes marks the declarations whose types, or other names of theirs,
// have the methods of region types.
func regionTypes(ns *resolve.Namespace) map[*resolve.Decl]bool {
	marked := map[*resolve.Decl]bool{}
	for _, d := range ns.Types {
		for here := d; isRegion(d); here = here.Type.Decl {
			marked[here] = true
			if here.Type.Kind != resolve.Ref {
				break
			}
		}
	}
	return marked
}

// region works out what a type's regions can be; nil where it has none.
func region(t *Type) *Region {
	if !t.Named || !isRegion(t.Decl) {
		return nil
	}
	d, l := t.Decl, t.Layout()
	r := &Region{Size: l.Min, Align: max(l.Align, l.Need, d.Align, 1)}
	if l.Class == layout.Bounded {
		r.Slot, r.Align = true, max(8, d.Align)
		r.Size = roundUp(4+l.Max, r.Align)
	}
	r.homes(d)
	if len(d.Rights) > 0 {
		all := rightsOf(d.Rights)
		for _, g := range grants {
			if g.rights&^all == 0 {
				r.Grants = append(r.Grants, g)
			}
		}
	}
	if l.Class >= layout.Fixed && t.Kind == resolve.Struct {
		r.fields(t)
	}
	return r
}

// homes works out where regions may live. Where nothing is said it is plain memory.
func (r *Region) homes(d *resolve.Decl) {
	listed := d.Residency
	if len(listed) == 0 {
		listed = []resolve.Place{{Residency: resolve.CPU, Node: -1}}
	}
	for _, h := range homes {
		i := slices.IndexFunc(listed, func(p resolve.Place) bool { return p.Residency == h.word })
		if i < 0 {
			if d.Fallback && h.word == resolve.Unified {
				r.Homes = append(r.Homes, h)
			}
			continue
		}
		r.Homes = append(r.Homes, h)
		r.Host = r.Host || h.host
		r.Places = append(r.Places, Place{h.In, h, h.Marker, listed[i].Node, false})
		if d.Fallback && h.Or != "" {
			r.Places = append(r.Places, Place{h.Or, h, "Unified", listed[i].Node, true})
		}
	}
}

// fields finds the parts of a struct of fixed size.
func (r *Region) fields(t *Type) {
	for _, f := range t.Fields {
		if f.Pad {
			continue
		}
		p := &Part{Go: f.Go, Schema: f.Schema, Offset: f.Offset, Field: f}
		r.Parts = append(r.Parts, p)
		if f.Wire.Sequence {
			r.Sequence = f
		}
		r.inside(p, 0)
	}
}

// deepest is how deep in a type's structs atomic fields are looked for: structs
// that have two of a struct that has two … would have no end of them.
const deepest = 3

// inside finds the atomic fields in a part that is a struct.
func (r *Region) inside(p *Part, depth int) {
	v := p.Field.Val
	if v.Kind != resolve.Struct || v.Layout.Need == 1 || depth == deepest { // no field there needs a place
		return
	}
	for _, f := range v.Type.Fields {
		in := &Part{Go: p.Go + f.Go, Schema: p.Schema + "." + f.Schema, Offset: p.Offset + f.Offset, Field: f}
		if f.Wire.Atomic {
			r.Parts = append(r.Parts, in)
		}
		r.inside(in, depth+1)
	}
}

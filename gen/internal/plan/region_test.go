package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
)

// dumpRegions is what the regions of a package's types can be, and what that is
// called in Go.
func dumpRegions(p *plan.Package) string {
	var s strings.Builder
	for _, t := range p.Types {
		r := t.Region
		if r == nil {
			continue
		}
		fmt.Fprintf(&s, "%s %d/%d slot=%t host=%t sequence=%t\n", t.Go, r.Size, r.Align, r.Slot, r.Host, r.Sequence != nil)
		for _, p := range r.Places {
			fmt.Fprintf(&s, "  %s %s in %s node=%d fallback=%t\n", t.Name(p.Func), p.Home.Kind, p.Marker, p.Node, p.Fallback)
		}
		line := func(names []string) {
			if len(names) > 0 {
				fmt.Fprintf(&s, "  %s\n", strings.Join(names, " "))
			}
		}
		var names []string
		for _, g := range r.Grants {
			names = append(names, t.Name(g.Func))
		}
		line(names)
		names = nil
		for _, h := range r.Homes {
			names = append(names, t.Name(h.Alias))
		}
		for _, p := range []plan.Pattern{plan.Remote, plan.Window, plan.AtIndex, plan.AllOf, plan.SlotAt, plan.LoadAt, plan.PutAt, plan.ViewAt, plan.Snapshot, plan.Publish} {
			if t.HasRegion(p) {
				names = append(names, t.Name(p))
			}
		}
		line(names)
		for _, part := range r.Parts {
			names = nil
			for _, p := range []plan.Pattern{plan.FieldOf, plan.FieldIn, plan.FieldAtomic, plan.FieldLoad, plan.FieldGlobal} {
				if n := part.Name(p); n != "" {
					names = append(names, n)
				}
			}
			line(names)
		}
	}
	return s.String()
}

func TestRegions(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opts       plan.Options
		want       string
	}{
		{"none", `type T struct { x: u8 }`, plan.Options{}, ``},
		{"residency alone", "#@residency(gpu, managed, cxl_shared)\ntype T struct { x: u8 }", plan.Options{}, `
T 1/1 slot=false host=false sequence=false
  TInCXLShared InCXLShared in CXLShared node=-1 fallback=false
  TInGPU InGPU in GPU node=-1 fallback=false
  TInManaged InManaged in Managed node=-1 fallback=false
  TCXLShared TGPU TManaged
`},
		{"register alone is plain memory", "#@register(local)\ntype T struct { x: u32 y: u64 }", plan.Options{}, `
T 12/8 slot=false host=true sequence=false
  TInCPU InCPU in CPU node=-1 fallback=false
  TLocal
  TCPU TWindow TAt TAll
  TXIn
  TYIn
`},
		{"every right, and a fallback", `
#@residency(numa(3), cxl, fallback=unified)
#@register(remote_read, remote_write, remote_atomic)
#@align(64)
type T struct {
  #@atomic(sequence)
  #@cacheline
  seq: u64
  #@pad
  pad0: data[56]
  #@atomic
  n: i32
  x: list<f32>[15]
}`, plan.Options{}, `
T 128/64 slot=false host=true sequence=true
  TInNUMA InNUMA in NUMA node=3 fallback=false
  TInNUMAOrUnified InNUMA in Unified node=3 fallback=true
  TInCXL InCXL in CXL node=-1 fallback=false
  TInCXLOrUnified InCXL in Unified node=-1 fallback=true
  TLocal TRemoteRead TRemoteWrite TRemoteReadWrite TRemoteAtomic TRemoteReadAtomic TRemoteWriteAtomic TRemoteReadWriteAtomic
  TNUMA TCXL TUnified TRemote TWindow TAt TAll TSnapshot TPublish
  TSeqOf TSeqIn TSeqAtomic TSeqLoad TSeqGlobal
  TNOf TNIn TNAtomic TNLoad TNGlobal
  TXOf TXIn
`},
		{"two rights", "#@register(remote_write, local, remote_atomic)\ntype T struct {\n #@atomic\n x: i64\n}", plan.Options{}, `
T 8/8 slot=false host=true sequence=false
  TInCPU InCPU in CPU node=-1 fallback=false
  TLocal TRemoteWrite TRemoteAtomic TRemoteWriteAtomic
  TCPU TRemote TWindow TAt TAll
  TXOf TXIn TXAtomic TXLoad TXGlobal
`},
		{"bounded", `
#@residency(unified)
#@register(remote_read)
type T struct {
  n: u64
  #@max(3)
  s: str
}
#@residency(cpu)
#@align(64)
#@max(10)
type S str
#@residency(cpu)
type E enum { A B = 300 }`, plan.Options{}, `
T 16/8 slot=true host=true sequence=false
  TInUnified InUnified in Unified node=-1 fallback=false
  TLocal TRemoteRead
  TUnified TRemote TWindow TSlotAt TLoadAt TPutAt TViewAt
S 64/64 slot=true host=true sequence=false
  SInCPU InCPU in CPU node=-1 fallback=false
  SCPU SWindow SSlotAt SLoadAt SPutAt
E 8/8 slot=true host=true sequence=false
  EInCPU InCPU in CPU node=-1 fallback=false
  ECPU EWindow ESlotAt ELoadAt EPutAt
`},
		{"types without fields", `
#@residency(cpu)
type N u32
#@residency(cpu)
type L list<u16>[4]
#@residency(cpu)
type U union { u8 | i8 }
type B struct { x: u8 }
#@register(remote_read)
type A B`, plan.Options{}, `
N 4/4 slot=false host=true sequence=false
  NInCPU InCPU in CPU node=-1 fallback=false
  NCPU NWindow NLoadAt NPutAt
L 8/2 slot=false host=true sequence=false
  LInCPU InCPU in CPU node=-1 fallback=false
  LCPU LWindow LAt LAll
U 2/1 slot=false host=true sequence=false
  UInCPU InCPU in CPU node=-1 fallback=false
  UCPU UWindow UAt UAll
A 1/1 slot=false host=true sequence=false
  AInCPU InCPU in CPU node=-1 fallback=false
  ALocal ARemoteRead
  ACPU ARemote AWindow AAt AAll
  AXOf AXIn
`},
		{"no views", "#@register(remote_read)\ntype T struct {\n #@atomic(sequence)\n x: u64\n y: i64\n}", plan.Options{NoViews: true}, `
T 16/8 slot=false host=true sequence=true
  TInCPU InCPU in CPU node=-1 fallback=false
  TLocal TRemoteRead
  TCPU TRemote TWindow TLoadAt TPutAt TSnapshot TPublish
  TXOf TXIn TXAtomic TXLoad
  TYOf TYIn
`},
		{"atomic fields of structs inside", `
type H struct {
  #@atomic
  n: u64
  x: u64
}
#@register(local)
type T struct {
  a: H
  b: struct { c: H d: H }
  e: list<H>[2]
}`, plan.Options{}, `
T 80/8 slot=false host=true sequence=false
  TInCPU InCPU in CPU node=-1 fallback=false
  TLocal
  TCPU TWindow TAt TAll
  TAIn
  TANIn TANAtomic TANLoad
  TBIn
  TBCNIn TBCNAtomic TBCNLoad
  TBDNIn TBDNAtomic TBDNLoad
  TEIn
`},
		{"a counter in front is no sequence", "#@residency(cpu)\ntype T struct {\n #@atomic\n x: u64\n #@atomic\n y: u64\n}", plan.Options{}, `
T 16/8 slot=false host=true sequence=false
  TInCPU InCPU in CPU node=-1 fallback=false
  TCPU TWindow TAt TAll
  TXAtomic TXLoad
  TYAtomic TYLoad
`},
		{"nor is a sequence inside", "type H struct {\n #@atomic(sequence)\n x: u64\n y: u64\n}\n#@residency(cpu)\ntype T struct { h: H }", plan.Options{}, `
T 16/8 slot=false host=true sequence=false
  TInCPU InCPU in CPU node=-1 fallback=false
  TCPU TWindow TAt TAll
  THXAtomic THXLoad
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, found := planOf(t, c.text, c.opts)
			if len(found) > 0 {
				t.Errorf("it finds %s", line(found[0]))
			}
			if got := dumpRegions(p); got != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
		})
	}
}

// TestRegionClashes holds that names for regions give way to all others, and
// that this is told.
func TestRegionClashes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a type of the schema", "#@residency(cpu)\ntype T struct { x: u8 }\ntype TInCPU u8\ntype TAt u8", []string{
			"info t.bare:2:6 `TInCPU` is called `TInCPU_` in Go: `TInCPU` is taken by type `TInCPU` [BW1303] also t.bare:3:6",
			"info t.bare:2:6 `TAt` is called `TAt_` in Go: `TAt` is taken by type `TAt` [BW1303] also t.bare:4:6"}},
		{"a view of a later type", "#@register(remote_read)\ntype T struct { x_view: u8 }\ntype TX struct { y: u8 }", []string{
			"info t.bare:2:17 `TXViewOf` is called `TXViewOf_` in Go: `TXViewOf` is taken by generated code for `TX` [BW1303] also t.bare:3:6"}},
		{"its own view", "#@register(remote_read)\ntype T struct { view: u8 }", []string{
			"info t.bare:2:17 `TViewOf` is called `TViewOf_` in Go: `TViewOf` is taken by generated code for `T` [BW1303] also t.bare:2:6"}},
		{"a field and the layout's method", "#@residency(cpu)\ntype T struct { bare_layout: u8 }", []string{
			"info t.bare:2:17 `BareLayout` is called `BareLayoutField` in Go: `BareLayout` is taken by a method of generated code [BW1303]"}},
		{"the same behind another name", "type T struct { bare_castable: u8 }\n#@residency(cpu)\ntype A T", []string{
			"info t.bare:1:17 `BareCastable` is called `BareCastableField` in Go: `BareCastable` is taken by a method of generated code [BW1303]"}},
		{"the same without regions", "type T struct { bare_layout: u8 }", nil},
		{"a reference and fields", "#@register(remote_read)\ntype R struct { x: u8 }\ntype T struct {\n #@ref(R, remote_read)\n a: data[48]\n a_ref: u8\n set_a_ref: u8\n}", []string{
			"info t.bare:5:2 `ARef` is called `ARef_` in Go: `ARef` is taken by field `a_ref` [BW1303] also t.bare:6:2",
			"info t.bare:5:2 `SetARef` is called `SetARef_` in Go: `SetARef` is taken by field `set_a_ref` [BW1303] also t.bare:7:2",
			"info t.bare:6:2 `SetARef` is called `SetARef_` in Go: `SetARef` is taken by field `set_a_ref` [BW1303] also t.bare:7:2",
			"info t.bare:5:2 `SetARef` is called `SetARef__` in Go: `SetARef` is taken by field `set_a_ref` [BW1303] also t.bare:7:2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := planOf(t, c.text, plan.Options{})
			var got []string
			for _, d := range found {
				got = append(got, line(d))
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestCapabilities holds what #@ref fields refer to: exactly the rights that
// they carry.
func TestCapabilities(t *testing.T) {
	p, found := planOf(t, `
#@register(remote_read, remote_write, remote_atomic)
type Block struct { x: u8 }
type Lease struct {
  #@ref(Block, remote_atomic, remote_read)
  block: data[48]
  inner: struct {
    #@ref(Block, remote_write)
    b: data[48]
  }
  other: data[48]
}`, plan.Options{})
	if len(found) > 0 {
		t.Errorf("it finds %s", line(found[0]))
	}
	var got []string
	for _, ty := range p.Types {
		for _, f := range ty.Fields {
			if c := f.Capability; c != nil {
				got = append(got, fmt.Sprintf("%s.%s: %s %s %s; %s %s; %s %s", ty.Go, f.Go, c.To.Go, c.Marker, c.Grant, c.Get, c.Set, f.View(plan.Ref), f.View(plan.SetRef)))
			}
		}
	}
	want := []string{
		"Lease.Block: Block RemoteReadAtomic BlockRemoteReadAtomic; BlockRef SetBlockRef; BlockRef SetBlockRef",
		"LeaseInner.B: Block RemoteWrite BlockRemoteWrite; BRef SetBRef; BRef SetBRef",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

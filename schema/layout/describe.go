package layout

import (
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Line is the size of a cache line where no annotation says otherwise, in bytes.
const Line = 64

// Description is the layout of a declared type for people and tools. All sizes
// and offsets are bytes. A pointer is nil where there is no such number.
type Description struct {
	Name  string  `json:"name"`
	File  string  `json:"file"`
	Line  int     `json:"line"`
	Kind  string  `json:"kind"`
	Type  string  `json:"type"` // in the new syntax, bodies left out
	Class string  `json:"class"`
	Size  *uint64 `json:"size"` // of a fixed type
	Min   uint64  `json:"min"`
	Max   *uint64 `json:"max"`   // nil for a variable type
	Align uint64  `json:"align"` // natural alignment
	// Wanted is #@align, or 0. Need is what fields in it need: a multiple of it
	// is where the type must start.
	Wanted      uint64        `json:"wanted,omitempty"`
	Need        uint64        `json:"need"`
	Slot        uint64        `json:"slot,omitempty"`        // of a bounded type
	NotCastable []string      `json:"notCastable,omitempty"` // every reason
	Unbounded   string        `json:"unbounded,omitempty"`   // why a variable type has no greatest size
	Rows        []Row         `json:"rows,omitempty"`        // fields of a struct, members of a union
	Sharing     []Sharing     `json:"sharing,omitempty"`     // cache lines with more than one atomic field
	Residency   []string      `json:"residency,omitempty"`
	Rights      []string      `json:"rights,omitempty"`
	Decl        *resolve.Decl `json:"-"`
}

// Row is a field of a struct, or a member of a union. The fields of a struct
// inside follow its row, one deeper.
type Row struct {
	Field     string   `json:"field"` // dotted from the type on; a member's type for unions
	Depth     int      `json:"depth"`
	Tag       *uint64  `json:"tag,omitempty"` // of a union's member
	Offset    *uint64  `json:"offset"`        // nil where what stands before varies
	Size      *uint64  `json:"size"`          // nil where it varies
	Min       uint64   `json:"min"`
	Max       *uint64  `json:"max"`
	Align     uint64   `json:"align"`
	Type      string   `json:"type"`
	Class     string   `json:"class"`
	CacheLine *uint64  `json:"cacheLine"`       // the line in which it starts, from 0, where the type starts one
	Straddles bool     `json:"straddles"`       // would fit in a line and lies in two
	Notes     []string `json:"notes,omitempty"` // atomic, sequence, pad, cacheline, misaligned
}

// Sharing is a cache line with several atomic fields.
type Sharing struct {
	CacheLine uint64   `json:"cacheLine"`
	Fields    []string `json:"fields"`
}

// mostRows bounds a description: structs in structs can double with each level.
const mostRows = 4096

// Describe describes the layout of a declared type.
func (l *Layouts) Describe(d *resolve.Decl) *Description {
	i, under := l.of(d.Type), d.Type.Resolve()
	p := d.At.Pos()
	desc := &Description{
		Name: d.Name, Line: p.Line, Kind: under.Kind.String(), Type: d.Type.Short(), Class: i.Class.String(),
		Size: i.size(), Min: i.Min, Max: i.max(), Align: i.Align, Wanted: d.Align, Need: i.Need,
		Slot: l.Slot(d.Type, d), NotCastable: l.notCastable(under, i), Unbounded: l.unbounded(i), Decl: d,
	}
	if d.At.File != nil {
		desc.File = d.At.File.Name()
	}
	for _, place := range d.Residency {
		word := place.Residency
		if place.Node >= 0 {
			word = fmt.Sprintf("%s(%d)", word, place.Node)
		}
		desc.Residency = append(desc.Residency, word)
	}
	for _, right := range d.Rights {
		desc.Rights = append(desc.Rights, right.Name)
	}
	switch under.Kind {
	case resolve.Struct:
		desc.fields(l, under, "", 0, 0, true)
		desc.share()
	case resolve.Union:
		desc.members(l, under)
	}
	return desc
}

func (i *info) size() *uint64 {
	if i.IsFixed() {
		return &i.Max
	}
	return nil
}

func (i *info) max() *uint64 {
	if i.Class == Variable {
		return nil
	}
	return &i.Max
}

// row is what a field and a member have in common.
func (l *Layouts) row(t *resolve.Type, name string, depth int) Row {
	i := l.of(t)
	return Row{Field: name, Depth: depth, Size: i.size(), Min: i.Min, Max: i.max(), Align: i.Align, Type: t.Short(), Class: i.Class.String()}
}

func (d *Description) fields(l *Layouts, t *resolve.Type, prefix string, base uint64, depth int, known bool) {
	for _, f := range l.Fields(t) {
		r := l.row(f.Field.Type, prefix+f.Field.Name, depth)
		offset, placed := add(base, f.Offset), known && f.IsFixed
		if placed {
			line := offset / Line
			r.Offset, r.CacheLine = &offset, &line
			if n := f.Info.Max; f.Info.IsFixed() && n > 0 && n <= Line {
				r.Straddles = (offset+n-1)/Line != line
			}
			if f.Info.IsFixed() && offset%f.Info.Align != 0 {
				r.Notes = append(r.Notes, "misaligned")
			}
		}
		r.Notes = append(r.Notes, notes(f.Field)...)
		d.Rows = append(d.Rows, r)
		if under := f.Field.Type.Resolve(); under.Kind == resolve.Struct && len(d.Rows) < mostRows {
			d.fields(l, under, prefix+f.Field.Name+".", offset, depth+1, placed)
		}
	}
}

func notes(f *resolve.Field) (words []string) {
	if f.Atomic {
		words = append(words, "atomic")
	}
	if f.Sequence {
		words = append(words, "sequence")
	}
	if f.Cacheline > 0 {
		words = append(words, "cacheline")
	}
	if f.Pad {
		words = append(words, "pad")
	}
	if f.Ref != nil {
		words = append(words, "ref "+f.Ref.Decl.Name)
	}
	return words
}

func (d *Description) members(l *Layouts, t *resolve.Type) {
	for _, m := range t.Members {
		r := l.row(m.Type, m.Type.Short(), 0)
		tag, offset := m.Tag, varint(m.Tag)
		r.Tag, r.Offset = &tag, &offset
		d.Rows = append(d.Rows, r)
	}
}

// share finds the cache lines with more than one atomic field.
func (d *Description) share() {
	for _, r := range d.Rows {
		if r.CacheLine == nil || len(r.Notes) == 0 || !has(r.Notes, "atomic") {
			continue
		}
		if n := len(d.Sharing); n > 0 && d.Sharing[n-1].CacheLine == *r.CacheLine {
			d.Sharing[n-1].Fields = append(d.Sharing[n-1].Fields, r.Field)
		} else {
			d.Sharing = append(d.Sharing, Sharing{*r.CacheLine, []string{r.Field}})
		}
	}
	shared := d.Sharing[:0]
	for _, s := range d.Sharing {
		if len(s.Fields) > 1 {
			shared = append(shared, s)
		}
	}
	d.Sharing = shared
}

func has(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// notCastable is every reason why a type is not castable.
func (l *Layouts) notCastable(t *resolve.Type, i *info) (why []string) {
	if i.Class == Castable {
		return nil
	}
	if t.Kind != resolve.Struct || i.invalid {
		return []string{i.WhyNot}
	}
	fixed := true
	for _, f := range l.Fields(t) {
		e := l.of(f.Field.Type)
		offset := f.Offset
		if !f.IsFixed {
			offset = 0 // what varies before it is reason enough
		}
		if reason := whyNotField(f.Field, offset, e); reason != "" {
			why = append(why, reason)
		}
		fixed = fixed && e.IsFixed()
	}
	if fixed && i.Min%i.Align != 0 {
		why = append(why, sizeReason(i))
	}
	return why
}

// unbounded says why a variable type has no greatest size.
func (l *Layouts) unbounded(i *info) string {
	t := i.loose.typ
	if i.Class != Variable || t == nil {
		return ""
	}
	name := ""
	if path := strings.TrimLeft(i.loose.path(), ".|"); path != "" {
		name = "`" + path + "`: "
	}
	switch t.Kind {
	case resolve.Str, resolve.Data, resolve.List, resolve.Map:
		if t.Max == 0 {
			return name + "a " + t.Kind.String() + " without #@max"
		}
	}
	return fmt.Sprintf("%s%s may have more than %d MiB", name, t.Short(), MaxSize>>20)
}

package dynamic

import (
	"strconv"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Row is a run of bytes of a message and what it is.
type Row struct {
	Offset int    `json:"offset"` // from the message's first byte, or the dump's
	Size   int    `json:"size"`   // in bytes; void has none
	Hex    string `json:"hex"`
	Path   string `json:"path"`  // Person.orders[3].name, as errors have it
	Type   string `json:"type"`  // in the new syntax, bodies left out
	Role   string `json:"role"`  // value, length, presence, tag, content, padding
	Value  string `json:"value"` // for people

	bytes []byte
}

// Rows is a visitor that makes rows. Its zero value is of no use; see [NewRows].
type Rows struct {
	b     []byte
	base  int       // what is added to offsets
	emit  func(Row) // called for each
	few   int       // elements of a list that are told one by one; 0 for all
	path  []string
	lists []*skipping // the lists and maps that are open, innermost last
	quiet int         // how many of them are past their few
	pad   bool
}

// skipping is a list or map some of whose elements are not told.
type skipping struct {
	typ      *resolve.Type
	n        uint64
	from, at int // the element and the offset from which on nothing is told; -1
}

// NewRows makes rows of the message b, which lies base bytes from what offsets count
// from. Where few is not 0, of each list with more than twice as many elements only
// the first few are told, and then how much the others are.
func NewRows(b []byte, name string, base, few int, emit func(Row)) *Rows {
	return &Rows{b: b, base: base, emit: emit, few: few, path: []string{name}}
}

func (r *Rows) row(from, to int, t *resolve.Type, role, value string) {
	if r.quiet == 0 {
		r.emit(Row{Offset: r.base + from, Size: to - from, Path: r.where(), Type: t.Short(), Role: role, Value: value, bytes: r.b[from:to]})
	}
}

func (r *Rows) where() string {
	n := 0
	for _, s := range r.path {
		n += len(s)
	}
	b := make([]byte, 0, n)
	for _, s := range r.path {
		b = append(b, s...)
	}
	return string(b)
}

// Bytes are the row's bytes, which belong to the message.
func (r Row) Bytes() []byte { return r.bytes }

// Open tells of a length, presence or tag.
func (r *Rows) Open(v Value) {
	switch t := v.Type; t.Kind {
	case resolve.List:
		r.row(v.At, v.Body, t, "length", count(v.Bits, "element"))
		r.enter(v)
	case resolve.FixedList:
		r.enter(v)
	case resolve.Map:
		what := strconv.FormatUint(v.Bits, 10) + " entries"
		if v.Bits == 1 {
			what = "1 entry"
		}
		r.row(v.At, v.Body, t, "length", what)
		r.enter(v)
	case resolve.Optional:
		r.row(v.At, v.Body, t, "presence", [...]string{"absent", "present"}[v.Bits])
	case resolve.Union:
		r.row(v.At, v.Body, t, "tag", strconv.FormatUint(v.Bits, 10)+" "+label(t, v.Member))
		r.path = append(r.path, "."+memberName(v.Member))
	}
	// Each value that is open has one place on the path, for its step.
	r.path = append(r.path, "")
}

func (r *Rows) enter(v Value) {
	r.lists = append(r.lists, &skipping{typ: v.Type, n: v.Bits, from: -1, at: v.Body})
}

// Step moves the path on.
func (r *Rows) Step(s Step) {
	last := &r.path[len(r.path)-1]
	switch s.Part {
	case Field:
		*last = "." + s.Field.Name
		r.pad = s.Field.Pad
	case Elem, Key:
		l := r.lists[len(r.lists)-1]
		if r.few > 0 && l.n > uint64(2*r.few) && s.Index == r.few && l.from < 0 {
			l.from = s.Index
			r.quiet++
		}
		*last = "[" + strconv.Itoa(s.Index) + "]"
		if s.Part == Key {
			*last += ".key"
		}
	case Val:
		*last = "[" + strconv.Itoa(s.Index) + "].value"
	}
}

// Scalar tells of a value.
func (r *Rows) Scalar(v Value) {
	t := v.Type
	switch {
	case r.pad:
		r.pad = false
		r.row(v.At, v.End, t, "padding", "padding")
	case t.Kind == resolve.Str || t.Kind == resolve.Data:
		r.length(v)
		if v.Bits > 0 {
			r.row(v.Body, v.End, t, "content", content(v))
		}
	case t.Kind == resolve.Enum:
		r.row(v.At, v.End, t, "value", valueName(t, v.Bits)+" ("+strconv.FormatUint(v.Bits, 10)+")")
	case t.Kind == resolve.FixedData:
		r.row(v.At, v.End, t, "value", content(v))
	case t.Kind == resolve.Void:
		r.row(v.At, v.End, t, "value", "void")
	default:
		text, _ := scalarText(v)
		r.row(v.At, v.End, t, "value", text)
	}
	r.done(v.End)
}

// length tells of the length of a str or data.
func (r *Rows) length(v Value) { r.row(v.At, v.Body, v.Type, "length", count(v.Bits, "byte")) }

// content is the text of a str; bytes of a data that are no text stand in the row anyway.
func content(v Value) string {
	if v.Type.Kind != resolve.Str {
		return ""
	}
	const most = 60
	s := v.Raw
	if len(s) > most {
		s = s[:most]
		for len(s) > 0 && !utf8.Valid(s) {
			s = s[:len(s)-1]
		}
		return string(appendQuoted(nil, s)) + "…"
	}
	return string(appendQuoted(nil, s))
}

// Close tells of what was left out.
func (r *Rows) Close(t *resolve.Type, offset int) {
	r.path = r.path[:len(r.path)-1]
	switch t.Kind {
	case resolve.Union:
		r.path = r.path[:len(r.path)-1]
	case resolve.List, resolve.FixedList, resolve.Map:
		l := r.lists[len(r.lists)-1]
		r.lists = r.lists[:len(r.lists)-1]
		if l.from >= 0 {
			r.quiet--
			if r.quiet == 0 {
				r.emit(Row{Offset: r.base + l.at, Size: offset - l.at, Path: r.where() + "[" + strconv.Itoa(l.from) + "…]", Type: t.Short(), Role: "more",
					Value: strconv.FormatUint(l.n-uint64(l.from), 10) + " more, " + count(uint64(offset-l.at), "byte")})
			}
		}
	}
	r.done(offset)
}

// done notes where the next element of the innermost list begins, as long as its
// elements are told.
func (r *Rows) done(offset int) {
	if n := len(r.lists); n > 0 && r.lists[n-1].from < 0 {
		r.lists[n-1].at = offset
	}
}

package dynamic

import (
	"bufio"
	"encoding/hex"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// WriteJSON writes a message as JSON that [Encode] makes the same value of again,
// whatever the type:
//
//	uint u8 … i64        a number; beyond ±(2^53-1) a string, which no reader rounds
//	f32 f64              the shortest number that reads back; "Infinity", "-Infinity",
//	                     "NaN", and with other bits than the usual ones "NaN:7fc00001"
//	bool, str            true or false, a string
//	data data[n]         a string of hexadecimal digits
//	void                 null
//	enum                 the value's name
//	optional<T>          null or T; where T can be null itself, null or {"some": T}
//	list<T> list<T>[n]   an array
//	map<K><V>            an object: the key as a string, in the order of the message
//	union                an object with one name, the member's type: {"Customer": …}
//	struct               an object; without padding
//
// Nothing is written of a message that is refused.
func WriteJSON(to io.Writer, l *layout.Layouts, d *resolve.Decl, b []byte) error {
	if err := Walk(l, d, b, nil); err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	j := jsonWriter{w: out}
	if err := Walk(l, d, b, &j); err != nil {
		return err
	}
	out.WriteByte('\n')
	return out.Flush()
}

// label is what JSON calls a union's member: its type's name or keyword, with the tag
// behind it where several members would have the same.
func label(t *resolve.Type, m *resolve.Member) string {
	name := memberName(m)
	for _, other := range t.Members {
		if other != m && memberName(other) == name {
			return name + "#" + strconv.FormatUint(m.Tag, 10)
		}
	}
	return name
}

// nullable reports whether JSON for a value of the type may be null.
func nullable(t *resolve.Type) bool {
	k := t.Resolve().Kind
	return k == resolve.Optional || k == resolve.Void
}

// jsonWriter is the visitor that writes JSON. Errors stay in the writer.
type jsonWriter struct {
	w     *bufio.Writer
	stack []level
	key   bool // the next value is a map's key
	pad   bool // the next value is padding
	buf   []byte
}

// level is a value that is open.
type level struct {
	end   string // what closes it
	any   bool   // something is in it
	lines bool   // each thing in it has a line
}

func (j *jsonWriter) Open(v Value) {
	l := level{}
	switch t := v.Type; t.Kind {
	case resolve.Struct:
		j.w.WriteByte('{')
		l = level{end: "}", lines: true}
	case resolve.Map:
		j.w.WriteByte('{')
		l = level{end: "}", lines: true}
	case resolve.List, resolve.FixedList:
		j.w.WriteByte('[')
		l = level{end: "]", lines: !isScalar(t.Elem)}
	case resolve.Optional:
		switch {
		case v.Bits == 0:
			j.w.WriteString("null")
		case nullable(t.Elem):
			j.w.WriteString(`{"some": `)
			l.end = "}"
		}
	case resolve.Union:
		j.w.WriteByte('{')
		j.text([]byte(label(t, v.Member)))
		j.w.WriteString(": ")
		l.end = "}"
	}
	j.stack = append(j.stack, l)
}

func isScalar(t *resolve.Type) bool {
	switch t.Resolve().Kind {
	case resolve.Struct, resolve.Map, resolve.List, resolve.FixedList, resolve.Union:
		return false
	case resolve.Optional:
		return isScalar(t.Resolve().Elem)
	}
	return true
}

func (j *jsonWriter) Step(s Step) {
	switch s.Part {
	case Field:
		if j.pad = s.Field.Pad; !j.pad {
			j.next()
			j.text([]byte(s.Field.Name))
			j.w.WriteString(": ")
		}
	case Elem, Key:
		j.next()
		j.key = s.Part == Key
	case Val:
		j.w.WriteString(": ")
	}
}

// next begins another thing in what is open.
func (j *jsonWriter) next() {
	l := &j.stack[len(j.stack)-1]
	if l.any {
		j.w.WriteByte(',')
		if !l.lines {
			j.w.WriteByte(' ')
		}
	}
	l.any = true
	if l.lines {
		j.line()
	}
}

// line begins a line, two spaces further in for each open value that has lines.
func (j *jsonWriter) line() {
	j.w.WriteByte('\n')
	for _, l := range j.stack {
		if l.lines {
			j.w.WriteString("  ")
		}
	}
}

func (j *jsonWriter) Close(*resolve.Type, int) {
	l := j.stack[len(j.stack)-1]
	j.stack = j.stack[:len(j.stack)-1]
	if l.lines && l.any {
		j.line()
	}
	j.w.WriteString(l.end)
}

func (j *jsonWriter) Scalar(v Value) {
	switch {
	case j.pad:
		j.pad = false
	case v.Type.Kind == resolve.Str:
		j.text(v.Raw)
	case v.Type.Kind == resolve.Void:
		j.w.WriteString("null")
	default:
		text, quoted := scalarText(v)
		if quoted || j.key {
			text = `"` + text + `"`
		}
		j.w.WriteString(text)
	}
	j.key = false
}

// exact is the greatest integer up to which every reader of JSON is exact.
const exact = 1<<53 - 1

// scalarText is a value's text in JSON, and whether it stands in quotes. No text that
// is not a str's needs escapes.
func scalarText(v Value) (text string, quoted bool) {
	switch v.Type.Kind {
	case resolve.Int, resolve.I8, resolve.I16, resolve.I32, resolve.I64:
		x := int64(v.Bits)
		return strconv.FormatInt(x, 10), x > exact || x < -exact
	case resolve.F32:
		return floatText(float64(math.Float32frombits(uint32(v.Bits))), 32, v.Bits, 0x7fc00000)
	case resolve.F64:
		return floatText(math.Float64frombits(v.Bits), 64, v.Bits, 0x7ff8000000000000)
	case resolve.Bool:
		return strconv.FormatBool(v.Bits == 1), false
	case resolve.Data, resolve.FixedData:
		return hex.EncodeToString(v.Raw), true
	case resolve.Enum:
		return valueName(v.Type, v.Bits), true
	}
	return strconv.FormatUint(v.Bits, 10), v.Bits > exact
}

func floatText(f float64, width int, bits, usual uint64) (text string, quoted bool) {
	switch {
	case math.IsNaN(f) && bits == usual:
		return "NaN", true
	case math.IsNaN(f):
		return "NaN:" + strconv.FormatUint(bits, 16), true
	case math.IsInf(f, 1):
		return "Infinity", true
	case math.IsInf(f, -1):
		return "-Infinity", true
	}
	return strconv.FormatFloat(f, 'g', -1, width), false
}

// text writes a string with JSON's escapes.
func (j *jsonWriter) text(s []byte) {
	j.buf = appendQuoted(j.buf[:0], s)
	j.w.Write(j.buf)
}

// appendQuoted appends UTF-8 as a string of JSON: quotes, backslashes and what is not
// seen (controls, U+2028 and U+2029, which end lines in some readers) are escaped.
func appendQuoted(b, s []byte) []byte {
	b = append(b, '"')
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x2029:
			b = append(b, '\\', 'u')
			for shift := 12; shift >= 0; shift -= 4 {
				b = append(b, "0123456789abcdef"[r>>shift&15])
			}
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return append(b, '"')
}

// names lists what could stand there, for messages: the first few.
func names(all []string) string {
	const most = 8
	more := ""
	if len(all) > most {
		more = " and " + strconv.Itoa(len(all)-most) + " more"
	}
	s := ""
	for i, n := range slices.Clip(all[:min(len(all), most)]) {
		if i > 0 {
			s += ", "
		}
		s += n
	}
	return s + more
}

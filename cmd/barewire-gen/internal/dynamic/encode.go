package dynamic

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/runtime/wire"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Encode makes the message of a declared type from JSON in the form that [WriteJSON]
// writes. Fields may stand in any order, but all must be there and no other; a number
// may always be a string. It gives the same bytes as generated code does: map entries
// sorted by key, padding zero. The error is nil or a *JSONError.
//
// A message has at most [layout.MaxSize] bytes.
func Encode(l *layout.Layouts, d *resolve.Decl, text []byte) ([]byte, error) {
	e := encoder{l: l, tokens: tokens{b: text, path: []string{d.Name}}}
	if err := e.value(d.Type); err != nil {
		return nil, err
	}
	if e.next() != 0 || e.at < len(e.b) {
		return nil, e.fail(e.at, "want the end, have %s", e.have())
	}
	return e.out, nil
}

type encoder struct {
	tokens
	l   *layout.Layouts
	out []byte
}

func (e *encoder) value(t *resolve.Type) error {
	t = t.Resolve()
	at := e.at
	if err := e.any(t); err != nil {
		return err
	}
	if len(e.out) > layout.MaxSize {
		return e.fail(at, "the message has more than %d MiB", layout.MaxSize>>20)
	}
	return nil
}

func (e *encoder) any(t *resolve.Type) error {
	switch t.Kind {
	case resolve.Void:
		if !e.word("null") {
			return e.fail(e.at, "want null, which is what JSON has for void; have %s", e.have())
		}
		return nil
	case resolve.Bool:
		switch {
		case e.word("true"):
			e.out = append(e.out, 1)
		case e.word("false"):
			e.out = append(e.out, 0)
		default:
			return e.fail(e.at, "want true or false, have %s", e.have())
		}
		return nil
	case resolve.Optional:
		return e.optional(t)
	case resolve.List, resolve.FixedList:
		return e.list(t)
	case resolve.Map:
		return e.entries(t)
	case resolve.Union:
		return e.union(t)
	case resolve.Struct:
		return e.fields(t)
	case resolve.Str, resolve.Data, resolve.FixedData, resolve.Enum:
		e.next()
		at := e.at
		s, err := e.str(wanted(t))
		if err != nil {
			return err
		}
		return e.scalar(t, s, at)
	}
	if e.next() != '"' {
		at := e.at
		text, ok := e.number()
		if !ok {
			return e.fail(at, "want %s, have %s", wanted(t), e.have())
		}
		return e.scalar(t, text, at)
	}
	at := e.at
	text, err := e.str("a number")
	if err != nil {
		return err
	}
	return e.scalar(t, text, at)
}

// wanted is what JSON has for a type, for messages.
func wanted(t *resolve.Type) string {
	switch t.Kind {
	case resolve.Str:
		return "a string"
	case resolve.Data, resolve.FixedData:
		return "a string of hexadecimal digits"
	case resolve.Enum:
		return "the name of a value, as a string"
	}
	return "a number (" + t.Kind.String() + ")"
}

// scalar appends a value that JSON has as one text, which stands at a place.
func (e *encoder) scalar(t *resolve.Type, s string, at int) error {
	switch t.Kind {
	case resolve.Str, resolve.Data, resolve.FixedData:
		return e.octets(t, s, at)
	case resolve.Enum:
		return e.enum(t, s, at)
	case resolve.Bool: // as a map's key
		if s != "true" && s != "false" {
			return e.fail(at, "want true or false, have `%s`", clip(s))
		}
		e.out = append(e.out, wire.BoolByte(s == "true"))
		return nil
	case resolve.F32, resolve.F64:
		return e.float(t, s, at)
	case resolve.Int, resolve.I8, resolve.I16, resolve.I32, resolve.I64:
		bits := 64
		if n := size(t.Kind); n > 0 {
			bits = int(8 * n)
		}
		x, err := strconv.ParseInt(s, 10, bits)
		if err != nil || s[0] == '+' {
			return e.fail(at, "`%s` is no %s", clip(s), t.Kind)
		}
		if t.Kind == resolve.Int {
			e.out = wire.AppendInt(e.out, x)
			return nil
		}
		e.fixed(uint64(x), t.Kind)
		return nil
	}
	bits := 64
	if n := size(t.Kind); n > 0 {
		bits = int(8 * n)
	}
	x, err := strconv.ParseUint(s, 10, bits)
	if err != nil {
		return e.fail(at, "`%s` is no %s", clip(s), t.Kind)
	}
	if t.Kind == resolve.Uint {
		e.out = wire.AppendUint(e.out, x)
		return nil
	}
	e.fixed(x, t.Kind)
	return nil
}

// fixed appends the low bytes of a number of a fixed size.
func (e *encoder) fixed(x uint64, k resolve.Kind) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x)
	e.out = append(e.out, b[:size(k)]...)
}

// clip is a text for a message.
func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

func (e *encoder) octets(t *resolve.Type, s string, at int) error {
	if t.Kind != resolve.Str {
		b, err := hex.DecodeString(s)
		if err != nil {
			return e.fail(at, "want a string of hexadecimal digits, two for each byte, have `%s`", clip(s))
		}
		s = string(b)
	}
	switch {
	case t.Kind == resolve.FixedData && uint64(len(s)) != t.Len:
		return e.fail(at, "%s, and %s has %d", count(uint64(len(s)), "byte"), t.Short(), t.Len)
	case t.Kind == resolve.FixedData:
		e.out = append(e.out, s...)
		return nil
	case t.Max > 0 && uint64(len(s)) > t.Max:
		return e.fail(at, "%s, over #@max(%d)", count(uint64(len(s)), "byte"), t.Max)
	}
	e.out = wire.AppendData(e.out, s)
	return nil
}

func (e *encoder) enum(t *resolve.Type, s string, at int) error {
	var all []string
	for _, v := range t.Values {
		if v.Name != s {
			all = append(all, v.Name)
			continue
		}
		if t.Base != resolve.Invalid {
			e.fixed(v.Value, t.Base)
		} else {
			e.out = wire.AppendUint(e.out, v.Value)
		}
		return nil
	}
	return e.fail(at, "the enum has no value `%s`; there are %s", clip(s), names(all))
}

func (e *encoder) float(t *resolve.Type, s string, at int) error {
	width := int(8 * size(t.Kind))
	bits, ok := nanBits(s, width)
	if !ok {
		var f float64
		var err error
		switch s {
		case "Infinity":
			f = math.Inf(1)
		case "-Infinity":
			f = math.Inf(-1)
		default:
			// ParseFloat knows more spellings than JSON has.
			k := tokens{b: []byte(s)}
			if text, number := k.number(); !number || text != s {
				return e.fail(at, "`%s` is no %s", clip(s), t.Kind)
			}
			if f, err = strconv.ParseFloat(s, width); err != nil {
				return e.fail(at, "`%s` is beyond what an %s holds", clip(s), t.Kind)
			}
		}
		if bits = math.Float64bits(f); width == 32 {
			bits = uint64(math.Float32bits(float32(f)))
		}
	}
	e.fixed(bits, t.Kind)
	return nil
}

// nanBits are the bits of NaN or NaN:bits.
func nanBits(s string, width int) (bits uint64, ok bool) {
	if s == "NaN" {
		if width == 32 {
			return 0x7fc00000, true
		}
		return 0x7ff8000000000000, true
	}
	text, ok := strings.CutPrefix(s, "NaN:")
	if !ok {
		return 0, false
	}
	bits, err := strconv.ParseUint(text, 16, width)
	nan := math.IsNaN(math.Float64frombits(bits))
	if width == 32 {
		nan = math.IsNaN(float64(math.Float32frombits(uint32(bits))))
	}
	return bits, err == nil && nan
}

func (e *encoder) optional(t *resolve.Type) error {
	if e.word("null") {
		e.out = append(e.out, 0)
		return nil
	}
	e.out = append(e.out, 1)
	if !nullable(t.Elem) {
		return e.value(t.Elem)
	}
	return e.single(`null or {"some": …}`, func(name string, at int) error {
		if name != "some" {
			return e.fail(at, "want \"some\", have \"%s\"", clip(name))
		}
		return e.value(t.Elem)
	})
}

// single reads an object with one name.
func (e *encoder) single(what string, f func(name string, at int) error) error {
	if err := e.want('{', what); err != nil {
		return err
	}
	e.next()
	at := e.at
	name, err := e.str("a name")
	if err != nil {
		return err
	}
	if err := e.want(':', "a colon"); err != nil {
		return err
	}
	if err := f(name, at); err != nil {
		return err
	}
	return e.want('}', "the end of the object, which has one name")
}

func (e *encoder) union(t *resolve.Type) error {
	return e.single("an object with one name, the member's", func(name string, at int) error {
		var all []string
		for _, m := range t.Members {
			if l := label(t, m); l != name {
				all = append(all, l)
				continue
			}
			e.out = wire.AppendUint(e.out, m.Tag)
			return e.into("."+memberName(m), func() error { return e.value(m.Type) })
		}
		return e.fail(at, "the union has no member `%s`; there are %s", clip(name), names(all))
	})
}

// list appends an array: the elements first, and then their number before them.
func (e *encoder) list(t *resolve.Type) error {
	e.next()
	at, start, n := e.at, len(e.out), uint64(0)
	if err := e.want('[', "an array"); err != nil {
		return err
	}
	for !e.take(']') {
		if n > 0 {
			if err := e.want(',', "a comma or the end of the array"); err != nil {
				return err
			}
		}
		if err := e.into("["+strconv.FormatUint(n, 10)+"]", func() error { return e.value(t.Elem) }); err != nil {
			return err
		}
		n++
	}
	if t.Kind == resolve.FixedList {
		if n != t.Len {
			return e.fail(at, "%s, and %s has %d", count(n, "element"), t.Short(), t.Len)
		}
		return nil
	}
	return e.counted(t, start, n, at)
}

// counted puts a length before what was appended from start on.
func (e *encoder) counted(t *resolve.Type, start int, n uint64, at int) error {
	if t.Max > 0 && n > t.Max {
		return e.fail(at, "%s, over #@max(%d)", count(n, "element"), t.Max)
	}
	e.out = slices.Insert(e.out, start, wire.AppendUint(nil, n)...)
	return nil
}

// entry is an encoded entry of a map: its place in what was appended.
type entry struct{ at, val, end int }

// entries appends a map, its entries sorted by key.
func (e *encoder) entries(t *resolve.Type) error {
	e.next()
	at, start := e.at, len(e.out)
	var all []entry
	seen := map[string]bool{}
	err := e.members(func(name string, nameAt int) error {
		x := entry{at: len(e.out)}
		if err := e.into(".key", func() error { return e.scalar(t.Key.Resolve(), name, nameAt) }); err != nil {
			return err
		}
		x.val = len(e.out)
		key := string(e.out[x.at:])
		if seen[key] {
			return e.fail(nameAt, "the key \"%s\" stands twice", clip(name))
		}
		seen[key] = true
		if err := e.into("[\""+clip(name)+"\"]", func() error { return e.value(t.Elem) }); err != nil {
			return err
		}
		x.end = len(e.out)
		all = append(all, x)
		return nil
	})
	if err != nil {
		return err
	}
	e.arrange(start, t.Key.Resolve(), all)
	return e.counted(t, start, uint64(len(all)), at)
}

// arrange sorts a map's entries, which were appended from start on.
func (e *encoder) arrange(start int, key *resolve.Type, all []entry) {
	order := func(x, y entry) int { return compareKeys(key, e.out[x.at:x.val], e.out[y.at:y.val]) }
	if slices.IsSortedFunc(all, order) {
		return
	}
	slices.SortFunc(all, order)
	sorted := make([]byte, 0, len(e.out)-start)
	for _, x := range all {
		sorted = append(sorted, e.out[x.at:x.end]...)
	}
	copy(e.out[start:], sorted)
}

// compareKeys orders two encoded keys as generated code does: numbers and enums by
// value, strings and data bytewise.
func compareKeys(t *resolve.Type, a, b []byte) int {
	w, v := walker{b: a}, walker{b: b}
	x, y := &kept{}, &kept{}
	w.v, v.v = x, y
	// They were encoded a moment ago, so they decode.
	_, _ = w.value(t, 0)
	_, _ = v.value(t, 0)
	switch t.Kind {
	case resolve.Str, resolve.Data, resolve.FixedData:
		return bytes.Compare(x.Raw, y.Raw)
	case resolve.Int, resolve.I8, resolve.I16, resolve.I32, resolve.I64:
		return cmp.Compare(int64(x.Bits), int64(y.Bits))
	}
	return cmp.Compare(x.Bits, y.Bits)
}

// kept is a visitor that keeps a scalar.
type kept struct {
	nobody
	Value
}

func (k *kept) Scalar(v Value) { k.Value = v }

// members reads an object, and calls f where each value stands.
func (e *encoder) members(f func(name string, at int) error) error {
	if err := e.want('{', "an object"); err != nil {
		return err
	}
	for first := true; !e.take('}'); first = false {
		if !first {
			if err := e.want(',', "a comma or the end of the object"); err != nil {
				return err
			}
		}
		e.next()
		at := e.at
		name, err := e.str("a name")
		if err != nil {
			return err
		}
		if err := e.want(':', "a colon"); err != nil {
			return err
		}
		if err := f(name, at); err != nil {
			return err
		}
	}
	return nil
}

// fields appends a struct. Its fields are appended as they come, and put in order
// then if they are not.
func (e *encoder) fields(t *resolve.Type) error {
	e.next()
	at, start := e.at, len(e.out)
	type piece struct{ from, to int }
	found := make(map[*resolve.Field]piece, len(t.Fields))
	inOrder, last := true, -1
	err := e.members(func(name string, nameAt int) error {
		i := slices.IndexFunc(t.Fields, func(f *resolve.Field) bool { return f.Name == name })
		if i < 0 {
			return e.fail(nameAt, "there is no field `%s`", clip(name))
		}
		f := t.Fields[i]
		if f.Pad {
			return e.fail(nameAt, "`%s` is padding, which has no value", name)
		}
		if _, twice := found[f]; twice {
			return e.fail(nameAt, "the field `%s` stands twice", name)
		}
		inOrder, last = inOrder && i > last, i
		from := len(e.out)
		err := e.into("."+name, func() error { return e.value(f.Type) })
		found[f] = piece{from, len(e.out)}
		return err
	})
	if err != nil {
		return err
	}
	var missing []string
	pads := false
	for _, f := range t.Fields {
		if _, ok := found[f]; !ok && !f.Pad {
			missing = append(missing, f.Name)
		}
		pads = pads || f.Pad
	}
	if len(missing) > 0 {
		return e.fail(at, "missing: %s", names(missing))
	}
	if inOrder && !pads {
		return nil
	}
	var ordered []byte
	for _, f := range t.Fields {
		switch p := found[f]; {
		case !f.Pad:
			ordered = append(ordered, e.out[p.from:p.to]...)
		case uint64(len(ordered)+start)+f.Type.Resolve().Len > layout.MaxSize:
			return e.fail(at, "the message has more than %d MiB", layout.MaxSize>>20)
		default:
			ordered = append(ordered, make([]byte, f.Type.Resolve().Len)...)
		}
	}
	e.out = append(e.out[:start], ordered...)
	return nil
}

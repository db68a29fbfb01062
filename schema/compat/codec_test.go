package compat_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// A small codec by type, strict as generated decoders are. It knows nothing of
// package compat.

// token is one number of a message: where it lies, what it is called, and what it says.
type token struct {
	name string // the path of fields; of a tag or an enum with the member's or value's name
	text string
	size int
	pad  bool
}

// tokens are those of a message by their offset.
type tokens map[int]token

var errRefused = errors.New("refused")

// decoder reads a message.
type decoder struct {
	b  []byte
	at int
	to tokens
}

// decode reads a whole message of type t.
func decode(t *resolve.Type, b []byte) (tokens, error) {
	d := decoder{b: b, to: tokens{}}
	err := d.typ(t, "")
	if err == nil && d.at != len(b) {
		err = errRefused
	}
	return d.to, err
}

func (d *decoder) put(from int, name, text string) {
	d.to[from] = token{name: name, text: text, size: d.at - from}
}

func (d *decoder) take(n int) ([]byte, error) {
	if n > len(d.b)-d.at {
		return nil, errRefused
	}
	d.at += n
	return d.b[d.at-n : d.at], nil
}

func (d *decoder) fixed(n int) (uint64, error) {
	b, err := d.take(n)
	if err != nil {
		return 0, err
	}
	var all [8]byte
	copy(all[:], b)
	return binary.LittleEndian.Uint64(all[:]), nil
}

func (d *decoder) varint() (uint64, error) {
	x, n := binary.Uvarint(d.b[d.at:])
	if n <= 0 || n > 1 && d.b[d.at+n-1] == 0 {
		return 0, errRefused
	}
	d.at += n
	return x, nil
}

var widths = map[resolve.Kind]int{
	resolve.U8: 1, resolve.U16: 2, resolve.U32: 4, resolve.U64: 8, resolve.I8: 1, resolve.I16: 2, resolve.I32: 4, resolve.I64: 8,
	resolve.F32: 4, resolve.F64: 8, resolve.Bool: 1,
}

func (d *decoder) typ(t *resolve.Type, name string) error {
	t = t.Resolve()
	from := d.at
	switch t.Kind {
	case resolve.Void:
		return nil
	case resolve.Uint, resolve.Int:
		x, err := d.varint()
		if err != nil {
			return err
		}
		text := fmt.Sprint(x)
		if t.Kind == resolve.Int {
			text = fmt.Sprint(int64(x>>1) ^ -int64(x&1))
		}
		d.put(from, name, text)
		return nil
	case resolve.Enum:
		return d.enum(t, name)
	case resolve.Str, resolve.Data, resolve.List, resolve.Map:
		return d.counted(t, name)
	case resolve.FixedData:
		return d.repeat(&resolve.Type{Kind: resolve.U8}, int(t.Len), name+"[]")
	case resolve.FixedList:
		return d.repeat(t.Elem, int(t.Len), name+"[]")
	case resolve.Optional:
		x, err := d.fixed(1)
		if err != nil || x > 1 {
			return errRefused
		}
		if x == 0 {
			d.put(from, name+"|void!", "0")
			return nil
		}
		d.put(from, name+"|"+t.Elem.String()+"!", "1")
		return d.typ(t.Elem, name+"|"+t.Elem.String())
	case resolve.Union:
		x, err := d.varint()
		if err != nil {
			return err
		}
		for _, m := range t.Members {
			if m.Tag == x {
				d.put(from, name+"|"+m.Type.String()+"!", fmt.Sprint(x))
				return d.typ(m.Type, name+"|"+m.Type.String())
			}
		}
		return errRefused
	case resolve.Struct:
		return d.fields(t, name)
	}
	return d.scalar(t, name)
}

func (d *decoder) scalar(t *resolve.Type, name string) error {
	from, n := d.at, widths[t.Kind]
	x, err := d.fixed(n)
	if err != nil || t.Kind == resolve.Bool && x > 1 {
		return errRefused
	}
	text := fmt.Sprint(x)
	switch t.Kind {
	case resolve.I8, resolve.I16, resolve.I32, resolve.I64:
		unused := 64 - 8*n
		text = fmt.Sprint(int64(x) << unused >> unused)
	case resolve.F32, resolve.F64:
		text = fmt.Sprintf("f%d:%x", n, x)
	}
	d.put(from, name, text)
	return nil
}

func (d *decoder) enum(t *resolve.Type, name string) error {
	from := d.at
	x, err := uint64(0), error(nil)
	if n := widths[t.Base]; n > 0 {
		x, err = d.fixed(n)
	} else {
		x, err = d.varint()
	}
	if err != nil {
		return err
	}
	for _, v := range t.Values {
		if v.Value == x {
			d.put(from, name+"="+v.Name, fmt.Sprint(x))
			return nil
		}
	}
	return errRefused
}

func (d *decoder) counted(t *resolve.Type, name string) error {
	from := d.at
	n, err := d.varint()
	if err != nil || n > uint64(len(d.b)-d.at) || t.Max > 0 && n > t.Max {
		return errRefused
	}
	d.put(from, name+"#", fmt.Sprint(n))
	switch t.Kind {
	case resolve.Str:
		if !utf8.Valid(d.b[d.at : d.at+int(n)]) {
			return errRefused
		}
		return d.repeat(&resolve.Type{Kind: resolve.U8}, int(n), name+"[]")
	case resolve.Data:
		return d.repeat(&resolve.Type{Kind: resolve.U8}, int(n), name+"[]")
	case resolve.List:
		return d.repeat(t.Elem, int(n), name+"[]")
	}
	seen := map[string]bool{}
	for range n {
		start := d.at
		if err := d.typ(t.Key, name+"[].key"); err != nil {
			return err
		}
		if key := string(d.b[start:d.at]); seen[key] {
			return errRefused
		} else {
			seen[key] = true
		}
		if err := d.typ(t.Elem, name+"[].value"); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) repeat(t *resolve.Type, n int, name string) error {
	for range n {
		if err := d.typ(t, name); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) fields(t *resolve.Type, name string) error {
	for _, f := range t.Fields {
		if !f.Pad {
			if err := d.typ(f.Type, name+"."+f.Name); err != nil {
				return err
			}
			continue
		}
		from := d.at
		if _, err := d.take(int(f.Type.Resolve().Len)); err != nil {
			return err
		}
		d.to[from] = token{size: d.at - from, pad: true}
	}
	return nil
}

// writer writes random messages.
type writer struct{ *rand.Rand }

var borders = []uint64{0, 1, 2, 3, 63, 127, 128, 255, 256, 300, 16383, 65535, 1 << 31, 1<<32 - 1, 1 << 63, 1<<64 - 1}

func (w writer) number() uint64 {
	switch w.IntN(4) {
	case 0:
		return borders[w.IntN(len(borders))]
	case 1:
		return w.Uint64()
	}
	return w.Uint64N(6)
}

func (w writer) encode(b []byte, t *resolve.Type) []byte {
	t = t.Resolve()
	switch t.Kind {
	case resolve.Void:
		return b
	case resolve.Uint, resolve.Int:
		return binary.AppendUvarint(b, w.number())
	case resolve.Enum:
		v := t.Values[w.IntN(len(t.Values))].Value
		if n := widths[t.Base]; n > 0 {
			return append(b, binary.LittleEndian.AppendUint64(nil, v)[:n]...)
		}
		return binary.AppendUvarint(b, v)
	case resolve.Bool:
		return append(b, byte(w.IntN(2)))
	case resolve.Str, resolve.Data:
		n := w.count(t)
		b = binary.AppendUvarint(b, uint64(n))
		for range n {
			c := byte(w.IntN(5))
			if t.Kind == resolve.Data && w.IntN(4) == 0 {
				c = 0xff
			}
			b = append(b, c)
		}
		return b
	case resolve.FixedData:
		for range t.Len {
			b = append(b, byte(w.number()))
		}
		return b
	case resolve.FixedList:
		return w.many(b, t.Elem, int(t.Len))
	case resolve.List:
		n := w.count(t)
		return w.many(binary.AppendUvarint(b, uint64(n)), t.Elem, n)
	case resolve.Map:
		return w.entries(b, t)
	case resolve.Optional:
		if w.IntN(2) == 0 {
			return append(b, 0)
		}
		return w.encode(append(b, 1), t.Elem)
	case resolve.Union:
		m := t.Members[w.IntN(len(t.Members))]
		return w.encode(binary.AppendUvarint(b, m.Tag), m.Type)
	case resolve.Struct:
		for _, f := range t.Fields {
			if f.Pad {
				b = append(b, make([]byte, f.Type.Resolve().Len)...)
				continue
			}
			b = w.encode(b, f.Type)
		}
		return b
	}
	return append(b, binary.LittleEndian.AppendUint64(nil, w.number())[:widths[t.Kind]]...)
}

func (w writer) count(t *resolve.Type) int {
	n := w.IntN(4)
	if w.IntN(8) == 0 && t.Kind != resolve.Map && (t.Elem == nil || widths[t.Elem.Resolve().Kind] > 0) {
		n = 45
	}
	if t.Max > 0 {
		n = min(n, int(t.Max))
	}
	return n
}

func (w writer) many(b []byte, t *resolve.Type, n int) []byte {
	for range n {
		b = w.encode(b, t)
	}
	return b
}

func (w writer) entries(b []byte, t *resolve.Type) []byte {
	have := map[string][]byte{}
	for range w.count(t) {
		key := w.encode(nil, t.Key)
		have[string(key)] = w.encode(nil, t.Elem)
	}
	var keys []string
	for k := range have {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	b = binary.AppendUvarint(b, uint64(len(keys)))
	for _, k := range keys {
		b = append(append(b, k...), have[k]...)
	}
	return b
}

// same reports whether two readings of one message mean the same: every number is the same one, and what
// both call by a name is at the same place. What a reader takes for padding it does not see; where it
// sees what was padding, that is zero.
func same(b []byte, w, r tokens, wNames, rNames map[string]bool) bool {
	for at, a := range w {
		o, ok := r[at]
		switch {
		case a.pad:
		case ok && !o.pad:
			if a.text != o.text || a.size != o.size || a.name != o.name && (rNames[a.name] || wNames[o.name]) {
				return false
			}
		case !covered(r, at, a.size) || rNames[a.name]:
			return false
		}
	}
	for at, o := range r {
		if a, ok := w[at]; o.pad || ok && !a.pad {
			continue
		}
		if !covered(w, at, o.size) || wNames[o.name] || !zero(b[at:at+o.size]) {
			return false
		}
	}
	return true
}

func covered(t tokens, at, size int) bool {
	for from, p := range t {
		if p.pad && from <= at && at+size <= from+p.size {
			return true
		}
	}
	return false
}

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// names are the names of all tokens that a type may have.
func names(t *resolve.Type, path string, to map[string]bool) {
	t = t.Resolve()
	switch t.Kind {
	case resolve.Void:
	case resolve.Enum:
		for _, v := range t.Values {
			to[path+"="+v.Name] = true
		}
	case resolve.Str, resolve.Data:
		to[path+"#"], to[path+"[]"] = true, true
	case resolve.FixedData:
		to[path+"[]"] = true
	case resolve.List, resolve.FixedList:
		to[path+"#"] = to[path+"#"] || t.Kind == resolve.List
		names(t.Elem, path+"[]", to)
	case resolve.Map:
		to[path+"#"] = true
		names(t.Key, path+"[].key", to)
		names(t.Elem, path+"[].value", to)
	case resolve.Optional:
		to[path+"|void!"], to[path+"|"+t.Elem.String()+"!"] = true, true
		names(t.Elem, path+"|"+t.Elem.String(), to)
	case resolve.Union:
		for _, m := range t.Members {
			to[path+"|"+m.Type.String()+"!"] = true
			names(m.Type, path+"|"+m.Type.String(), to)
		}
	case resolve.Struct:
		for _, f := range t.Fields {
			if !f.Pad {
				names(f.Type, path+"."+f.Name, to)
			}
		}
	default:
		to[path] = true
	}
}

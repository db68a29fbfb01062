package dynamic

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fidelityframework/barewire-gen/internal/schemagen"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// compiled is a schema from text, and its declarations by name.
func compiled(t interface{ Fatalf(string, ...any) }, text string) (*schema.Schema, map[string]*resolve.Decl) {
	s, found := schema.Compile([]*source.File{source.NewFile("test.bare", []byte(text))}, schema.Options{})
	if s == nil {
		t.Fatalf("%v\n%s", found.Err(), text)
	}
	return s, s.Namespaces[0].Types
}

// describe makes of a type what generated code has of it, a wire.Type: the decoder
// that explains its errors is the one to compare with.
func describe(d *resolve.Decl, done map[*resolve.Decl]*wire.Type) *wire.Type {
	if done[d] != nil {
		return done[d]
	}
	t := &wire.Type{Name: d.Name}
	done[d] = t
	var b strings.Builder
	var typ func(*resolve.Type)
	typ = func(x *resolve.Type) {
		switch x.Kind {
		case resolve.Ref:
			fmt.Fprintf(&b, "$%d", len(t.Refs))
			t.Refs = append(t.Refs, describe(x.Decl, done))
		case resolve.FixedData:
			fmt.Fprintf(&b, "data[%d]", x.Len)
		case resolve.Optional, resolve.List, resolve.FixedList:
			b.WriteString(x.Kind.String() + "<")
			typ(x.Elem)
			b.WriteString(">")
			if x.Kind == resolve.FixedList {
				fmt.Fprintf(&b, "[%d]", x.Len)
			}
		case resolve.Map:
			b.WriteString("map<")
			typ(x.Key)
			b.WriteString("><")
			typ(x.Elem)
			b.WriteString(">")
		case resolve.Enum:
			var values []uint64
			for _, v := range x.Values {
				values = append(values, v.Value)
			}
			slices.Sort(values)
			b.WriteString("enum")
			if x.Base != resolve.Invalid {
				fmt.Fprintf(&b, ":%d", size(x.Base))
			}
			b.WriteString("{" + strings.Trim(fmt.Sprint(values), "[]") + "}")
		case resolve.Union:
			b.WriteString("union{")
			for i, m := range x.Members {
				if i > 0 {
					b.WriteString("|")
				}
				fmt.Fprintf(&b, "%d=", m.Tag)
				typ(m.Type)
			}
			b.WriteString("}")
		case resolve.Struct:
			b.WriteString("struct{")
			for i, f := range x.Fields {
				if i > 0 {
					b.WriteString(" ")
				}
				b.WriteString(f.Name + ":")
				typ(f.Type)
			}
			b.WriteString("}")
		default:
			b.WriteString(x.Kind.String())
		}
		if x.Max > 0 {
			fmt.Fprintf(&b, "@%d", x.Max)
		}
	}
	typ(d.Type)
	t.Text = b.String()
	return t
}

// checkAll holds one message, valid or not, to the reference and to the explaining decoder.
func checkAll(t *rapid.T, s *schema.Schema, d *resolve.Decl, ref *schemagen.Type, w *wire.Type, msg []byte) {
	err := Walk(s.Layouts, d, msg, nil)
	v, n, refErr := schemagen.DecodePrefix(ref, msg)
	if valid := refErr == nil && n == len(msg); valid != (err == nil) {
		t.Fatalf("%s % x: we say %v, the reference %v (%d of %d bytes)\n%s", d.Name, msg, err, refErr, n, len(msg), w.Text)
	}
	if err != nil {
		if want := w.Explain(msg, wire.Options{}, true); want.Error() != err.Error() || KindName(err) != KindName(want) || KindName(err) == "" {
			t.Fatalf("%s % x:\nwe say      %v\ngenerated says %v\n%s", d.Name, msg, err, want, w.Text)
		}
		var out bytes.Buffer
		if jerr := WriteJSON(&out, s.Layouts, d, msg); jerr == nil || out.Len() > 0 {
			t.Fatalf("%s % x: JSON of a message that is refused: %v %s", d.Name, msg, jerr, &out)
		}
		return
	}
	var out bytes.Buffer
	if err := WriteJSON(&out, s.Layouts, d, msg); err != nil {
		t.Fatalf("%s % x: %v", d.Name, msg, err)
	}
	back, err := Encode(s.Layouts, d, out.Bytes())
	if want := schemagen.Encode(ref, v); err != nil || !bytes.Equal(back, want) {
		t.Fatalf("%s % x came back as % x, want % x: %v\n%s", d.Name, msg, back, want, err, &out)
	}
	rows(t, d, s, msg)
}

// rows must cover the message without a gap.
func rows(t *rapid.T, d *resolve.Decl, s *schema.Schema, msg []byte) {
	for _, few := range []int{0, 1, 2} {
		at := 7
		if err := Walk(s.Layouts, d, msg, NewRows(msg, d.Name, 7, few, func(r Row) {
			if r.Offset != at || r.Path == "" || len(r.Bytes()) != r.Size && r.Role != "more" {
				t.Fatalf("%s % x: row %+v, want it at %d", d.Name, msg, r, at)
			}
			at += r.Size
		})); err != nil || at != 7+len(msg) {
			t.Fatalf("%s % x: rows end at %d: %v", d.Name, msg, at-7, err)
		}
	}
}

// TestRandom holds the codec to the reference, and its errors to those of generated code, over random schemas, values
// and damaged messages.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref := schemagen.Schemas(schemagen.Lang{FixedEnums: true}).Draw(t, "schema")
		s, types := compiled(t, ref.Print(schemagen.Mixed, rapid.Uint64().Draw(t, "print"), false))
		done := map[*resolve.Decl]*wire.Type{}
		for _, d := range ref.Decls {
			msg := schemagen.Encode(d.Type, schemagen.Values(schemagen.Lang{}, d.Type).Draw(t, d.Name))
			w := describe(types[d.Name], done)
			checkAll(t, s, types[d.Name], d.Type, w, msg)
			for range 4 {
				checkAll(t, s, types[d.Name], d.Type, w, schemagen.Mutants(msg).Draw(t, "mutant"))
			}
		}
	})
}

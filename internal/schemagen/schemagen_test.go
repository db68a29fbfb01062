package schemagen

import (
	"bytes"
	"encoding/hex"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// The reference must agree with itself before anything is held against it.
func TestReferenceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Schemas(Lang{}).Draw(t, "schema")
		for _, d := range s.Decls {
			v := Values(Lang{}, d.Type).Draw(t, d.Name)
			msg := Encode(d.Type, v)
			back, err := Decode(d.Type, msg)
			if err != nil {
				t.Fatalf("%s: % x: %v\n%s", d.Name, msg, err, s.Print(New, 0, false))
			}
			if again := Encode(d.Type, back); !bytes.Equal(again, msg) || Dump(d.Type, back) != Dump(d.Type, v) {
				t.Fatalf("%s: % x came back as % x", d.Name, msg, again)
			}
			if n, fixed := d.Type.FixedSize(); fixed && int(n) != len(msg) {
				t.Fatalf("%s: a fixed size of %d, a message of %d bytes", d.Name, n, len(msg))
			}
			for cut := range msg {
				if _, err := Decode(d.Type, msg[:cut]); err == nil {
					t.Fatalf("%s: % x cut to %d bytes decodes", d.Name, msg, cut)
				}
			}
		}
	})
}

// What decodes at all has one canonical form, and no mutant gets by with another
// encoding of it, apart from map order and padding.
func TestReferenceIsStrict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Schemas(Lang{NoAnnotations: true}).Draw(t, "schema")
		d := s.Decls[len(s.Decls)-1]
		msg := Mutants(Encode(d.Type, Values(Lang{}, d.Type).Draw(t, "value"))).Draw(t, "mutant")
		v, err := Decode(d.Type, msg)
		if err != nil {
			return
		}
		if again := Encode(d.Type, v); len(again) != len(msg) {
			t.Fatalf("% x decodes, but is % x", msg, again)
		}
	})
}

func TestReferenceKnowsTheDraft(t *testing.T) {
	people := &Type{Kind: Union, Members: []*Member{{&Type{Kind: Int}, 0}, {&Type{Kind: Uint}, 255}, {&Type{Kind: Str}, 256}}}
	for _, c := range []struct {
		t    *Type
		v    Value
		want string
	}{
		{&Type{Kind: Uint}, uint64(math.MaxUint64), "ffffffffffffffffff01"},
		{&Type{Kind: Int}, int64(math.MinInt64), "ffffffffffffffffff01"},
		{&Type{Kind: Int}, int64(-255), "fd03"},
		{&Type{Kind: I16}, int64(-255), "01ff"},
		{&Type{Kind: F64}, math.Float64bits(-25.5), "00000000008039c0"},
		{people, Tagged{2, "BARE"}, "80020442415245"},
		{&Type{Kind: Map, Key: &Type{Kind: Int}, Elem: &Type{Kind: Bool}}, []Pair{{int64(1), true}, {int64(-1), false}}, "0201000201"},
	} {
		if got := hex.EncodeToString(Encode(c.t, c.v)); got != c.want {
			t.Errorf("%v %v: %s, want %s", c.t.Kind, c.v, got, c.want)
		}
	}
	for _, bad := range []string{"ffffffffffffffffff02", "ffffffffffffffffff7f", "ffffffffffffffffff8100", "8000", "80808080808080808000", ""} {
		b, _ := hex.DecodeString(bad)
		if v, err := Decode(&Type{Kind: Uint}, b); err == nil {
			t.Errorf("uint %s: %v", bad, v)
		}
	}
}

// Every kind of type must turn up, nested in every other that may hold it, or
// the tests that build on this prove less than they say.
func TestSchemasCoverTheLanguage(t *testing.T) {
	seen := map[[2]Kind]bool{}
	var walk func(in Kind, t *Type)
	walk = func(in Kind, t *Type) {
		seen[[2]Kind{in, t.Kind}] = true
		for _, f := range t.Fields {
			walk(Struct, f.Type)
		}
		for _, m := range t.Members {
			walk(Union, m.Type)
		}
		if t.Key != nil {
			seen[[2]Kind{Map, t.Key.Kind}] = true
		}
		if t.Elem != nil {
			walk(t.Kind, t.Elem)
		}
	}
	for seed := range 1000 {
		for _, d := range Schemas(Lang{}).Example(seed).Decls {
			walk(Ref, d.Type)
		}
	}
	for in := Optional; in <= Ref; in++ {
		for k := Uint; k <= Ref; k++ {
			if k == Void && in != Union && in != Ref {
				continue
			}
			if !seen[[2]Kind{in, k}] {
				t.Errorf("no %v in %v", k, in)
			}
		}
	}
}

func TestExampleRepeats(t *testing.T) {
	a, b := Schemas(Lang{}).Example(7), Schemas(Lang{}).Example(7)
	if !reflect.DeepEqual(a, b) || a.Print(Mixed, 3, false) != b.Print(Mixed, 3, false) {
		t.Error("one seed gave two schemas")
	}
}

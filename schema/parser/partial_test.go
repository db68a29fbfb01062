package parser_test

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestPartial tells apart errors after which a tree is whole and those after
// which nobody knows what is missing.
func TestPartial(t *testing.T) {
	for text, want := range map[string]bool{
		"type A u8":                            false,
		"type A int32":                         false,
		"type A zzz":                           false,
		"type a u8":                            false,
		"type A struct { x: u8, y: u8 }":       false,
		"type A data[99999999999999999999]":    false,
		"#@align(-4)\ntype A u8 // eight bits": false,
		"#@package(-4)\ntype A u8":             true,
		"type A = u8":                          false,
		"type A: struct { x: u8 }":             false,
		"type A = u8 | u16":                    true,
		"type A =":                             true,
		"type A struct { x u8 }":               true,
		"type A struct { x: int32 = 5 y: u8 }": true, // the = 5 is passed over
		"type A struct {":                      true,
		"type A optional u8":                   true,
		"type":                                 true,
		"":                                     true,
		"\x00":                                 true,
		"import \"x\"\ntype A u8":              true,
		"type A enum { B = -1 }":               true,
		"@align(4)\ntype A u8":                 true,
	} {
		if tree, errs := parser.Parse(source.NewFile("in.bare", []byte(text))); tree.Partial != want {
			t.Errorf("%q: partial is %v, want %v: %v", text, tree.Partial, want, errs)
		}
	}
}

// TestNoEquals applies the fix for the = of type A = u8.
func TestNoEquals(t *testing.T) {
	for _, text := range []string{"type A = u8", "type A =u8", "type A= u8", "type A=u8", "type A : u8", "type A =\tu8"} {
		_, errs := parser.Parse(source.NewFile("in.bare", []byte(text)))
		if len(errs) != 1 || len(errs[0].Fixes) != 1 {
			t.Errorf("%q: want one error with one fix, got %v", text, errs)
			continue
		}
		e := errs[0].Fixes[0].Edits[0]
		got := text[:e.Span.Start] + e.New + text[e.Span.End:]
		if got != "type A u8" && got != "type A\tu8" {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

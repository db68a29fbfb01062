package ast

import "testing"

func TestWalk(t *testing.T) {
	u8 := &Prim{Name: "u8"}
	list := &List{Elem: &Named{Name: "A"}}
	typ := &Struct{Fields: []*Field{
		{Type: &Map{Key: u8, Value: list}},
		{Type: &Union{Members: []*Member{{Type: &Optional{Elem: u8}}, {Type: &Data{}}}}},
	}}
	n := 0
	Walk(typ, func(Type) bool { n++; return true })
	if n != 9 {
		t.Errorf("visited %d types, not 9", n)
	}
	n = 0
	Walk(typ, func(t Type) bool { n++; _, isMap := t.(*Map); return !isMap })
	if n != 6 {
		t.Errorf("visited %d types outside of the map, not 6", n)
	}
	if HasBad(typ) {
		t.Error("no type is bad")
	}
	list.Elem = &Bad{}
	if !HasBad(typ) {
		t.Error("one type is bad")
	}
}

func TestNodes(t *testing.T) {
	f := &File{Decls: []*Decl{
		{Type: &List{Elem: &Struct{Fields: []*Field{{Type: &Enum{Values: []*EnumValue{{}, {}}}}}}}},
		{Type: &Union{Members: []*Member{{Type: &Prim{}}}}},
	}}
	var got string
	for n := range f.Nodes() {
		switch n.(type) {
		case *Decl:
			got += "d"
		case *Field:
			got += "f"
		case *EnumValue:
			got += "v"
		case *Member:
			got += "m"
		}
	}
	if got != "dfvvdm" {
		t.Errorf("nodes in the order %s", got)
	}
	for range f.Nodes() {
		break // must not go on
	}
}

package runner

import (
	"fmt"
	"reflect"
	"strings"
)

// sameView reads all that a view shows, by its accessors, and holds it against
// the decoded value x.
func sameView(view, x reflect.Value) error {
	switch {
	case isOptional(x.Type()):
		return sameOptional(view, x)
	case view.MethodByName("Get").IsValid() && x.Kind() == reflect.Struct && x.Field(0).Kind() == reflect.Pointer:
		return sameOptional(view, x)
	case isUnion(x.Type()):
		return sameUnion(view, x)
	case view.MethodByName("At").IsValid() && view.MethodByName("Len").IsValid():
		if x.Kind() == reflect.Map {
			return sameMap(view, x)
		}
		return sameList(view, x)
	case x.Kind() == reflect.Struct && x.NumField() > 0:
		return sameStruct(view, x)
	case view.Kind() == reflect.Pointer:
		view = view.Elem() // data[n] is shown by pointer
	}
	if got, want := Dump(view), Dump(x); got != want {
		return fmt.Errorf("shows %s, want %s", got, want)
	}
	return nil
}

func isOptional(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer ||
		t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Name == "Value" && t.Field(1).Name == "Valid"
}

func isUnion(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Type.Kind() == reflect.Interface
}

// content takes an optional apart. A named one of something large is a pointer
// in a struct.
func content(x reflect.Value) (v reflect.Value, there bool) {
	if x.Kind() == reflect.Struct && x.NumField() == 1 {
		x = x.Field(0)
	}
	if x.Kind() == reflect.Pointer {
		return x.Elem(), !x.IsNil()
	}
	return x.Field(0), x.Field(1).Bool()
}

// sameOptional takes a view of an optional: a wire.Optional of views, or a named
// optional's view with a Get.
func sameOptional(view, x reflect.Value) error {
	if get := view.MethodByName("Get"); get.IsValid() && get.Type().NumIn() == 0 {
		return samePair(get.Call(nil), x)
	}
	return samePair([]reflect.Value{view.FieldByName("Value"), view.FieldByName("Valid")}, x)
}

// samePair takes what a getter of an optional returns: value and whether it is there.
func samePair(pair []reflect.Value, x reflect.Value) error {
	v, there := content(x)
	if pair[1].Bool() != there {
		return fmt.Errorf("is there: %v, want %v", pair[1].Bool(), there)
	}
	if !there {
		return nil
	}
	return sameView(pair[0], v)
}

// sameUnion asks each member's accessor; one must answer, with the value.
func sameUnion(view, x reflect.Value) error {
	member := x.Field(0).Elem().Elem()
	answers := 0
	for i := range view.NumMethod() {
		m := view.Type().Method(i)
		if !strings.HasPrefix(m.Name, "As") {
			continue
		}
		out := view.Method(i).Call(nil)
		if !out[len(out)-1].Bool() {
			continue
		}
		answers++
		if len(out) == 1 { // void
			continue
		}
		if err := sameView(out[0], unwrapped(out[0], member)); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	if answers != 1 {
		return fmt.Errorf("%d members answer", answers)
	}
	return nil
}

// unwrapped takes a member out of the wrapper that it needs where it has no Go
// type of its own. A struct whose one field is called value has an accessor for it.
func unwrapped(view, x reflect.Value) reflect.Value {
	wrapper := x.Kind() == reflect.Struct && !isUnion(x.Type()) && x.NumField() == 1 && x.Type().Field(0).Name == "Value"
	if !wrapper || view.MethodByName("Value").IsValid() || view.MethodByName("ValueField").IsValid() {
		return x
	}
	return x.Field(0)
}

func sameList(view, x reflect.Value) error {
	return sameItems(view.MethodByName("Len"), view.MethodByName("At"), x)
}

func sameItems(length, at, x reflect.Value) error {
	if n := length.Call(nil)[0].Int(); int(n) != x.Len() {
		return fmt.Errorf("has %d elements, want %d", n, x.Len())
	}
	for i := range x.Len() {
		if err := sameView(at.Call([]reflect.Value{reflect.ValueOf(i)})[0], x.Index(i)); err != nil {
			return fmt.Errorf("[%d] %w", i, err)
		}
	}
	return nil
}

// sameMap looks each entry up by its place and by its key.
func sameMap(view, x reflect.Value) error {
	if n := view.MethodByName("Len").Call(nil)[0].Int(); int(n) != x.Len() {
		return fmt.Errorf("has %d entries, want %d", n, x.Len())
	}
	shown := map[string]reflect.Value{}
	for i := range x.Len() {
		out := view.MethodByName("At").Call([]reflect.Value{reflect.ValueOf(i)})
		shown[Dump(out[0])] = out[1]
	}
	for it := x.MapRange(); it.Next(); {
		v, ok := shown[Dump(it.Key())]
		if !ok {
			return fmt.Errorf("has no entry %s", Dump(it.Key()))
		}
		if err := sameView(v, it.Value()); err != nil {
			return fmt.Errorf("[%s] %w", Dump(it.Key()), err)
		}
		got := view.MethodByName("Get").Call([]reflect.Value{it.Key()})
		if !got[1].Bool() {
			return fmt.Errorf("no %s is found by Get", Dump(it.Key()))
		}
		if err := sameView(got[0], it.Value()); err != nil {
			return fmt.Errorf("Get(%s) %w", Dump(it.Key()), err)
		}
	}
	return nil
}

// sameStruct calls the getter of each field. A name that had another meaning as
// a method has Field behind it.
func sameStruct(view, x reflect.Value) error {
	for i := range x.NumField() {
		f := x.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		get, name := view.MethodByName(f.Name+"Field"), f.Name+"Field"
		if !get.IsValid() {
			get, name = view.MethodByName(f.Name), f.Name
		}
		if !get.IsValid() {
			return fmt.Errorf("has no accessor for %s", f.Name)
		}
		if err := sameField(view, get, name, x.Field(i)); err != nil {
			return fmt.Errorf(".%s %w", f.Name, err)
		}
	}
	return nil
}

func sameField(view, get reflect.Value, name string, x reflect.Value) error {
	switch t := get.Type(); {
	case t.NumIn() == 1: // an element of a list of fixed length
		length := view.MethodByName(name + "Len")
		if !length.IsValid() {
			length = view.MethodByName(strings.TrimSuffix(name, "Field") + "Len")
		}
		return sameItems(length, get, x)
	case t.NumOut() == 2:
		return samePair(get.Call(nil), x)
	}
	return sameView(get.Call(nil)[0], x)
}

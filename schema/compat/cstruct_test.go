package compat_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// What a peer sees of memory is worked out here by a C compiler, which knows nothing of package layout: each type of fixed size
// becomes a packed struct, and the compiler says where every number in it lies, how large it is and of what type.

// cNumber is a number of an element as a C program sees it.
type cNumber struct {
	offset, size int
	kind         string // what _Generic calls it
	within       string // the members of unions that it is in
}

// cElement is an element of a region.
type cElement struct {
	size, align int
	slot        bool               // a message of varying size in it: who reads it decodes it, so only the slot counts
	numbers     map[string]cNumber // by their paths
	fields      map[string][2]int  // by their paths: where fields begin and how large they are, whatever is in them
}

// cWriter writes a C program about types.
type cWriter struct {
	types, main strings.Builder
	names       map[*resolve.Decl]string
	next        int
	bad         bool // a type that has no C struct
}

const cHead = `#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#define KIND(x) _Generic((x), uint8_t:"u8", uint16_t:"u16", uint32_t:"u32", uint64_t:"u64", int8_t:"i8", int16_t:"i16", int32_t:"i32", int64_t:"i64", float:"f32", double:"f64", bool:"bool")
#define PACKED __attribute__((packed))
#define NUMBER(T, path, within, place) printf("number %s %zu %zu %s %s\n", path, offsetof(T, place), sizeof(((T*)0)->place), KIND(((T*)0)->place), within)
#define FIELD(T, path, place) printf("field %s %zu %zu\n", path, offsetof(T, place), sizeof(((T*)0)->place))
`

var cScalars = map[resolve.Kind]string{
	resolve.U8: "uint8_t", resolve.U16: "uint16_t", resolve.U32: "uint32_t", resolve.U64: "uint64_t", resolve.I8: "int8_t", resolve.I16: "int16_t",
	resolve.I32: "int32_t", resolve.I64: "int64_t", resolve.F32: "float", resolve.F64: "double", resolve.Bool: "bool",
}

func (w *cWriter) fresh(what string) string {
	w.next++
	return fmt.Sprintf("%s%d", what, w.next)
}

// declare is a member of a struct: its type, its name and, for arrays, how many.
func (w *cWriter) declare(t *resolve.Type, name string) string {
	switch t.Kind {
	case resolve.FixedData:
		return fmt.Sprintf("uint8_t %s[%d]", name, t.Len)
	case resolve.FixedList:
		return w.declare(t.Elem, fmt.Sprintf("%s[%d]", name, t.Len))
	}
	return w.typ(t) + " " + name
}

// typ is a C type that is no array.
func (w *cWriter) typ(t *resolve.Type) string {
	if s := cScalars[t.Kind]; s != "" {
		return s
	}
	switch t.Kind {
	case resolve.Ref:
		name, ok := w.names[t.Decl]
		if !ok {
			name = w.fresh("D")
			fmt.Fprintf(&w.types, "typedef %s;\n", w.declare(t.Decl.Type, name))
			w.names[t.Decl] = name
		}
		return name
	case resolve.Enum:
		for _, v := range t.Values {
			w.bad = w.bad || t.Base == resolve.Invalid && v.Value > 127
		}
		if s := cScalars[t.Base]; s != "" {
			return s
		}
		return "uint8_t"
	case resolve.Struct:
		return w.structure(t)
	case resolve.Union:
		name, members := w.fresh("U"), ""
		for i, m := range t.Members {
			w.bad = w.bad || m.Tag > 127 || m.Type.Resolve().Kind == resolve.Void
			members += fmt.Sprintf(" struct PACKED { %s; } m%d;", w.declare(m.Type, "v"), i)
		}
		fmt.Fprintf(&w.types, "typedef struct PACKED { uint8_t tag; union PACKED {%s } is; } %s;\n", members, name)
		return name
	}
	w.bad = true
	return "char"
}

func (w *cWriter) structure(t *resolve.Type) string {
	name, body := w.fresh("S"), ""
	for i, f := range t.Fields {
		body += " " + w.declare(f.Type, fmt.Sprintf("f%d", i))
		switch under := f.Type.Resolve(); {
		case f.Cacheline > 0:
			body += fmt.Sprintf(" __attribute__((aligned(%d)))", f.Cacheline)
		case f.Atomic:
			body += fmt.Sprintf(" __attribute__((aligned(sizeof(%s))))", w.typ(under))
		case under.Kind == resolve.Struct || under.Kind == resolve.FixedList:
			for under.Kind == resolve.FixedList {
				under = under.Elem.Resolve()
			}
			if under.Kind == resolve.Struct { // a packed struct forgets what its parts ask for
				inner := w.typ(under)
				body += fmt.Sprintf(" __attribute__((aligned(_Alignof(%s))))", inner)
			}
		}
		body += ";"
	}
	fmt.Fprintf(&w.types, "typedef struct PACKED {%s } %s;\n", body, name)
	return name
}

// element has the program say all of a type, under a name. Of a type whose size varies it is the slot: a length, and room for the
// greatest message, at multiples of 8 or of #@align.
func (w *cWriter) element(d *resolve.Decl, name string) {
	if least, most := sizes(d.Type); least != most {
		slot := w.fresh("L")
		fmt.Fprintf(&w.types, "typedef struct { uint32_t length; uint8_t message[%d]; } __attribute__((aligned(%d))) %s;\n", most, max(8, d.Align), slot)
		fmt.Fprintf(&w.main, "printf(\"slot %s %%zu\\n\", sizeof(%s));\n", name, slot)
		return
	}
	c := w.typ(&resolve.Type{Kind: resolve.Ref, Decl: d})
	whole := w.fresh("E") // what offsetof can look into, whatever the type is
	fmt.Fprintf(&w.types, "typedef struct { %s e; } %s;\n", c, whole)
	fmt.Fprintf(&w.main, "printf(\"element %s %%zu %%zu\\n\", sizeof(%s), _Alignof(%s));\n", name, c, c)
	w.numbers(whole, d.Type, "e", ".", "-")
}

func (w *cWriter) numbers(whole string, t *resolve.Type, place, path, within string) {
	t = t.Resolve()
	switch t.Kind {
	case resolve.Struct:
		for i, f := range t.Fields {
			if !f.Pad {
				place, path := fmt.Sprintf("%s.f%d", place, i), path+f.Name+"."
				fmt.Fprintf(&w.main, "FIELD(%s, %q, %s);\n", whole, path, place)
				w.numbers(whole, f.Type, place, path, within)
			}
		}
	case resolve.FixedData, resolve.FixedList:
		for i := range t.Len {
			if elem := t.Elem; elem != nil {
				w.numbers(whole, elem, fmt.Sprintf("%s[%d]", place, i), fmt.Sprintf("%s%d.", path, i), within)
			} else {
				fmt.Fprintf(&w.main, "NUMBER(%s, \"%s%d.\", %q, %s[%d]);\n", whole, path, i, within, place, i)
			}
		}
	case resolve.Union:
		fmt.Fprintf(&w.main, "NUMBER(%s, %q, %q, %s.tag);\n", whole, path+"tag.", within, place)
		for i, m := range t.Members {
			to := fmt.Sprintf("%s|%d.", path, m.Tag)
			w.numbers(whole, m.Type, fmt.Sprintf("%s.is.m%d.v", place, i), to, within+to)
		}
	default:
		fmt.Fprintf(&w.main, "NUMBER(%s, %q, %q, %s);\n", whole, path, within, place)
	}
}

// sizes are the fewest and the most bytes of a message, by the specification. A varint of a number has 7 bits a byte.
func sizes(t *resolve.Type) (least, most uint64) {
	varint := func(n uint64) uint64 { return uint64(len(binary.AppendUvarint(nil, n))) }
	t = t.Resolve()
	switch t.Kind {
	case resolve.Uint, resolve.Int:
		return 1, 10
	case resolve.Enum:
		if n := uint64(widths[t.Base]); n > 0 {
			return n, n
		}
		least = 10
		for _, v := range t.Values {
			least, most = min(least, varint(v.Value)), max(most, varint(v.Value))
		}
		return least, most
	case resolve.Str, resolve.Data:
		return 1, varint(t.Max) + t.Max
	case resolve.List:
		_, each := sizes(t.Elem)
		return 1, varint(t.Max) + t.Max*each
	case resolve.Map:
		_, key := sizes(t.Key)
		_, value := sizes(t.Elem)
		return 1, varint(t.Max) + t.Max*(key+value)
	case resolve.Optional:
		_, inner := sizes(t.Elem)
		return 1, 1 + inner
	case resolve.FixedData:
		return t.Len, t.Len
	case resolve.FixedList:
		least, most = sizes(t.Elem)
		return t.Len * least, t.Len * most
	case resolve.Union:
		least = 1 << 60
		for _, m := range t.Members {
			a, b := sizes(m.Type)
			least, most = min(least, varint(m.Tag)+a), max(most, varint(m.Tag)+b)
		}
		return least, most
	case resolve.Struct:
		for _, f := range t.Fields {
			a, b := sizes(f.Type)
			least, most = least+a, most+b
		}
		return least, most
	}
	return uint64(widths[t.Kind]), uint64(widths[t.Kind])
}

// compiler finds the C compiler.
func compiler(t testing.TB) string {
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no C compiler (cc): `make deps` installs one")
	}
	t.Skip("no C compiler (cc): what peers see in memory is not compared with it")
	return ""
}

// run compiles the program and reads what it says, by the names of elements.
func (w *cWriter) run(t testing.TB, cc string) map[string]cElement {
	t.Helper()
	dir := t.TempDir()
	file, bin := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	text := cHead + w.types.String() + "int main(void) {\n" + w.main.String() + "return 0;\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-std=gnu11", "-O0", "-w", "-o", bin, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.3000s", err, out)
	}
	out, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]cElement{}
	var e cElement
	for line := range bytes.Lines(out) {
		words := strings.Fields(string(line))
		number := func(i int) int {
			n, err := strconv.Atoi(words[i])
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			return n
		}
		switch words[0] {
		case "element":
			e = cElement{number(2), number(3), false, map[string]cNumber{}, map[string][2]int{}}
			all[words[1]] = e
		case "slot":
			all[words[1]] = cElement{size: number(2), slot: true}
		case "field":
			e.fields[words[1]] = [2]int{number(2), number(3)}
		case "number":
			e.numbers[words[1]] = cNumber{number(2), number(3), words[4], words[5]}
		}
	}
	return all
}

// sees reports whether a peer that has one version of an element sees the same bytes by the same names as one that has the
// other: what only one has a name for is padding to the other, or the same number by another name.
func (e cElement) sees(o cElement) (string, bool) {
	if e.slot != o.slot {
		return "a slot and none", false
	}
	if e.size != o.size || e.align != o.align {
		return fmt.Sprintf("%d bytes at multiples of %d, and %d at %d", e.size, e.align, o.size, o.align), false
	}
	for path, a := range e.fields {
		if b, ok := o.fields[path]; ok && a != b {
			return fmt.Sprintf("%s: %v and %v", path, a, b), false
		}
	}
	type byteOf struct {
		at     int
		within string
	}
	bytesOf := map[byteOf]cNumber{}
	for _, n := range o.numbers {
		for i := range n.size {
			bytesOf[byteOf{n.offset + i, n.within}] = n
		}
	}
	for path, a := range e.numbers {
		b, ok := o.numbers[path]
		if ok && a != b {
			return fmt.Sprintf("%s: %v and %v", path, a, b), false
		}
		for i := range a.size {
			if b, ok := bytesOf[byteOf{a.offset + i, a.within}]; ok && a != b {
				return fmt.Sprintf("%s: %v, where %v is", path, a, b), false
			}
		}
	}
	return "", true
}

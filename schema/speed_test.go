package schema_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// synthetic is a schema of n types, about 150 bytes each: of ten, eight structs,
// an enum and a union, each of which refers to the type before.
func synthetic(n int) []byte {
	var b strings.Builder
	last := "u8"
	for i := range n {
		name := fmt.Sprintf("Type%d", i)
		switch i % 10 {
		case 8:
			fmt.Fprintf(&b, "type %s enum {\n  ONE\n  TWO\n  THREE\n  FOUR = 10\n  FIVE\n  SIX\n  SEVEN\n  EIGHT\n}\n\n", name)
		case 9:
			fmt.Fprintf(&b, "type %s union {\n  %s | u8 | str | list<u16> | data[16] | void\n}\n\n", name, last)
		default:
			fmt.Fprintf(&b, "# A record, number %d.\ntype %s struct {\n  id: u64\n  name: str\n  tags: list<str>\n  ratio: f64\n"+
				"  note: optional<str>\n  counts: map<str><u32>\n  hash: data[32]\n  four: list<u32>[4]\n  prev: %s\n}\n\n", i, name, last)
		}
		last = name
	}
	return []byte(b.String())
}

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCompile compiles 1,000 and 10,000 types; the time per type must not grow.
func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		text := synthetic(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			start := cpu()
			for b.Loop() {
				s, list := schema.Compile([]*source.File{source.NewFile("synthetic.bare", text)}, schema.Options{})
				if s == nil {
					b.Fatal(list.Err())
				}
			}
			b.ReportMetric(float64(cpu()-start)/float64(b.N)/1e6, "cpu-ms/op")
		})
	}
}

// TestCompileGrowsLinearly compiles schemas of shapes that would make a careless
// compiler quadratic, and would never end if it were: 50,000 types each.
func TestCompileGrowsLinearly(t *testing.T) {
	const n = 50000
	shapes := map[string]func(b *strings.Builder, i int){
		"a chain of names":      func(b *strings.Builder, i int) { fmt.Fprintf(b, "type T%d T%d\n", i, i+1) },
		"a chain of structs":    func(b *strings.Builder, i int) { fmt.Fprintf(b, "type T%d struct { a: T%d }\n", i, i+1) },
		"all refer to the last": func(b *strings.Builder, i int) { fmt.Fprintf(b, "type T%d list<T%d>\n", i, n) },
		"undeclared names":      func(b *strings.Builder, i int) { fmt.Fprintf(b, "type T%d list<U%d>\n", i, i) },
		"one name":              func(b *strings.Builder, i int) { b.WriteString("type T u8\n") },
		"one cycle":             func(b *strings.Builder, i int) { fmt.Fprintf(b, "type T%d T%d\n", i, (i+1)%n) },
		"cycles in cycles":      func(b *strings.Builder, i int) { fmt.Fprintf(b, "type T%d union { T%d | T%d }\n", i, (i+1)%n, i/2) },
		"variable all the way": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "type T%d struct { a: u8 b: optional<T%d> }\n", i, i+1)
		},
		"annotated all the way":   func(b *strings.Builder, i int) { fmt.Fprintf(b, "#@align(3)\ntype T%d u8\n", i) },
		"one struct, many fields": nil,
		"one enum, many values":   nil,
		"one union, many members": nil,
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			switch name {
			case "one struct, many fields":
				b.WriteString("type S struct {\n")
				for i := range n {
					fmt.Fprintf(&b, "f%d: u8\n", i)
				}
				b.WriteString("}\n")
			case "one enum, many values":
				b.WriteString("type S enum {\n")
				for i := range n {
					fmt.Fprintf(&b, "V%d = %d\n", i, (i*7919)%n) // not ascending
				}
				b.WriteString("}\n")
			case "one union, many members":
				b.WriteString("type S union {\n")
				for i := range n {
					fmt.Fprintf(&b, "| data[%d]\n", i+1)
				}
				b.WriteString("}\n")
			default:
				for i := range n {
					shape(&b, i)
				}
				fmt.Fprintf(&b, "type T%d u8\n", n)
			}
			start := cpu()
			s, list := schema.Compile([]*source.File{source.NewFile("shape.bare", []byte(b.String()))}, schema.Options{})
			took := cpu() - start
			t.Logf("%d bytes, %v, %d findings", b.Len(), took, len(list))
			if s == nil && !list.HasErrors() {
				t.Error("no schema and no error")
			}
			if took > 30*time.Second {
				t.Errorf("%v for %d types", took, n)
			}
		})
	}
}

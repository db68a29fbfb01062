package emit

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
)

// goBareFile is the companion of a file: what programs written for go-bare
// call. It alone imports go-bare.
func goBareFile(f *plan.File) *draft {
	reader := "goBareReader" + plan.Exported(strings.TrimSuffix(f.Name, "_bare.go"))
	d := cut(f, []aspect{func(_ *emitter, g *gocode.Code, t *plan.Type) { goBare(g, t, reader) }})
	d.name = strings.TrimSuffix(f.Name, ".go") + "_gobare.go"
	d.head.Doc = nil
	d.first = func(_ *emitter, g *gocode.Code, _ *plan.Type) {
		if len(f.Types) > 0 {
			goBareReader(g, reader)
		}
	}
	return d
}

// goBareReader writes the type through which a stream decoder reads from
// go-bare's Reader, which has no Read. The name has the file's in it, since
// files of one package may be generated at different times.
//
//	type goBareReaderTelemetry struct{ r *bare.Reader }
//
//	func (r goBareReaderTelemetry) Read(b []byte) (int, error)
func goBareReader(g *gocode.Code, name string) {
	g.Line(name+" reads from go-bare's Reader. It fills b or fails.", "type %s struct{ r *bare.Reader }", name)
	g.Func("", "(r "+name+") Read(b []byte) (int, error)", func(b *gocode.Body) {
		b.Block("if err := r.r.ReadDataFixed(b); err != nil")
		b.P("return 0, err")
		b.End()
		b.P("return len(b), nil")
	})
}

// goBare writes the four methods of go-bare's world.
//
//	func (x *Customer) Encode() ([]byte, error) { return x.MarshalBinary() }
//
//	func (x *Customer) Decode(b []byte) error { return x.UnmarshalBinary(b) }
func goBare(g *gocode.Code, t *plan.Type, reader string) {
	if !t.Named {
		return
	}
	g.Func("Encode returns x as a BARE message, as go-bare's generated types do.",
		"(x *"+t.Go+") Encode() ([]byte, error)", func(b *gocode.Body) { b.P("return x.MarshalBinary()") })
	g.Func("Decode sets x from a BARE message, as go-bare's generated types do. Unlike theirs\nit is strict: bytes left over are an error.",
		"(x *"+t.Go+") Decode(b []byte) error", func(b *gocode.Body) { b.P("return x.UnmarshalBinary(b)") })
	goBareMarshal(g, t)
	goBareUnmarshal(g, t, reader)
}

// goBareMarshal writes
//
//	func (x *Customer) Marshal(w *bare.Writer) error {
//		b, err := x.MarshalBinary()
//		if err != nil {
//			return err
//		}
//		return w.WriteDataFixed(b)
//	}
func goBareMarshal(g *gocode.Code, t *plan.Type) {
	g.Func("Marshal is go-bare's Marshalable: bare.Marshal of a value that holds x calls it.",
		"(x *"+t.Go+") Marshal(w *bare.Writer) error", func(b *gocode.Body) {
			b.P("b, err := x.MarshalBinary()")
			b.Block("if err != nil")
			b.P("return err")
			b.End()
			b.P("return w.WriteDataFixed(b)")
		})
}

// goBareUnmarshal writes
//
//	func (x *Customer) Unmarshal(r *bare.Reader) error {
//		return x.DecodeStream(wire.NewReader(goBareReaderTelemetry{r}, 0))
//	}
func goBareUnmarshal(g *gocode.Code, t *plan.Type, reader string) {
	g.Func("Unmarshal is go-bare's Unmarshalable: bare.Unmarshal of a value that holds x calls it.",
		"(x *"+t.Go+") Unmarshal(r *bare.Reader) error", func(b *gocode.Body) {
			b.P("return x.DecodeStream(wire.NewReader(%s{r}, 0))", reader)
		})
}

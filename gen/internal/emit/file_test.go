package emit

import (
	"errors"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// An emitter that writes what is not Go, or panics, is reported as a fault of
// ours, with the file and the lines.
func TestEmitterFails(t *testing.T) {
	s, _ := schema.Compile([]*source.File{source.NewFile("a.bare", []byte("type T u8\ntype S u8\n"))}, schema.Options{})
	p, _ := plan.Make(s.Namespaces[0], s.Layouts, plan.Options{Package: "p"})
	run := func(a aspect) error {
		d := cut(p.Files[0], []aspect{a})
		return write(p, []*draft{d})
	}
	err := run(func(_ *emitter, g *gocode.Code, t *plan.Type) { g.Line("", "func %s( {", t.Go) })
	var bad *gocode.FormatError
	var in *Error
	if !errors.As(err, &bad) || !errors.As(err, &in) || in.Source != "a.bare" || !strings.Contains(bad.Lines, "func T( {") {
		t.Errorf("not Go: %v", err)
	}
	err = run(func(_ *emitter, g *gocode.Code, t *plan.Type) { panic("no case for " + t.Go) })
	if err == nil || !strings.Contains(err.Error(), "no case for T") {
		t.Errorf("panic: %v", err)
	}
	if err := run(func(*emitter, *gocode.Code, *plan.Type) {}); err != nil {
		t.Error(err)
	}
}

package schema_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// number prints a number that may be absent.
func number(n *uint64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

// describe prints a description: name, class, size or bounds, alignment; then
// a row per field: offset, size, line, alignment, class.
func describe(d *layout.Description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s, size %s, %d to %s, align %d", d.Name, d.Kind, d.Class, number(d.Size), d.Min, number(d.Max), d.Align)
	if d.Slot > 0 {
		fmt.Fprintf(&b, ", slot %d", d.Slot)
	}
	if d.Need > 1 {
		fmt.Fprintf(&b, ", needs %d", d.Need)
	}
	b.WriteByte('\n')
	for _, why := range d.NotCastable {
		b.WriteString("  not castable: " + why + "\n")
	}
	if d.Unbounded != "" {
		b.WriteString("  unbounded: " + d.Unbounded + "\n")
	}
	for _, r := range d.Rows {
		fmt.Fprintf(&b, "%s  at %s, size %s, line %s, align %d: %s %s (%s)", strings.Repeat("  ", r.Depth), number(r.Offset),
			number(r.Size), number(r.CacheLine), r.Align, r.Field, r.Type, r.Class)
		if r.Tag != nil {
			fmt.Fprintf(&b, " tag %d", *r.Tag)
		}
		if r.Straddles {
			b.WriteString(" straddles")
		}
		b.WriteString(strings.TrimRight(" "+strings.Join(r.Notes, " "), " ") + "\n")
	}
	for _, s := range d.Sharing {
		fmt.Fprintf(&b, "  sharing: line %d: %s\n", s.CacheLine, strings.Join(s.Fields, ", "))
	}
	return b.String()
}

// TestDescribe compares the layout of every type of each schema in
// testdata/describe/layouts.txtar with what stands behind it.
func TestDescribe(t *testing.T) {
	const path = "testdata/describe/layouts.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		in := archive.Files[i]
		s, list := schema.Compile([]*source.File{source.NewFile(in.Name, in.Data)}, schema.Options{})
		if s == nil {
			t.Errorf("%s", say(list))
			continue
		}
		var got strings.Builder
		for _, d := range s.Namespaces[0].Files[0].Decls {
			got.WriteString(describe(s.Layouts.Describe(d)))
		}
		if diff := cmp.Diff(string(archive.Files[i+1].Data), got.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", in.Name, diff)
			archive.Files[i+1].Data = []byte(got.String())
		}
	}
	if *update && t.Failed() {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

package compat_test

import (
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/compat"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// TestPinnedNumbers: who is told to write an old number has a schema that compiles then; else the old order is advised.
func TestPinnedNumbers(t *testing.T) {
	for _, x := range []struct{ old, now, want string }{
		{"type T enum { A B C }", "type T enum { A C }", "`C = 2`"},
		{"type T enum { A B C }", "type T enum { A B = 5 C D }", "`B = 1`"},
		{"type T enum { A B }", "type T enum { B A }", "put the values in the order"},
		{"type T enum { A B }", "type T enum { A N B }", "put the values in the order"},
		{"type T union { u8 | str | u16 }", "type T union { u8 | u16 }", "`u16 = 2`"},
		{"type T union { u8 | str }", "type T union { str | u8 }", "put the members in the order"},
		{"type T union { u8 | str }", "type T union { u8 | u16 | str }", "put the members in the order"},
		{"type T union { u8 | str }", "type T union { str | u8 | u16 }", "put the members in the order"},
	} {
		moved := 0
		for _, d := range compat.Compare(side(compiled(t, "old.bare", x.old)), side(compiled(t, "now.bare", x.now)), compat.Options{}).Findings {
			if d.Code != diag.ValueRenumbered && d.Code != diag.MemberRetagged {
				continue
			}
			moved++
			help := strings.Join(d.Help, "\n")
			if strings.Contains(x.want, "order") != strings.Contains(help, "order") || moved == 1 && !strings.Contains(help, x.want) {
				t.Errorf("%s: %s: %s", x.now, d.Message, help)
			}
		}
		if moved == 0 {
			t.Errorf("%s: nothing moved", x.now)
		}
	}
}

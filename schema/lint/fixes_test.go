package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestFixes holds what --fix --breaking makes of schemas to the text that it should be.
func TestFixes(t *testing.T) {
	for name, c := range map[string]struct{ is, want string }{
		"false sharing": {`
# A ring.
type Ring struct {
  # Where it is read.
  #@atomic
  head: u64 # ours
  size: u32
  #@pad
  pad0: data[4]
  # Where it is written.
  #@atomic
  tail: u64 # theirs
}
`, `
# A ring.
type Ring struct {
  # Where it is read.
  #@atomic
  head: u64 # ours
  size: u32
  #@pad
  pad0: data[4]
  #@pad
  pad1: data[48]
  # Where it is written.
  #@atomic
  tail: u64 # theirs
}
`},
		"false sharing, and elements after": {`
#@residency(cpu)
type Ring struct {
  #@atomic
  head: u64
  #@atomic
  tail: u64
}
`, `
#@residency(cpu)
type Ring struct {
  #@atomic
  head: u64
  #@pad
  pad0: data[56]
  #@atomic
  tail: u64
  #@pad
  pad1: data[56]
}
`},
		"straddling, by padding that is taken from what follows": {`
#@residency(cpu)
type T struct {
  a:    data[40]
  key:  data[32] # K
  #@pad
  pad0: data[56] # filler
}
`, `
#@residency(cpu)
type T struct {
  a:    data[40]
  #@pad
  pad1: data[24]
  key:  data[32] # K
  #@pad
  pad0: data[32] # filler
}
`},
		"straddling, by another order": {`
#@residency(cpu)
type T struct {
  # Forty.
  a: data[40]
  # Thirty-two.
  b: data[32]
  c: data[32] # thirty-two
  d: data[24]
}
`, `
#@residency(cpu)
type T struct {
  # Forty.
  a: data[40]
  d: data[24]
  # Thirty-two.
  b: data[32]
  c: data[32] # thirty-two
}
`},
		"limits": {`
#@residency(cpu)
type Person struct {
  # The name.
  name: str # as given
  #@max(3)
  tags: list<Tag>
  home: Address
}
type Tag str
type Address struct { street: str zip: u32 }
`, `
#@max(64)
type Tag str
type Address struct { 
  #@max(64)
  street: str zip: u32 }
#@residency(cpu)
type Person struct {
  # The name.
  #@max(64)
  name: str # as given
  #@max(3)
  tags: list<Tag>
  home: Address
}
`},
		"values": {`
type Light enum {
  # Go.
  GREEN = 2 # g
  RED = 0
  YELLOW
}
type Both struct { a: Light b: union { str = 4 | u8 = 1 | void } }
`, `
type Light enum {
  RED = 0
  YELLOW
  # Go.
  GREEN = 2 # g
}
type Both struct { a: Light b: union { u8 = 1 | void | str = 4 } }
`},
		"an order below a package": {`# The file's.
#@package(p)
# Of B.
type B list<A>
# Of A.
type A u8
`, `# The file's.
#@package(p)
# Of A.
type A u8
# Of B.
type B list<A>
`},
		"fixed enums, of which the first has to stay": {"enum A u16 { X }\nenum B u8 { X }\nenum C u8 { X Y }\ntype M struct { a: A b: B c: C }\n",
			"enum A u16 { X }\ntype B enum { X }\ntype C enum { X Y }\ntype M struct { a: A b: B c: C }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := schema.Fix([]*source.File{source.NewFile("x.bare", []byte(c.is))}, schema.FixOptions{Breaking: true})
			squeeze := func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n") }
			if is := string(got.Files[0].Text()); squeeze(is) != squeeze(c.want) {
				t.Errorf("got\n%s\nwant\n%s\nleft %v", is, c.want, got.Left)
			}
			if i := slices.IndexFunc(got.Left, func(d *diag.Diagnostic) bool { return len(d.Fixes) > 0 || d.Severity == diag.Error }); i >= 0 {
				t.Errorf("left: %v", got.Left[i])
			}
		})
	}
}

// TestFixKeepsWhatIsWrong leaves numbers that stand twice as they are: in another order that would be hidden.
func TestFixKeepsWhatIsWrong(t *testing.T) {
	const text = "type V union { str = 2 | u8 = 1 | void }\n"
	got := schema.Fix([]*source.File{source.NewFile("x.bare", []byte(text))}, schema.FixOptions{Breaking: true})
	if is := string(got.Files[0].Text()); is != text || !got.Left.HasErrors() {
		t.Errorf("%s\n%v", is, got.Left)
	}
}

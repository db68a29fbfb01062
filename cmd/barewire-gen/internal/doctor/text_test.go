package doctor

import (
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// TestHostileNames: no name in a tree that somebody else made reaches the terminal as a command to it, or breaks a line.
func TestHostileNames(t *testing.T) {
	const evil = "a\x1b[31m\u009b\n\u202eb"
	tree := fstest.MapFS{
		"sys/class/infiniband/" + evil + "/ports/1/state": {Data: []byte("4: ACTIVE\n")},
		"sys/bus/cxl/devices/mem0/firmware_version":       {Data: []byte(evil)},
		"sys/bus/cxl/devices/" + evil + "/x":              {},
		"sys/bus/dax/devices/dax0" + evil + "/size":       {Data: []byte(evil)},
	}
	m, err := platform.DetectFS(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{0, 60, 100} {
		text, err := New(m, "there").Text(true, columns)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range string(text) {
			if r != '\n' && unicode.IsControl(r) || r == '\u202e' {
				t.Fatalf("in %d columns %q is written: %q", columns, r, text[max(0, i-40):i+1])
			}
		}
		if !strings.Contains(string(text), `a\x1b[31m`) {
			t.Errorf("the name is not there:\n%s", text)
		}
	}
}

package fuzzshapes

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// TestHandshake builds generated code against this runtime, and the same code as
// a generator of another generation would write it: a build must stop at a name
// that says what to do.
func TestHandshake(t *testing.T) {
	const now, other = "RerunBarewireGenOrUpdateRuntime1", "RerunBarewireGenOrUpdateRuntime2"
	code, err := scratch.Generate(map[string]string{"a.bare": "type Msg struct {\n  name: str\n  hash: data[4]\n}\n"}, gen.Options{Package: "p"})
	if err != nil {
		t.Fatal(err)
	}
	m := scratch.New(t, "", "")
	for name, text := range code {
		if n := bytes.Count(text, []byte("wire."+now)); n != 1 {
			t.Fatalf("%s names the runtime's generation %d times, want once", name, n)
		}
		m.Write("now/"+name, text)
		m.Write("other/"+name, bytes.ReplaceAll(text, []byte(now), []byte(other)))
	}
	if _, err := m.Go(nil, "build", "./now"); err != nil {
		t.Errorf("code of the runtime's generation: %v", err)
	}
	out, err := m.Go(nil, "build", "./other")
	if err == nil || !strings.Contains(out, "undefined: wire."+other) {
		t.Errorf("code of another generation: %v\n%s", err, out)
	}
	if n := strings.Count(out, "undefined:"); n != 1 {
		t.Errorf("%d things are undefined, want only the name that says what to do:\n%s", n, out)
	}
}

package gen_test

import (
	"os"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// TestValues runs testdata/values: a program's tests of the Go that its schema
// becomes. go-bare is called as programs written for it do.
func TestValues(t *testing.T) {
	read := func(name string) []byte {
		text, err := os.ReadFile("testdata/values/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	m := scratch.New(t, "", "")
	write(t, m, "values", compile(t, "values.bare", string(read("values.bare"))), gen.Options{GoBare: true})
	m.Write("values/values_test.go", read("values_test.go.txt"))
	m.Write("values/gobare_test.go", read("gobare_test.go.txt"))
	if out, err := m.Go(nil, "test", "./..."); err != nil {
		t.Fatal(err, out)
	}
}

//go:build !lab && (amd64 || arm64)

package verbs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
)

// compiled is what the stand-in for libibverbs was compiled to.
type compiled struct {
	path string
	err  error
	out  []byte
}

var compileFake = sync.OnceValue(func() (c compiled) {
	dir, err := os.MkdirTemp("", "barewire-fakeverbs")
	if err != nil {
		return compiled{err: err}
	}
	c.path = filepath.Join(dir, "libfakeverbs.so")
	c.out, c.err = exec.Command("cc", "-shared", "-fPIC", "-O2", "-Wl,-Bsymbolic", "-o", c.path, "testdata/fake.c").CombinedOutput()
	return c
})

func TestMain(m *testing.M) {
	code := m.Run()
	if c := compileFake(); c.path != "" {
		_ = os.RemoveAll(filepath.Dir(c.path))
	}
	os.Exit(code)
}

// fake is a provider over the stand-in (in the lab there are devices, and no compiler), whose device does at once what it is asked.
func fake(t testing.TB) *Provider {
	t.Helper()
	c := compileFake()
	if c.err != nil {
		const need = "this needs a C compiler and the headers of rdma-core (Debian: gcc, libibverbs-dev): %v: %s"
		line, _, _ := bytes.Cut(c.out, []byte("\n"))
		if os.Getenv("CI") != "" {
			t.Fatalf(need, c.err, line)
		}
		t.Skipf(need, c.err, line)
	}
	return New(Options{Library: c.path})
}

// TestConformanceFake runs the suite of all providers on the stand-in: what is above the device.
func TestConformanceFake(t *testing.T) {
	p := fake(t)
	a, err := p.Open(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	rdmatest.Run(t, rdmatest.Factory{Provider: p, Device: "fake0"})
}

//go:build !lab && (amd64 || arm64)

package verbs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// compile compiles the stand-in, once for each set of its variants (see testdata/fake.c).
func compile(variant string) compiled {
	fakes.Lock()
	defer fakes.Unlock()
	if c, ok := fakes.of[variant]; ok {
		return c
	}
	var c compiled
	if fakes.dir == "" {
		if fakes.dir, c.err = os.MkdirTemp("", "barewire-fakeverbs"); c.err != nil {
			return c
		}
	}
	c.path = filepath.Join(fakes.dir, "libfakeverbs"+variant+".so")
	args := []string{"-shared", "-fPIC", "-O2", "-Wl,-Bsymbolic", "-o", c.path, "testdata/fake.c"}
	c.out, c.err = exec.Command("cc", append(args, strings.Fields(variant)...)...).CombinedOutput()
	fakes.of[variant] = c
	return c
}

var fakes = struct {
	sync.Mutex
	dir string
	of  map[string]compiled
}{of: map[string]compiled{}}

func TestMain(m *testing.M) {
	code := m.Run()
	if fakes.dir != "" {
		_ = os.RemoveAll(fakes.dir)
	}
	os.Exit(code)
}

// fake is a provider over the stand-in (in the lab there are devices, and no compiler), whose device does at once what it is asked.
func fake(t testing.TB) *Provider { return fakeOf(t, "") }

// fakeOf is one over a variant of the stand-in: "-DBARE".
func fakeOf(t testing.TB, variant string) *Provider {
	t.Helper()
	c := compile(variant)
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
	rdmatest.Run(t, rdmatest.Factory{Provider: p, Device: "fake0", Unheard: true})
}

// TestConformanceBare runs the suite on a device that has neither memory windows nor anything else that is optional.
func TestConformanceBare(t *testing.T) {
	p := fakeOf(t, "-DBARE")
	a, err := p.Open(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := a.Limits(); l.ConnGrants || l.Invalidate || l.DMABuf || !l.Solicited {
		t.Errorf("its limits are %+v", l)
	}
	if !strings.Contains(a.Info().Detail, "no memory windows") {
		t.Errorf("the device is %q", a.Info().Detail)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	rdmatest.Run(t, rdmatest.Factory{Provider: p, Device: "fake0", Unheard: true})
}

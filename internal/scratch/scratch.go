// Package scratch lays out throwaway Go modules for tests: a module of its own
// with a replace to this checkout, into which a test writes schemas, generates,
// builds, vets and runs, as a user of the generator would.
//
// Where a test needs more than Go, NeedTool skips it with a reason on a
// developer's machine and fails it in CI, where nothing may be skipped.
package scratch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Path is the import path of scratch modules. It lies under this repository's,
// so that they may import its internal packages.
const Path = "github.com/fidelityframework/barewire-gen/scratch"

const repository = "github.com/fidelityframework/barewire-gen"

// timeout ends a command that hangs. A build of many packages on a busy machine
// is the slowest that a test runs.
const timeout = 8 * time.Minute

// CI reports whether the tests run where nothing may be skipped.
func CI() bool { return os.Getenv("CI") == "true" }

// SkipOrFail ends a test that lacks something: with a skip here, a failure in CI.
func SkipOrFail(t testing.TB, format string, args ...any) {
	t.Helper()
	if CI() {
		t.Fatalf("in CI nothing is skipped: "+format, args...)
	}
	t.Skipf(format, args...)
}

// NeedTool finds a command, or ends the test saying what would install it.
func NeedTool(t testing.TB, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		SkipOrFail(t, "%s is not installed (%s)", name, install)
	}
	return path
}

// Root is the top of this checkout.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module "+repository+"\n")) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("not inside the checkout")
		}
		dir = up
	}
}

// Module is a scratch module. It is gone when its test ends.
type Module struct {
	Dir string
	t   testing.TB
	n   int // binaries built
}

// New lays out an empty module that requires this checkout and whatever it
// requires. Extra are more lines for go.mod ("require x v1"), sums for go.sum.
func New(t testing.TB, extra, sums string) *Module {
	t.Helper()
	root := Root(t)
	m := &Module{Dir: t.TempDir(), t: t}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, requires, _ := strings.Cut(string(mod), "\n") // the first line names the module
	requires = regexpTool.ReplaceAllString(requires, "")
	m.Write("go.mod", fmt.Appendf(nil, "module %s\n%s\nrequire %s v0.0.0\nreplace %s => %s\n%s\n",
		Path, requires, repository, repository, root, extra))
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	m.Write("go.sum", append(sum, sums...))
	return m
}

// Write puts a file into the module, with the directories it needs.
func (m *Module) Write(name string, data []byte) {
	m.t.Helper()
	path := filepath.Join(m.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// Go runs the go command in the module and gives what it printed. With -trimpath
// the build cache serves packages of other scratch modules that are the same.
func (m *Module) Go(env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = m.Dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false -trimpath"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// Build builds a command of the module for env's target (GOARCH=…, none for
// this machine) and gives the binary's path. A build that fails ends the test.
func (m *Module) Build(pkg string, env ...string) string {
	m.t.Helper()
	m.n++
	bin := filepath.Join(m.Dir, fmt.Sprintf("bin%d.exe", m.n))
	if _, err := m.Go(env, "build", "-o", bin, pkg); err != nil {
		m.t.Fatal(err)
	}
	return bin
}

// Vet runs go vet over packages of the module and ends the test with what it finds.
func (m *Module) Vet(pkgs ...string) {
	m.t.Helper()
	if _, err := m.Go(nil, append([]string{"vet"}, pkgs...)...); err != nil {
		m.t.Fatal(err)
	}
}

// regexpTool finds tool lines of go.mod, which a scratch module does not want.
var regexpTool = regexp.MustCompile(`(?m)^tool .*\n`)

package difftest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// assembled are the packages of the runtime that have instructions of arm64's own or rest on them, and those of their tests that QEMU's
// user mode cannot do: it tells no address of a SIGBUS, and knows no nodes of memory.
var assembled = []struct{ pkg, not string }{
	{pkg: "runtime/internal/flush"},
	{pkg: "runtime/internal/prefetch"},
	{pkg: "runtime/internal/where"},
	{pkg: "runtime/cxl", not: "^(TestBad|TestShareCut|TestNode|TestMisuse)$"},
}

// TestAssembly builds the tests of packages with assembly for arm64 and runs them there. That each instruction is there, takes what it is given and leaves
// memory as it was is shown so; an emulator has no caches.
func TestAssembly(t *testing.T) {
	root := scratch.Root(t)
	if got := withAssembly(t, root, "arm64"); strings.Join(got, " ") != "runtime/internal/flush runtime/internal/prefetch runtime/internal/where" {
		t.Errorf("assembly of arm64 is in %q: see assembled", got)
	}
	for _, c := range assembled {
		t.Run(c.pkg, func(t *testing.T) {
			bin := filepath.Join(t.TempDir(), "tests")
			build := exec.Command("go", "test", "-c", "-o", bin, "./"+c.pkg)
			build.Dir, build.Env = root, append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if runtime.GOOS != "linux" {
				t.Skip("built; QEMU's user mode runs on Linux only")
			}
			args := []string{bin, "-test.v", "-test.timeout=5m"}
			if c.not != "" {
				args = append(args, "-test.skip="+c.not)
			}
			qemu := ""
			if runtime.GOARCH != "arm64" {
				qemu = scratch.NeedTool(t, "qemu-aarch64-static", "Debian package qemu-user-static; make deps")
				args = append([]string{qemu}, args...)
			}
			tests := exec.Command(args[0], args[1:]...)
			tests.Dir, tests.Env = filepath.Join(root, c.pkg), append(os.Environ(), "BAREWIRE_TEST_EMULATOR="+qemu)
			out, err := tests.CombinedOutput()
			if err != nil || !passed.Match(out) || skipped.Match(out) {
				t.Errorf("%v, or none passed, or one was skipped:\n%s", err, out)
			}
			t.Logf("%d tests passed", len(passed.FindAll(out, -1)))
		})
	}
}

// What go test -v prints of a test.
var (
	passed  = regexp.MustCompile(`(?m)^--- PASS: `)
	skipped = regexp.MustCompile(`(?m)^ *--- SKIP: `)
)

// withAssembly are the directories of the runtime with assembly for a kind of processor.
func withAssembly(t *testing.T, root, arch string) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, "runtime"), func(file string, _ os.DirEntry, err error) error {
		dir, rerr := filepath.Rel(root, filepath.Dir(file))
		if dir = filepath.ToSlash(dir); strings.HasSuffix(file, "_"+arch+".s") && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return errors.Join(err, rerr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

package difftest

import (
	"os/exec"
	"runtime"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// targets are the machines that generated code must work on beside amd64: of
// 32 bits, of big-endian order. All are built everywhere and run where QEMU is.
var targets = []struct{ arch, qemu string }{
	{"386", "qemu-i386-static"}, {"s390x", "qemu-s390x-static"}, {"arm64", "qemu-aarch64-static"},
}

// TestOtherMachines builds generated code for other machines and runs the
// draft's vectors and random values and damage there.
func TestOtherMachines(t *testing.T) { rounds(t, testOtherMachines) }

func testOtherMachines(t *testing.T, seed int) {
	all := subjects(seed, schemas(50), langAll, anyDialect, false)
	text, cases := vectorCases(t)
	p := newProgram(t)
	p.addSubjects(t, all, nil)
	p.add(t, "vectors", map[string]string{"vectors.bare": text}, gen.Options{}, nil)
	for i, s := range all {
		valid := valueCases(packageOf(i), s, 4)
		cases = append(cases, valid...)
		cases = append(cases, mutantCases(packageOf(i), s, valid, 2)...)
	}
	for _, target := range targets {
		t.Run(target.arch, func(t *testing.T) {
			bin := p.build(t, "GOARCH="+target.arch, "GOOS=linux", "CGO_ENABLED=0")
			if runtime.GOOS != "linux" {
				t.Skip("built; QEMU's user mode runs on Linux only")
			}
			run(t, bin, runnerFor(t, bin, target.qemu), cases, contextOf(all))
		})
	}
}

// runnerFor is the command in front of a binary for another machine: none where
// the kernel runs it, else QEMU. Both are tried without input, since QEMU 7's
// 32-bit x86 does not run Go programs.
func runnerFor(t *testing.T, bin, qemu string) []string {
	t.Helper()
	if exec.Command(bin).Run() == nil {
		return nil
	}
	path := scratch.NeedTool(t, qemu, "Debian package qemu-user-static; make deps")
	if err := exec.Command(path, bin).Run(); err != nil {
		scratch.SkipOrFail(t, "built, but neither this machine nor %s runs it: %v", qemu, err)
	}
	return []string{path}
}

package difftest

import (
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
func TestOtherMachines(t *testing.T) {
	sayHow(t)
	all := subjects(schemas(50), langAll, anyDialect, false)
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
			qemu := scratch.NeedTool(t, target.qemu, "Debian package qemu-user-static; make deps")
			run(t, bin, []string{qemu}, cases, contextOf(all))
		})
	}
}

package debian

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// bzImage packs something as kernels are.
func bzImage(t *testing.T, tool string, elf []byte) []byte {
	t.Helper()
	scratch.NeedTool(t, tool, "make deps")
	cmd := exec.Command(tool, "-c")
	cmd.Stdin = bytes.NewReader(elf)
	packed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	const sectors = 2
	image := make([]byte, (sectors+1)*512+16)
	image[bootSectors] = sectors
	copy(image[0x202:], "HdrS")
	binary.LittleEndian.PutUint32(image[bootPayload:], 16)
	binary.LittleEndian.PutUint32(image[bootLength:], uint32(len(packed)+4))
	image = append(image, packed...)
	return append(binary.LittleEndian.AppendUint32(image, uint32(len(elf))), "and more"...)
}

// TestUncompress takes an ELF image out of each kind of kernel, and refuses what is none.
func TestUncompress(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	elf, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	elf = elf[:min(len(elf), 1<<20)]
	elf = append([]byte(nil), elf...)
	for i := 40; i < 64; i++ {
		if i < 48 || i >= 58 {
			elf[i] = 0 // no sections: they are cut off
		}
	}
	for _, tool := range []string{"gzip", "xz", "zstd"} {
		got, err := uncompress(bzImage(t, tool, elf))
		if err != nil || !bytes.Equal(got, elf) {
			t.Errorf("%s: %d bytes of %d, %v", tool, len(got), len(elf), err)
		}
	}
	good := bzImage(t, "gzip", elf)
	for name, spoil := range map[string]func([]byte) []byte{
		"no bzImage":                func(b []byte) []byte { b[0x202] = 'x'; return b },
		"is not in its":             func(b []byte) []byte { return b[:len(b)-len(elf)/100-100] },
		"a compression that is not": func(b []byte) []byte { copy(b[3*512+16:], "nothing"); return b },
		"gzip":                      func(b []byte) []byte { copy(b[3*512+500:], "nothing"); return b },
		"bzImage":                   func([]byte) []byte { return nil },
	} {
		if _, err := uncompress(spoil(bytes.Clone(good))); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := uncompress(bzImage(t, "gzip", []byte("no program"))); err == nil {
		t.Error("something else than a program was taken")
	}
}

// TestFind wants a kernel that is there in part to be none.
func TestFind(t *testing.T) {
	k := &Kernel{Dir: t.TempDir()}
	modules := filepath.Join(k.Dir, "lib", "modules", "6.1.0-1-amd64")
	if k.find() == nil {
		t.Error("nothing is a kernel")
	}
	if err := os.MkdirAll(modules, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(modules, "modules.dep"), k.Image()} {
		if k.find() == nil {
			t.Errorf("a kernel without %s", file)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if k.find() == nil {
		t.Error("a kernel that nobody has sealed")
	}
	if err := Seal(k.Image()); err != nil {
		t.Fatal(err)
	}
	if err := k.find(); err != nil || k.Release != "6.1.0-1-amd64" || k.Modules() != modules {
		t.Errorf("%+v: %v", k, err)
	}
}

// TestCannot is of a machine whose packages are not to be had.
func TestCannot(t *testing.T) {
	dir := t.TempDir()
	for tool, does := range map[string]string{"apt-get": "echo E: unable to locate >&2; exit 100", "dpkg-query": "echo 'ii  here 1.0'", "apt-cache": "exit 0"} {
		if err := os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"+does+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	var log strings.Builder
	m := &Machine{Log: &log}
	if err := m.Install("here"); err != nil || log.Len() > 0 {
		t.Errorf("of what is there: %v, %s", err, log.String())
	}
	if err := m.Install("here", "missing"); !errors.Is(err, ErrCannot) || !strings.Contains(err.Error(), "unable to locate") {
		t.Error(err)
	}
	if _, err := m.Kernel(dir, "6.1"); !errors.Is(err, ErrCannot) || !strings.Contains(err.Error(), "no kernel 6.1") {
		t.Error(err)
	}
}

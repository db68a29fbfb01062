package initramfs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// TestArchive has cpio(1), which is not ours, unpack two archives as the kernel does: one after the other.
func TestArchive(t *testing.T) {
	cpio := scratch.NeedTool(t, "cpio", "make deps")
	var both bytes.Buffer
	first := newArchive(&both)
	first.root()
	first.file("init", modeProg, []byte("#!/bin/sh\n"))
	first.file("/bin/tool", modeProg, []byte("x"))
	first.file("/bin/tool", modeProg, []byte("another one"))
	first.link("bin/other", "tool")
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	if both.Len()%4 != 0 {
		t.Errorf("the first archive has %d bytes: the next one would not begin at a multiple of 4", both.Len())
	}
	n := both.Len()
	second := newArchive(&both)
	second.file("lib/modules/a/b.ko", modeFile, bytes.Repeat([]byte("ko"), 5001))
	if err := second.close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, part := range [][]byte{both.Bytes()[:n], both.Bytes()[n:]} {
		cmd := exec.Command(cpio, "-idm", "--quiet", "-H", "newc")
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(part)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("cpio: %v: %s", err, out)
		}
	}
	for name, want := range map[string]string{
		"init": "#!/bin/sh\n", "bin/tool": "x", "bin/other": "x", "usr/bin/tool": "x",
		"lib/modules/a/b.ko": strings.Repeat("ko", 5001), "usr/lib/modules/a/b.ko": strings.Repeat("ko", 5001),
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v, %.20q of %d", name, err, got, len(got))
		}
	}
	for name, mode := range map[string]os.FileMode{"init": 0o755, "usr/lib/modules/a/b.ko": 0o644, "usr/lib": os.ModeDir | 0o755} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, err, info)
		}
	}
}

func TestClean(t *testing.T) {
	for name, want := range map[string]string{
		"/bin/sh": "usr/bin/sh", "lib64/ld.so": "usr/lib64/ld.so", "/usr/lib/x": "usr/lib/x", "library/x": "library/x",
		"/lib/../etc/passwd": "etc/passwd", "../x": "x", "/": "",
	} {
		if got := clean(name); got != want {
			t.Errorf("%q is at %q, want %q", name, got, want)
		}
	}
}

// TestClosure reads the index of modules as depmod writes it.
func TestClosure(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"modules.dep":     "kernel/a-b.ko.xz: kernel/c.ko.xz kernel/d.ko.xz\nkernel/c.ko.xz: kernel/d.ko.xz\nkernel/d.ko.xz:\n",
		"modules.builtin": "kernel/fs/in-it.ko\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := readModules(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ names, want, wrong string }{
		{"a_b", "kernel/a-b.ko.xz kernel/c.ko.xz kernel/d.ko.xz", ""},
		{"c a_b c", "kernel/c.ko.xz kernel/d.ko.xz kernel/a-b.ko.xz", ""},
		{"in_it ?nobody d", "kernel/d.ko.xz", ""},
		{"nobody", "", "has no module nobody"},
	} {
		got, err := m.closure(strings.Fields(c.names))
		if !slices.Equal(got, strings.Fields(c.want)) || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s needs %q (%v), want %q", c.names, got, err, c.want)
		}
	}
}

// TestOverlay has what a run adds lie behind the base.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	base, over := filepath.Join(dir, "base"), filepath.Join(dir, "over")
	if err := os.WriteFile(base, []byte("base"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Overlay{Plan: "echo planned\n", Trees: map[string]string{"/src/testdata": "."}}
	if err := o.Write(over, base); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(over)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"echo planned", "src/testdata/init.sh\x00", "src/testdata/initramfs_test.go\x00"} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("%q is not there", want)
		}
	}
	if !bytes.HasPrefix(got, []byte("base070701")) {
		t.Errorf("it begins with %.16q", got)
	}
	o.Programs = map[string]string{"/lab/test": filepath.Join(dir, "nothing")}
	if err := o.Write(over, base); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// TestInit has a shell read what guests begin with.
func TestInit(t *testing.T) {
	cmd := exec.Command("sh", "-n")
	cmd.Stdin = bytes.NewReader(initScript)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

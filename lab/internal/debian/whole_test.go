package debian

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWhole knows a file that is cut off, changed, or was never sealed.
func TestWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if Whole(file) || Seal(file) == nil {
		t.Error("nothing is whole")
	}
	write("all of it")
	if Whole(file) {
		t.Error("whole without a seal")
	}
	if err := Seal(file); err != nil || !Whole(file) {
		t.Errorf("not whole, %v", err)
	}
	for _, text := range []string{"", "all of i", "all of it.", "all of It"} {
		if write(text); Whole(file) {
			t.Errorf("%q is whole", text)
		}
	}
}

// TestTidy removes what is half done, and no more.
func TestTidy(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{".fetch-1/tree", ".build-2", "kernel-6.1.new/lib", "kernel-6.1"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := Tidy(dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "kernel-6.1" {
		t.Errorf("%v, %v", left, err)
	}
}

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/cli"
)

// TestManPages has man format every page with all warnings, and mandoc check them where
// it is.
func TestManPages(t *testing.T) {
	man, err := exec.LookPath("man")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no man here; make deps installs it")
		}
		t.Skip("no man here; make deps installs it")
	}
	dir := t.TempDir()
	var out bytes.Buffer
	if code := cli.Main(context.Background(), []string{"man", "--out", dir}, cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &out}); code != 0 {
		t.Fatalf("%d: %s", code, &out)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 12 {
		t.Fatalf("%v, %v", pages, err)
	}
	for _, page := range pages {
		cmd := exec.Command(man, "--warnings=w", "-E", "UTF-8", "-l", page)
		cmd.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8", "MANPAGER=cat", "GROFF_NO_SGR=1")
		var text, warnings bytes.Buffer
		cmd.Stdout, cmd.Stderr = &text, &warnings
		if err := cmd.Run(); err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v\n%s", filepath.Base(page), err, &warnings)
		}
		for _, want := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "--format", "SEE ALSO"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: no %s in\n%s", filepath.Base(page), want, &text)
			}
		}
	}
	if mandoc, err := exec.LookPath("mandoc"); err == nil {
		if lint, err := exec.Command(mandoc, append([]string{"-Tlint", "-Wwarning"}, pages...)...).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, lint)
		}
	}
}

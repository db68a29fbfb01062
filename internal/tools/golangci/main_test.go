package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain lets the test's program be golangci-lint.
func TestMain(m *testing.M) {
	if os.Getenv("BE_GOLANGCI") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// corpus are packages with many mistakes, and one with none.
var corpus = []string{"./analyzers/bwsyntax/testdata/bad", "./analyzers/testdata/life/bad", "./analyzers/testdata/life/good"}

// TestCorpus: it finds what `barewire-gen vet` finds, with the facts of packages that are imported.
func TestCorpus(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	var vet struct {
		Diagnostics []struct {
			Code, Message, File string
			Line                int
		}
	}
	runJSON(t, root, &vet, nil, "go", append([]string{"run", "./cmd/barewire-gen", "vet", "--format=json"}, corpus...)...)
	var want []string
	for _, d := range vet.Diagnostics {
		want = append(want, fmt.Sprintf("%s:%d: %s [%s]", filepath.Base(d.File), d.Line, d.Message, d.Code))
	}

	config, err := filepath.Abs("testdata/golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var lint struct {
		Issues []struct {
			Text string
			Pos  struct {
				Filename string
				Line     int
			}
		}
	}
	env := []string{"BE_GOLANGCI=1", "GOLANGCI_LINT_CACHE=" + t.TempDir()}
	runJSON(t, root, &lint, env, self, append([]string{"run", "--config", config, "--show-stats=false", "--output.json.path=stdout"}, corpus...)...)
	var got []string
	for _, i := range lint.Issues {
		_, text, _ := strings.Cut(i.Text, ": ") // the analyzer's name
		if n := strings.Index(text, " [BW"); n >= 0 {
			text = text[:n+len(" [BW5001]")] // places follow
		}
		got = append(got, fmt.Sprintf("%s:%d: %s", filepath.Base(i.Pos.Filename), i.Pos.Line, text))
	}

	slices.Sort(want)
	slices.Sort(got)
	t.Logf("vet finds %d, golangci-lint %d", len(want), len(got))
	if len(want) < 100 {
		t.Errorf("vet finds only %d", len(want))
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("golangci-lint does not find %s", w)
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("golangci-lint alone finds %s", g)
		}
	}
}

// runJSON runs a program that ends with 1 where it finds something, and reads what it writes.
func runJSON(t *testing.T, dir string, to any, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var code *exec.ExitError
	if err := cmd.Run(); err != nil && (!errors.As(err, &code) || code.ExitCode() != 1) {
		t.Fatalf("%s: %v\n%s", name, err, errs.Bytes())
	}
	// golangci-lint writes a line behind the document.
	if err := json.NewDecoder(&out).Decode(to); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, errs.Bytes())
	}
}

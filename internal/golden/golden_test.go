package golden_test

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fidelityframework/barewire-gen/internal/golden"
)

const corpus = "../../testdata/golden/*.txtar"

// TestCorpus runs the command over each golden file: what it says of the
// schemas, what it draws, what it writes. The text above the first section may
// have a line "flags: …" for generate.
func TestCorpus(t *testing.T) {
	tool := build(t)
	isInput := func(name string) bool { return strings.HasSuffix(name, ".bare") }
	golden.Run(t, corpus, isInput, func(t *testing.T, notes string, in []txtar.File) (out []txtar.File) {
		// All files lie in a package called golden.
		dir := filepath.Join(t.TempDir(), "golden")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range in {
			names = append(names, f.Name)
			write(t, filepath.Join(dir, f.Name), f.Data)
		}
		run := func(args ...string) (stdout, stderr []byte, ok bool) {
			t.Helper()
			cmd := exec.Command(tool, append(args, names...)...)
			cmd.Dir = dir
			var o, e bytes.Buffer
			cmd.Stdout, cmd.Stderr = &o, &e
			err := cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code > 1 {
				t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, e.Bytes())
			}
			return o.Bytes(), e.Bytes(), err == nil
		}
		section := func(name string, data []byte) {
			if len(data) > 0 {
				out = append(out, txtar.File{Name: name, Data: data})
			}
		}
		_, findings, ok := run("check", "--color=never")
		section("diagnostics.txt", findings)
		if !ok {
			return out
		}
		drawing, _, _ := run("layout")
		section("layout.txt", drawing)
		for l := range strings.Lines(string(drawing)) {
			if len(strings.TrimSpace(l)) > 80 {
				t.Errorf("layout takes more than 80 columns: %s", l)
			}
		}
		flags := []string{"generate"}
		for l := range strings.Lines(notes) {
			if f, ok := strings.CutPrefix(l, "flags:"); ok {
				flags = append(flags, strings.Fields(f)...)
			}
		}
		run(flags...)
		written, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range written {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			formatted, err := format.Source(text)
			if err != nil || !bytes.Equal(formatted, text) {
				t.Errorf("%s is not as gofmt would have it (%v)", filepath.Base(name), err)
			}
			section(filepath.Base(name), text)
		}
		return out
	})
}

// TestCorpusBuilds builds and vets the Go of every golden file, for the
// machines that the project promises.
func TestCorpusBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages; left out by -short")
	}
	// A directory of this module, so that the runtime is found; the go command
	// passes over names that begin with an underscore.
	dir, err := os.MkdirTemp(".", "_build")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	var packages []string
	files, err := filepath.Glob(corpus)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		into := filepath.Join(dir, strings.TrimSuffix(filepath.Base(name), ".txtar"))
		n := 0
		for _, f := range a.Files {
			if filepath.Ext(f.Name) == ".go" {
				n++
				if err := os.MkdirAll(into, 0o777); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(into, f.Name), f.Data)
			}
		}
		if n > 0 {
			packages = append(packages, "./"+filepath.ToSlash(into))
		}
	}
	if len(packages) == 0 {
		t.Fatal("no golden file has Go in it")
	}
	goCommand(t, "", "vet", packages)
	for _, arch := range []string{"amd64", "arm64", "386", "s390x"} {
		goCommand(t, arch, "build", packages)
	}
}

func goCommand(t *testing.T, arch, verb string, packages []string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{verb}, packages...)...)
	if arch != "" {
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go %s (%s): %v\n%s", verb, arch, err, out)
	}
}

// build builds the command. Going through it, and not through the packages
// behind it, the goldens prove what users get.
func build(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "barewire-gen")
	if out, err := exec.Command("go", "build", "-o", tool, "../../cmd/barewire-gen").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return tool
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestRefreshFails: a run that refreshes is never green, and one that has
// nothing to refresh is.
func TestRefreshFails(t *testing.T) {
	if os.Getenv("GOLDEN_INNER") != "" {
		golden.Run(t, os.Getenv("GOLDEN_INNER"), func(name string) bool { return name == "in" }, func(t *testing.T, notes string, in []txtar.File) []txtar.File {
			return []txtar.File{{Name: "out", Data: bytes.ToUpper(in[0].Data)}}
		})
		return
	}
	file := filepath.Join(t.TempDir(), "a.txtar")
	inner := func(update string) (string, bool) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRefreshFails$", "-test.v")
		cmd.Env = append(os.Environ(), "GOLDEN_INNER="+file, golden.UpdateVar+"="+update)
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
	for _, step := range []struct {
		name, content, update string
		ok                    bool
		says                  string
	}{
		{"a difference fails", "note\n-- in --\nabc\n-- out --\nABX\n", "", false, "-ABX"},
		{"a missing section fails", "-- in --\nabc\n", "", false, "is not in the golden file"},
		{"a section too many fails", "-- in --\nabc\n-- out --\nABC\n-- more --\n", "", false, "nothing makes it"},
		{"another file's refresh changes nothing", "note\n-- in --\nabc\n-- out --\nABX\n", "b.*", false, "-ABX"},
		{"a refresh fails", "note\n-- in --\nabc\n-- out --\nABX\n", "a.*", false, "refreshed"},
		{"then all is well", "", "", true, ""},
		{"a refresh of what is right is well", "", "*", true, ""},
	} {
		t.Run(step.name, func(t *testing.T) {
			if step.content != "" {
				write(t, file, []byte(step.content))
			}
			out, ok := inner(step.update)
			if ok != step.ok || !strings.Contains(out, step.says) {
				t.Errorf("passed: %v, want %v, saying %q:\n%s", ok, step.ok, step.says, out)
			}
		})
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != "note\n-- in --\nabc\n-- out --\nABC\n" {
		t.Errorf("the refreshed file is %q (%v)", now, err)
	}
}

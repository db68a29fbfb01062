package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/cli"
)

// exampled are the commands whose examples run here, with what they may end with.
var exampled = map[string][]int{
	"check": {0}, "fmt": {0, 1}, "lint": {0}, "compat": {0, 1}, "layout": {0}, "explain": {0}, "doc": {0},
}

const exampleSchema = `# One reading.
type Sample struct {
  seq: u64
  at:  u64
}
`

// TestExamplesOfHelp runs the examples that the help of a command shows, in a directory that has what they name.
func TestExamplesOfHelp(t *testing.T) {
	for name, codes := range exampled {
		t.Run(name, func(t *testing.T) {
			exampleDir(t)
			help, code := runCommand("help", name)
			_, rest, found := strings.Cut(help, "Examples:\n")
			if code != 0 || !found {
				t.Fatalf("no example in the help of %s: %d\n%s", name, code, help)
			}
			examples, _, _ := strings.Cut(rest, "\n\n")
			for line := range strings.Lines(examples) {
				words := strings.Fields(line)
				if len(words) < 2 || words[0] != "barewire-gen" {
					t.Errorf("no command line: %q", line)
					continue
				}
				out, code := runCommand(words[1:]...)
				fits := false
				for _, c := range codes {
					fits = fits || c == code
				}
				if !fits {
					t.Errorf("%q ends with %d\n%s", line, code, out)
				}
			}
		})
	}
}

func runCommand(args ...string) (string, int) {
	var out bytes.Buffer
	code := cli.Main(context.Background(), args, cli.Stdio{In: strings.NewReader(exampleSchema), Out: &out, Err: &out})
	return out.String(), code
}

// exampleDir is a directory with a schema, an older version of it, its lock file, all in a git repository.
func exampleDir(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"telemetry.bare": exampleSchema} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := runCommand("lint", "--lock=bare.lock", "--write-lock", "telemetry.bare"); code != 0 {
		t.Fatal(out)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "x"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			if os.Getenv("CI") == "" {
				t.Skipf("git: %v\n%s", err, out)
			}
			t.Fatalf("git: %v\n%s", err, out)
		}
	}
}

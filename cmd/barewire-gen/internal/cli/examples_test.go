package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamples: every command's help has an example, and a script runs each of them.
func TestExamples(t *testing.T) {
	scripts, err := filepath.Glob("../../testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%v, %v", scripts, err)
	}
	run := map[string]bool{}
	for _, name := range scripts {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(string(b), "\n-- ")
		for line := range strings.Lines(text) {
			for _, how := range []string{"exec exits 0 ", "exec exits 1 ", "exec sh -c '"} {
				if line, ok := strings.CutPrefix(line, how); ok {
					run[strings.Trim(line, " '\n")] = true
				}
			}
		}
	}
	root := (&app{in: strings.NewReader(""), out: io.Discard, err: io.Discard}).root()
	each(root, func(c *cobra.Command) {
		if !c.IsAvailableCommand() && c.Name() != "help" {
			return
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			line = strings.TrimSpace(line)
			for _, cut := range []string{" | ", " > ", " # "} {
				line, _, _ = strings.Cut(line, cut)
			}
			line = strings.TrimSpace(strings.TrimPrefix(line, "//go:generate go tool "))
			if !run[line] {
				t.Errorf("no script runs the example of %s: %s", c.CommandPath(), line)
			}
		}
	})
}

// each visits the commands below one.
func each(c *cobra.Command, f func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		f(sub)
		each(sub, f)
	}
}

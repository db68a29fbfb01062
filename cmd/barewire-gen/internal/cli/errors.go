package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// exitError ends a command with a code after it has told the user why.
type exitError int

const (
	errFindings = exitError(exitFindings)
	errInternal = exitError(exitInternal)
)

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usageError is a command line that cannot be meant.
type usageError struct {
	command string // whose help says more
	message string
}

func (e *usageError) Error() string { return e.message }

func usagef(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{cmd.CommandPath(), fmt.Sprintf(format, args...)}
}

// unknown is a word that is none of those that could stand there.
func unknown(what, word string, known []string, cmd *cobra.Command) error {
	if n := nearest(word, known); n != "" {
		return usagef(cmd, "unknown %s `%s`; did you mean `%s`?", what, word, n)
	}
	return usagef(cmd, "unknown %s `%s`; there are %s", what, word, strings.Join(known, ", "))
}

// plainError says what the system said, without the name of the call: "x.bare:
// no such file or directory".
func plainError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

// bug reports a fault of ours.
func (a *app) bug(err error, details []byte) {
	fmt.Fprintf(a.err, "internal error: %v [%s]\n", err, diag.Internal)
	fmt.Fprintf(a.err, "This is a bug in %s, not in what you gave it. Please report it at\n", tool)
	fmt.Fprintf(a.err, "https://github.com/fidelityframework/barewire-gen/issues with the schema or the code, and this text.\n")
	fmt.Fprintf(a.err, "%s, %s, %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if len(details) > 0 {
		fmt.Fprintf(a.err, "\n%s", details)
	}
}

// generatorBug reports a fault of the generator, and keeps what it wrote.
func (a *app) generatorBug(bug *gen.InternalError) {
	a.bug(bug, nil)
	if bug.Raw == nil {
		return
	}
	f, err := os.CreateTemp("", tool+"-*.go.txt")
	if err != nil {
		return // the report above stands without it
	}
	_, err = f.Write(bug.Raw)
	if cerr := f.Close(); err == nil && cerr == nil {
		fmt.Fprintf(a.err, "What was generated is kept in %s.\n", f.Name())
	}
}

var errSpec = errors.New("the drafts with rules of their own are 11, 12, 13 and 14")

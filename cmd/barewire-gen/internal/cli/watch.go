package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Files are looked at, not listened to: that works on every file system, network and
// shared ones too, needs no library, and for the few files of schemas costs nothing that
// could be measured.
const (
	lookEvery = 200 * time.Millisecond
	settle    = 60 * time.Millisecond // files must not change for so long: editors write in steps
)

// watch generates now, and again whenever a schema has changed, comes or goes, until
// somebody interrupts it. Errors are shown, and it goes on.
func (a *app) watch(cmd *cobra.Command, args []string, f generateFlags) error {
	switch {
	case f.check:
		return usagef(cmd, "--watch writes, and --check does not")
	case a.format.IsMachine():
		return usagef(cmd, "--watch is for people; --format is text or short")
	case len(args) == 0:
		return usagef(cmd, "no schema given: name files or directories, as in `%s --watch .`", cmd.CommandPath())
	}
	if _, err := f.options(cmd); err != nil {
		return err
	}
	last := ""
	for ctx := cmd.Context(); ; {
		if now := a.settled(ctx, args); now != last {
			last = now
			if err := a.generateOnce(cmd, args, f); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil // to be interrupted is how this ends
		case <-time.After(lookEvery):
		}
	}
}

// generateOnce generates, and tells the time and how it went. The error is a command line
// that will never be right, or a bug of ours.
func (a *app) generateOnce(cmd *cobra.Command, args []string, f generateFlags) error {
	err := a.generate(cmd, args, f)
	var usage *usageError
	var code exitError
	switch {
	case errors.As(err, &usage), errors.Is(err, errInternal):
		return err
	case cmd.Context().Err() != nil:
		return nil
	case errors.As(err, &code): // it has told why
	case err != nil:
		if c := a.exitCode(err); c == exitInternal {
			return errInternal
		}
	}
	if !a.quiet {
		what := "generated"
		if err != nil {
			what = "not generated; waiting for a change"
		}
		fmt.Fprintf(a.err, "%s %s\n", time.Now().Format(time.TimeOnly), what)
	}
	return nil
}

// settled is what the schemas look like when they have not changed for a moment.
func (a *app) settled(ctx context.Context, args []string) string {
	now := a.look(args)
	for ctx.Err() == nil {
		time.Sleep(settle)
		again := a.look(args)
		if again == now {
			break
		}
		now = again
	}
	return now
}

// look describes the schemas as they are: names, sizes, times.
func (a *app) look(args []string) string {
	var files []string
	for _, arg := range args {
		files = append(files, a.path(arg))
		found, _ := schemasIn(a.path(arg)) // a file is no directory; what is wrong with one, generate says
		for _, name := range found {
			files = append(files, filepath.Join(a.path(arg), name))
		}
	}
	slices.Sort(files)
	var b strings.Builder
	for _, name := range files {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			fmt.Fprintf(&b, "%s: none\n", name)
		case info.IsDir(): // its times change with what we write into it
		default:
			fmt.Fprintf(&b, "%s: %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

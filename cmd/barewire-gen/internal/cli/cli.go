// Package cli is the command line of barewire-gen, one file per command.
//
// Results go to the standard output, diagnostics for people to the standard
// error, machine formats to the standard output. Exit codes are part of the
// interface: see the constants.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/terminal"
	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// Exit codes.
const (
	exitClean    = 0
	exitFindings = 1 // errors in the schema, or a difference that was asked for
	exitUsage    = 2 // a wrong command line, or a file that cannot be read or written
	exitInternal = 3 // a bug of ours
)

const tool = "barewire-gen"

// Stdio is where a run reads from and writes to.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs one command line, without the program's name, and returns the exit
// code. It never panics.
func Main(ctx context.Context, args []string, std Stdio) (code int) {
	out := &stickyWriter{w: std.Out}
	a := &app{in: std.In, out: out, screen: std.Out, err: std.Err, format: report.Text}
	defer func() {
		if p := recover(); p != nil {
			a.bug(fmt.Errorf("panic: %v", p), debug.Stack())
			code = exitInternal
		}
	}()
	root := a.root()
	root.SetArgs(args)
	root.SetIn(std.In)
	root.SetOut(out)
	root.SetErr(std.Err)
	err := root.ExecuteContext(ctx)
	if out.err != nil && errors.Is(err, out.err) {
		err = nil // it is told below, once
	}
	code = a.exitCode(err)
	switch {
	case out.err == nil, code == exitInternal:
	case errors.Is(out.err, syscall.EPIPE):
		// Whoever read our output has had enough of it.
	default:
		fmt.Fprintf(a.err, "%s: writing the output: %v\n", tool, cause(out.err))
		return exitUsage
	}
	return code
}

// app is one run of the command.
type app struct {
	in  io.Reader
	out io.Writer
	err io.Writer

	screen io.Writer // what out writes to, which may be a terminal

	dir     string         // -C
	gitDir  string         // where git works, if not in dir
	ref     string         // what git calls the commit that an older version was read from
	mends   *report.Mended // what --fix made
	format  report.Format
	color   string
	quiet   bool
	verbose bool
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   tool,
		Short: "Compile annotated BARE schemas into Go",
		Long: `Barewire-gen compiles annotated BARE schemas into Go: value types, a codec, and
views that read a message where it lies. It also finds misuse of regions in Go code.

Exit codes: 0 clean, 1 findings or a difference, 2 usage, configuration or
input/output, 3 a bug in barewire-gen.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknown("command", args[0], commandNames(cmd), cmd)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return usagef(cmd, "no command given; try `%s help`", tool)
		},
		PersistentPreRunE: a.prepare,
	}
	f := root.PersistentFlags()
	f.StringVar((*string)(&a.format), "format", string(report.Text), "how findings are written: text, short, json, sarif or github")
	f.StringVar(&a.color, "color", "auto", "color the text: auto, always or never; NO_COLOR is honoured")
	f.StringVarP(&a.dir, "chdir", "C", "", "work in this `directory`")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "show errors only")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "say what is done, and show remarks")
	root.MarkFlagsMutuallyExclusive("quiet", "verbose")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usagef(cmd, "%v", err) })
	root.AddCommand(
		a.generateCommand(), a.checkCommand(), a.fmtCommand(), a.layoutCommand(),
		a.doctorCommand(),
		a.inspectCommand(), a.lspCommand(), a.initCommand(), a.manCommand(),
		a.vetCommand(), a.explainCommand(), a.versionCommand(), a.completionCommand(),
	)
	root.AddCommand(a.lintCommand(), a.compatCommand(), a.docCommand())
	root.SetHelpCommand(helpCommand())
	a.complete(root)
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// formatsOf are the formats of the commands that do not have all of them: those that find nothing in files have none for
// findings, and a page or a script has one form.
var formatsOf = map[string][]report.Format{
	"explain": {report.Text, report.Short, report.JSON},
	"doctor":  {report.Text, report.Short, report.JSON},
	"version": {report.Text, report.Short, report.JSON},
	"init":    {report.Text, report.Short, report.JSON},
	"man":     {report.Text}, "completion": {report.Text}, "lsp": {report.Text},
}

// prepare checks the flags that every command has.
func (a *app) prepare(cmd *cobra.Command, args []string) error {
	if !slices.Contains(report.Formats, a.format) {
		return unknown("format", string(a.format), namesOf(report.Formats), cmd)
	}
	if has, limited := formatsOf[cmd.Name()]; limited && !slices.Contains(has, a.format) {
		return usagef(cmd, "`%s` has nothing to write as %s; its formats: %s", cmd.CommandPath(), a.format, strings.Join(namesOf(has), ", "))
	}
	switch a.color {
	case "auto", "always", "never":
	default:
		return unknown("color", a.color, []string{"auto", "always", "never"}, cmd)
	}
	if err := notEmpty(cmd); err != nil {
		return err
	}
	if err := cmd.ValidateFlagGroups(); err != nil {
		return together(cmd, err)
	}
	if a.dir != "" {
		info, err := os.Stat(a.dir)
		if err != nil {
			return plainError(err)
		}
		if !info.IsDir() {
			return fmt.Errorf("-C %s: not a directory", a.dir)
		}
	}
	return cmd.Context().Err()
}

func namesOf(formats []report.Format) (names []string) {
	for _, f := range formats {
		names = append(names, string(f))
	}
	return names
}

// mayBeEmpty are the flags whose empty value is one: a message of no bytes, and no build tags.
var mayBeEmpty = []string{"hex", "tags"}

// notEmpty refuses a flag that was given and is empty, as where a variable of a script is not set. Taken for the default,
// it would have the command do something else than it was asked.
func notEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		kind, value := f.Value.Type(), f.Value.String()
		empty := kind == "string" && value == "" || kind == "stringSlice" && value == "[]"
		if empty && err == nil && !slices.Contains(mayBeEmpty, f.Name) {
			err = usagef(cmd, "--%s is empty; give it a value, or leave it out", f.Name)
		}
	})
	return err
}

// allSet ends cobra's words about flags of which there may be one.
var allSet = regexp.MustCompile(`\[([^\[\]]+)\] were all set$`)

// together says which flags do not go together.
func together(cmd *cobra.Command, err error) error {
	m := allSet.FindStringSubmatch(err.Error())
	if m == nil {
		return usagef(cmd, "%v", err)
	}
	names := strings.Fields(m[1])
	last := len(names) - 1
	return usagef(cmd, "--%s and --%s do not go together", strings.Join(names[:last], ", --"), names[last])
}

// report writes what was found where it belongs, and returns errFindings if
// an error is among it.
func (a *app) report(l diag.List, files ...report.File) error {
	shown, w := l, a.err
	if a.format.IsMachine() {
		w = a.out
	} else if a.quiet {
		shown = errorsOf(l)
	}
	err := report.Write(w, shown, report.Options{
		Format: a.format, Color: a.colored(w), Width: terminal.Prose(w), Limit: report.Limit, Tool: tool, Version: version(), Files: files, Git: a.ref, Mended: a.mends,
	})
	for _, d := range l {
		if d.Code == diag.Internal {
			return errInternal
		}
	}
	if l.HasErrors() {
		return errFindings
	}
	return err
}

// errorsOf leaves warnings and remarks out.
func errorsOf(l diag.List) (errs diag.List) {
	for _, d := range l {
		if d.Severity == diag.Error {
			errs = append(errs, d)
		}
	}
	return errs
}

// withoutRemarks leaves out what is only worth knowing, unless it was asked for.
func (a *app) withoutRemarks(l diag.List) (kept diag.List) {
	if a.verbose || a.format.IsMachine() {
		return l
	}
	for _, d := range l {
		if d.Severity != diag.Info {
			kept = append(kept, d)
		}
	}
	return kept
}

// colored reports whether text to w is colored.
func (a *app) colored(w io.Writer) bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	f, ok := w.(*os.File)
	return ok && terminal.Colors(f)
}

// say tells what is done, where -v asks for it.
func (a *app) say(format string, args ...any) {
	if a.verbose {
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}

// stickyWriter keeps the first error, so that no command need look at each
// write to know that its output did not arrive.
type stickyWriter struct {
	w   io.Writer
	err error
}

// Write writes p, or returns the error of an earlier write.
func (s *stickyWriter) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

// exitCode turns what a command returned into an exit code, and tells the user.
func (a *app) exitCode(err error) int {
	var code exitError
	var usage *usageError
	var bug *gen.InternalError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &bug):
		a.generatorBug(bug)
		return exitInternal
	case errors.Is(err, syscall.EPIPE):
		return exitClean
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(a.err, "%s: interrupted\n", tool)
		return exitUsage
	case errors.As(err, &usage):
		fmt.Fprintf(a.err, "%s: %v\n", tool, usage)
		fmt.Fprintf(a.err, "Run `%s --help` for usage.\n", usage.command)
		return exitUsage
	}
	fmt.Fprintf(a.err, "%s: %v\n", tool, err)
	return exitUsage
}

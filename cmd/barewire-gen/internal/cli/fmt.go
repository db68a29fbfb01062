package cli

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/printer"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

type fmtFlags struct{ diff, list, write bool }

func (a *app) fmtCommand() *cobra.Command {
	var f fmtFlags
	cmd := &cobra.Command{
		Use:   "fmt [file|directory|-]...",
		Short: "Format schemas",
		Long: `Fmt writes schemas in the standard form and in the new spelling, and keeps every
comment. Without a flag it writes the result to the standard output; without an
argument, or with -, it reads the standard input. A file with syntax errors is not touched.

With -l or -d, and without -w, the exit code is 1 if a file is not in the
standard form; --format=github or sarif says which and where.`,
		Example: "  barewire-gen fmt -w .\n  barewire-gen fmt -d telemetry.bare",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{stdinArg}
			}
			if f.write && args[0] == stdinArg {
				return usagef(cmd, "-w cannot write to the standard input")
			}
			files, err := a.load(cmd, args, true)
			if err != nil {
				return err
			}
			return a.formatAll(files, f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVarP(&f.diff, "diff", "d", false, "show what would change")
	fl.BoolVarP(&f.list, "list", "l", false, "list files that are not in the standard form")
	fl.BoolVarP(&f.write, "write", "w", false, "write the result to the file")
	return cmd
}

// formatAll formats each file by itself, and goes on after one with errors.
func (a *app) formatAll(files []*source.File, f fmtFlags) error {
	var found, unformatted diag.List
	var results bytes.Buffer // what goes to the standard output
	var states []report.File
	differs := false
	for _, file := range files {
		tree, errs := parser.Parse(file)
		if errs.HasErrors() {
			found = append(found, errs...)
			continue
		}
		o := &output{path: a.path(file.Name()), shown: file.Name(), content: printer.Format(tree), exists: true, old: file.Text()}
		differs = differs || !o.same()
		if err := a.formatted(&results, o, f); err != nil {
			_, lost := a.out.Write(results.Bytes()) // of the files before it
			return errors.Join(err, lost)
		}
		state := o.state()
		switch {
		case o.same():
		case f.write:
			state = "written"
		case a.format.IsFindings() && (f.list || f.diff):
			unformatted = append(unformatted, o.differs("the schema is not in the standard form", "run `"+tool+" fmt -w`"))
		}
		states = append(states, report.File{Name: o.shown, State: state})
	}
	// What is formatted goes to the standard output, where nobody could tell it from
	// findings in JSON: with those it is not written.
	if len(found) == 0 || !a.format.IsMachine() {
		if _, err := a.out.Write(results.Bytes()); err != nil {
			return err
		}
	}
	if a.format.IsMachine() && (f.list || f.diff || f.write) || len(found) > 0 {
		if err := a.report(append(found, unformatted...), states...); err != nil {
			return err
		}
	}
	if differs && (f.list || f.diff) && !f.write {
		return errFindings
	}
	return nil
}

// formatted does with one file what the flags ask for.
func (a *app) formatted(results *bytes.Buffer, o *output, f fmtFlags) error {
	if !f.list && !f.diff && !f.write {
		results.Write(o.content)
		return nil
	}
	if o.same() {
		return nil
	}
	if f.list && !a.format.IsMachine() {
		fmt.Fprintln(results, o.shown)
	}
	if f.diff && !a.format.IsMachine() {
		fmt.Fprintf(results, "%s", diff.Diff(o.shown, o.old, o.shown+" (formatted)", o.content))
	}
	if !f.write {
		return nil
	}
	now := &output{path: o.path, shown: o.shown}
	if err := now.loadAny(); err != nil {
		return err
	}
	if !bytes.Equal(now.old, o.old) {
		return errors.New(o.shown + ": changed while it was being formatted; left alone")
	}
	o.mode = now.mode
	a.say("formatted %s", o.shown)
	return write([]*output{o})
}

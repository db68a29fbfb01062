package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/lint"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

type lintFlags struct {
	list, fix, diff, breaking, strict, writeLock bool

	lock, published string
	spec            specFlag
}

func (a *app) lintCommand() *cobra.Command {
	var f lintFlags
	cmd := &cobra.Command{
		Use:   "lint file|directory|-...",
		Short: "Find what would be better in schemas, and mend it",
		Long: `Lint finds what check finds, what other compilers would refuse, and what would be
better: padding or an order that makes a type castable, fields in two cache lines,
types that nothing uses, rights that neither a reference carries nor the program grants: of a
package main, the Go files beside the schema are read. Errors and warnings end
with exit code 1, remarks do not, but with --strict.

--fix writes what can be mended into the files and keeps every comment. What would change the
wire, hashes, or names in Go is mended with --breaking only. A file in the standard form stays in it.

--lock holds the schema to a file with the hashes of published types, which may
not change; --write-lock adds types that are new to it. --published does the same with an
older version: a file, a directory or git:ref[:path].`,
		Example: "  barewire-gen lint telemetry.bare\n  barewire-gen lint --fix .\n  barewire-gen lint --lock=bare.lock .\n  barewire-gen lint --list",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				if len(args) > 0 {
					return usagef(cmd, "--list shows the rules, and takes no files")
				}
				if other := besideList(cmd); other != "" {
					return usagef(cmd, "--list shows the rules, and --%s does not go with it", other)
				}
				if a.format == report.SARIF || a.format == report.GitHub {
					return usagef(cmd, "--list has text and JSON; findings have %s", a.format)
				}
				return a.lintRules()
			}
			if err := f.check(cmd, args); err != nil {
				return err
			}
			files, err := a.load(cmd, args, true)
			if err != nil {
				return err
			}
			if f.fix || f.diff {
				return a.lintFix(cmd, args, files, f)
			}
			return a.lint(cmd, args, files, f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.list, "list", false, "list the rules")
	fl.BoolVar(&f.fix, "fix", false, "mend what can be mended")
	fl.BoolVar(&f.diff, "diff", false, "show what --fix would change, and write nothing")
	fl.BoolVar(&f.breaking, "breaking", false, "with --fix or --diff: also what changes the wire, hashes, or names in Go")
	fl.BoolVar(&f.strict, "strict", false, "remarks, too, end with exit code 1")
	fl.StringVar(&f.lock, "lock", "", "hold the schema to the published types in this `file`")
	fl.BoolVar(&f.writeLock, "write-lock", false, "with --lock: add types that are not in the file yet")
	fl.StringVar(&f.published, "published", "", "hold the schema to an older `version`: a file, a directory, or git:ref[:path]")
	f.spec.bind(cmd)
	return cmd
}

// besideList is a flag that asks for something else than the rules; empty where there is none.
func besideList(cmd *cobra.Command) (name string) {
	cmd.LocalNonPersistentFlags().VisitAll(func(fl *pflag.Flag) {
		if fl.Changed && fl.Name != "list" {
			name = fl.Name
		}
	})
	return name
}

// check refuses flags that mean nothing together.
func (f *lintFlags) check(cmd *cobra.Command, args []string) error {
	for _, name := range []string{"lock", "published"} {
		if fl := cmd.Flag(name); fl.Changed && fl.Value.String() == "" {
			return usagef(cmd, "--%s is empty: name what to hold the schema to, or leave it out", name)
		}
	}
	switch {
	case f.breaking && !f.fix && !f.diff:
		return usagef(cmd, "--breaking says what --fix or --diff may change; name one of them")
	case f.writeLock && f.lock == "":
		return usagef(cmd, "--write-lock needs the file: --lock=bare.lock")
	case (f.fix || f.diff) && (f.lock != "" || f.published != ""):
		return usagef(cmd, "--fix and --diff do not go with --lock and --published: mend first, then compare")
	case f.fix && f.diff:
		return usagef(cmd, "--fix writes, and --diff shows what it would write; name one of them")
	case f.fix && slices.Contains(args, stdinArg):
		return usagef(cmd, "--fix cannot write to the standard input; --diff shows what it would change")
	}
	return nil
}

// lint reports what is found.
func (a *app) lint(cmd *cobra.Command, args []string, files []*source.File, f lintFlags) error {
	s, found := schema.CompileAndLint(files, schema.Options{Spec: int(f.spec), Granted: a.granted()})
	if s != nil {
		edited, err := a.edited(cmd, args, s, f)
		if err != nil {
			return err
		}
		found = append(found, edited...)
		found.Sort(files)
		if f.writeLock && !edited.HasErrors() {
			if err := a.writeLock(s, f.lock); err != nil {
				return err
			}
		}
	}
	return a.lintReport(found, f.strict)
}

// lintReport writes findings. A warning is enough for exit code 1.
func (a *app) lintReport(found diag.List, strict bool, files ...report.File) error {
	if err := a.report(found, files...); err != nil {
		return err
	}
	for _, d := range found {
		if d.Severity == diag.Warning || strict {
			return errFindings
		}
	}
	return nil
}

// edited finds types that are published and were edited.
func (a *app) edited(cmd *cobra.Command, args []string, s *schema.Schema, f lintFlags) (found diag.List, err error) {
	if f.lock != "" {
		locked, err := a.locked(f)
		if err != nil {
			return nil, err
		}
		found = append(found, lint.Edited(s.Schema, locked)...)
	}
	if f.published != "" {
		before, err := a.older(cmd, f.published, args)
		if err != nil {
			return nil, err
		}
		old, list := schema.Compile(before, schema.Options{})
		if old == nil {
			return nil, fmt.Errorf("the published version does not compile: %w", list.Err())
		}
		found = append(found, lint.Edited(s.Schema, lint.PublishedIn(old.Schema))...)
	}
	return found, nil
}

// locked reads the lock file. One that is not there is empty where it is to be written.
func (a *app) locked(f lintFlags) ([]lint.Published, error) {
	text, err := os.ReadFile(a.path(f.lock))
	if f.writeLock && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, plainError(err)
	}
	locked, err := lint.ParseLock(source.NewFile(f.lock, text))
	if err == nil && len(locked) == 0 && !f.writeLock {
		return nil, fmt.Errorf("%s locks no type, so there is nothing to hold the schema to; --write-lock adds its types", f.lock)
	}
	return locked, err
}

// writeLock adds the types of a schema to the lock file.
func (a *app) writeLock(s *schema.Schema, name string) error {
	locked, err := a.locked(lintFlags{lock: name, writeLock: true})
	if err != nil {
		return err
	}
	var added []lint.Published
	for _, p := range lint.PublishedIn(s.Schema) {
		if !slices.ContainsFunc(locked, func(l lint.Published) bool { return l.Package == p.Package && l.Name == p.Name }) {
			added = append(added, p)
		}
	}
	o := &output{path: a.path(name), shown: name}
	if err := o.loadAny(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o.content = o.old
	if len(added) > 0 || !o.exists {
		o.content = lint.ExtendLock(source.NewFile(name, o.old), locked, added)
	}
	if err := write([]*output{o}); err != nil {
		return err
	}
	if !a.format.IsMachine() && !a.quiet {
		fmt.Fprintf(a.out, "%s: %d types added, %d locked\n", name, len(added), len(locked)+len(added))
	}
	return nil
}

// lintFix mends files, or shows what would change.
func (a *app) lintFix(cmd *cobra.Command, args []string, files []*source.File, f lintFlags) error {
	opts := schema.Options{Spec: int(f.spec), Granted: a.granted()}
	fixed := schema.Fix(files, schema.FixOptions{Options: opts, Breaking: f.breaking})
	var outs []*output
	var states []report.File
	for i, file := range files {
		o := &output{path: a.path(file.Name()), shown: file.Name(), content: fixed.Files[i].Text(), exists: true, old: file.Text()}
		state := o.state()
		if f.diff && !o.same() && !a.format.IsMachine() {
			fmt.Fprintf(a.out, "%s", diff.Diff(o.shown, o.old, o.shown+" (mended)", o.content))
		}
		if f.fix && !o.same() {
			now := &output{path: o.path, shown: o.shown}
			if err := now.loadAny(); err != nil {
				return err
			}
			if string(now.old) != string(o.old) {
				return errors.New(o.shown + ": changed while it was being mended; left alone")
			}
			o.mode = now.mode
			outs, state = append(outs, o), "written"
		}
		states = append(states, report.File{Name: o.shown, State: state})
	}
	if err := write(outs); err != nil {
		return err
	}
	a.mends = &report.Mended{Made: len(fixed.Applied), Held: fixed.Holds, Refused: fixed.Refused, Stopped: fixed.Stopped}
	if !a.format.IsMachine() && !a.quiet {
		a.mended(fixed)
	}
	left := fixed.Left
	if f.diff && a.format.IsFindings() {
		// What would change stands in no diff there, so all that is found is reported, where it is in the files as they are.
		_, left = schema.CompileAndLint(files, opts)
	}
	if err := a.lintReport(left, f.strict, states...); err != nil {
		return err
	}
	if f.diff && slices.ContainsFunc(states, func(s report.File) bool { return s.State != "unchanged" }) {
		return errFindings
	}
	return nil
}

// mended says what was mended, and what was held back.
func (a *app) mended(f schema.Fixed) {
	for _, d := range f.Applied {
		fmt.Fprintf(a.err, "mended: %s [%s]\n", d.Message, d.Code)
	}
	if f.Holds > 0 {
		fmt.Fprintf(a.err, "held back, since the wire, hashes, or names in Go would change: %s (--breaking)\n", fixes(f.Holds))
	}
	if f.Refused > 0 {
		fmt.Fprintf(a.err, "not made, since there would be an error elsewhere: %s\n", fixes(f.Refused))
	}
	if f.Stopped {
		fmt.Fprintf(a.err, "stopped after %d passes, and there is more to mend: run it again\n", f.Passes)
	}
}

func fixes(n int) string {
	if n == 1 {
		return "1 fix"
	}
	return fmt.Sprintf("%d fixes", n)
}

// lintRules lists the rules.
func (a *app) lintRules() error {
	rules := lint.Rules()
	if a.format == report.JSON {
		type doc struct {
			ruleDoc
			Since  string `json:"since"`
			Fix    string `json:"fix,omitempty"`
			Breaks string `json:"breaks,omitempty"`
		}
		var docs []doc
		for _, r := range rules {
			docs = append(docs, doc{ruleDoc{r.Code, r.Name, r.Severity.String(), r.Title, r.Why, r.Wrong, r.Right}, r.Since, r.Fix, r.Breaks})
		}
		return a.writeJSON(struct {
			Version int   `json:"version"`
			Rules   []doc `json:"rules"`
		}{report.DocumentVersion, docs})
	}
	rows := make([][]string, len(rules))
	for i, r := range rules {
		rows[i] = []string{string(r.Code), r.Severity.String(), r.Since, fixWord(r), r.Name, r.Title}
	}
	a.columns(rows)
	return nil
}

// fixWord says whether a rule has a fix, and what that breaks.
func fixWord(r lint.Rule) string {
	switch {
	case r.Fix == "":
		return "-"
	case r.Breaks == "":
		return "fix"
	}
	return "fix, breaks " + r.Breaks
}

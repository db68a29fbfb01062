package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/compat"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func (a *app) compatCommand() *cobra.Command {
	var against string
	var only []string
	var strict bool
	var spec specFlag
	cmd := &cobra.Command{
		Use:   "compat --against directory|file|git:ref[:path] file|directory|-...",
		Short: "Compare schemas with an older version of them",
		Long: `Compat tells what changed since an older version and breaks somebody:

  SOURCE  programs that use the generated Go code
  WIRE    who reads messages of the other version, old or new
  MEMORY  peers that map or reach memory of the other version

The older version is a file, a directory, or what git has: git:v1.2 has the named
files as they were at that tag, commit or branch, and git:v1.2:proto/old.bare has another
path, from the top of the repository. Types are matched by name.

What only lets old readers refuse some new messages, as a member appended to a
union, is a warning; everything else is an error and ends with exit code 1.`,
		Example: "  barewire-gen compat --against git:HEAD telemetry.bare\n" +
			"  barewire-gen compat --against git:HEAD --only=wire,memory .",
		RunE: func(cmd *cobra.Command, args []string) error {
			if against == "" {
				return usagef(cmd, "nothing to compare with: name the older version, as in `%s --against git:HEAD .`", cmd.CommandPath())
			}
			opts := compat.Options{GoName: gen.GoName}
			for _, word := range only {
				if !slices.Contains(compat.Concerns, compat.Concern(word)) {
					return unknown("concern", word, []string{"source", "wire", "memory"}, cmd)
				}
				opts.Only = append(opts.Only, compat.Concern(word))
			}
			files, err := a.load(cmd, args, true)
			if err != nil {
				return err
			}
			before, err := a.older(cmd, against, args)
			if err != nil {
				return err
			}
			return a.compare(before, files, spec, opts, strict)
		},
	}
	f := cmd.Flags()
	f.StringVar(&against, "against", "", "the older `version`: a file, a directory, or git:ref[:path]")
	f.StringSliceVar(&only, "only", nil, "look at these `concerns` only: source, wire, memory")
	f.BoolVar(&strict, "strict", false, "warnings, too, end with exit code 1")
	spec.bind(cmd)
	return cmd
}

// older reads the older version.
func (a *app) older(cmd *cobra.Command, against string, args []string) ([]*source.File, error) {
	if rest, ok := strings.CutPrefix(against, gitPrefix); ok {
		return a.fromGit(cmd, rest, args)
	}
	if against == stdinArg {
		return nil, usagef(cmd, "the older version cannot be the standard input")
	}
	return a.load(cmd, []string{against}, false)
}

// compare compares two versions. One that does not compile is reported instead.
func (a *app) compare(before, files []*source.File, spec specFlag, opts compat.Options, strict bool) error {
	old, found := schema.Compile(before, schema.Options{})
	if old == nil {
		if err := a.report(errorsOf(found)); err != errFindings {
			return err
		}
		return fmt.Errorf("the older version does not compile, so there is nothing to compare with")
	}
	now, found := schema.Compile(files, schema.Options{Spec: int(spec)})
	if now == nil {
		return a.report(found)
	}
	r := compat.Compare(compat.Side{Schema: old.Schema, Layouts: old.Layouts}, compat.Side{Schema: now.Schema, Layouts: now.Layouts}, opts)
	if err := a.report(r.Findings); err != nil {
		return err
	}
	if strict && slices.ContainsFunc(r.Findings, func(d *diag.Diagnostic) bool { return d.Severity == diag.Warning }) {
		return errFindings
	}
	if len(r.Findings) == 0 && !a.format.IsMachine() && !a.quiet {
		fmt.Fprintf(a.out, "compatible: nothing that %s breaks %s\n", changed(before), words(opts.Only))
	}
	return nil
}

func changed(before []*source.File) string {
	return "changed since " + shownAs(before)
}

func shownAs(files []*source.File) string {
	if len(files) == 1 {
		return files[0].Name()
	}
	return fmt.Sprintf("%s and %d more", files[0].Name(), len(files)-1)
}

func words(only []compat.Concern) string {
	if len(only) == 0 {
		only = compat.Concerns
	}
	var list []string
	for _, c := range only {
		list = append(list, strings.ToUpper(string(c)))
	}
	return strings.Join(list, ", ")
}

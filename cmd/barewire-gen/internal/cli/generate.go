package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// generateFlags are the flags of generate.
type generateFlags struct {
	out     string
	pkg     string
	check   bool
	watch   bool
	goBare  bool
	noViews bool
	rename  []string
	spec    specFlag
}

func (a *app) generateCommand() *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate file|directory...",
		Short: "Write Go for schemas",
		Long: `Generate writes <name>_bare.go for each <name>.bare, beside it or in --out.
Files given together see each other's types and become one Go package; of a
directory, its .bare files are taken.

The package name is that of --package; else #@package in the schema; else of
the Go files in the output directory; else $GOPACKAGE, where the output goes
into the current directory; else the output directory's name.

Types with #@residency or #@register also get places, grants and typed access
to memory regions; what uses them links the package runtime beside runtime/wire.

A file that would not change is left alone, and nothing is ever deleted. With
--check nothing is written: differences are shown, and the exit code is 1. With
--watch it writes again whenever a schema changes, until it is interrupted.`,
		Example: "  //go:generate go tool barewire-gen generate telemetry.bare\n  barewire-gen generate --check .",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.watch {
				return a.watch(cmd, args, f)
			}
			return a.generate(cmd, args, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "out", "o", "", "write into this `directory` instead of beside the schemas")
	fl.StringVar(&f.pkg, "package", "", "the Go package's `name`")
	fl.BoolVar(&f.check, "check", false, "write nothing; show what would change, and fail if something would")
	fl.BoolVar(&f.watch, "watch", false, "generate again whenever a schema changes; errors are shown, and it goes on")
	fl.BoolVar(&f.goBare, "gobare", false, "also write go-bare's methods, for its callers (go get git.sr.ht/~sircmpwn/go-bare)")
	fl.BoolVar(&f.noViews, "no-views", false, "leave out views, slots and casts; elements of regions are then read and written whole")
	fl.StringArrayVar(&f.rename, "rename", nil, "give a Go name, as `Type.field=Name`; may be repeated")
	f.spec.bind(cmd)
	return cmd
}

func (a *app) generate(cmd *cobra.Command, args []string, f generateFlags) error {
	opts, err := f.options(cmd)
	if err != nil {
		return err
	}
	files, err := a.load(cmd, args, false)
	if err != nil {
		return err
	}
	s, found := compile(files, f.spec, opts)
	if s == nil {
		return a.report(a.withoutRemarks(found))
	}
	if opts.Package, err = a.packageName(s, f); err != nil {
		return err
	}
	// Once more with the real name: it may clash where the stand-in did not.
	if clashes := gen.Check(s, opts); clashes.HasErrors() {
		return a.report(clashes)
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	made, err := gen.Go(s, opts)
	if err != nil {
		var l diag.List
		if errors.As(err, &l) {
			return a.report(l)
		}
		return err
	}
	outputs, err := a.outputs(made, f.out)
	if err != nil {
		return err
	}
	found = a.withoutRemarks(found)
	if f.check {
		return a.checkOutputs(files, found, outputs)
	}
	return a.writeOutputs(files, found, outputs)
}

// options are the generator's options, but for the package.
func (f generateFlags) options(cmd *cobra.Command) (gen.Options, error) {
	o := gen.Options{Package: f.pkg, GoBare: f.goBare, NoViews: f.noViews, Rename: map[string]string{}}
	if cmd.Flags().Changed("package") {
		if err := validPackage(f.pkg); err != nil {
			return o, usagef(cmd, "--package: %v", err)
		}
	}
	for _, r := range f.rename {
		old, now, ok := strings.Cut(r, "=")
		old, now = strings.TrimSpace(old), strings.TrimSpace(now)
		if !ok || old == "" || now == "" {
			return o, usagef(cmd, "--rename %s: write Type=Name or Type.field=Name", r)
		}
		if was, twice := o.Rename[old]; twice && was != now {
			return o, usagef(cmd, "--rename gives `%s` two names, `%s` and `%s`", old, was, now)
		}
		o.Rename[old] = now
	}
	return o, nil
}

// checkOutputs shows how the files on disk differ from what would be written.
func (a *app) checkOutputs(files []*source.File, found diag.List, outputs []*output) error {
	stale := false
	var states []report.File
	for _, o := range outputs {
		states = append(states, report.File{Name: o.shown, State: o.state()})
		if o.same() {
			continue
		}
		stale = true
		switch {
		case a.format.IsFindings():
			found = append(found, o.stale(files))
		case a.format.IsMachine():
		case a.format == report.Short:
			fmt.Fprintf(a.out, "%s: %s\n", o.shown, o.state())
		default:
			old := o.shown
			if !o.exists {
				old = "/dev/null"
			}
			fmt.Fprintf(a.out, "%s", diff.Diff(old, o.old, o.shown+" (generated)", o.content))
		}
	}
	if err := a.report(found, states...); err != nil {
		return err
	}
	if stale {
		if !a.quiet && !a.format.IsMachine() {
			fmt.Fprintf(a.err, "%s: generated code is not up to date; run `%s generate` without --check\n", tool, tool)
		}
		return errFindings
	}
	return nil
}

func (a *app) writeOutputs(files []*source.File, found diag.List, outputs []*output) error {
	if err := write(outputs); err != nil {
		return err
	}
	var states []report.File
	for _, o := range outputs {
		state := "written"
		if o.same() {
			state = "unchanged"
		}
		states = append(states, report.File{Name: o.shown, State: state})
		a.say("%s %s (package %s, from %s, %d bytes)", state, o.shown, o.pkg, o.from, len(o.content))
	}
	return a.report(found, states...)
}

// outputs decides where each generated file goes, and reads what is there now.
func (a *app) outputs(made []gen.File, out string) ([]*output, error) {
	byPath := map[string]*output{}
	var outputs []*output
	for _, m := range made {
		dir := out
		if dir == "" {
			dir = filepath.Dir(m.Source)
		}
		o := &output{shown: filepath.Join(dir, m.Name), from: m.Source, pkg: m.Package, content: m.Content}
		o.path = a.path(o.shown)
		// Names that differ only in case are one file on some systems.
		key := strings.ToLower(filepath.Clean(o.path))
		if other := byPath[key]; other != nil {
			return nil, fmt.Errorf("%s and %s would both become %s; give one of them another name", other.from, o.from, o.shown)
		}
		byPath[key] = o
		if err := o.load(); err != nil {
			return nil, err
		}
		outputs = append(outputs, o)
	}
	if len(outputs) == 0 {
		return nil, errors.New("nothing to generate")
	}
	return outputs, nil
}

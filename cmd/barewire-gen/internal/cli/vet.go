package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/govet"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/terminal"
)

// vetFlags are the flags of vet.
type vetFlags struct {
	tags  string
	joins bool
	fix   bool
	diff  bool
}

func (a *app) vetCommand() *cobra.Command {
	var f vetFlags
	cmd := &cobra.Command{
		Use:   "vet [packages]",
		Short: "Find misuse of regions, windows and operations in Go code",
		Long: `Vet looks for what the compiler cannot see in Go packages that use the runtime:
regions that are used after they were closed, leaked, forged or laundered, zero
values in calls that cannot use them, and wrong //barewire: directives.

It has the go command run it over each package, with ` + "`go vet -vettool`" + `, so that
packages are named as there and what did not change is not looked at again. A
comment on the line, or above it, keeps a finding back; the reason is required,
and an ignore that has nothing to ignore is a finding:

  //barewire:ignore BW5002 the test wants the error

Exit codes: 0 clean, 1 findings (or a difference, with --diff), 2 usage, or
packages that do not build, 3 a bug in barewire-gen.`,
		Example: "  barewire-gen vet ./...\n  barewire-gen vet --format=sarif ./... > barewire.sarif\n" +
			"  go vet -vettool=\"$(go tool -n barewire-gen)\" ./...    # the same, without the looks",
		RunE: func(cmd *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			o := govet.Options{Tool: self, Dir: a.dir, Packages: args}
			if f.tags != "" {
				o.Flags = append(o.Flags, "-tags="+f.tags)
			}
			if f.joins {
				o.Flags = append(o.Flags, "-bwlife.joins")
			}
			if f.fix || f.diff {
				return a.vetFix(cmd, o, f)
			}
			return a.vet(cmd, o)
		},
	}
	cmd.Flags().StringVar(&f.tags, "tags", "", "build `tags`, as the go command takes them")
	cmd.Flags().BoolVar(&f.joins, "joins", false, "also report what is closed while a goroutine may use it (BW5115)")
	cmd.Flags().BoolVar(&f.fix, "fix", false, "apply the changes that are safe, but to generated files; then report what is left")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show what --fix would change; exit 1 if that is anything")
	cmd.MarkFlagsMutuallyExclusive("fix", "diff")
	return cmd
}

// vet looks at packages and writes what was found.
func (a *app) vet(cmd *cobra.Command, o govet.Options) error {
	r, err := govet.Run(cmd.Context(), o)
	if err != nil {
		return err
	}
	fmt.Fprint(a.err, r.Said)
	shown, w := r.Found, a.err
	if a.format.IsMachine() {
		w = a.out
	} else if a.quiet {
		shown = errorsOf(shown)
	}
	err = report.Write(w, shown, report.Options{
		Format: a.format, Color: a.colored(w), Width: terminal.Prose(w), Limit: report.Limit, Tool: tool, Version: version(), Flows: true, Scope: r.Scope,
	})
	switch {
	case r.Bug != "":
		return a.analyzerBug(r)
	case err != nil:
		return err
	case r.Failed:
		return exitError(exitUsage)
	case len(r.Found) > 0:
		return errFindings
	}
	return nil
}

// vetFix applies fixes, and reports what is left; or shows what they are.
func (a *app) vetFix(cmd *cobra.Command, o govet.Options, f vetFlags) error {
	if f.diff && a.format != report.Text {
		return usagef(cmd, "--diff writes no findings, so that --format has nothing to say")
	}
	shown, r, err := govet.Fix(cmd.Context(), o, f.diff)
	if err != nil {
		return err
	}
	if _, err := a.out.Write(shown); err != nil {
		return err
	}
	fmt.Fprint(a.err, r.Said)
	switch {
	case r.Bug != "":
		return a.analyzerBug(r)
	case r.Failed:
		return exitError(exitUsage)
	case f.diff && len(shown) > 0:
		return errFindings
	case f.fix:
		return a.vet(cmd, o)
	}
	return nil
}

// analyzerBug reports an analyzer that failed, in its words.
func (a *app) analyzerBug(r *govet.Result) error {
	a.bug(errors.New("an analyzer failed"), []byte(r.Bug))
	return errInternal
}

package cli

import (
	"os"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func (a *app) checkCommand() *cobra.Command {
	var spec specFlag
	var strict bool
	cmd := &cobra.Command{
		Use:   "check file|directory|-...",
		Short: "Check schemas and write nothing",
		Long: `Check finds what generate would find, without writing anything. Files given
together see each other's types. With - it reads the standard input.`,
		Example: "  barewire-gen check telemetry.bare\n  barewire-gen check --format=json .",
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := a.load(cmd, args, true)
			if err != nil {
				return err
			}
			s, found := compile(files, spec, gen.Options{})
			if err := a.report(found); err != nil {
				return err
			}
			if err := a.sharedDirectories(s); err != nil {
				return err
			}
			for _, d := range found {
				if strict && d.Severity == diag.Warning {
					return errFindings
				}
			}
			if len(found) == 0 && !a.format.IsMachine() {
				a.say("%s without a finding", countOf(len(files), "file"))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings, too, end with exit code 1")
	spec.bind(cmd)
	return cmd
}

// compile runs all checks over files that belong together, the generator's
// among them. What it returns is sorted; the schema is nil if there are errors.
func compile(files []*source.File, spec specFlag, o gen.Options) (*schema.Schema, diag.List) {
	if os.Getenv("GOGC") == "" {
		// Nearly all that is allocated here is kept: collecting often would take a
		// third of the time and free nothing.
		defer debug.SetGCPercent(debug.SetGCPercent(800))
	}
	s, found := schema.Compile(files, schema.Options{Spec: int(spec)})
	if s == nil || found.HasErrors() {
		return nil, found
	}
	if o.Package == "" {
		// The name matters only to what is written; a name that the schema gives
		// still wins where it gives one.
		o.Package = anyPackage(s)
	}
	found = append(found, gen.Check(s, o)...)
	found.Sort(files)
	if found.HasErrors() {
		return nil, found
	}
	return s, found
}

func anyPackage(s *schema.Schema) string {
	if len(s.Namespaces) == 1 && s.Namespaces[0].Package != "" {
		return ""
	}
	return "schema"
}

// specFlag is --spec: a draft of BARE's specification, or 0 for what real files
// use.
type specFlag int

func (s *specFlag) bind(cmd *cobra.Command) {
	cmd.Flags().Var(s, "spec", "hold the schema to the rules of one `draft`: 11, 12, 13 or 14")
}

// String is the draft's number; empty where none was chosen.
func (s *specFlag) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.Itoa(int(*s))
}

// Set reads a draft's number, or returns errSpec.
func (s *specFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 11 || n > 14 {
		return errSpec
	}
	*s = specFlag(n)
	return nil
}

// Type is what help calls the flag's value.
func (s *specFlag) Type() string { return "draft" }

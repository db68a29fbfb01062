package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/view"
	"github.com/fidelityframework/barewire-gen/schema"
)

func (a *app) layoutCommand() *cobra.Command {
	var spec specFlag
	cmd := &cobra.Command{
		Use:   "layout file|directory|-... [type]...",
		Short: "Show how types lie in memory, which is how they lie on the wire",
		Long: `Layout shows offset, size, alignment and cache lines of types, the class of
each (castable, fixed, bounded, variable), and why a type is not castable.
Without a type it shows all. An offset or size with a + is the least one. With
- it reads the standard input.`,
		Example: "  barewire-gen layout telemetry.bare Sample\n  barewire-gen layout --format=json telemetry.bare",
		RunE: func(cmd *cobra.Command, args []string) error {
			inputs, names := a.splitTypes(args)
			files, err := a.load(cmd, inputs, true)
			if err != nil {
				return err
			}
			s, found := schema.Compile(files, schema.Options{Spec: int(spec)})
			if s == nil || found.HasErrors() {
				return a.report(found)
			}
			if err := knownTypes(cmd, s, names); err != nil {
				return err
			}
			types := view.Types(s, func(name string) bool { return len(names) == 0 || slices.Contains(names, name) })
			if a.format == report.JSON {
				return a.writeJSON(struct {
					Version int          `json:"version"`
					Types   []*view.Type `json:"types"`
				}{report.DocumentVersion, types})
			}
			_, err = a.out.Write(view.Text(types))
			return err
		},
	}
	spec.bind(cmd)
	return cmd
}

// splitTypes parts the arguments: what ends in .bare, has a separator or exists
// is an input, the rest are names of types.
func (a *app) splitTypes(args []string) (inputs, types []string) {
	for _, arg := range args {
		_, err := os.Stat(a.path(arg))
		if arg == stdinArg || err == nil || filepath.Ext(arg) == ".bare" || strings.ContainsAny(arg, `/\`) {
			inputs = append(inputs, arg)
		} else {
			types = append(types, arg)
		}
	}
	return inputs, types
}

// knownTypes is an error for the first name that the schema does not declare.
func knownTypes(cmd *cobra.Command, s *schema.Schema, names []string) error {
	var known []string
	for _, d := range view.Decls(s) {
		known = append(known, d.Name)
	}
	for _, n := range names {
		if slices.Contains(known, n) {
			continue
		}
		if near := nearest(n, known); near != "" {
			return usagef(cmd, "no type and no file `%s`; did you mean `%s`?", n, near)
		}
		return usagef(cmd, "no type and no file is called `%s`", n)
	}
	return nil
}

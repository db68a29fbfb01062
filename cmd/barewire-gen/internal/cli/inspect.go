package cli

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/view"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

type inspectFlags struct {
	hex     string
	from    string // bytes, hex or json
	to      string // text, json, bytes or hex
	count   int
	element int
	all     bool
	spec    specFlag
}

func (a *app) inspectCommand() *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect file|directory... type [input|-]",
		Short: "Show what bytes mean: annotated, or as JSON; and make bytes of JSON",
		Long: `Inspect reads a message of a type and shows each byte with its place, its field
and its value. The input is a file, - for the standard input, or --hex. Of a
message that a decoder would refuse it shows what could be read, and then where
and why reading stopped; the exit code is 1.

With --to=json it writes the value as JSON, in a form that is exact for every
type (integers beyond 2^53 and what JSON has no number for are strings, data is
hexadecimal, a union is an object with the member's name); --from=json reads
that form. Bytes that are made of JSON are those that generated code writes:
map entries sorted by key, padding zero.

With --count the input is a dump of a region with so many elements: one behind
the other where the type has a fixed size, else slots. More bytes may follow. A dump may
be of any size: one element is held at a time. --to=json writes an array of elements,
and --from=json --count makes the region's bytes of it.

With --format=json the annotated bytes are JSON; with --format=github or sarif what is
written is whether the message, or which elements, are refused.`,
		Example: "  barewire-gen inspect telemetry.bare Reading reading.bin\n" +
			"  barewire-gen inspect --hex '01 01 41' --to=json telemetry.bare Reading\n" +
			"  barewire-gen inspect --from=json --to=bytes telemetry.bare Reading reading.json > reading.bin\n" +
			"  barewire-gen inspect --count=4 --element=2 kvcache.bare Block dump.bin\n" +
			"  barewire-gen inspect --count=4 --from=json --to=bytes kvcache.bare Block dump.json > dump.bin",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.inspect(cmd, args, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.hex, "hex", "", "the input itself, as hexadecimal `digits`")
	fl.StringVar(&f.from, "from", "bytes", "what the input is: bytes, hex or json")
	fl.StringVar(&f.to, "to", "text", "what to write: text, json, bytes or hex")
	fl.IntVar(&f.count, "count", 0, "the input is a dump of a region with `n` elements")
	fl.IntVar(&f.element, "element", -1, "of a region show only the element with index `i`, from 0")
	fl.BoolVar(&f.all, "all", false, "show long lists and long data whole")
	f.spec.bind(cmd)
	return cmd
}

// check finds flags that cannot be meant together.
func (f *inspectFlags) check(cmd *cobra.Command, format report.Format) error {
	froms, tos := []string{"bytes", "hex", "json"}, []string{"text", "json", "bytes", "hex"}
	changed := cmd.Flags().Changed
	switch {
	case !slices.Contains(froms, f.from):
		return unknown("--from", f.from, froms, cmd)
	case !slices.Contains(tos, f.to):
		return unknown("--to", f.to, tos, cmd)
	case changed("hex") && changed("from"):
		return usagef(cmd, "--hex is the input, so there is no --from")
	case f.count < 0, changed("count") && f.count == 0:
		return usagef(cmd, "--count is at least 1")
	case changed("element") && f.count == 0:
		return usagef(cmd, "--element needs --count: only a region has elements")
	case changed("element") && (f.element < 0 || f.element >= f.count):
		return usagef(cmd, "--element is 0 to %d, since --count is %d", f.count-1, f.count)
	case f.count > 0 && f.from != "json" && (f.to == "bytes" || f.to == "hex") && f.element < 0:
		return usagef(cmd, "--to=%s of a region needs --element", f.to)
	case format == report.JSON && changed("to"):
		return usagef(cmd, "--format=json writes annotated bytes as JSON, and --to something else; give one of them")
	case format.IsFindings() && changed("to"):
		return usagef(cmd, "--format=%s writes what is refused, and --to what was read; give one of them", format)
	}
	return nil
}

func (a *app) inspect(cmd *cobra.Command, args []string, f inspectFlags) error {
	if err := f.check(cmd, a.format); err != nil {
		return err
	}
	schemas, typ, input, err := a.inspectArgs(cmd, args, f)
	if err != nil {
		return err
	}
	files, err := a.load(cmd, schemas, false)
	if err != nil {
		return err
	}
	s, found := schema.Compile(files, schema.Options{Spec: int(f.spec)})
	if s == nil {
		return a.report(errorsOf(found))
	}
	if err := knownTypes(cmd, []string{typ}, s); err != nil {
		return err
	}
	decls := view.Decls(s)
	decls = slices.DeleteFunc(decls, func(d *resolve.Decl) bool { return d.Name != typ })
	if len(decls) > 1 {
		return usagef(cmd, "`%s` is declared in %d packages; name the files of one", typ, len(decls))
	}
	in, err := a.openInput(input, f)
	if err != nil {
		return err
	}
	defer in.close()
	i := inspection{app: a, s: s, d: decls[0], f: f, input: input}
	if i.input == stdinArg {
		i.input = stdinName
	}
	return i.run(in)
}

// inspectArgs parts the arguments: schemas, the type, the input.
func (a *app) inspectArgs(cmd *cobra.Command, args []string, f inspectFlags) (schemas []string, typ, input string, err error) {
	for len(args) > 0 && a.looksLikeSchema(args[0]) {
		schemas, args = append(schemas, args[0]), args[1:]
	}
	switch {
	case len(schemas) == 0:
		return nil, "", "", usagef(cmd, "no schema given: name its file, the type and the input, as in `%s telemetry.bare Reading reading.bin`", cmd.CommandPath())
	case len(args) == 0:
		return nil, "", "", usagef(cmd, "no type given: name it behind the schema")
	case cmd.Flags().Changed("hex") && len(args) == 1:
		return schemas, args[0], "--hex", nil
	case cmd.Flags().Changed("hex"):
		return nil, "", "", usagef(cmd, "--hex is the input, so `%s` cannot be it too", args[1])
	case len(args) == 1:
		return nil, "", "", usagef(cmd, "no input given: name a file, - for the standard input, or --hex")
	case len(args) > 2:
		return nil, "", "", usagef(cmd, "unexpected argument `%s`: one input is read at a time", args[2])
	}
	return schemas, args[0], args[1], nil
}

// looksLikeSchema reports whether an argument is a schema or a directory of them.
func (a *app) looksLikeSchema(arg string) bool {
	info, err := os.Stat(a.path(arg))
	return filepath.Ext(arg) == ".bare" || err == nil && info.IsDir()
}

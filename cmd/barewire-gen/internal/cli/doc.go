package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/view"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func (a *app) docCommand() *cobra.Command {
	var markdown bool
	var out string
	var spec specFlag
	cmd := &cobra.Command{
		Use:   "doc file|directory|-...",
		Short: "Write a page about a schema",
		Long: `Doc writes one page about a schema: its types with their comments, annotations,
layouts and hashes, who uses them, and what lint finds, with its codes. The page is one file of HTML that
needs no network, or Markdown. It goes to the standard output, or to a file; beside a
file, --format=json, github or sarif writes what lint finds.`,
		Example: "  barewire-gen doc telemetry.bare\n  barewire-gen doc --markdown --out=telemetry.md telemetry.bare",
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == stdoutArg {
				out = ""
			}
			if a.format.IsMachine() && out == "" {
				return usagef(cmd, "the page goes to the standard output, and so does --format=%s, which is for findings; give --out", a.format)
			}
			files, err := a.load(cmd, args, true)
			if err != nil {
				return err
			}
			if out != "" {
				if err := a.notAnInput(cmd, out, files); err != nil {
					return err
				}
			}
			s, found := schema.CompileAndLint(files, schema.Options{Spec: int(spec)})
			if s == nil {
				return a.report(found)
			}
			types := view.Types(s, func(string) bool { return true })
			opts := view.PageOptions{Doc: true, Findings: found}
			var page []byte
			if markdown {
				page = view.Markdown(s, types, opts)
			} else if page, err = view.HTML(s, types, opts); err != nil {
				return err
			}
			if out == "" {
				_, err = a.out.Write(page)
				return err
			}
			state, err := a.writePage(out, page)
			if err != nil || !a.format.IsMachine() {
				return err
			}
			return a.report(found, report.File{Name: out, State: state})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&markdown, "markdown", false, "write Markdown")
	f.StringVar(&out, "out", "", "write to this `file`")
	spec.bind(cmd)
	return cmd
}

// notAnInput refuses a file that is one of the schemas by any name, which the page would destroy.
func (a *app) notAnInput(cmd *cobra.Command, out string, files []*source.File) error {
	info, err := os.Stat(a.path(out))
	if err != nil {
		// What is not there is nobody's; what else is wrong shows when it is written.
		return nil
	}
	for _, f := range files {
		if in, err := os.Stat(a.path(f.Name())); err == nil && os.SameFile(in, info) {
			return usagef(cmd, "--out=%s is the schema %s, which the page would overwrite", out, f.Name())
		}
	}
	return nil
}

// writePage writes a page to a file, and leaves one that has it already alone. What is no file, as a pipe or
// /dev/stdout, takes the page as any program's output.
func (a *app) writePage(name string, page []byte) (state string, err error) {
	o := &output{path: a.path(name), shown: name, content: page}
	if info, err := os.Stat(o.path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return "written", writeInto(o)
	}
	if exists(o.path) {
		if err := o.loadAny(); err != nil {
			return "", err
		}
	}
	if err := write([]*output{o}); err != nil {
		return "", err
	}
	if o.same() {
		a.say("%s is as it was", name)
		return "unchanged", nil
	}
	a.say("wrote %s", name)
	return "written", nil
}

// writeInto writes to what is there, and never puts a file in its place.
func writeInto(o *output) error {
	f, err := os.OpenFile(o.path, os.O_WRONLY, 0)
	if err != nil {
		return plainError(err)
	}
	_, err = f.Write(o.content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", o.shown, cause(err))
	}
	return nil
}

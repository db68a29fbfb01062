package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/terminal"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/view"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// layoutFlags choose among the pictures.
type layoutFlags struct {
	svg, html, cacheline, overview bool

	diff string
	spec specFlag
}

func (a *app) layoutCommand() *cobra.Command {
	var f layoutFlags
	cmd := &cobra.Command{
		Use:   "layout file|directory|-... [type]...",
		Short: "Show how types lie in memory, which is how they lie on the wire",
		Long: `Layout shows offset, size, alignment and cache lines of types, the class of
each (castable, fixed, bounded, variable), and why a type is not castable.
Without a type it shows all. An offset or size with a + is the least one. With
- it reads the standard input.

--overview has one line for each type, --cacheline what lies in each cache line, --svg a
picture, --html a page that is one file. --diff compares with an older version (a file, a
directory, or git:ref[:path]) and ends with exit code 1 where something lies otherwise.

With --format=json it writes what it would show; with --format=github or sarif what is
found of how the types lie: padding, straddled lines, false sharing, and with --diff
each difference, at its place.`,
		Example: "  barewire-gen layout telemetry.bare Sample\n  barewire-gen layout --format=json telemetry.bare\n" +
			"  barewire-gen layout --html telemetry.bare\n  barewire-gen layout --diff git:HEAD telemetry.bare",
		RunE: func(cmd *cobra.Command, args []string) error {
			inputs, names := a.splitTypes(args)
			files, err := a.load(cmd, inputs, true)
			if err != nil {
				return err
			}
			if err := f.fits(cmd, a.format); err != nil {
				return err
			}
			s, found := schema.Compile(files, schema.Options{Spec: int(f.spec)})
			if s == nil || found.HasErrors() {
				return a.report(found)
			}
			wanted := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
			if f.diff != "" {
				return a.layoutDiff(cmd, f.diff, inputs, names, files[0], s)
			}
			if err := knownTypes(cmd, names, s); err != nil {
				return err
			}
			if a.format.IsFindings() {
				return a.report(layoutFindings(append(found, schema.Lint(s)...), files, s, wanted))
			}
			return a.layout(cmd, s, view.Types(s, wanted), f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.svg, "svg", false, "draw a picture, as SVG")
	fl.BoolVar(&f.html, "html", false, "write a page, one file of HTML")
	fl.BoolVar(&f.cacheline, "cacheline", false, "show what lies in each cache line")
	fl.BoolVar(&f.overview, "overview", false, "show one line for each type")
	fl.StringVar(&f.diff, "diff", "", "compare with an older `version`: a file, a directory, or git:ref[:path]")
	cmd.MarkFlagsMutuallyExclusive("svg", "html", "cacheline", "overview", "diff")
	f.spec.bind(cmd)
	return cmd
}

// layout writes types in the form that the flags choose.
func (a *app) layout(cmd *cobra.Command, s *schema.Schema, types []*view.Type, f layoutFlags) (err error) {
	var out []byte
	switch {
	case a.format == report.JSON && f.cacheline:
		type lines struct {
			Name  string           `json:"name"`
			Lines []view.CacheLine `json:"lines"` // null where the type is no struct of a fixed size
		}
		var list []lines
		for _, t := range types {
			list = append(list, lines{t.Name, t.CacheLines()})
		}
		return a.writeJSON(struct {
			Version int     `json:"version"`
			Types   []lines `json:"types"`
		}{report.DocumentVersion, list})
	case a.format == report.JSON:
		return a.writeJSON(struct {
			Version int          `json:"version"`
			Types   []*view.Type `json:"types"`
		}{report.DocumentVersion, types})
	case f.svg:
		out = view.SVG(types)
	case f.html:
		out, err = view.HTML(s, types, view.PageOptions{})
	case f.cacheline:
		out = view.CacheLineText(types, a.page())
	case f.overview:
		out = view.Overview(types, a.page())
	default:
		out = view.Text(types, a.page())
	}
	if err != nil {
		return err
	}
	_, err = a.out.Write(out)
	return err
}

// page is how many columns drawings take: fewer in a terminal that is narrow.
func (a *app) page() int {
	if n := terminal.Columns(a.screen); n > 0 {
		return min(n, view.Page)
	}
	return view.Page
}

// fits refuses formats that the picture which was asked for cannot have.
func (f layoutFlags) fits(cmd *cobra.Command, format report.Format) error {
	switch {
	case format.IsMachine() && (f.svg || f.html):
		return usagef(cmd, "--svg and --html are formats of their own; --format=%s does not go with them", format)
	case format.IsFindings() && (f.cacheline || f.overview):
		return usagef(cmd, "--cacheline and --overview are drawings; --format=%s has findings, of layout without them", format)
	}
	return nil
}

// layoutFindings are what is found of how the wanted types lie, in the order of the source: alignment, padding, straddled
// lines, false sharing.
func layoutFindings(all diag.List, files []*source.File, s *schema.Schema, wanted func(string) bool) (list diag.List) {
	for _, d := range all {
		if !strings.HasPrefix(string(d.Code), "BW2") {
			continue
		}
		for _, decl := range view.Decls(s) {
			at := d.Primary.Span
			if span := decl.Syntax.Span; wanted(decl.Name) && at.File == span.File && at.Start < span.End && at.End > span.Start {
				list = append(list, d)
			}
		}
	}
	list.Sort(files)
	return list
}

// layoutDiff compares the layouts of types, of all where none is named, with those of an older version. What is gone has
// its place in file.
func (a *app) layoutDiff(cmd *cobra.Command, version string, inputs, names []string, file *source.File, s *schema.Schema) error {
	before, err := a.older(cmd, version, inputs)
	if err != nil {
		return err
	}
	old, found := schema.Compile(before, schema.Options{})
	if old == nil {
		if err := a.report(errorsOf(found)); err != errFindings {
			return err
		}
		return errors.New("the older version does not compile, so there is nothing to compare with")
	}
	if err := knownTypes(cmd, names, old, s); err != nil {
		return err
	}
	wanted := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	changes := view.Diff(view.Types(old, wanted), view.Types(s, wanted))
	switch {
	case a.format == report.JSON:
		if changes == nil {
			changes = []view.Change{}
		}
		err = a.writeJSON(struct {
			Version int           `json:"version"`
			Changes []view.Change `json:"changes"`
		}{report.DocumentVersion, changes})
	case a.format.IsFindings():
		err = a.report(view.Findings(changes, file))
	case len(changes) == 0:
		_, err = fmt.Fprintf(a.out, "nothing lies otherwise than in %s\n", shownAs(before))
	default:
		_, err = a.out.Write(view.DiffText(changes, a.page()))
	}
	if err == nil && len(changes) > 0 {
		return errFindings
	}
	return err
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

// knownTypes is an error for the first name that none of the schemas declares.
func knownTypes(cmd *cobra.Command, names []string, schemas ...*schema.Schema) error {
	var known []string
	for _, s := range schemas {
		for _, d := range view.Decls(s) {
			known = append(known, d.Name)
		}
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

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

const modulePath = "github.com/fidelityframework/barewire-gen"

// sampleSchema is what init writes: what is first wanted, and nothing that warns.
const sampleSchema = `# The messages of package %[1]s. Go is made of them by: go generate ./...
#@package(%[1]s)

# What was measured.
type Kind enum {
  TEMPERATURE
  PRESSURE
}

# One reading of a sensor.
type Reading struct {
  sensor: u32
  kind:   Kind
  value:  f64
  #@max(64)
  note:   str
}
`

const generateFile = `package %[1]s

//go:generate go tool barewire-gen generate %[2]s
`

func (a *app) initCommand() *cobra.Command {
	var pkg string
	cmd := &cobra.Command{
		Use:   "init [file.bare]",
		Short: "Write a first schema and its go:generate line",
		Long: `Init writes a small schema, and generate.go with the go:generate line that makes
Go of it, into a directory of your module. It overwrites nothing: if one of the
two files is there, it writes neither. Without an argument the schema is called
as its package.`,
		Example: "  barewire-gen init\n  barewire-gen init internal/telemetry/telemetry.bare",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.initialize(cmd, args, pkg)
		},
	}
	cmd.Flags().StringVar(&pkg, "package", "", "the Go package's `name`; else that of the Go files there, or the directory's")
	return cmd
}

func (a *app) initialize(cmd *cobra.Command, args []string, pkg string) error {
	if len(args) > 1 {
		return usagef(cmd, "unexpected argument `%s`: one schema is written at a time", args[1])
	}
	if cmd.Flags().Changed("package") {
		if err := validPackage(pkg); err != nil {
			return usagef(cmd, "--package: %v", err)
		}
	}
	dir, file := ".", ""
	if len(args) == 1 {
		dir, file = filepath.Split(args[0])
		if dir = filepath.Clean(dir); filepath.Ext(file) != ".bare" {
			return usagef(cmd, "`%s` is no name of a schema; they end in .bare", args[0])
		}
		if strings.ContainsAny(file[:1], "-_.") {
			return usagef(cmd, "the Go file that is made of `%s` would begin with `%s`, too, and the go command passes over it or refuses it; begin with a letter",
				file, file[:1])
		}
	}
	if err := a.inModule(dir); err != nil {
		return err
	}
	name, err := a.namespaceName(&resolve.Namespace{}, dir, pkg)
	if err != nil {
		return err
	}
	if err := a.fits(nil, dir, name); err != nil {
		return err
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return fmt.Errorf("the package's name `%s` has letters that #@package cannot have; give --package", name)
	}
	if file == "" {
		file = name + ".bare"
	}
	schema, line := filepath.Join(dir, file), filepath.Join(dir, "generate.go")
	if err := a.create(map[string]string{
		schema: fmt.Sprintf(sampleSchema, name),
		line:   fmt.Sprintf(generateFile, name, quoteArg(file)),
	}); err != nil {
		return err
	}
	if a.format == report.JSON {
		return a.report(nil, report.File{Name: schema, State: "written"}, report.File{Name: line, State: "written"})
	}
	fmt.Fprintf(a.out, "wrote %s and %s; now:\n  go get -tool %s/cmd/barewire-gen\n  go generate ./%s\n", schema, line, modulePath, filepath.ToSlash(dir))
	return nil
}

// quoteArg is a word for a go:generate line, which splits at spaces and knows Go's quotes.
func quoteArg(s string) string {
	s = strings.ReplaceAll(s, "$", "${DOLLAR}") // what the go command has for it
	if strings.ContainsAny(s, " \t\"\\") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// inModule says that a directory, or the nearest one above that exists, is in no module.
func (a *app) inModule(dir string) error {
	at, err := filepath.Abs(a.path(dir))
	if err != nil {
		return err
	}
	for {
		if info, err := os.Stat(filepath.Join(at, "go.mod")); err == nil && info.Mode().IsRegular() {
			return nil
		}
		up := filepath.Dir(at)
		if up == at {
			return errors.New("no go.mod here or above: the Go that is made belongs to a module; run `go mod init` first")
		}
		at = up
	}
}

// create writes files that are not there yet, all or none.
func (a *app) create(files map[string]string) (err error) {
	for name := range files {
		if _, err := os.Lstat(a.path(name)); err == nil {
			return fmt.Errorf("%s is there already; nothing was written", name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return plainError(err)
		}
	}
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				// What went wrong is reported; this only cleans up.
				_ = os.Remove(path)
			}
		}
	}()
	for name, text := range files {
		path := a.path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return plainError(err)
		}
		// O_EXCL: it may have come since.
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return plainError(err)
		}
		made = append(made, path)
		_, err = f.WriteString(text)
		if err = errors.Join(err, f.Close()); err != nil {
			return plainError(err)
		}
	}
	return nil
}

package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

const (
	stdinArg  = "-"       // how a command line names the standard input
	stdinName = "<stdin>" // how messages name it
	stdoutArg = "-"       // how a command line names the standard output
)

// path is where a file name from the command line points, with -C.
func (a *app) path(name string) string {
	if a.dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.dir, name)
}

// load reads the schemas that the arguments name: files, directories (their
// .bare files, not those of directories in them), and - for the standard input
// where stdin allows it. That nothing was named, or that a name leads to
// nothing, is an error: a run that did nothing must not look like a success.
func (a *app) load(cmd *cobra.Command, args []string, stdin bool) ([]*source.File, error) {
	if len(args) == 0 {
		return nil, usagef(cmd, "no schema given: name files or directories, as in `%s .`", cmd.CommandPath())
	}
	names, err := a.expand(cmd, args, stdin)
	if err != nil {
		return nil, err
	}
	files := make([]*source.File, 0, len(names))
	for _, name := range names {
		f, err := a.read(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// expand replaces directories by their schemas and refuses to read one twice.
func (a *app) expand(cmd *cobra.Command, args []string, stdin bool) (names []string, err error) {
	seen := []os.FileInfo{}
	add := func(name string, info os.FileInfo) error {
		for i, s := range seen {
			if os.SameFile(s, info) {
				return fmt.Errorf("%s and %s are the same file; name it once", names[i], name)
			}
		}
		seen, names = append(seen, info), append(names, name)
		return nil
	}
	for _, arg := range args {
		if arg == "" {
			return nil, usagef(cmd, "no schema given: an argument is empty")
		}
		if arg == stdinArg {
			switch {
			case !stdin:
				return nil, usagef(cmd, "the standard input has no name that the Go file could get; name a file")
			case len(args) > 1:
				return nil, usagef(cmd, "the standard input cannot be read beside files")
			}
			return []string{stdinArg}, nil
		}
		info, err := os.Stat(a.path(arg))
		if err != nil {
			return nil, plainError(err)
		}
		if !info.IsDir() {
			if err := add(arg, info); err != nil {
				return nil, err
			}
			continue
		}
		found, err := schemasIn(a.path(arg))
		if err != nil {
			return nil, err
		}
		n := len(names)
		for _, name := range found {
			path := filepath.Join(a.path(arg), name)
			info, err := os.Stat(path)
			if err != nil {
				return nil, plainError(err)
			}
			if !info.Mode().IsRegular() {
				continue // a directory, or a pipe, which nobody may write into
			}
			if err := add(filepath.Join(arg, name), info); err != nil {
				return nil, err
			}
		}
		if len(names) == n {
			return nil, fmt.Errorf("%s: no .bare files in this directory", arg)
		}
	}
	return names, nil
}

// schemasIn are the names that schemas have in a directory. Hidden files are none: editors and systems leave locks and
// copies beside a schema that are called .#x.bare or ._x.bare.
func schemasIn(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, plainError(err)
	}
	for _, e := range entries {
		if isSchema(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func isSchema(name string) bool {
	return filepath.Ext(name) == ".bare" && !strings.HasPrefix(name, ".")
}

// globEscape makes a directory's name stand for itself in a pattern.
func globEscape(dir string) string {
	var b []rune
	for _, r := range dir {
		if (r == '*' || r == '?' || r == '[' || r == '\\') && os.PathSeparator == '/' {
			b = append(b, '\\')
		}
		b = append(b, r)
	}
	return string(b)
}

// read reads one schema. Of a file that is larger than the parser takes, just
// enough is read for the parser to say so.
func (a *app) read(name string) (*source.File, error) {
	from, shown := a.in, stdinName
	if name != stdinArg {
		f, err := os.Open(a.path(name))
		if err != nil {
			return nil, plainError(err)
		}
		defer f.Close()
		from, shown = f, name
	}
	text, err := io.ReadAll(io.LimitReader(from, parser.MaxFile+1))
	if err != nil {
		return nil, plainError(err)
	}
	return source.NewFile(shown, text), nil
}

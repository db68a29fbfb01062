package cli

import (
	"errors"
	"fmt"
	"go/build/constraint"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// packageName decides the name of the Go package that files without #@package
// become, and checks that each output directory gets one package only. It is
// empty where all files name their package.
func (a *app) packageName(s *schema.Schema, f generateFlags) (string, error) {
	if f.pkg != "" && len(s.Namespaces) > 1 && !hasUnnamed(s) {
		return "", fmt.Errorf("--package %s: the files have several packages in #@package; generate each by itself", f.pkg)
	}
	taken := map[string]string{} // package by directory
	name := ""
	for _, ns := range s.Namespaces {
		dir, err := outputDir(ns, f.out)
		if err != nil {
			return "", err
		}
		pkg := ns.Package
		if pkg == "" || len(s.Namespaces) == 1 {
			if name, err = a.namespaceName(ns, dir, f.pkg); err != nil {
				return "", err
			}
			pkg = name
		}
		switch other, ok := taken[dir]; {
		case ok && other == pkg:
			// Two schemas, whose names nobody has compared.
			return "", fmt.Errorf("of the files for %s some have #@package(%s) and some not; write it in all of them", shownDir(dir), pkg)
		case ok:
			return "", fmt.Errorf("%s would hold two packages, %s and %s; generate each by itself with --out", shownDir(dir), other, pkg)
		}
		taken[dir] = pkg
		if err := a.fits(ns, dir, pkg); err != nil {
			return "", err
		}
	}
	return name, nil
}

// sharedDirectories refuses what generate would refuse: that one directory holds
// several packages. The name that files without #@package get does not matter
// otherwise: it may come from a flag that only generate has.
func (a *app) sharedDirectories(s *schema.Schema) error {
	owner := map[string]*resolve.Namespace{}
	for _, ns := range s.Namespaces {
		for _, f := range ns.Files {
			dir := filepath.Dir(f.Syntax.Src.Name())
			if other := owner[dir]; other != nil && other != ns {
				_, err := a.packageName(s, generateFlags{})
				return err
			}
			owner[dir] = ns
		}
	}
	return nil
}

func hasUnnamed(s *schema.Schema) bool {
	for _, ns := range s.Namespaces {
		if ns.Package == "" {
			return true
		}
	}
	return false
}

// outputDir is the one directory that a namespace's files go to.
func outputDir(ns *resolve.Namespace, out string) (string, error) {
	if out != "" {
		return filepath.Clean(out), nil
	}
	first, dir := "", ""
	for _, f := range ns.Files {
		name := f.Syntax.Src.Name()
		d := filepath.Dir(name)
		if first == "" {
			first, dir = name, d
		}
		if d != dir {
			return "", fmt.Errorf("%s and %s become one Go package, but lie in different directories;\n"+
				"give --out, or #@package, or generate each directory by itself", first, name)
		}
	}
	return dir, nil
}

// namespaceName picks the name of one package, in the order that help tells.
func (a *app) namespaceName(ns *resolve.Namespace, dir, flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if ns.Package != "" {
		return ns.Package, nil
	}
	there, err := a.packagesIn(dir)
	if err != nil {
		return "", err
	}
	if len(there) > 0 {
		return there[0].pkg, nil
	}
	abs, err := filepath.Abs(a.path(dir))
	if err != nil {
		return "", err
	}
	if env := os.Getenv("GOPACKAGE"); env != "" {
		if wd, err := os.Getwd(); err == nil && wd == abs {
			env = strings.TrimSuffix(env, "_test")
			if err := validPackage(env); err != nil {
				return "", fmt.Errorf("$GOPACKAGE: %w", err)
			}
			return env, nil
		}
	}
	base := filepath.Base(abs)
	if validPackage(base) != nil {
		return "", fmt.Errorf("nothing says what the Go package is called, and the directory's name `%s` cannot be it;\n"+
			"give --package, or #@package(name) in the schema [%s]", base, diag.NoPackageName)
	}
	return base, nil
}

// fits refuses a package name that differs from that of the Go files beside
// the output: the go command would refuse the directory.
func (a *app) fits(ns *resolve.Namespace, dir, pkg string) error {
	there, err := a.packagesIn(dir)
	if err != nil {
		return err
	}
	for _, f := range there {
		if f.pkg != pkg && !f.ours {
			return fmt.Errorf("%s is in package %s, the generated code would be in package %s; give --package %s, or --out",
				f.name, f.pkg, pkg, f.pkg)
		}
	}
	return nil
}

// goFile is a Go file beside the output.
type goFile struct {
	name string
	pkg  string
	ours bool
}

// packagesIn lists the Go files of a directory that the go command would
// build, tests aside; our own stand last.
func (a *app) packagesIn(dir string) (others []goFile, err error) {
	entries, err := os.ReadDir(a.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, plainError(err)
	}
	var ours []goFile
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.ContainsAny(name[:1], "._") {
			continue
		}
		f, ok := readClause(a.path(filepath.Join(dir, name)))
		if !ok {
			continue
		}
		f.name = filepath.Join(dir, name)
		if f.ours {
			ours = append(ours, f)
		} else {
			others = append(others, f)
		}
	}
	return append(others, ours...), nil
}

// readClause reads a file's package clause. Files that do not parse or are no
// part of the package (//go:build ignore, package documentation) do not count.
func readClause(path string) (goFile, bool) {
	f, err := goparser.ParseFile(token.NewFileSet(), path, nil, goparser.PackageClauseOnly|goparser.ParseComments)
	if err != nil || f.Name.Name == "documentation" {
		return goFile{}, false
	}
	g := goFile{pkg: f.Name.Name}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, string(generatedBy)) {
				g.ours = true
			}
			if !constraint.IsGoBuild(c.Text) {
				continue
			}
			if x, err := constraint.Parse(c.Text); err == nil && !x.Eval(func(tag string) bool { return tag != "ignore" }) {
				return goFile{}, false
			}
		}
	}
	return g, true
}

func shownDir(dir string) string {
	if dir == "." {
		return "the current directory"
	}
	return dir
}

func validPackage(name string) error {
	switch {
	case token.IsKeyword(name):
		return fmt.Errorf("`%s` is a Go keyword and cannot name a package", name)
	case !token.IsIdentifier(name) || name == "_":
		return fmt.Errorf("`%s` is not a Go identifier", name)
	}
	return nil
}

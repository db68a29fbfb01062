// Extract writes the Go of every golden file into a directory, one package
// each, so that vet and staticcheck can look at generated code.
//
//	go run ./internal/golden/extract _golden
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: extract directory")
		os.Exit(2)
	}
	if err := extract("testdata/golden/*.txtar", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "extract:", err)
		os.Exit(1)
	}
}

func extract(pattern, dir string) error {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	n := 0
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			return err
		}
		into := filepath.Join(dir, strings.TrimSuffix(filepath.Base(name), ".txtar"))
		for _, f := range a.Files {
			if filepath.Ext(f.Name) != ".go" {
				continue
			}
			if err := os.MkdirAll(into, 0o777); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(into, filepath.Base(f.Name)), f.Data, 0o666); err != nil {
				return err
			}
			n++
		}
	}
	if n == 0 {
		return fmt.Errorf("no Go in %s", pattern)
	}
	return nil
}

// Codes writes docs/codes.md, the page of all diagnostic codes, from the one
// registry of them (schema/diag), and docs/compat.md, the table of changes, from
// schema/compat. It runs at the root of the repository.
//
//	go run ./internal/codes          # write the pages
//	go run ./internal/codes -check   # write nothing; fail if a page is stale
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/fidelityframework/barewire-gen/schema/compat"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

const (
	path    = "docs/codes.md"
	changes = "docs/compat.md"
	command = "go run ./internal/codes"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail if the page is stale")
	flag.Parse()
	if err := errors.Join(run(path, *check), write(changes, table(compat.Cells), *check)); err != nil {
		fmt.Fprintln(os.Stderr, "codes:", err)
		os.Exit(1)
	}
}

// run writes the page of codes to a file, or checks that the file has it.
func run(file string, check bool) error {
	want, err := page(diag.Rules())
	if err != nil {
		return err
	}
	return write(file, want, check)
}

// write writes a page, or checks that the file has it.
func write(file string, want []byte, check bool) error {
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	switch {
	case bytes.Equal(have, want):
		return nil
	case check:
		return fmt.Errorf("%s is not what the source says; run `%s`", file, command)
	}
	return os.WriteFile(file, want, 0o644)
}

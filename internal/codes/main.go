// Codes writes docs/codes.md, the page of all diagnostic codes, from the one
// registry of them (schema/diag). It runs at the root of the repository.
//
//	go run ./internal/codes          # write the page
//	go run ./internal/codes -check   # write nothing; fail if the page is stale
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

const (
	path    = "docs/codes.md"
	command = "go run ./internal/codes"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail if the page is stale")
	flag.Parse()
	if err := run(path, *check); err != nil {
		fmt.Fprintln(os.Stderr, "codes:", err)
		os.Exit(1)
	}
}

// run writes the page to a file, or checks that the file has it.
func run(file string, check bool) error {
	want, err := page(diag.Rules())
	if err != nil {
		return err
	}
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	switch {
	case bytes.Equal(have, want):
		return nil
	case check:
		return fmt.Errorf("%s is not what schema/diag says; run `%s`", file, command)
	}
	return os.WriteFile(file, want, 0o644)
}

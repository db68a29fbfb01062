// Testsum reads go test -json and prints what a person wants of it; package summary does.
//
//	go test -json ./... | go run ./internal/testsum
//
// It ends with 1 if a test failed or none ran.
package main

import (
	"os"

	"github.com/fidelityframework/barewire-gen/internal/testsum/summary"
)

func main() {
	s := summary.New(os.Stdout)
	s.Hint = " (make deps installs what is missing)"
	s.Read(os.Stdin)
	if !s.End() {
		os.Exit(1)
	}
}

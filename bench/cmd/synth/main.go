// Command synth prints the schema that cmd/compilespeed measures with.
//
// Usage: synth TYPES new|old
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/fidelityframework/barewire-gen/bench/internal/synth"
)

func main() {
	dialects := map[string]synth.Dialect{"new": synth.New, "old": synth.Old}
	if len(os.Args) == 3 {
		n, err := strconv.Atoi(os.Args[1])
		if d, ok := dialects[os.Args[2]]; ok && err == nil && n > 0 {
			os.Stdout.Write(synth.Schema(n, d))
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage: synth TYPES new|old")
	os.Exit(2)
}

// Golangci is golangci-lint with the plugin in it, as `golangci-lint custom` makes one. It is built by
// `make golangci` alone, from a module of its own with the versions pinned: that takes minutes.
package main

import (
	"fmt"
	"os"

	"github.com/golangci/golangci-lint/v2/pkg/commands"
	"github.com/golangci/golangci-lint/v2/pkg/exitcodes"

	_ "github.com/fidelityframework/barewire-gen/plugin/golangci"
)

func main() {
	if err := commands.Execute(commands.BuildInfo{Version: "with barewire", Commit: "?", Date: "?"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitcodes.Failure)
	}
}

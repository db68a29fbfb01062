// Barewire-gen compiles annotated BARE schemas into Go, and finds misuse of regions in
// Go code. See README.md, or run
//
//	barewire-gen help
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/analyzers"
	"github.com/fidelityframework/barewire-gen/analyzers/vettool"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/cli"
)

// grace is how long a command that was interrupted may take to end by itself.
const grace = 2 * time.Second

func main() { os.Exit(run()) }

func run() int {
	// The go command runs us once for each package, as `go vet -vettool` and `go fix -fixtool`.
	if vettool.Called(os.Args[1:]) {
		vettool.Main(analyzers.All()...)
	}
	// A reader that goes away (| head) must not kill us between two files: the
	// write fails instead, and cli.Main ends without a word about it.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks; the second one, no longer caught, ends the process. Who waits for input that does not
	// come cannot be asked, so time is up after a moment: files are written whole or not at all.
	context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(grace)
		os.Exit(2)
	})
	return cli.Main(ctx, os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

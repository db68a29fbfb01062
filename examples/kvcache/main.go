// Kvcache is two programs in one: the owner of a cache of keys and values, and
// a peer that reads, writes and counts in the owner's memory. The owner starts
// the program again as its peer, so these are two processes.
//
//	go run ./examples/kvcache                    # over shared memory
//	TRANSPORT=iwarp go run ./examples/kvcache    # over TCP, as between two hosts
//	TRANSPORT=soft go run ./examples/kvcache     # both in one process
//
// Each step checks what it claims, and the program fails if one is not so.
// owner.go and peer.go are the two sides, in the order of what happens; side.go
// is what both have, mailbox.go how they talk, and measure.go how fast that is.
package main

//go:generate go tool barewire-gen generate kvcache.bare

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"time"

	// The transports: each is a provider that importing its package registers.
	_ "github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
	_ "github.com/fidelityframework/barewire-gen/runtime/rdma/shm"
	_ "github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// transports are what the demo runs over. In soft both sides are one process.
var transports = []string{"shm", "iwarp", "soft"}

func main() {
	transport := flag.String("transport", "", "`name`: shm and iwarp are two processes, soft is one (default: that of TRANSPORT, else "+usual()+")")
	addr := flag.String("peer", "", "be the peer of the owner at this `address`")
	since := flag.Int64("since", 0, "with -peer: when the owner began, in `nanoseconds` since 1970")
	flag.Parse()
	*transport = cmp.Or(*transport, os.Getenv("TRANSPORT"), usual())
	if !slices.Contains(transports, *transport) || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "kvcache: transport %q: want one of %v, and no arguments\n", *transport, transports)
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("it took more than a minute"))
	defer cancel()

	show := screen{os.Stdout, time.Now()}
	var err error
	if *addr != "" {
		show.since = time.Unix(0, *since)
		err = peer(ctx, show, *transport, *addr)
	} else {
		err = demo(ctx, show, *transport)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kvcache:", err)
		os.Exit(1)
	}
}

// usual is the transport where none is asked for.
func usual() string {
	if runtime.GOOS == "linux" {
		return "shm"
	}
	return "iwarp" // shm is for Linux
}

// demo runs both sides, and fails if either does.
func demo(ctx context.Context, show screen, transport string) (err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	start := peer
	if transport != "soft" {
		start = peerProcess
	}
	o, err := newOwner(ctx, show, transport)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := start(ctx, show, transport, o.addr()); err != nil {
			fail(fmt.Errorf("the peer: %w", err)) // the owner does not wait for a peer that is gone
		}
	}()
	if err := o.serve(ctx); err != nil {
		fail(fmt.Errorf("the owner: %w", err))
	}
	<-ended
	if err := context.Cause(ctx); err != nil {
		return err // what failed first
	}
	return o.unharmed()
}

// peerProcess runs the peer as a process of its own, which ends with ctx.
func peerProcess(ctx context.Context, show screen, transport, addr string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-transport", transport, "-peer", addr, "-since", fmt.Sprint(show.since.UnixNano()))
	cmd.Stdout, cmd.Stderr = show.out, os.Stderr
	return cmd.Run()
}

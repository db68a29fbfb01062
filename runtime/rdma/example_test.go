package rdma_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	_ "github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// Two sides, in one process here: the owner offers a region of ticks, and the
// peer reads one of them without a word to the owner. Package sample stands for what
// barewire-gen generates from a schema of one's own.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	addr, done := make(chan string), make(chan struct{})
	go func() {
		if err := owner(ctx, addr, done); err != nil {
			log.Fatal(err)
		}
	}()
	if err := peer(ctx, <-addr); err != nil {
		log.Fatal(err)
	}
	close(done)
	// Output: tick 7 costs 21.5
}

// Who may connect: peers of the same user, by the word of the operating system. Where it has none, as
// between machines, nobody may.
func ExampleConfig_authorize() {
	sameUser := func(r rdma.Request) error {
		if r.Process == nil || r.Process.UID != os.Getuid() {
			return errors.New("this is for processes of the same user")
		}
		return nil
	}
	cfg := rdma.Config{Authorize: sameUser} // for rdma.Open

	fmt.Println(cfg.Authorize(rdma.Request{Process: &rdma.Process{PID: 7, UID: os.Getuid()}}))
	fmt.Println(cfg.Authorize(rdma.Request{Process: &rdma.Process{PID: 8, UID: os.Getuid() + 1}}))
	// Output:
	// <nil>
	// this is for processes of the same user
}

// owner has the memory.
func owner(ctx context.Context, addr chan<- string, done <-chan struct{}) error {
	dev, err := rdma.Open(ctx, rdma.Config{Device: "soft"}) // the zero Config takes the best that is there
	if err != nil {
		return err
	}
	defer dev.Close() // with its domain and connections
	dom, err := dev.Domain()
	if err != nil {
		return err
	}
	region, err := barewire.New(sample.TickInCPU(), 64)
	if err != nil {
		return err
	}
	ticks, err := rdma.Register(dom, region, sample.TickRemoteRead()) // region is no more: ticks is
	if err != nil {
		return err
	}
	defer ticks.Close()
	err = barewire.With(ticks, func(w sample.TickWindow[barewire.RemoteRead]) error {
		sample.TickAt(w, 7).SetPrice(21.5)
		return nil
	})
	if err != nil {
		return err
	}
	ln, err := dom.Listen(ctx, "") // any free address
	if err != nil {
		return err
	}
	addr <- ln.Addr()
	conn, err := ln.Accept(ctx)
	if err != nil {
		return err
	}
	if err := rdma.Offer(ctx, conn, "ticks", ticks); err != nil {
		return err
	}
	<-done // the peer needs nobody here, except to keep the memory
	return nil
}

// peer reads it.
func peer(ctx context.Context, addr string) error {
	dev, err := rdma.Open(ctx, rdma.Config{Device: "soft"})
	if err != nil {
		return err
	}
	defer dev.Close()
	dom, err := dev.Domain()
	if err != nil {
		return err
	}
	conn, err := dom.Dial(ctx, addr)
	if err != nil {
		return err
	}
	region, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return err
	}
	mine, err := rdma.Register(dom, region, sample.TickLocal()) // for this device only
	if err != nil {
		return err
	}
	defer mine.Close()
	ticks, err := rdma.Import(ctx, conn, "ticks", sample.TickRemoteRead())
	if err != nil {
		return err
	}
	op, err := rdma.Read(conn, mine.Span(0, 1), ticks.Slice(7, 1))
	if err != nil {
		return err
	}
	if err := op.Wait(ctx); err != nil {
		return err
	}
	return barewire.With(mine, func(w sample.TickWindow[barewire.Local]) error {
		fmt.Println("tick 7 costs", sample.TickAt(w, 0).Price())
		return nil
	})
}

package rdma_test

import (
	"context"
	"fmt"
	"log"

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
	go owner(ctx, addr, done)
	peer(ctx, <-addr)
	close(done)
	// Output: tick 7 costs 21.5
}

// owner has the memory.
func owner(ctx context.Context, addr chan<- string, done <-chan struct{}) {
	dev, err := rdma.Open(ctx, rdma.Config{Device: "soft"}) // the zero Config takes the best that is there
	check(err)
	defer dev.Close() // with its domain and connections
	dom, err := dev.Domain()
	check(err)
	region, err := barewire.New(sample.TickInCPU(), 64)
	check(err)
	ticks, err := rdma.Register(dom, region, sample.TickRemoteRead()) // region is no more: ticks is
	check(err)
	defer ticks.Close()
	check(barewire.With(ticks, func(w sample.TickWindow[barewire.RemoteRead]) error {
		sample.TickAt(w, 7).SetPrice(21.5)
		return nil
	}))
	ln, err := dom.Listen(ctx, "") // any free address
	check(err)
	addr <- ln.Addr()
	conn, err := ln.Accept(ctx)
	check(err)
	check(rdma.Offer(ctx, conn, "ticks", ticks))
	<-done // the peer needs nobody here, except to keep the memory
}

// peer reads it.
func peer(ctx context.Context, addr string) {
	dev, err := rdma.Open(ctx, rdma.Config{Device: "soft"})
	check(err)
	defer dev.Close()
	dom, err := dev.Domain()
	check(err)
	conn, err := dom.Dial(ctx, addr)
	check(err)
	region, err := barewire.New(sample.TickInCPU(), 1)
	check(err)
	mine, err := rdma.Register(dom, region, sample.TickLocal()) // for this device only
	check(err)
	defer mine.Close()
	ticks, err := rdma.Import(ctx, conn, "ticks", sample.TickRemoteRead())
	check(err)
	op, err := rdma.Read(conn, mine.Span(0, 1), ticks.Slice(7, 1))
	check(err)
	check(op.Wait(ctx))
	check(barewire.With(mine, func(w sample.TickWindow[barewire.Local]) error {
		fmt.Println("tick 7 costs", sample.TickAt(w, 0).Price())
		return nil
	}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
